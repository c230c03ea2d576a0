//! DNS answers pods on the bridge and the node itself, and nobody else, however they send
//! their packets to the bridge's address. Real packets between network namespaces; needs root.

use super::{question, serve_with};
use ferry_dns::Config;
use hickory_proto::op::Message;
use hickory_proto::rr::RecordType;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

const DNS: &str = "10.88.0.1:53";
const SILENCE: Duration = Duration::from_millis(500);

type Job = Box<dyn FnOnce() + Send>;

/// A network namespace that lives as long as its thread, which runs in it what it is given.
struct Namespace {
    jobs: mpsc::Sender<Job>,
    thread: i32,
}

impl Namespace {
    fn new() -> Self {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let (started, is_started) = mpsc::channel();
        std::thread::spawn(move || {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).expect("a network namespace, as root");
            started.send(nix::unistd::gettid().as_raw()).expect("the test waits");
            inbox.into_iter().for_each(|job| job());
        });
        let namespace = Self { jobs, thread: is_started.recv().expect("the thread starts") };
        namespace.ip("link set lo up");
        namespace
    }

    fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, is_done) = mpsc::channel();
        let job = move || done.send(work()).expect("the test waits");
        self.jobs.send(Box::new(job)).expect("the thread runs");
        is_done.recv().expect("the work ends well")
    }

    fn ip(&self, arguments: &str) {
        let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
        let output = self.run(move || Command::new("ip").args(words).output().expect("run ip"));
        assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Connects another namespace by a cable, which ends in this interface here.
    fn join(&self, other: &Namespace, name: &str, address: &str, gateway: &str) {
        self.ip(&format!("link add {name} type veth peer name eth0 netns {}", other.thread));
        self.ip(&format!("link set {name} up"));
        other.ip(&format!("addr add {address} dev eth0"));
        other.ip("link set eth0 up");
        other.ip(&format!("route add default via {gateway}"));
    }

    /// Whether DNS answers here, by UDP and by TCP.
    fn is_answered(&self) -> (bool, bool) {
        self.run(|| (ask_udp().is_some(), ask_tcp().is_some()))
    }
}

fn ask_udp() -> Option<Message> {
    let asked = question("none.default.svc.cluster.local.", RecordType::A).to_vec().ok()?;
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.set_read_timeout(Some(SILENCE)).ok()?;
    socket.send_to(&asked, DNS).ok()?;
    let mut buffer = [0; 1500];
    let length = socket.recv(&mut buffer).ok()?;
    Message::from_vec(&buffer[..length]).ok()
}

fn ask_tcp() -> Option<Message> {
    let asked = question("none.default.svc.cluster.local.", RecordType::A).to_vec().ok()?;
    let address: SocketAddr = DNS.parse().ok()?;
    let mut stream = TcpStream::connect_timeout(&address, SILENCE).ok()?;
    stream.set_read_timeout(Some(SILENCE)).ok()?;
    let length = u16::try_from(asked.len()).ok()?;
    stream.write_all(&[&length.to_be_bytes()[..], &asked].concat()).ok()?;
    let mut head = [0; 2];
    stream.read_exact(&mut head).ok()?;
    let mut answer = vec![0; usize::from(u16::from_be_bytes(head))];
    stream.read_exact(&mut answer).ok()?;
    Message::from_vec(&answer).ok()
}

/// A node with a pod bridge, another bridge and a network outside; DNS listens on the pod
/// bridge's address, for packets of these interfaces. Answers who is answered: a pod, the node,
/// a neighbour outside, a container on the other bridge.
fn who_is_answered(devices: &'static [&'static str]) -> [(bool, bool); 4] {
    let (node, pod, neighbour, container) = (Namespace::new(), Namespace::new(), Namespace::new(), Namespace::new());
    for (bridge, address) in [("pods", "10.88.0.1/24"), ("other", "172.17.0.1/24")] {
        node.ip(&format!("link add {bridge} type bridge"));
        node.ip(&format!("addr add {address} dev {bridge}"));
        node.ip(&format!("link set {bridge} up"));
    }
    node.join(&pod, "pod", "10.88.0.5/24", "10.88.0.1");
    node.ip("link set pod master pods");
    node.join(&container, "container", "172.17.0.5/24", "172.17.0.1");
    node.ip("link set container master other");
    node.join(&neighbour, "lan", "192.0.2.2/24", "192.0.2.1");
    node.ip("addr add 192.0.2.1/24 dev lan");

    let (serving, is_serving) = mpsc::channel();
    let (end, is_over) = tokio::sync::oneshot::channel::<()>();
    let server = Namespace { jobs: node.jobs.clone(), thread: node.thread };
    // A thread made in the namespace stays in it: the node's own answers questions meanwhile.
    let thread = server.run(move || {
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let config = Config {
                    bind: vec![DNS.parse().expect("an address")],
                    devices: devices.iter().map(|device| (*device).to_owned()).collect(),
                    ..Default::default()
                };
                let _running = serve_with(config, Vec::new(), Vec::new()).await;
                serving.send(()).expect("the test waits");
                let _ = is_over.await;
            });
        })
    });
    is_serving.recv_timeout(Duration::from_secs(20)).expect("DNS comes up");
    let answered = [&pod, &node, &neighbour, &container].map(Namespace::is_answered);
    drop(end);
    thread.join().expect("DNS ends well");
    answered
}

#[test]
fn neighbours_were_answered_by_the_cluster_dns() {
    const YES: (bool, bool) = (true, true);
    const NO: (bool, bool) = (false, false);
    // The double: an address and no interface, as it was.
    assert_eq!(who_is_answered(&[]), [YES, YES, YES, YES]);
    assert_eq!(who_is_answered(&["pods", "lo"]), [YES, YES, NO, NO]);
}
