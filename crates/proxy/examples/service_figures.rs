//! How long a table of services takes to load and to change, beside `nft -f` of the same; in a
//! network namespace of its own. Needs root and `nft`.
//!
//! `cargo run --release -p ferry-proxy --example service_figures [services endpoints]…`; without
//! arguments, 5,000 services of 50 endpoints and 44,000 of 2.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ferry_api::rules::key::ObjectKey;
use ferry_nftables::{Family, Kernel, Protocol, Ruleset, Transaction};
use ferry_proxy::{Config, Endpoint, ServicePort, TrafficPolicy, render_frame, render_service};

fn main() {
    let arguments: Vec<u32> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes: Vec<(u32, u32)> = match arguments.as_slice() {
        [] => vec![(5_000, 50), (44_000, 2)],
        given => given.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
    };
    for (services, endpoints) in sizes {
        let thread = std::thread::spawn(move || {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).expect("a network namespace, as root");
            measure(services, endpoints);
        });
        thread.join().expect("the measurement");
    }
}

fn address(base: [u8; 2], number: u32) -> IpAddr {
    Ipv4Addr::from(u32::from_be_bytes([base[0], base[1], 0, 0]) + number).into()
}

/// A Service whose endpoints start at a number.
fn port(number: u32, endpoints: u32, first: u32) -> ServicePort {
    let endpoints: Vec<Endpoint> = (0..endpoints)
        .map(|index| Endpoint { address: address([10, 128], first + index), port: 8080, local: index == 0 })
        .collect();
    ServicePort {
        family: Family::V4,
        label: "http".into(),
        protocol: Protocol::Tcp,
        port: 80,
        cluster_ip: address([10, 96], number),
        external_ips: Vec::new(),
        load_balancer_ips: Vec::new(),
        source_ranges: Vec::new(),
        node_port: None,
        affinity_seconds: None,
        internal_policy: TrafficPolicy::Cluster,
        external_policy: TrafficPolicy::Cluster,
        has_endpoints: !endpoints.is_empty(),
        cluster_endpoints: endpoints,
        local_endpoints: Vec::new(),
    }
}

struct Table {
    config: Config,
    ruleset: Ruleset<ObjectKey>,
}

impl Table {
    fn replace(&mut self, number: u32, port: &ServicePort, transaction: &mut Transaction) {
        let key = ObjectKey::new("default", format!("service-{number}"));
        let rules = render_service(&key, std::slice::from_ref(port), &self.config);
        self.ruleset.replace(&key, rules, transaction);
    }
}

fn measure(services: u32, endpoints: u32) {
    println!("{services} services, {} endpoints", services * endpoints);
    let kernel = Kernel::open().expect("a netfilter socket");
    let config = Config {
        cluster_cidrs: vec!["10.128.0.0/9".parse().expect("a range")],
        service_cidrs: vec!["10.96.0.0/12".parse().expect("a range")],
        ..Config::new("here")
    };
    let mut table = Table { ruleset: Ruleset::default(), config };
    let started = Instant::now();
    let mut ignored = Transaction::new("ferry");
    for number in 0..services {
        table.replace(number, &port(number, endpoints, number * endpoints), &mut ignored);
    }
    drop(ignored);
    let mut whole = render_frame(&table.config);
    table.ruleset.add_all(&mut whole);
    let computed = started.elapsed();
    kernel.apply_blocking(&whole).expect("the table is loaded");
    let first = started.elapsed();
    println!(
        "  first load          {first:>10.1?}, of it rendering {computed:.1?}; {} MB resident at most",
        peak_megabytes()
    );
    let script = whole.script();
    drop(whole);

    let mut changes: Vec<Duration> = (0..20).map(|round| change(&mut table, &kernel, endpoints, round)).collect();
    changes.sort();
    println!("  one change          {:>10.1?} at the median, {:.1?} at most", changes[10], changes[19]);

    let by_nft = time_nft(&script);
    println!("  first load by nft   {by_nft:>10.1?}, {:.2}x of it by us", first.as_secs_f64() / by_nft.as_secs_f64());
    let mut by_nft: Vec<Duration> =
        (0..5).map(|round| time_nft(&next_change(&mut table, endpoints, 100 + round).script())).collect();
    by_nft.sort();
    println!(
        "  one change by nft   {:>10.1?}, {:.3}x of it by us",
        by_nft[2],
        changes[10].as_secs_f64() / by_nft[2].as_secs_f64()
    );
}

/// One endpoint of one service goes and another comes.
fn next_change(table: &mut Table, endpoints: u32, round: u32) -> Transaction {
    let mut transaction = Transaction::new("ferry");
    let number = round * 7;
    table.replace(number, &port(number, endpoints, number * endpoints + 1 + round), &mut transaction);
    table.ruleset.settle(&mut transaction);
    transaction
}

fn change(table: &mut Table, kernel: &Kernel, endpoints: u32, round: u32) -> Duration {
    let started = Instant::now();
    let transaction = next_change(table, endpoints, round);
    kernel.apply_blocking(&transaction).expect("the change is loaded");
    started.elapsed()
}

fn time_nft(script: &str) -> Duration {
    let started = Instant::now();
    let mut child = Command::new("nft").args(["-f", "-"]).stdin(Stdio::piped()).spawn().expect("run nft");
    child.stdin.take().expect("its input").write_all(script.as_bytes()).expect("the script is written");
    assert!(child.wait().expect("nft ends").success());
    started.elapsed()
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}
