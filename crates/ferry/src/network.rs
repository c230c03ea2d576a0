//! This machine's name and addresses, and the bridge that pods hang on.

use anyhow::{Context, Result, bail};
use futures_util::TryStreamExt;
use rtnetlink::packet_route::link::LinkAttribute;
use std::net::{IpAddr, Ipv4Addr};

/// The host's name as a node's name: lower case, as upstream makes it.
pub fn host_name() -> Result<String> {
    let name = nix::unistd::gethostname().context("cannot read the host's name")?;
    let name = name.to_string_lossy().trim().to_lowercase();
    if name.is_empty() {
        bail!("this machine has no host name; set one, or give --node-name");
    }
    Ok(name)
}

/// Every address of this machine but loopback and link-local ones.
pub fn addresses() -> Vec<IpAddr> {
    let Ok(interfaces) = nix::ifaddrs::getifaddrs() else { return Vec::new() };
    interfaces
        .filter_map(|interface| {
            let address = interface.address?;
            let ip: IpAddr = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
                (Some(v4), _) => v4.ip().into(),
                (_, Some(v6)) => v6.ip().into(),
                _ => return None,
            };
            let link_local = match ip {
                IpAddr::V4(v4) => v4.is_link_local(),
                IpAddr::V6(v6) => v6.is_unicast_link_local(),
            };
            (!ip.is_loopback() && !link_local).then_some(ip)
        })
        .collect()
}

pub fn has_address(ip: IpAddr) -> bool {
    addresses().contains(&ip)
}

/// The address other machines reach this one by: the source address of the default
/// route, else the first address there is.
pub fn primary_address() -> Result<IpAddr> {
    // Connecting a UDP socket sends nothing; it only asks the kernel for a route.
    let routed = std::net::UdpSocket::bind("0.0.0.0:0")
        .and_then(|socket| socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()))
        .map(|address| address.ip())
        .ok()
        .filter(|ip| !ip.is_loopback() && !ip.is_unspecified());
    routed
        .or_else(|| addresses().into_iter().find(IpAddr::is_ipv4))
        .context("this machine has no address but loopback; give one with --node-ip")
}

/// Makes the bridge with its gateway address before the first pod does, so that DNS can
/// listen there. The CNI plugin then finds it and leaves it as it is.
pub async fn ensure_bridge(name: &str, gateway: Ipv4Addr, bits: u8) -> Result<()> {
    let (connection, handle, _) = rtnetlink::new_connection().context("cannot open a netlink socket")?;
    let connection = tokio::spawn(connection);
    let result = async {
        if link_index(&handle, name).await?.is_none() {
            handle
                .link()
                .add(rtnetlink::LinkBridge::new(name).up().build())
                .execute()
                .await
                .with_context(|| format!("cannot create the bridge {name}"))?;
        }
        let index = link_index(&handle, name).await?.with_context(|| format!("the bridge {name} vanished"))?;
        match handle.address().add(index, gateway.into(), bits).execute().await {
            Ok(()) => {}
            Err(rtnetlink::Error::NetlinkError(message)) if message.raw_code() == -nix::libc::EEXIST => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot give {name} the address {gateway}/{bits}"));
            }
        }
        handle
            .link()
            .change(rtnetlink::LinkUnspec::new_with_index(index).up().build())
            .execute()
            .await
            .with_context(|| format!("cannot bring {name} up"))
    }
    .await;
    connection.abort();
    result
}

/// Removes a link if it is there.
pub async fn remove_link(name: &str) -> Result<()> {
    let (connection, handle, _) = rtnetlink::new_connection().context("cannot open a netlink socket")?;
    let connection = tokio::spawn(connection);
    let result = async {
        match link_index(&handle, name).await? {
            Some(index) => {
                handle.link().del(index).execute().await.with_context(|| format!("cannot remove the link {name}"))
            }
            None => Ok(()),
        }
    }
    .await;
    connection.abort();
    result
}

async fn link_index(handle: &rtnetlink::Handle, name: &str) -> Result<Option<u32>> {
    let mut links = handle.link().get().execute();
    while let Some(link) = links.try_next().await.context("cannot list network links")? {
        if link.attributes.iter().any(|a| matches!(a, LinkAttribute::IfName(n) if n == name)) {
            return Ok(Some(link.header.index));
        }
    }
    Ok(None)
}

/// What the kernel must do for pods: route between interfaces, and let the firewall see
/// traffic between pods on one bridge, without which an answer to a Service's caller on
/// the same node would not be translated back.
pub fn allow_forwarding() -> Result<()> {
    set("net/ipv4/ip_forward", "1")?;
    set("net/bridge/bridge-nf-call-iptables", "1")
}

fn set(key: &str, value: &str) -> Result<()> {
    let path = format!("/proc/sys/{key}");
    if std::fs::read_to_string(&path).is_ok_and(|now| now.trim() == value) {
        return Ok(());
    }
    std::fs::write(&path, value).with_context(|| format!("cannot set {} to {value}", key.replace('/', ".")))
}
