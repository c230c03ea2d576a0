//! The search beside a slow one that tries everything: whenever the rules permit an allocation
//! one is found, and what is found breaks no rule.

use super::*;
use crate::plugins::testing::node;
use ferry_api::quantity::Quantity;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Devices, classes and claims, as the API has them.
struct World {
    slices: Vec<Value>,
    claims: Vec<Value>,
    /// Devices that other claims have.
    used: Vec<String>,
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn amount(value: &Value) -> i64 {
    Quantity::parse(text(value)).map_or(0, |quantity| quantity.value())
}

impl World {
    fn devices(&self) -> Vec<&Value> {
        self.slices.iter().flat_map(|slice| list(&slice["spec"]["devices"])).collect()
    }

    fn device(&self, name: &str) -> &Value {
        self.devices().into_iter().find(|device| device["name"] == name).expect("a device of the world")
    }

    fn state(&self) -> (Inner, Vec<ClaimRequests>) {
        let (claims, slices, classes) = (Informer::fixed([]), Informer::fixed([]), Informer::fixed([]));
        let devices = Devices::new(&claims, &slices, &classes);
        classes.put(SharedObject::of(json!({"metadata": {"name": "any"}})));
        for slice in &self.slices {
            slices.put(SharedObject::of(slice.clone()));
        }
        let results: Vec<Value> = self
            .used
            .iter()
            .map(|name| match self.device(name)["allowMultipleAllocations"].as_bool() {
                Some(true) => {
                    json!({"driver": "d", "pool": "p", "device": name, "shareID": "s", "consumedCapacity": {"c": "1"}})
                }
                _ => json!({"driver": "d", "pool": "p", "device": name}),
            })
            .collect();
        claims.put(SharedObject::of(json!({"metadata": {"name": "other", "uid": "other"},
            "status": {"allocation": {"devices": {"results": results}}}})));
        drop(devices.catch_up());
        let mut inner = devices.inner.into_inner();
        let read = |claim: &Value| inner.read_requests(SharedObject::of(claim.clone())).expect("valid requests");
        let requests = self.claims.iter().map(read).collect();
        (inner, requests)
    }

    /// The allocation of each claim as its status would have it.
    fn search(&self) -> Option<Vec<Value>> {
        let (mut inner, requests) = self.state();
        let claims: Vec<&ClaimRequests> = requests.iter().collect();
        let found = inner.allocate(&claims, &NodeInfo::of(node("a", json!({}))), None);
        let allocation = found.unwrap_or_else(|error| panic!("{error:?}"))?;
        let render = |index: usize| render_allocation(&allocation, index, claims[index], "a").expect("one term").into();
        Some((0..claims.len()).map(render).collect())
    }
}

/// A device for a request of a claim, in the order of the search.
#[derive(Clone, Debug)]
struct Chosen {
    claim: usize,
    request: String,
    device: String,
}

/// The rules, each for itself.
fn is_permitted(world: &World, chosen: &[Chosen]) -> bool {
    let wanted = |own: &Chosen| alternative(&world.claims[own.claim], &own.request);
    let is_admin = |own: &Chosen| wanted(own)["adminAccess"] == true;
    let shares = |own: &Chosen| world.device(&own.device)["allowMultipleAllocations"] == true;
    for (index, own) in chosen.iter().enumerate() {
        let device = world.device(&own.device);
        let earlier = |other: &&Chosen| other.device == own.device;
        let mut before = chosen[..index].iter().filter(earlier);
        if !shares(own) {
            let is_taken = if is_admin(own) {
                before.any(|other| other.claim == own.claim)
            } else {
                world.used.contains(&own.device) || before.next().is_some()
            };
            if is_taken {
                return false;
            }
        }
        if let Some(model) = wanted(own)["selectors"][0]["cel"]["expression"].as_str()
            && !model.ends_with(&device["attributes"]["d/model"]["int"].to_string())
        {
            return false;
        }
        let tolerates = list(&wanted(own)["tolerations"]).iter().any(|one| one["operator"] == "Exists");
        if !list(&device["taints"]).is_empty() && !tolerates {
            return false;
        }
    }
    has_enough(world, chosen, &wanted) && meets_constraints(world, chosen)
}

/// Capacity and counters.
fn has_enough<'a>(world: &'a World, chosen: &[Chosen], wanted: &dyn Fn(&Chosen) -> &'a Value) -> bool {
    let mut left: BTreeMap<&str, i64> = BTreeMap::new();
    for device in world.devices().into_iter().filter(|device| device["allowMultipleAllocations"] == true) {
        let is_used = world.used.iter().any(|name| device["name"] == **name);
        left.insert(text(&device["name"]), amount(&device["capacity"]["c"]["value"]) - i64::from(is_used));
    }
    for own in chosen {
        let asked = &wanted(own)["capacity"]["requests"]["c"];
        if let Some(left) = left.get_mut(&*own.device) {
            // Without a request, the whole.
            let whole = &world.device(&own.device)["capacity"]["c"]["value"];
            *left -= amount(if asked.is_null() { whole } else { asked });
        } else if asked.is_string() {
            return false;
        }
    }
    // Admin access counts as a use within the pod, as upstream has it.
    let takers = world.used.iter().map(String::as_str).chain(chosen.iter().map(|own| &*own.device));
    let taken: i64 =
        takers.map(|name| amount(&world.device(name)["consumesCounters"][0]["counters"]["n"]["value"])).sum();
    let counters = world.slices.iter().flat_map(|slice| list(&slice["spec"]["sharedCounters"])).next();
    let available = counters.map_or(0, |set| amount(&set["counters"]["n"]["value"]));
    // Devices that take nothing may be had whatever is left.
    let asks = chosen.iter().any(|own| !world.device(&own.device)["consumesCounters"].is_null());
    left.values().all(|left| *left >= 0) && (!asks || taken <= available)
}

fn meets_constraints(world: &World, chosen: &[Chosen]) -> bool {
    world.claims.iter().enumerate().all(|(index, claim)| {
        list(&claim["spec"]["devices"]["constraints"]).iter().all(|constraint| {
            let names = list(&constraint["requests"]);
            let about = |own: &&Chosen| {
                let base = own.request.split('/').next();
                own.claim == index
                    && (names.is_empty() || names.iter().any(|name| *name == *own.request || name.as_str() == base))
            };
            let value = |own: &Chosen| world.device(&own.device)["attributes"]["d/zone"]["string"].clone();
            let values: Vec<Value> = chosen.iter().filter(about).map(value).collect();
            let pairs =
                || values.iter().enumerate().flat_map(|(at, one)| values[..at].iter().map(move |two| (one, two)));
            !values.contains(&Value::Null)
                && pairs().all(|(one, two)| (one == two) == constraint["matchAttribute"].is_string())
        })
    })
}

fn alternative<'a>(claim: &'a Value, name: &str) -> &'a Value {
    let mut parts = name.split('/');
    let request = parts.next().unwrap_or_default();
    let request = list(&claim["spec"]["devices"]["requests"]).iter().find(|own| own["name"] == request);
    let request = request.expect("a request of the claim");
    match parts.next() {
        None => &request["exactly"],
        Some(name) => list(&request["firstAvailable"]).iter().find(|own| own["name"] == name).expect("an alternative"),
    }
}

/// Whether any choice of alternatives and devices is permitted: tries all of them.
fn exists(world: &World, chosen: &mut Vec<Chosen>, claim: usize, request: usize) -> bool {
    let Some(own) = world.claims.get(claim) else { return is_permitted(world, chosen) };
    let requests = list(&own["spec"]["devices"]["requests"]);
    let Some(wanted) = requests.get(request) else { return exists(world, chosen, claim + 1, 0) };
    let names: Vec<String> = match &wanted["exactly"] {
        Value::Null => list(&wanted["firstAvailable"])
            .iter()
            .map(|own| format!("{}/{}", text(&wanted["name"]), text(&own["name"])))
            .collect(),
        _ => vec![text(&wanted["name"]).to_owned()],
    };
    let all: Vec<String> = world.devices().iter().map(|device| text(&device["name"]).to_owned()).collect();
    for name in names {
        let count = usize::try_from(alternative(own, &name)["count"].as_i64().unwrap_or(0)).unwrap_or(0);
        for set in 0_u32..1 << all.len() {
            if set.count_ones() as usize != count {
                continue;
            }
            let before = chosen.len();
            let members = all.iter().enumerate().filter(|(index, _)| set & (1 << index) != 0);
            chosen.extend(members.map(|(_, device)| Chosen { claim, request: name.clone(), device: device.clone() }));
            let found = exists(world, chosen, claim, request + 1);
            chosen.truncate(before);
            if found {
                return true;
            }
        }
    }
    false
}

fn random_world(rng: &mut StdRng) -> World {
    let count = rng.random_range(1..=5);
    let device = |index: usize, rng: &mut StdRng| {
        let mut device =
            json!({"name": format!("dev-{index}"), "attributes": {"d/model": {"int": rng.random_range(1..=2)}}});
        if rng.random_bool(0.8) {
            device["attributes"]["d/zone"] = json!({"string": if rng.random_bool(0.5) { "x" } else { "y" }});
        }
        match rng.random_range(0..6) {
            0 => device["taints"] = json!([{"key": "k", "effect": "NoSchedule"}]),
            1 => {
                device["allowMultipleAllocations"] = true.into();
                device["capacity"] = json!({"c": {"value": rng.random_range(1..=4).to_string()}});
            }
            2 => {
                let counters = json!({"n": {"value": rng.random_range(1..=2).to_string()}});
                device["consumesCounters"] = json!([{"counterSet": "set", "counters": counters}]);
            }
            _ => {}
        }
        device
    };
    let devices: Vec<Value> = (0..count).map(|index| device(index, rng)).collect();
    let (left, right) = devices.split_at(rng.random_range(0..=count));
    let pool = json!({"name": "p", "generation": 1, "resourceSliceCount": 3});
    let slice = |name: &str, over: Value| {
        let mut spec = json!({"driver": "d", "pool": pool, "nodeName": "a"});
        over.as_object().into_iter().flatten().for_each(|(field, value)| spec[field] = value.clone());
        json!({"metadata": {"name": name}, "spec": spec})
    };
    let counters = json!([{"name": "set", "counters": {"n": {"value": rng.random_range(1..=3).to_string()}}}]);
    let slices = vec![
        slice("s1", json!({"devices": left})),
        slice("s2", json!({"devices": right})),
        slice("s3", json!({"sharedCounters": counters})),
    ];
    let used = (0..count).filter(|_| rng.random_bool(0.15)).map(|index| format!("dev-{index}")).collect();
    let claims = (0..rng.random_range(1..=2)).map(|index| random_claim(index, rng)).collect();
    World { slices, claims, used }
}

fn random_claim(index: usize, rng: &mut StdRng) -> Value {
    let exact = |rng: &mut StdRng| {
        let mut exact =
            json!({"deviceClassName": "any", "allocationMode": "ExactCount", "count": rng.random_range(1..=2)});
        if rng.random_bool(0.3) {
            let model = rng.random_range(1..=2);
            exact["selectors"] = json!([{"cel": {"expression": format!("device.attributes['d'].model == {model}")}}]);
        }
        if rng.random_bool(0.2) {
            exact["tolerations"] = json!([{"operator": "Exists"}]);
        }
        if rng.random_bool(0.15) {
            exact["capacity"] = json!({"requests": {"c": rng.random_range(1..=2).to_string()}});
        }
        exact
    };
    let request = |name: String, rng: &mut StdRng| {
        if rng.random_bool(0.25) {
            let named = |name: &str, mut one: Value| {
                one["name"] = name.into();
                one
            };
            return json!({"name": name, "firstAvailable": [named("s0", exact(rng)), named("s1", exact(rng))]});
        }
        let mut exact = exact(rng);
        if rng.random_bool(0.1) {
            exact["adminAccess"] = true.into();
        }
        json!({"name": name, "exactly": exact})
    };
    let requests: Vec<Value> = (0..rng.random_range(1..=2)).map(|at| request(format!("r{at}"), rng)).collect();
    let mut constraints = Vec::new();
    if rng.random_bool(0.4) {
        let kind = ["matchAttribute", "distinctAttribute"].choose(rng).expect("two");
        let mut constraint = json!({*kind: "d/zone"});
        if rng.random_bool(0.3) {
            constraint["requests"] = json!(["r0"]);
        }
        constraints.push(constraint);
    }
    let name = format!("claim-{index}");
    json!({"metadata": {"name": name, "namespace": "n", "uid": name},
        "spec": {"devices": {"requests": requests, "constraints": constraints}}})
}

#[test]
fn an_allocation_is_found_whenever_there_is_one_and_breaks_no_rule() {
    let (mut found_some, mut found_none) = (0, 0);
    for seed in 0..1000 {
        let world = random_world(&mut StdRng::seed_from_u64(seed));
        let describe = || format!("seed {seed}: {:#}", json!([world.slices, world.claims, world.used]));
        let Some(allocations) = world.search() else {
            found_none += 1;
            assert!(!exists(&world, &mut Vec::new(), 0, 0), "an allocation is missed, {}", describe());
            continue;
        };
        found_some += 1;
        let chosen: Vec<Chosen> = allocations
            .iter()
            .enumerate()
            .flat_map(|(claim, allocation)| {
                list(&allocation["devices"]["results"]).iter().map(move |result| Chosen {
                    claim,
                    request: text(&result["request"]).to_owned(),
                    device: text(&result["device"]).to_owned(),
                })
            })
            .collect();
        assert!(is_permitted(&world, &chosen), "{chosen:?} is not permitted, {}", describe());
        for (claim, own) in world.claims.iter().enumerate() {
            for request in list(&own["spec"]["devices"]["requests"]) {
                let serves =
                    |one: &&Chosen| one.claim == claim && one.request.split('/').next() == request["name"].as_str();
                let serving: Vec<&Chosen> = chosen.iter().filter(serves).collect();
                let wanted = alternative(own, &serving.first().expect("a device for each request").request);
                assert_eq!(serving.len(), wanted["count"].as_i64().unwrap_or(0) as usize, "{}", describe());
            }
        }
    }
    assert!(found_some > 150 && found_none > 150, "{found_some} and {found_none}: the worlds are too much alike");
}

fn world(devices: Value, claim: Value) -> World {
    let spec = json!({"driver": "d", "nodeName": "a", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": devices});
    World {
        slices: vec![json!({"metadata": {"name": "s"}, "spec": spec})],
        claims: vec![json!({"metadata": {"name": "c", "namespace": "n"}, "spec": {"devices": claim}})],
        used: Vec::new(),
    }
}

#[test]
fn a_request_for_all_devices_takes_every_one_that_matches_or_none() {
    let claim = json!({"requests": [{"name": "r", "exactly": {"deviceClassName": "any", "allocationMode": "All",
        "selectors": [{"cel": {"expression": "device.attributes['d'].model == 1"}}]}}]});
    let model = |name: &str, model: i64| json!({"name": name, "attributes": {"model": {"int": model}}});
    let mut world = world(json!([model("a", 1), model("b", 2), model("c", 1)]), claim);
    let names = |world: &World| {
        let found = world.search()?;
        let results = list(&found[0]["devices"]["results"]);
        Some(results.iter().map(|result| text(&result["device"]).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(names(&world).as_deref(), Some(&["a".to_owned(), "c".to_owned()][..]));
    world.used = vec!["c".to_owned()];
    assert_eq!(names(&world), None);
    world.slices[0]["spec"]["pool"]["resourceSliceCount"] = 2.into();
    let (mut inner, requests) = world.state();
    let found = inner.allocate(&[&requests[0]], &NodeInfo::of(node("a", json!({}))), None);
    let reason = "claim n/c, request r: asks for all devices, but resource pool d/p is currently being updated";
    assert_eq!(found.err(), Some(SearchError::Fatal(reason.to_owned())));
}

#[test]
fn an_allocation_says_its_configuration_its_conditions_and_its_nodes() {
    let claim = json!({
        "requests": [{"name": "r", "firstAvailable": [
            {"name": "big", "deviceClassName": "any", "allocationMode": "ExactCount", "count": 3},
            {"name": "small", "deviceClassName": "any", "allocationMode": "ExactCount", "count": 1,
                "tolerations": [{"key": "k", "operator": "Exists"}]}]}],
        "config": [{"requests": ["r/small"], "opaque": {"driver": "d", "parameters": {"p": 1}}},
            {"requests": ["r/big"], "opaque": {"driver": "d", "parameters": {"p": 2}}}],
    });
    let devices = json!([{"name": "x", "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}]);
    let found = world(devices, claim).search().expect("one device is enough");
    let result = json!({"request": "r/small", "driver": "d", "pool": "p", "device": "x",
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]});
    let config =
        json!({"source": "FromClaim", "requests": ["r/small"], "opaque": {"driver": "d", "parameters": {"p": 1}}});
    let selector = json!({"nodeSelectorTerms": [{"matchFields": [
        {"key": "metadata.name", "operator": "In", "values": ["a"]}]}]});
    assert_eq!(found, [json!({"devices": {"results": [result], "config": [config]}, "nodeSelector": selector})]);
}

#[test]
fn a_selector_that_fails_ends_the_search_with_its_place() {
    let claim = json!({"requests": [{"name": "r", "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount",
        "count": 1, "selectors": [{"cel": {"expression": "device.attributes['d'].none == 1"}}]}}]});
    let (mut inner, requests) = world(json!([{"name": "x"}]), claim).state();
    let found = inner.allocate(&[&requests[0]], &NodeInfo::of(node("a", json!({}))), None);
    let reason = "claim n/c: selector #0: CEL runtime error: no such key: none";
    assert_eq!(found.err(), Some(SearchError::Fatal(reason.to_owned())));
}
