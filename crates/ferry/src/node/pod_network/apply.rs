//! The kernel's side of the pod network: the tunnel's device, the routes, and what the tunnel
//! knows of the machines behind it. What is there and should not be goes; nothing else of the
//! machine's routes is looked at, because ours carry a protocol number of their own.

use super::offload;
use super::plan::{NetworkPlan, Route, TunnelEnd, VXLAN_OVERHEAD, hardware_address};
use crate::network::find_link;
use anyhow::{Context, Result};
use ferry_api::rules::cidr::Cidr;
use futures_util::TryStreamExt;
use rtnetlink::packet_route::AddressFamily;
use rtnetlink::packet_route::link::LinkAttribute;
use rtnetlink::packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourState};
use rtnetlink::packet_route::route::{RouteAddress, RouteAttribute, RouteMessage, RouteProtocol};
use rtnetlink::{Handle, LinkUnspec, LinkVxlan, RouteMessageBuilder};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

/// The number by which our routes are known; `ip route` shows it as `proto 143`.
const PROTOCOL: RouteProtocol = RouteProtocol::Other(143);
/// The port of flannel's tunnels and of the kernel's own default, so that a firewall that
/// takes the one takes the other.
const VXLAN_PORT: u16 = 8472;

/// The device of the tunnel, and where it ends here.
#[derive(Clone, Debug)]
pub struct Tunnel {
    pub name: String,
    pub vni: u32,
    pub local: Ipv4Addr,
}

/// The link that leads to other machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uplink {
    pub index: u32,
    pub mtu: u32,
}

/// Where packets to an address leave this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    pub link: u32,
    /// By a router, or by the link itself.
    pub has_gateway: bool,
}

/// The link that an address of this machine is on.
pub async fn find_uplink(handle: &Handle, own: Ipv4Addr) -> Result<Uplink> {
    let mut addresses = handle.address().get().set_address_filter(own.into()).execute();
    let found = addresses.try_next().await.context("cannot list addresses")?;
    let index = found.with_context(|| format!("no link of this machine has the address {own}"))?.header.index;
    let mut links = handle.link().get().match_index(index).execute();
    let link = links.try_next().await.context("cannot read a link")?.context("a link vanished")?;
    let mtu = link.attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Mtu(mtu) => Some(*mtu),
        _ => None,
    });
    Ok(Uplink { index, mtu: mtu.unwrap_or(1500) })
}

/// The kernel's choice for an address; `None` where it has no route.
pub async fn find_hop(handle: &Handle, to: Ipv4Addr) -> Option<Hop> {
    let asked = RouteMessageBuilder::<Ipv4Addr>::new().destination_prefix(to, 32).build();
    let found = handle.route().get(asked).execute().try_next().await.ok()??;
    let link = found.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Oif(link) => Some(*link),
        _ => None,
    })?;
    let has_gateway = found.attributes.iter().any(|attribute| matches!(attribute, RouteAttribute::Gateway(_)));
    Some(Hop { link, has_gateway })
}

/// Makes the tunnel's device, or makes it anew where it ends at another address by now.
pub async fn ensure_tunnel(handle: &Handle, tunnel: &Tunnel, range: Option<&Cidr>, uplink: &Uplink) -> Result<u32> {
    let name = &tunnel.name;
    let hardware = hardware_address(tunnel.local).to_vec();
    if let Some(link) = find_link(handle, name).await? {
        let is_ours = link.attributes.iter().any(|a| matches!(a, LinkAttribute::Address(found) if *found == hardware));
        if !is_ours {
            handle.link().del(link.header.index).execute().await.with_context(|| format!("cannot remove {name}"))?;
        }
    }
    if find_link(handle, name).await?.is_none() {
        let link = LinkVxlan::new(name, tunnel.vni)
            .dev(uplink.index)
            .local(tunnel.local)
            .port(VXLAN_PORT)
            .learning(false)
            .address(hardware);
        handle.link().add(link.build()).execute().await.with_context(|| format!("cannot create the tunnel {name}"))?;
        let link = name.clone();
        let switched = tokio::task::spawn_blocking(move || offload::switch_off_checksums(&link)).await?;
        if let Err(error) = switched {
            tracing::warn!(error = format!("{error:#}"), "the tunnel keeps its checksum offload");
        }
        // Packets of a peer that reaches us by the link are answered through the tunnel, or
        // the other way round; the kernel is not to take that for a forgery.
        let _ = std::fs::write(format!("/proc/sys/net/ipv4/conf/{name}/rp_filter"), "2");
    }
    let index = find_link(handle, name).await?.with_context(|| format!("{name} vanished"))?.header.index;
    // A server without a node has no range, and asks through the tunnel with its own address.
    if let Some(IpAddr::V4(inner)) = range.map(Cidr::network) {
        let added = handle.address().add(index, inner.into(), 32).execute().await;
        ignore_present(added).with_context(|| format!("cannot give {name} the address {inner}"))?;
    }
    let mtu = uplink.mtu.saturating_sub(VXLAN_OVERHEAD);
    let change = LinkUnspec::new_with_index(index).mtu(mtu).up().build();
    handle.link().change(change).execute().await.with_context(|| format!("cannot bring {name} up"))?;
    Ok(index)
}

/// Makes routes and tunnel ends what the plan says. A peer that cannot be set is reported and
/// does not keep the others from theirs.
pub async fn apply(handle: &Handle, plan: &NetworkPlan, tunnel: Option<u32>, within: &Cidr) -> Result<()> {
    let mut failure = None;
    // The ends first: a route into the tunnel before its end is known would lose packets.
    if let Some(index) = tunnel {
        for end in &plan.ends {
            failure = add_end(handle, index, end).await.err().or(failure);
        }
    }
    for route in &plan.routes {
        failure = add_route(handle, route, tunnel).await.err().or(failure);
    }
    remove_stale_routes(handle, plan, within).await?;
    if let Some(index) = tunnel {
        remove_stale_ends(handle, index, plan).await?;
    }
    failure.map_or(Ok(()), Err)
}

/// Removes our routes; the tunnel goes with its device.
pub async fn clear(handle: &Handle, within: &Cidr) -> Result<()> {
    remove_stale_routes(handle, &NetworkPlan::default(), within).await
}

async fn add_route(handle: &Handle, route: &Route, tunnel: Option<u32>) -> Result<()> {
    let IpAddr::V4(network) = route.destination.network() else { return Ok(()) };
    let mut message = RouteMessageBuilder::<Ipv4Addr>::new()
        .destination_prefix(network, route.destination.length())
        .gateway(route.gateway)
        .protocol(PROTOCOL);
    if route.through_tunnel {
        let Some(index) = tunnel else { return Ok(()) };
        message = message.output_interface(index).onlink();
    }
    let added = handle.route().add(message.build()).replace().execute().await;
    added.with_context(|| format!("cannot route {} by {}", route.destination, route.gateway))
}

/// Another cluster of this machine has routes of the same kind, in another range.
async fn remove_stale_routes(handle: &Handle, plan: &NetworkPlan, within: &Cidr) -> Result<()> {
    let wanted: BTreeSet<Cidr> = plan.routes.iter().map(|route| route.destination).collect();
    let mut routes = handle.route().get(RouteMessageBuilder::<Ipv4Addr>::new().build()).execute();
    let mut stale: Vec<RouteMessage> = Vec::new();
    while let Some(route) = routes.try_next().await.context("cannot list routes")? {
        if is_ours(&route) && destination(&route).is_some_and(|to| within.covers(&to) && !wanted.contains(&to)) {
            stale.push(route);
        }
    }
    for route in stale {
        handle.route().del(route).execute().await.context("cannot remove a route of a node that is gone")?;
    }
    Ok(())
}

/// Is a route one that was made here?
pub fn is_ours(route: &RouteMessage) -> bool {
    route.header.protocol == PROTOCOL
}

fn destination(route: &RouteMessage) -> Option<Cidr> {
    route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Destination(RouteAddress::Inet(to)) => {
            Cidr::new((*to).into(), route.header.destination_prefix_length)
        }
        _ => None,
    })
}

async fn add_end(handle: &Handle, index: u32, end: &TunnelEnd) -> Result<()> {
    let failed = || format!("cannot note {} behind the tunnel", end.outer);
    let neighbour = handle.neighbours().add(index, end.inner.into());
    let neighbour = neighbour.link_layer_address(&end.hardware).state(NeighbourState::Permanent).replace();
    neighbour.execute().await.with_context(failed)?;
    let forwarding = handle.neighbours().add_bridge(index, &end.hardware);
    let forwarding = forwarding.destination(end.outer.into()).flags(NeighbourFlags::Own).replace();
    forwarding.execute().await.with_context(failed)
}

async fn remove_stale_ends(handle: &Handle, index: u32, plan: &NetworkPlan) -> Result<()> {
    let wanted: BTreeSet<Ipv4Addr> = plan.ends.iter().map(|end| end.inner).collect();
    let hardware: BTreeSet<&[u8]> = plan.ends.iter().map(|end| &end.hardware[..]).collect();
    let mut stale = Vec::new();
    for family in [AddressFamily::Inet, AddressFamily::Bridge] {
        let mut found = handle.neighbours().get().set_address_family(family).execute();
        while let Some(entry) = found.try_next().await.context("cannot list neighbours")? {
            if entry.header.ifindex != index || entry.header.state != NeighbourState::Permanent {
                continue;
            }
            let is_wanted = entry.attributes.iter().any(|attribute| match attribute {
                NeighbourAttribute::Destination(NeighbourAddress::Inet(to)) if family == AddressFamily::Inet => {
                    wanted.contains(to)
                }
                NeighbourAttribute::LinkLayerAddress(at) if family == AddressFamily::Bridge => {
                    hardware.contains(at.as_slice())
                }
                _ => false,
            });
            if !is_wanted {
                stale.push(entry);
            }
        }
    }
    for entry in stale {
        // One that has gone by itself is as good.
        let _ = handle.neighbours().del(entry).execute().await;
    }
    Ok(())
}

fn ignore_present(result: Result<(), rtnetlink::Error>) -> Result<(), rtnetlink::Error> {
    match result {
        Err(rtnetlink::Error::NetlinkError(message)) if message.raw_code() == -nix::libc::EEXIST => Ok(()),
        other => other,
    }
}
