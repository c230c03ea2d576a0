//! The network configuration the runtime gives to CNI, from the node's pod range.

use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// Where it goes and what the parts are called.
#[derive(Clone, Debug)]
pub struct Cni {
    /// The directory the runtime reads its one network from.
    pub conf_dir: PathBuf,
    pub bin_dir: PathBuf,
    /// The bridge's interface name, at most fifteen characters; its own for each cluster
    /// on a machine.
    pub bridge: String,
    /// Where host-local keeps the addresses it has given out.
    pub data_dir: PathBuf,
    pub mtu: Option<u32>,
}

/// The conflist: a bridge that is each pod's gateway, addresses from the node's range,
/// host ports. The service proxy masquerades what pods send out, so the plugin need not
/// (`ipMasq` goes through iptables and leaves its tables behind). `isGateway` and not `isDefaultGateway`: the default route stands in the
/// ipam part, and the plugin refuses to have it twice.
pub fn render_conflist(cni: &Cni, pod_cidrs: &[String]) -> Value {
    let ranges: Vec<Value> = pod_cidrs.iter().map(|cidr| json!([{ "subnet": cidr }])).collect();
    let routes: Vec<Value> = pod_cidrs
        .iter()
        .map(|cidr| if cidr.contains(':') { json!({ "dst": "::/0" }) } else { json!({ "dst": "0.0.0.0/0" }) })
        .collect();
    let mut bridge = json!({
        "type": "bridge",
        "bridge": cni.bridge,
        "isGateway": true,
        "hairpinMode": true,
        "promiscMode": false,
        "ipam": { "type": "host-local", "dataDir": cni.data_dir, "ranges": ranges, "routes": routes },
    });
    if let Some(mtu) = cni.mtu {
        bridge["mtu"] = mtu.into();
    }
    json!({
        "cniVersion": "0.4.0",
        "name": format!("ferry-{}", cni.bridge),
        "plugins": [bridge, { "type": "portmap", "capabilities": { "portMappings": true } }],
    })
}

/// Writes the conflist if it is not there as it should be; answers whether it changed.
/// Blocking.
pub fn write_conflist(cni: &Cni, pod_cidrs: &[String]) -> io::Result<bool> {
    let text = format!("{:#}\n", render_conflist(cni, pod_cidrs));
    let path = conflist_path(&cni.conf_dir);
    if std::fs::read_to_string(&path).is_ok_and(|present| present == text) {
        return Ok(false);
    }
    std::fs::create_dir_all(&cni.conf_dir)?;
    std::fs::create_dir_all(&cni.data_dir)?;
    // The runtime watches the directory, so it must never see half a file.
    let next = cni.conf_dir.join(".10-ferry.conflist.next");
    std::fs::write(&next, text)?;
    std::fs::rename(&next, &path)?;
    Ok(true)
}

pub fn conflist_path(conf_dir: &Path) -> PathBuf {
    conf_dir.join("10-ferry.conflist")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_route_stands_once() {
        let cni = Cni {
            conf_dir: "/etc/cni/net.d".into(),
            bin_dir: "/usr/lib/cni".into(),
            bridge: "ferry0".into(),
            data_dir: "/run/ferry/cni".into(),
            mtu: None,
        };
        let list = render_conflist(&cni, &["10.244.0.0/24".into()]);
        let bridge = &list["plugins"][0];
        assert_eq!(bridge["isGateway"], true);
        assert_eq!(bridge["isDefaultGateway"], Value::Null);
        assert_eq!(bridge["ipam"]["ranges"][0][0]["subnet"], "10.244.0.0/24");
        assert_eq!(bridge["ipam"]["routes"][0]["dst"], "0.0.0.0/0");
        assert_eq!(list["plugins"][1]["type"], "portmap");
    }
}
