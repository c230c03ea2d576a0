//! This machine's name and addresses, and the bridge that pods hang on.

use anyhow::{Context, Result, bail};
use ferry_api::rules::cidr::{Cidr, masked};
use futures_util::TryStreamExt;
use rtnetlink::packet_route::link::{LinkAttribute, LinkMessage};
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

/// The networks that this machine's links are in, by the name of the link.
pub fn networks() -> Vec<(String, Cidr)> {
    let Ok(interfaces) = nix::ifaddrs::getifaddrs() else { return Vec::new() };
    let found = interfaces.filter_map(|interface| {
        let address = interface.address.as_ref()?.as_sockaddr_in()?.ip();
        let mask = interface.netmask.as_ref()?.as_sockaddr_in()?.ip();
        let length = u8::try_from(u32::from(mask).leading_ones()).ok()?;
        // One address alone is no network: it overlaps nothing that others have.
        (!address.is_loopback() && length < 32).then(|| {
            Cidr::new(masked(address.into(), length), length).map(|network| (interface.interface_name, network))
        })?
    });
    found.collect()
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
///
/// Its hardware address is set, to what it is: a bridge whose address nobody has set takes
/// the lowest of its ports', and so another one whenever a pod comes or goes. A pod that has
/// just learned the old one would answer to nobody for some seconds.
pub async fn ensure_bridge(name: &str, gateway: Ipv4Addr, bits: u8) -> Result<()> {
    let (connection, handle, _) = rtnetlink::new_connection().context("cannot open a netlink socket")?;
    let connection = tokio::spawn(connection);
    let result = async {
        if find_link(&handle, name).await?.is_none() {
            handle
                .link()
                .add(rtnetlink::LinkBridge::new(name).up().build())
                .execute()
                .await
                .with_context(|| format!("cannot create the bridge {name}"))?;
        }
        let bridge = find_link(&handle, name).await?.with_context(|| format!("the bridge {name} vanished"))?;
        let index = bridge.header.index;
        match handle.address().add(index, gateway.into(), bits).execute().await {
            Ok(()) => {}
            Err(rtnetlink::Error::NetlinkError(message)) if message.raw_code() == -nix::libc::EEXIST => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot give {name} the address {gateway}/{bits}"));
            }
        }
        let mut change = rtnetlink::LinkUnspec::new_with_index(index).up();
        if let Some(address) = hardware_address(&bridge) {
            change = change.address(address.to_vec());
        }
        handle.link().change(change.build()).execute().await.with_context(|| format!("cannot bring {name} up"))
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
        match find_link(&handle, name).await? {
            Some(link) => handle
                .link()
                .del(link.header.index)
                .execute()
                .await
                .with_context(|| format!("cannot remove the link {name}")),
            None => Ok(()),
        }
    }
    .await;
    connection.abort();
    result
}

/// The number of a link that is there.
pub async fn link_index(name: &str) -> Option<u32> {
    let (connection, handle, _) = rtnetlink::new_connection().ok()?;
    let _connection = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(connection));
    find_link(&handle, name).await.ok().flatten().map(|link| link.header.index)
}

pub async fn find_link(handle: &rtnetlink::Handle, name: &str) -> Result<Option<LinkMessage>> {
    let mut links = handle.link().get().execute();
    while let Some(link) = links.try_next().await.context("cannot list network links")? {
        if is_named(&link, name) {
            return Ok(Some(link));
        }
    }
    Ok(None)
}

pub fn is_named(link: &LinkMessage, name: &str) -> bool {
    link.attributes.iter().any(|attribute| matches!(attribute, LinkAttribute::IfName(found) if found == name))
}

fn hardware_address(link: &LinkMessage) -> Option<&[u8]> {
    link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Address(address) => Some(address.as_slice()),
        _ => None,
    })
}

/// What the kernel must do for pods: route between interfaces, and let the firewall see
/// traffic between pods on one bridge, without which an answer to a Service's caller on
/// the same node would not be translated back.
pub fn allow_forwarding() -> Result<()> {
    set("net/ipv4/ip_forward", "1")?;
    set("net/bridge/bridge-nf-call-iptables", "1")?;
    // Pods have link-local addresses, by which they would reach each other past every policy.
    if std::path::Path::new("/proc/sys/net/bridge/bridge-nf-call-ip6tables").exists() {
        set("net/bridge/bridge-nf-call-ip6tables", "1")?;
    }
    Ok(())
}

fn set(key: &str, value: &str) -> Result<()> {
    let path = format!("/proc/sys/{key}");
    if std::fs::read_to_string(&path).is_ok_and(|now| now.trim() == value) {
        return Ok(());
    }
    std::fs::write(&path, value).with_context(|| format!("cannot set {} to {value}", key.replace('/', ".")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtnetlink::{LinkBridge, LinkUnspec, LinkVeth};

    const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 88, 0, 1);

    /// Runs with links of its own: a thread in a network namespace that ends with it.
    fn with_own_links<F: Future<Output = ()>>(work: impl FnOnce(rtnetlink::Handle) -> F + Send + 'static) {
        let thread = std::thread::spawn(|| {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).expect("a network namespace, as root");
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let (connection, handle, _) = rtnetlink::new_connection().expect("a netlink socket");
                tokio::spawn(connection);
                work(handle).await;
            });
        });
        thread.join().expect("it holds");
    }

    async fn address_of(handle: &rtnetlink::Handle, name: &str) -> Vec<u8> {
        let link = find_link(handle, name).await.expect("links are listed").expect("the link is there");
        hardware_address(&link).expect("it has an address").to_vec()
    }

    /// A pod's end of a cable in the bridge, with an address that any bridge would prefer.
    async fn join(handle: &rtnetlink::Handle, bridge: &str) {
        handle.link().add(LinkVeth::new("pod", "peer").build()).execute().await.expect("a cable");
        let index = |link: Option<LinkMessage>| link.expect("it is there").header.index;
        let bridge = index(find_link(handle, bridge).await.expect("links are listed"));
        let pod = index(find_link(handle, "pod").await.expect("links are listed"));
        let change = LinkUnspec::new_with_index(pod).address(vec![2, 0, 0, 0, 0, 1]).controller(bridge).up();
        handle.link().change(change.build()).execute().await.expect("it joins the bridge");
    }

    #[test]
    fn a_bridge_keeps_its_hardware_address_when_pods_come() {
        with_own_links(|handle| async move {
            ensure_bridge("b", GATEWAY, 24).await.expect("a bridge");
            let before = address_of(&handle, "b").await;
            join(&handle, "b").await;
            assert_eq!(address_of(&handle, "b").await, before);
        });
    }

    #[test]
    fn a_bridge_that_was_there_keeps_the_address_that_its_pods_know() {
        with_own_links(|handle| async move {
            handle.link().add(LinkBridge::new("b").up().build()).execute().await.expect("a bridge");
            let before = address_of(&handle, "b").await;
            ensure_bridge("b", GATEWAY, 24).await.expect("a bridge");
            ensure_bridge("b", GATEWAY, 24).await.expect("the same bridge");
            join(&handle, "b").await;
            assert_eq!(address_of(&handle, "b").await, before);
        });
    }
}
