//! The attack on the host's loopback network (the class of CVE-2020-8558): a hostPort makes the
//! CNI plugin portmap set `route_localnet` on the bridge, and a pod or a neighbour then sends to
//! 127.0.0.1 by way of the node. Run against a node that is careless, where every attempt gets
//! an answer, and against one with ferry's table, where none does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use super::world::{NODE, OUTSIDE, World, pod_address};
use super::{Cluster, config, node_port, on_node};

/// A server of the host that trusts its loopback, as a database without a password does.
const TRUSTING: &str = "127.0.0.1:9099";
const SECRET: &str = "a secret";
/// Enough for an answer over a veth pair; silence costs as much.
const SILENCE: Duration = Duration::from_millis(500);

/// The interfaces of the node by which packets come that are not the host's own.
const FOREIGN: [&str; 2] = ["br0", OUTSIDE];

fn set(key: &str, value: &str) {
    std::fs::write(format!("/proc/sys/net/ipv4/{key}"), value).unwrap_or_else(|error| panic!("{key}: {error}"));
}

/// A node on which a pod has a hostPort, and attackers that route loopback to it.
fn open_loopback(world: &World) {
    world.within(NODE, || {
        for interface in FOREIGN {
            set(&format!("conf/{interface}/route_localnet"), "1");
        }
    });
    for (attacker, gateway) in [("pod1", "10.244.0.1"), (OUTSIDE, "192.0.2.1")] {
        world.within(attacker, || set("conf/eth0/route_localnet", "1"));
        world.ip_within(attacker, "addr del 127.0.0.1/8 dev lo");
        world.ip_within(attacker, &format!("route add 127.0.0.0/8 via {gateway}"));
    }
    let (tcp, udp) =
        world.within(NODE, || (TcpListener::bind(TRUSTING).expect("bind"), UdpSocket::bind(TRUSTING).expect("bind")));
    std::thread::spawn(move || {
        for mut stream in tcp.incoming().flatten() {
            let _ = stream.write_all(SECRET.as_bytes());
        }
    });
    std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while let Ok((_, peer)) = udp.recv_from(&mut buffer) {
            let _ = udp.send_to(SECRET.as_bytes(), peer);
        }
    });
}

fn ask_tcp(world: &World, from: &str, to: &str) -> Option<String> {
    let address: SocketAddr = to.parse().expect("an address");
    world.within(from, || {
        let mut stream = TcpStream::connect_timeout(&address, SILENCE).ok()?;
        stream.set_read_timeout(Some(SILENCE)).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        Some(text)
    })
}

fn ask_udp(world: &World, from: &str, to: &str) -> Option<String> {
    world.within(from, || {
        let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
        socket.set_read_timeout(Some(SILENCE)).ok()?;
        socket.connect(to).ok()?;
        socket.send(b"?").ok()?;
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
    })
}

/// The callers that the host's loopback answered, with the protocol.
fn answered(world: &World) -> Vec<String> {
    let mut answered = Vec::new();
    for from in ["pod1", OUTSIDE] {
        for (protocol, ask) in [("tcp", ask_tcp as fn(&World, &str, &str) -> Option<String>), ("udp", ask_udp)] {
            if let Some(text) = ask(world, from, TRUSTING) {
                assert_eq!(text, SECRET);
                answered.push(format!("{from} by {protocol}"));
            }
        }
    }
    answered
}

#[test]
fn the_hosts_loopback_answered_pods_and_neighbours() {
    // The double: a node as portmap leaves it, without our table.
    let world = World::new();
    open_loopback(&world);
    assert_eq!(answered(&world), ["pod1 by tcp", "pod1 by udp", "out by tcp", "out by udp"]);

    // The chain alone, as it stands before any Service is known, and a second time.
    let config = config();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for _ in 0..2 {
        on_node(&world, &runtime, ferry_proxy::guard_loopback(&config)).expect("the chain is loaded");
        assert_eq!(answered(&world), Vec::<String>::new());
    }
    assert_eq!(ask_tcp(&world, NODE, TRUSTING).as_deref(), Some(SECRET), "the host's own loopback is left alone");
    assert_eq!(ask_udp(&world, NODE, TRUSTING).as_deref(), Some(SECRET));

    on_node(&world, &runtime, ferry_proxy::cleanup(&config)).expect("cleanup");
    assert_eq!(world.nft_output("list tables"), "");
}

#[test]
fn the_whole_table_guards_loopback_and_lets_host_ports_through() {
    let mut cluster = Cluster::new();
    open_loopback(&cluster.world);
    assert_eq!(answered(&cluster.world), Vec::<String>::new());

    // A node port does not answer on loopback, and loads its rules beside the guard.
    cluster.apply("web", node_port("Cluster"), &["pod2"], &[]);
    for from in ["pod1", OUTSIDE] {
        assert_eq!(ask_tcp(&cluster.world, from, "127.0.0.1:30080"), None, "{from}");
    }
    assert_eq!(cluster.world.tcp(OUTSIDE, "192.0.2.1:30080").pod(), "pod2");
    // Loading the guard again touches nothing of that.
    cluster.on_node(ferry_proxy::guard_loopback(&cluster.config)).expect("the chain is loaded");
    assert_eq!(cluster.world.tcp(OUTSIDE, "192.0.2.1:30080").pod(), "pod2");

    // The rules of portmap for a hostPort: destinations translated, loopback sources masqueraded.
    let pod = pod_address("pod3");
    cluster.world.nft_load(&format!(
        "table ip portmap {{
            chain in {{ type nat hook prerouting priority -100; fib daddr type local tcp dport 8081 dnat to {pod}:8080; }}
            chain out {{ type nat hook output priority -100; fib daddr type local tcp dport 8081 dnat to {pod}:8080; }}
            chain post {{ type nat hook postrouting priority 100; ip saddr 127.0.0.0/8 oifname br0 masquerade; }}
        }}\n"
    ));
    assert_eq!(cluster.world.tcp(NODE, "127.0.0.1:8081").pod(), "pod3", "a hostPort by the host's loopback");
    assert_eq!(cluster.world.tcp(OUTSIDE, "192.0.2.1:8081").pod(), "pod3", "a hostPort from outside");
}
