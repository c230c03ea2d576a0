//! A small network of namespaces: a node that routes, three pods on its bridge, and someone
//! outside. Everything is made for one test and removed with it; the machine's own namespace is
//! never touched.
//!
//! ```text
//!  outside 192.0.2.2 ---- 192.0.2.1 node 10.244.0.1 ---- bridge ---- pods 10.244.0.11, .12, .13
//!                                    |
//!                                    +-- default route, to nobody
//! ```
//!
//! All have IPv6 addresses too: fd00:10:244::1, ::11 and so on, and fd00:192::1 and ::2. The
//! tests of the network policies use the same world.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ferry_nftables::Kernel;
use nix::sched::{CloneFlags, setns};

/// Long enough for a loaded machine, short enough for a test that expects silence.
pub const PATIENCE: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_millis(700);

pub const NODE: &str = "node";
pub const OUTSIDE: &str = "out";
pub const PODS: [&str; 3] = ["pod1", "pod2", "pod3"];

/// All pods serve here, by TCP and by UDP.
pub const POD_PORT: u16 = 8080;

pub fn pod_address(pod: &str) -> String {
    let index = PODS.iter().position(|name| *name == pod).expect("a pod of ours");
    format!("10.244.0.{}", 11 + index)
}

pub fn pod_address6(pod: &str) -> String {
    let index = PODS.iter().position(|name| *name == pod).expect("a pod of ours");
    format!("fd00:10:244::{}", 11 + index)
}

pub struct World {
    prefix: String,
}

impl World {
    pub fn new() -> World {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("fpx{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let world = World { prefix };
        for name in [NODE, OUTSIDE].iter().chain(&PODS) {
            ip(&format!("netns add {}", world.namespace(name)));
            ip(&format!("-n {} link set lo up", world.namespace(name)));
            // Addresses are used at once, and not after a second of looking for others with them.
            world.within(name, || {
                for key in ["accept_dad", "dad_transmits"] {
                    std::fs::write(format!("/proc/sys/net/ipv6/conf/default/{key}"), "0").expect("a setting");
                }
            });
        }
        let node = world.namespace(NODE);
        ip(&format!("-n {node} link add br0 type bridge mcast_snooping 0"));
        ip(&format!("-n {node} addr add 10.244.0.1/24 dev br0"));
        ip(&format!("-n {node} addr add fd00:10:244::1/64 dev br0 nodad"));
        ip(&format!("-n {node} link set br0 up"));
        for pod in PODS {
            world.join(pod, &format!("{}/24", pod_address(pod)), "10.244.0.1");
            world.join6(pod, &format!("{}/64", pod_address6(pod)), "fd00:10:244::1");
            ip(&format!("-n {node} link set {pod} master br0"));
            // A pod that calls itself through its Service comes back out of the port it came in.
            ip(&format!("-n {node} link set {pod} type bridge_slave hairpin on"));
        }
        world.join(OUTSIDE, "192.0.2.2/24", "192.0.2.1");
        ip(&format!("-n {node} addr add 192.0.2.1/24 dev {OUTSIDE}"));
        ip(&format!("-n {node} addr add fd00:192::1/64 dev {OUTSIDE} nodad"));
        world.join6(OUTSIDE, "fd00:192::2/64", "fd00:192::1");
        // As on any node: what has no route of its own, cluster IPs among it, goes elsewhere.
        ip(&format!("-n {node} link add uplink type veth peer name nowhere"));
        ip(&format!("-n {node} addr add 203.0.113.1/24 dev uplink"));
        ip(&format!("-n {node} link set uplink up"));
        ip(&format!("-n {node} link set nowhere up"));
        ip(&format!("-n {node} route add default via 203.0.113.2"));
        ip(&format!("-n {node} addr add fd00:203::1/64 dev uplink nodad"));
        ip(&format!("-n {node} -6 route add default via fd00:203::2"));
        world.within(NODE, || {
            std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").expect("forwarding");
            // Without this, pods of one bridge answer each other past the node, untranslated.
            std::fs::write("/proc/sys/net/bridge/bridge-nf-call-iptables", "1").expect("br_netfilter");
            std::fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").expect("forwarding");
            std::fs::write("/proc/sys/net/bridge/bridge-nf-call-ip6tables", "1").expect("br_netfilter");
        });
        for pod in PODS {
            world.serve(pod);
        }
        world
    }

    fn namespace(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// A link between the node and another, named after it on the node's side.
    fn join(&self, name: &str, address: &str, gateway: &str) {
        let (node, other) = (self.namespace(NODE), self.namespace(name));
        ip(&format!("-n {node} link add {name} type veth peer name eth0 netns {other}"));
        ip(&format!("-n {node} link set {name} up"));
        ip(&format!("-n {other} addr add {address} dev eth0"));
        ip(&format!("-n {other} link set eth0 up"));
        ip(&format!("-n {other} route add default via {gateway}"));
    }

    fn join6(&self, name: &str, address: &str, gateway: &str) {
        let other = self.namespace(name);
        ip(&format!("-n {other} addr add {address} dev eth0 nodad"));
        ip(&format!("-n {other} -6 route add default via {gateway}"));
    }

    /// Runs `ip` for a namespace.
    pub fn ip_within(&self, name: &str, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.namespace(name)));
    }

    /// What `ip` says of a namespace.
    pub fn ip_output(&self, name: &str, arguments: &str) -> String {
        ip(&format!("-n {} {arguments}", self.namespace(name)))
    }

    /// The node's kernel, as far as nftables goes.
    pub fn kernel(&self) -> Kernel {
        self.within(NODE, || Kernel::open().expect("a netfilter socket"))
    }

    /// What nft says on the node.
    pub fn nft_output(&self, arguments: &str) -> String {
        let output = Command::new("ip")
            .args(["netns", "exec", &self.namespace(NODE), "nft"])
            .args(arguments.split(' '))
            .output()
            .expect("run nft");
        assert!(output.status.success(), "nft {arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Loads rules that are somebody else's on the node.
    pub fn nft_load(&self, script: &str) {
        let mut child = Command::new("ip")
            .args(["netns", "exec", &self.namespace(NODE), "nft", "-f", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("run nft");
        child.stdin.take().expect("its input").write_all(script.as_bytes()).expect("the script is written");
        assert!(child.wait().expect("nft ends").success(), "{script}");
    }

    /// Runs something in a namespace, on a thread that ends in it.
    pub fn within<T: Send>(&self, name: &str, work: impl FnOnce() -> T + Send) -> T {
        let path = format!("/run/netns/{}", self.namespace(name));
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                enter(&path);
                work()
            });
            thread.join().expect("the thread in the namespace")
        })
    }

    /// Starts the servers of a pod: they answer with the pod's name and the caller's address.
    fn serve(&self, pod: &'static str) {
        let (tcp, udp) = self.within(pod, || {
            let address = ("::", POD_PORT);
            (TcpListener::bind(address).expect("bind"), UdpSocket::bind(address).expect("bind"))
        });
        // A socket stays in the namespace that it was made in. The threads end with the test.
        std::thread::spawn(move || {
            for mut stream in tcp.incoming().flatten() {
                if let Ok(peer) = stream.peer_addr() {
                    let _ = write!(stream, "{pod} {}", peer.ip().to_canonical());
                }
            }
        });
        std::thread::spawn(move || {
            let mut buffer = [0; 64];
            while let Ok((_, peer)) = udp.recv_from(&mut buffer) {
                let _ = udp.send_to(format!("{pod} {}", peer.ip().to_canonical()).as_bytes(), peer);
            }
        });
    }

    /// Who answers a new TCP connection, and whom it saw.
    pub fn tcp(&self, from: &str, to: &str) -> Answer {
        let address: SocketAddr = to.parse().expect("an address");
        self.within(from, || {
            Answer::of(TcpStream::connect_timeout(&address, PATIENCE).and_then(|mut stream| {
                stream.set_read_timeout(Some(PATIENCE))?;
                let mut text = String::new();
                stream.read_to_string(&mut text)?;
                Ok(text)
            }))
        })
    }

    /// The same by UDP, each call from a new port.
    pub fn udp(&self, from: &str, to: &str) -> Answer {
        self.within(from, || {
            let exchange = || {
                let socket = UdpSocket::bind("[::]:0")?;
                socket.set_read_timeout(Some(PATIENCE))?;
                socket.connect(to)?;
                socket.send(b"?")?;
                let mut buffer = [0; 64];
                let length = socket.recv(&mut buffer)?;
                Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
            };
            Answer::of(exchange())
        })
    }

    /// Whether a connection attempt meets nothing but silence.
    pub fn is_silent(&self, from: &str, to: &str) -> bool {
        let address: SocketAddr = to.parse().expect("an address");
        self.within(from, || {
            matches!(TcpStream::connect_timeout(&address, SILENCE), Err(error) if error.kind() == ErrorKind::TimedOut)
        })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for name in [NODE, OUTSIDE].iter().chain(&PODS) {
            let _ = Command::new("ip").args(["netns", "del", &self.namespace(name)]).status();
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    From { pod: String, saw: String },
    Refused,
    Failed(String),
}

impl Answer {
    fn of(result: std::io::Result<String>) -> Answer {
        match result {
            Ok(text) => match text.split_once(' ') {
                Some((pod, saw)) => Answer::From { pod: pod.to_string(), saw: saw.to_string() },
                None => Answer::Failed(format!("an odd answer: {text:?}")),
            },
            // A sender on the node itself learns of the rejection from its own system call.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::PermissionDenied) => {
                Answer::Refused
            }
            Err(error) => Answer::Failed(error.to_string()),
        }
    }

    #[track_caller]
    pub fn pod(self) -> String {
        self.parts().0
    }

    #[track_caller]
    pub fn parts(self) -> (String, String) {
        match self {
            Answer::From { pod, saw } => (pod, saw),
            other => panic!("no pod answered: {other:?}"),
        }
    }
}

fn enter(path: &str) {
    let namespace = File::open(path).expect("the namespace's file");
    setns(namespace, CloneFlags::CLONE_NEWNET).expect("enter the namespace (this test needs root)");
}

fn ip(arguments: &str) -> String {
    let output = Command::new("ip").args(arguments.split(' ')).output().expect("run ip");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
