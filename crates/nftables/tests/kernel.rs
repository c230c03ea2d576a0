//! What the kernel makes of our messages, beside what `nft -f` makes of the same in words. In
//! network namespaces of the tests' own; needs root and `nft`.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ferry_nftables::{
    Base, Chain, Family, Field, Hook, Kernel, Key, KeyType, LiveTable, OwnedRules, Protocol, Set, Side, Statement,
    Transaction, Verdict,
};

/// Runs on a thread with a network of its own, which ends with it.
fn with_own_network<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).expect("a network namespace, as root");
            work()
        });
        thread.join().expect("the thread in the namespace")
    })
}

fn nft(arguments: &[&str], input: &str) -> String {
    let mut child = Command::new("nft")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run nft");
    child.stdin.take().expect("its input").write_all(input.as_bytes()).expect("the script is written");
    let output = child.wait_with_output().expect("nft ends");
    assert!(output.status.success(), "nft: {}\n{input}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn list() -> String {
    nft(&["list", "ruleset"], "")
}

fn load(transaction: &Transaction) {
    let kernel = Kernel::open().expect("a socket");
    kernel.apply_blocking(transaction).unwrap_or_else(|error| panic!("{error}\n{}", transaction.script()));
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn target(text: &str) -> SocketAddr {
    text.parse().expect("an address and a port")
}

fn address(side: Side, family: Family) -> Field {
    Field::Address(side, family)
}

fn jump(chain: &str) -> Statement {
    Statement::Verdict(Verdict::Jump(chain.into()))
}

/// A table with every statement there is.
fn everything() -> Transaction {
    let mut table = Transaction::replacement("t");
    for (family, suffix) in [(Family::V4, '4'), (Family::V6, '6')] {
        let service = [KeyType::Address(family), KeyType::Protocol, KeyType::Port];
        table.add_set(Set::map(format!("services{suffix}"), service));
        table.add_set(Set::new(
            format!("hairpin{suffix}"),
            [KeyType::Address(family), KeyType::Address(family), KeyType::Protocol, KeyType::Port],
        ));
        table.add_set(Set {
            timeout: Some(Duration::from_secs(10_800)),
            ..Set::new(format!("sticky{suffix}"), [KeyType::Address(family)])
        });
        table.add_set(Set::new(format!("addresses{suffix}"), [KeyType::Address(family)]));
    }
    table.add_set(Set::map("nodeports", [KeyType::Protocol, KeyType::Port]));

    let mut rules = vec![
        vec![Statement::Established, Statement::Verdict(Verdict::Accept)],
        vec![Statement::New, jump("empty")],
        vec![Statement::NeighborDiscovery, Statement::Verdict(Verdict::Accept)],
        vec![Statement::Mark(0x4000)],
        vec![
            Statement::Interface { side: Side::Source, name: "lo".into(), same: false },
            Statement::Verdict(Verdict::Drop),
        ],
        vec![
            Statement::Interface { side: Side::Destination, name: "ferry-bridge0".into(), same: true },
            Statement::Verdict(Verdict::Return),
        ],
        vec![
            Statement::Protocol(Protocol::Sctp),
            Statement::Ports { first: 80, last: 80 },
            Statement::Verdict(Verdict::Accept),
        ],
        vec![
            Statement::Protocol(Protocol::Udp),
            Statement::Ports { first: 8000, last: 9000 },
            Statement::Verdict(Verdict::Accept),
        ],
        vec![Statement::Local(Side::Destination), Statement::Local(Side::Source), jump("empty")],
    ];
    for range in ["10.0.0.0/8", "10.16.0.0/12", "192.0.2.1/32", "0.0.0.0/0", "fd00::/8", "fd00::/13", "::1/128"] {
        let cidr = range.parse().expect("a range");
        rules.push(vec![Statement::Range { side: Side::Source, cidr, within: true }, jump("empty")]);
        if range != "0.0.0.0/0" {
            rules.push(vec![Statement::Range { side: Side::Destination, cidr, within: false }, jump("empty")]);
        }
    }
    for (family, suffix) in [(Family::V4, '4'), (Family::V6, '6')] {
        let source = address(Side::Source, family);
        let destination = address(Side::Destination, family);
        rules.push(vec![Statement::Dispatch {
            key: vec![destination, Field::Protocol, Field::DestinationPort],
            map: format!("services{suffix}").into(),
        }]);
        rules.push(vec![
            Statement::Member { key: vec![source], set: format!("addresses{suffix}").into() },
            Statement::Verdict(Verdict::Drop),
        ]);
        rules.push(vec![Statement::Remember { key: vec![source], set: format!("sticky{suffix}").into() }]);
    }
    rules.push(vec![Statement::Dispatch {
        key: vec![Field::Protocol, Field::DestinationPort],
        map: "nodeports".into(),
    }]);
    rules.push(vec![Statement::Protocol(Protocol::Tcp), Statement::RejectReset]);
    rules.push(vec![Statement::RejectUnreachable]);
    rules.push(vec![Statement::Verdict(Verdict::Goto("empty".into()))]);
    let forward = Base { nat: false, hook: Hook::Forward, priority: -1 };
    for chain in ["empty", "three", "four"] {
        table.add_chain(chain, Chain::default());
    }
    table.add_chain("forward", Chain { base: Some(forward), rules });

    let prerouting = Base { nat: true, hook: Hook::Prerouting, priority: -100 };
    let targets = |family: Family, count: u16| -> Arc<[SocketAddr]> {
        let base = if family == Family::V4 { "10.244.0.5" } else { "fd00::5" };
        (0..count).map(|index| SocketAddr::new(ip(base), 1000 + index)).collect()
    };
    // More targets than one message holds.
    let rules = vec![
        vec![Statement::Protocol(Protocol::Tcp), Statement::DnatRandom(targets(Family::V4, 3))],
        vec![Statement::Protocol(Protocol::Udp), Statement::DnatRandom(targets(Family::V6, 5000))],
        vec![Statement::GotoRandom(vec!["one".into(), "two".into()])],
    ];
    table.add_chain(
        "one",
        Chain {
            base: None,
            rules: vec![vec![Statement::Protocol(Protocol::Tcp), Statement::Dnat(target("10.244.0.5:80"))]],
        },
    );
    table.add_chain(
        "two",
        Chain {
            base: None,
            rules: vec![vec![Statement::Protocol(Protocol::Tcp), Statement::Dnat(target("[fd00::5]:80"))]],
        },
    );
    table.add_chain("nat", Chain { base: Some(prerouting), rules });
    let postrouting = Base { nat: true, hook: Hook::Postrouting, priority: 100 };
    let hairpin = vec![
        address(Side::Source, Family::V4),
        address(Side::Destination, Family::V4),
        Field::Protocol,
        Field::DestinationPort,
    ];
    let rules = vec![
        vec![Statement::Marked(0x4000), Statement::ToggleMark(0x4000), Statement::Masquerade],
        vec![Statement::Translated, Statement::Member { key: hairpin, set: "hairpin4".into() }, Statement::Masquerade],
    ];
    table.add_chain("post", Chain { base: Some(postrouting), rules });

    table.add_element(
        "services4",
        Key::service(ip("10.96.0.1"), Protocol::Tcp, 80),
        Some(Verdict::Goto("three".into())),
    );
    table.add_element("services6", Key::service(ip("fd00::1"), Protocol::Sctp, 80), Some(Verdict::Drop));
    table.add_element(
        "nodeports",
        Key::default().protocol(Protocol::Udp).port(30080),
        Some(Verdict::Jump("four".into())),
    );
    table.add_element("nodeports", Key::default().protocol(Protocol::Tcp).port(30080), Some(Verdict::Accept));
    for last in 0..200 {
        table.add_element("addresses4", Key::of(ip(&format!("10.244.0.{last}"))), None);
    }
    table.add_element("addresses6", Key::of(ip("fd00::7")), None);
    let at = ip("10.244.0.5");
    table.add_element("hairpin4", Key::of(at).address(at).protocol(Protocol::Tcp).port(8080), None);
    table
}

#[test]
fn messages_and_words_make_the_same_table() {
    let table = everything();
    let script = table.script();
    let by_words = with_own_network(|| {
        nft(&["-f", "-"], &script);
        list()
    });
    let by_messages = with_own_network(|| {
        load(&table);
        list()
    });
    let (words, messages): (Vec<&str>, Vec<&str>) = (by_words.lines().collect(), by_messages.lines().collect());
    for (words, messages) in words.iter().zip(&messages) {
        assert_eq!(words, messages);
    }
    assert_eq!(words.len(), messages.len());
    assert!(words.len() > 100, "{by_words}");
}

#[test]
fn a_change_touches_what_it_names_and_nothing_else() {
    with_own_network(|| {
        load(&everything());
        let before = list();
        let mut change = Transaction::new("t");
        let key = Key::service(ip("10.96.0.1"), Protocol::Tcp, 80);
        change.delete_element("services4", key.clone());
        change.add_element("services4", key, Some(Verdict::Goto("four".into())));
        change.replace_rules("empty", [vec![Statement::Verdict(Verdict::Drop)]]);
        change.delete_element("addresses4", Key::of(ip("10.244.0.199")));
        load(&change);
        let after = list();
        assert!(after.contains("10.96.0.1 . tcp . 80 : goto four"), "{after}");
        assert!(!after.contains("10.244.0.199"));
        let forward = |listing: &str| listing.split("chain forward").nth(1).map(str::to_owned);
        assert_eq!(forward(&before), forward(&after));
        assert!(after.contains("10.244.0.8"));
        load(&Transaction::removal("t"));
        load(&Transaction::removal("t"));
        assert_eq!(list(), "");
    });
}

#[test]
fn an_error_names_the_element_and_leaves_everything_as_it_was() {
    with_own_network(|| {
        load(&everything());
        let before = list();
        let kernel = Kernel::open().expect("a socket");
        let mut change = Transaction::new("t");
        change.add_element("addresses4", Key::of(ip("198.51.100.1")), None);
        for last in 1..6 {
            change.delete_element("addresses4", Key::of(ip(&format!("10.244.0.{last}"))));
        }
        change.delete_element("addresses4", Key::of(ip("198.51.100.2")));
        change.delete_element("addresses4", Key::of(ip("10.244.0.7")));
        let error = kernel.apply_blocking(&change).expect_err("that element is not there");
        let text = error.to_string();
        assert!(text.contains("delete element addresses4 { 198.51.100.2 }"), "{text}");
        assert!(text.contains("No such file or directory"), "{text}");
        assert_eq!(list(), before);

        // The next one is not disturbed by the answers to the last.
        let mut change = Transaction::new("t");
        change.add_element(
            "services4",
            Key::service(ip("10.96.0.9"), Protocol::Tcp, 80),
            Some(Verdict::Goto("nobody".into())),
        );
        let text = kernel.apply_blocking(&change).expect_err("there is no such chain").to_string();
        assert!(text.contains("add element services4 { 10.96.0.9 . tcp . 80 : goto nobody }"), "{text}");
        let mut change = Transaction::new("t");
        change.add_element("addresses4", Key::of(ip("198.51.100.1")), None);
        kernel.apply_blocking(&change).expect("a good one");
        assert!(list().contains("198.51.100.1"));
    });
}

/// Forty services' worth of chains and a thousand elements: more than one transaction takes.
fn large() -> OwnedRules {
    let mut rules = OwnedRules::default();
    for service in 0..40_u16 {
        let targets = (0..200).map(|port| SocketAddr::new(ip("10.244.0.5"), 1000 + port + service)).collect();
        let chain = vec![vec![Statement::Protocol(Protocol::Tcp), Statement::DnatRandom(targets)]];
        rules.chains.insert(format!("service-{service}").into(), chain);
    }
    rules.sets.insert("many".into(), Set::new("many", [KeyType::Address(Family::V4)]));
    for number in 0..1000_u32 {
        rules.add_element("many", Key::of(std::net::Ipv4Addr::from(0x0a80_0000 + number).into()), None);
    }
    rules
}

#[test]
fn a_large_table_is_built_beside_the_one_in_use() {
    with_own_network(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let kernel = Kernel::open().expect("a socket");
        let start = |owner: &str, rules: OwnedRules| {
            // Each time as after a restart: the kernel's content is not known.
            let mut frame = Transaction::replacement("t");
            let base = Base { nat: false, hook: Hook::Forward, priority: 0 };
            frame.add_chain("forward", Chain { base: Some(base), rules: Vec::new() });
            let mut table = LiveTable::new(&kernel, frame);
            table.replace(&owner.to_owned(), rules);
            runtime.block_on(table.sync());
            assert!(table.is_complete());
            let mut change = OwnedRules::default();
            change.sets.insert("later".into(), Set::new("later", [KeyType::Port]));
            table.replace(&"later".to_owned(), change);
            runtime.block_on(table.sync());
            assert!(table.is_complete());
            list()
        };
        for name in ["t", "t-2", "t"] {
            let listed = start("large", large());
            assert!(listed.starts_with(&format!("table inet {name} {{\n")), "{name}: {}", &listed[..60]);
            assert_eq!(listed.matches("table inet").count(), 1);
            assert!(!listed.contains("dormant") && listed.contains("set later") && listed.contains("10.128.3.231"));
            assert_eq!(listed.matches("numgen random mod 200").count(), 40);
        }
        let listed = start("small", OwnedRules::default());
        assert!(listed.starts_with("table inet t {\n") && !listed.contains("many"));
        assert_eq!(listed.matches("table inet").count(), 1);
    });
}
