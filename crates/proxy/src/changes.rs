//! What a change of a Service costs: the transactions from one state of the table to the next.

use std::fmt::Write;

use ferry_api::rules::key::ObjectKey;
use ferry_api::view::Owned;
use ferry_nftables::{OwnedRules, Transaction};
use serde_json::{Value, json};

use crate::compute_service;
use crate::fixtures::{config, key, service, slice};
use crate::frame::render_frame;
use crate::render::render_service;

type Ruleset = ferry_nftables::Ruleset<ObjectKey>;

/// Applies one change of Service `web` or another and returns the transaction's script.
fn change(ruleset: &mut Ruleset, name: &str, spec: Value, endpoints: &[(&str, &str)]) -> String {
    let slice = slice(name, "slice", endpoints);
    let ports = compute_service(service(name, spec).view(), [slice.view()], "here");
    apply(ruleset, name, render_service(&key(name), &ports, &config()))
}

fn remove(ruleset: &mut Ruleset, name: &str) -> String {
    apply(ruleset, name, OwnedRules::default())
}

fn apply(ruleset: &mut Ruleset, name: &str, rules: OwnedRules) -> String {
    let mut transaction = Transaction::new("ferry");
    ruleset.replace(&key(name), rules, &mut transaction);
    ruleset.settle(&mut transaction);
    transaction.script()
}

const ONE: &[(&str, &str)] = &[("10.244.0.5", "rl")];
const TWO: &[(&str, &str)] = &[("10.244.0.5", "rl"), ("10.244.0.6", "rl")];

#[test]
fn the_life_of_a_service() {
    let mut ruleset = Ruleset::default();
    let mut story = String::new();
    for (step, spec, endpoints) in [
        ("created without endpoints", json!({}), &[] as &[_]),
        ("the first endpoint", json!({}), ONE),
        ("a second endpoint", json!({}), TWO),
        ("nothing new", json!({}), TWO),
        ("with affinity", json!({"sessionAffinity": "ClientIP"}), TWO),
        ("without affinity, one endpoint", json!({}), ONE),
        ("scaled to zero", json!({}), &[]),
    ] {
        let script = change(&mut ruleset, "web", spec, endpoints);
        let _ = write!(story, "# {step}\n{script}");
    }
    let _ = write!(story, "# deleted\n{}", remove(&mut ruleset, "web"));
    let mut stale = Transaction::new("ferry");
    ruleset.take_stale().into_iter().for_each(|chain| stale.delete_chain(chain));
    let _ = write!(story, "# stale\n{}", stale.script());
    insta::assert_snapshot!(story);
    assert!(ruleset.is_empty());
}

#[test]
fn a_whole_table() {
    let mut ruleset = Ruleset::default();
    change(&mut ruleset, "web", json!({"sessionAffinity": "ClientIP"}), ONE);
    change(&mut ruleset, "empty", json!({"clusterIP": "10.96.0.2", "clusterIPs": ["10.96.0.2"]}), &[]);
    let mut whole = render_frame(&config());
    ruleset.add_all(&mut whole);
    insta::assert_snapshot!(whole.script());
}

#[test]
fn a_change_touches_only_its_own_service() {
    let mut ruleset = Ruleset::default();
    change(&mut ruleset, "web", json!({}), ONE);
    let other = json!({"clusterIP": "10.96.0.2", "clusterIPs": ["10.96.0.2"]});
    change(&mut ruleset, "other", other.clone(), &[("10.244.0.9", "r")]);
    let script = change(&mut ruleset, "other", other, &[("10.244.0.8", "r")]);
    assert_eq!(
        script,
        "flush chain inet ferry cluster4/default/other/tcp/http\n\
         add rule inet ferry cluster4/default/other/tcp/http meta l4proto tcp dnat ip addr . port to \
         numgen random mod 1 map { 0 : 10.244.0.8 . 8080 }\n"
    );
}

#[test]
fn shared_elements_stay_until_the_last_owner_goes() {
    let mut ruleset = Ruleset::default();
    let other = json!({"clusterIP": "10.96.0.2", "clusterIPs": ["10.96.0.2"]});
    assert!(change(&mut ruleset, "web", json!({}), ONE).contains("add element inet ferry hairpin4"));
    assert!(!change(&mut ruleset, "other", other, ONE).contains("hairpin4"));
    assert!(!remove(&mut ruleset, "web").contains("hairpin4"));
    assert!(remove(&mut ruleset, "other").contains("delete element inet ferry hairpin4"));
}

#[test]
fn a_contested_address_goes_to_the_first_and_then_to_the_next() {
    let mut ruleset = Ruleset::default();
    let spec = |ip: &str| json!({"clusterIP": ip, "clusterIPs": [ip], "externalIPs": ["203.0.113.1"]});
    change(&mut ruleset, "b", spec("10.96.0.2"), ONE);
    let script = change(&mut ruleset, "a", spec("10.96.0.3"), ONE);
    assert!(script.contains("delete element inet ferry service-ips4 { 203.0.113.1 . tcp . 80 }"), "{script}");
    assert!(script.contains("{ 203.0.113.1 . tcp . 80 : goto external4/default/a/tcp/http }"), "{script}");
    let script = remove(&mut ruleset, "a");
    assert!(script.contains("{ 203.0.113.1 . tcp . 80 : goto external4/default/b/tcp/http }"), "{script}");
}

#[test]
fn a_chain_that_comes_back_is_not_removed_as_stale() {
    let mut ruleset = Ruleset::default();
    change(&mut ruleset, "web", json!({}), ONE);
    change(&mut ruleset, "web", json!({}), &[]);
    assert!(ruleset.has_stale());
    let script = change(&mut ruleset, "web", json!({}), ONE);
    assert!(script.contains("flush chain inet ferry cluster4/default/web/tcp/http"));
    assert!(!ruleset.has_stale());
}
