//! An oracle that reads the rules of scheduling off plain JSON, slowly and without memory,
//! beside the scheduler with its counters: the scheduler never places a pod where the oracle
//! sees no room, never gives up where the oracle sees some, and takes one of the nodes that
//! the oracle scores best among those that the sampling rule lets it look at.

use ferry_client::SharedObject;
use ferry_scheduler::cycle::decide;
use ferry_scheduler::framework::{Framework, Handle, Nominated};
use ferry_scheduler::plugins::all::all;
use ferry_scheduler::pod_info::PodInfo;
use ferry_scheduler::snapshot::{Cache, Snapshot};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

/// The cluster as the oracle knows it: nodes by name, and placed pods with their node.
#[derive(Default)]
struct World {
    nodes: BTreeMap<String, Value>,
    pods: Vec<(String, Value)>,
    namespaces: BTreeMap<String, Value>,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["labels"][key].as_str()
}

/// Whether labels, given by `get`, meet one requirement.
fn meets<'a>(requirement: &Value, get: impl Fn(&str) -> Option<&'a str>) -> bool {
    let own = get(text(&requirement["key"]));
    let is_listed = |own: &str| list(&requirement["values"]).iter().any(|value| value == own);
    match text(&requirement["operator"]) {
        "In" => own.is_some_and(is_listed),
        "NotIn" => !own.is_some_and(is_listed),
        "Exists" => own.is_some(),
        "DoesNotExist" => own.is_none(),
        other => panic!("the generator makes no {other}"),
    }
}

/// Whether a LabelSelector object selects; an absent one selects nothing.
fn selects(selector: &Value, object: &Value) -> bool {
    if selector.is_null() {
        return false;
    }
    let pairs = selector["matchLabels"].as_object();
    pairs.into_iter().flatten().all(|(key, value)| label(object, key) == value.as_str())
        && list(&selector["matchExpressions"]).iter().all(|requirement| meets(requirement, |key| label(object, key)))
}

fn node_affinity_holds(pod: &Value, node: &Value) -> bool {
    let spec = &pod["spec"];
    let selector = spec["nodeSelector"].as_object();
    let terms =
        &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    selector.into_iter().flatten().all(|(key, value)| label(node, key) == value.as_str())
        && (terms.is_null() || list(terms).iter().any(|term| node_term_holds(term, node)))
}

fn node_term_holds(term: &Value, node: &Value) -> bool {
    list(&term["matchExpressions"]).iter().all(|requirement| meets(requirement, |key| label(node, key)))
}

/// The number of taints of the effects that the pod does not tolerate.
fn untolerated(pod: &Value, node: &Value, effects: &[&str]) -> i64 {
    let taints = list(&node["spec"]["taints"]).iter().filter(|taint| effects.contains(&text(&taint["effect"])));
    let is_tolerated = |taint: &&Value| {
        list(&pod["spec"]["tolerations"]).iter().any(|toleration| {
            toleration["key"] == taint["key"]
                && (toleration["effect"].is_null() || toleration["effect"] == taint["effect"])
        })
    };
    taints.filter(|taint| !is_tolerated(taint)).count() as i64
}

/// Thousandths of a core, or mebibytes.
fn asked(pod: &Value, resource: &str) -> i64 {
    amount(&pod["spec"]["containers"][0]["resources"]["requests"][resource])
}

fn amount(value: &Value) -> i64 {
    let text = text(value);
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0)
}

impl World {
    fn on<'a>(&'a self, node: &'a str) -> impl Iterator<Item = &'a Value> {
        self.pods.iter().filter(move |(own, _)| own == node).map(|(_, pod)| pod)
    }

    /// Pods with the label of their node, for nodes that have it.
    fn by_topology<'a>(&'a self, key: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.pods.iter().filter_map(move |(node, pod)| Some((label(self.nodes.get(node)?, key)?, pod)))
    }

    fn has_room(&self, pod: &Value, node: &Value) -> bool {
        let name = text(&node["metadata"]["name"]);
        let fits = |resource: &str| {
            let used: i64 = self.on(name).map(|other| asked(other, resource)).sum();
            let wanted = asked(pod, resource);
            wanted == 0 || wanted <= amount(&node["status"]["allocatable"][resource]) - used
        };
        let count = self.on(name).count() as i64;
        let port = &pod["spec"]["containers"][0]["ports"][0]["hostPort"];
        fits("cpu")
            && fits("memory")
            && count < amount(&node["status"]["allocatable"]["pods"])
            && (port.is_null()
                || self.on(name).all(|other| other["spec"]["containers"][0]["ports"][0]["hostPort"] != *port))
    }

    /// Whether an affinity term of `owner` selects the pod.
    fn term_selects(&self, owner: &Value, term: &Value, pod: &Value) -> bool {
        let namespace = text(&pod["metadata"]["namespace"]);
        let by_name = list(&term["namespaces"]).iter().any(|name| name == namespace);
        let by_label = match &term["namespaceSelector"] {
            Value::Null => list(&term["namespaces"]).is_empty() && owner["metadata"]["namespace"] == *namespace,
            selector => selects(selector, self.namespaces.get(namespace).unwrap_or(&Value::Null)),
        };
        (by_name || by_label) && selects(&term["labelSelector"], pod)
    }

    fn affinity_holds(&self, pod: &Value, node: &Value) -> bool {
        let affinity = &pod["spec"]["affinity"];
        let wanted = list(&affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]);
        let unwanted = list(&affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]);
        let is_wanted = |other: &Value| wanted.iter().all(|term| self.term_selects(pod, term, other));
        let keys: Vec<&str> = wanted.iter().map(|term| text(&term["topologyKey"])).collect();
        if keys.iter().any(|key| label(node, key).is_none()) {
            return false;
        }
        let near = |key: &&str| {
            self.by_topology(key).any(|(value, other)| Some(value) == label(node, key) && is_wanted(other))
        };
        let is_first =
            || keys.iter().all(|key| !self.by_topology(key).any(|(_, other)| is_wanted(other))) && is_wanted(pod);
        if !keys.iter().all(near) && !is_first() {
            return false;
        }
        let meets_unwanted = unwanted.iter().any(|term| {
            let key = text(&term["topologyKey"]);
            self.by_topology(key)
                .any(|(value, other)| Some(value) == label(node, key) && self.term_selects(pod, term, other))
        });
        let is_unwanted = self.pods.iter().any(|(own, other)| {
            let terms = &other["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
            list(terms).iter().any(|term| {
                let key = text(&term["topologyKey"]);
                let here = label(node, key);
                here.is_some()
                    && self.nodes.get(own).and_then(|own| label(own, key)) == here
                    && self.term_selects(other, term, pod)
            })
        });
        !meets_unwanted && !is_unwanted
    }

    fn constraints<'a>(&self, pod: &'a Value, action: &str) -> Vec<&'a Value> {
        let own = list(&pod["spec"]["topologySpreadConstraints"]).iter();
        own.filter(|constraint| constraint["whenUnsatisfiable"] == *action).collect()
    }

    /// The matching pods of each domain over the nodes that count.
    fn domains(&self, pod: &Value, constraint: &Value, all: &[&Value]) -> BTreeMap<&str, i64> {
        let key = text(&constraint["topologyKey"]);
        let mut out = BTreeMap::new();
        for (name, node) in &self.nodes {
            let Some(value) = label(node, key) else { continue };
            let has_all = all.iter().all(|other| label(node, text(&other["topologyKey"])).is_some());
            let by_affinity = constraint["nodeAffinityPolicy"] == "Ignore" || node_affinity_holds(pod, node);
            let by_taints =
                constraint["nodeTaintsPolicy"] != "Honor" || untolerated(pod, node, &["NoSchedule", "NoExecute"]) == 0;
            if has_all && by_affinity && by_taints {
                *out.entry(value).or_default() += self.matching(pod, constraint, name);
            }
        }
        out
    }

    fn matching(&self, pod: &Value, constraint: &Value, node: &str) -> i64 {
        let is_counted = |other: &&Value| {
            other["metadata"]["namespace"] == pod["metadata"]["namespace"]
                && selects(&constraint["labelSelector"], other)
        };
        self.on(node).filter(is_counted).count() as i64
    }

    fn spread_holds(&self, pod: &Value, node: &Value) -> bool {
        let constraints = self.constraints(pod, "DoNotSchedule");
        constraints.iter().all(|constraint| {
            let Some(value) = label(node, text(&constraint["topologyKey"])) else { return false };
            let domains = self.domains(pod, constraint, &constraints);
            let has_enough = domains.len() as i64 >= constraint["minDomains"].as_i64().unwrap_or(1);
            let min = if has_enough { domains.values().min().copied().unwrap_or(i64::from(i32::MAX)) } else { 0 };
            let own = i64::from(selects(&constraint["labelSelector"], pod));
            domains.get(value).unwrap_or(&0) + own - min <= number(&constraint["maxSkew"])
        })
    }

    fn is_feasible(&self, pod: &Value, node: &Value) -> bool {
        let is_open = node["spec"]["unschedulable"] != true || untolerated_unschedulable(pod);
        is_open
            && untolerated(pod, node, &["NoSchedule", "NoExecute"]) == 0
            && node_affinity_holds(pod, node)
            && self.has_room(pod, node)
            && self.spread_holds(pod, node)
            && self.affinity_holds(pod, node)
    }

    /// The weighted sum of all scores of each node.
    fn score(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let mut totals = vec![0; nodes.len()];
        let mut add = |weight: i64, scores: Vec<i64>| {
            totals.iter_mut().zip(scores).for_each(|(total, score)| *total += weight * score);
        };
        let by_max = |scores: Vec<i64>| {
            let max = scores.iter().copied().max().unwrap_or(0);
            scores.into_iter().map(|score| if max == 0 { 0 } else { 100 * score / max }).collect::<Vec<_>>()
        };
        let taints = nodes.iter().map(|node| untolerated(pod, node, &["PreferNoSchedule"])).collect();
        add(3, by_max(taints).into_iter().map(|score| 100 - score).collect());
        let preferred = &pod["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
        let of_node = |node: &&Value| {
            let holding = list(preferred).iter().filter(|term| node_term_holds(&term["preference"], node));
            holding.map(|term| number(&term["weight"])).sum()
        };
        add(2, by_max(nodes.iter().map(of_node).collect()));
        add(1, nodes.iter().map(|node| self.least_allocated(pod, node)).collect());
        if asked(pod, "cpu") > 0 || asked(pod, "memory") > 0 {
            add(1, nodes.iter().map(|node| self.balance(pod, node)).collect());
        }
        add(2, self.spread_scores(pod, nodes));
        add(2, self.affinity_scores(pod, nodes));
        totals
    }

    fn usage(&self, pod: Option<&Value>, node: &Value, resource: &str, default: i64) -> (i64, i64) {
        let of = |pod: &Value| Some(asked(pod, resource)).filter(|asked| *asked > 0).unwrap_or(default);
        let used: i64 = self.on(text(&node["metadata"]["name"])).chain(pod).map(of).sum();
        (used, amount(&node["status"]["allocatable"][resource]))
    }

    fn least_allocated(&self, pod: &Value, node: &Value) -> i64 {
        let share = |resource: &str, default: i64, unit: i64| {
            let (used, total) = self.usage(Some(pod), node, resource, default);
            (total * unit - used * unit).max(0) * 100 / (total * unit)
        };
        (share("cpu", 100, 1) + share("memory", 200, 1 << 20)) / 2
    }

    fn balance(&self, pod: &Value, node: &Value) -> i64 {
        let evenness = |pod: Option<&Value>| {
            let share = |resource: &str| {
                let (used, total) = self.usage(pod, node, resource, 0);
                (used as f64 / total as f64).min(1.0)
            };
            let (cpu, memory) = (share("cpu"), share("memory"));
            let mean = (cpu + memory) / 2.0;
            let deviation = (((cpu - mean).powi(2) + (memory - mean).powi(2)) / 2.0).sqrt();
            ((1.0 - deviation) * 100.0) as i64
        };
        50 + (50 + evenness(Some(pod)) - evenness(None)) / 2
    }

    fn spread_scores(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let constraints = self.constraints(pod, "ScheduleAnyway");
        if constraints.is_empty() {
            return vec![0; nodes.len()];
        }
        let key = |constraint: &Value| text(&constraint["topologyKey"]).to_owned();
        let is_scored = |node: &Value| constraints.iter().all(|constraint| label(node, &key(constraint)).is_some());
        let scored: Vec<&Value> = nodes.iter().copied().filter(|node| is_scored(node)).collect();
        let raw = |node: &Value| -> Option<i64> {
            if !is_scored(node) {
                return None;
            }
            let mut sum = 0.0;
            for constraint in &constraints {
                let key = key(constraint);
                let (count, size) = if key == HOST {
                    (self.matching(pod, constraint, text(&node["metadata"]["name"])), scored.len())
                } else {
                    let domains = self.domains(pod, constraint, &constraints);
                    let values: BTreeSet<&str> = scored.iter().filter_map(|node| label(node, &key)).collect();
                    (domains.get(label(node, &key)?).copied().unwrap_or(0), values.len())
                };
                sum += count as f64 * ((size + 2) as f64).ln() + (number(&constraint["maxSkew"]) - 1) as f64;
            }
            Some(sum.round() as i64)
        };
        let scores: Vec<Option<i64>> = nodes.iter().map(|node| raw(node)).collect();
        let max = scores.iter().flatten().max().copied().unwrap_or(0);
        let min = scores.iter().flatten().min().copied().unwrap_or(0);
        let normalized = |score: &Option<i64>| match score {
            None => 0,
            Some(_) if max == 0 => 100,
            Some(score) => 100 * (max + min - score) / max,
        };
        scores.iter().map(normalized).collect()
    }

    fn affinity_scores(&self, pod: &Value, nodes: &[&Value]) -> Vec<i64> {
        let preferred = |pod: &'_ Value, kind: &str| {
            list(&pod["spec"]["affinity"][kind]["preferredDuringSchedulingIgnoredDuringExecution"]).to_vec()
        };
        let raw = |node: &Value| {
            let mut sum = 0;
            for (own, other) in &self.pods {
                let Some(there) = self.nodes.get(own) else { continue };
                let mut weigh = |term: &Value, weight: i64, is_selected: bool| {
                    let key = text(&term["topologyKey"]);
                    if is_selected && label(node, key).is_some() && label(node, key) == label(there, key) {
                        sum += weight;
                    }
                };
                for (kind, sign) in [("podAffinity", 1), ("podAntiAffinity", -1)] {
                    for weighted in preferred(pod, kind) {
                        let term = &weighted["podAffinityTerm"];
                        weigh(term, sign * number(&weighted["weight"]), self.term_selects(pod, term, other));
                    }
                    for weighted in preferred(other, kind) {
                        let term = &weighted["podAffinityTerm"];
                        weigh(term, sign * number(&weighted["weight"]), self.term_selects(other, term, pod));
                    }
                }
                let required =
                    &other["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
                for term in list(required) {
                    weigh(term, 1, self.term_selects(other, term, pod));
                }
            }
            sum
        };
        let scores: Vec<i64> = nodes.iter().map(|node| raw(node)).collect();
        let (min, max) = (scores.iter().min().copied().unwrap_or(0), scores.iter().max().copied().unwrap_or(0));
        let normalized = |score: &i64| {
            if max == min { 0 } else { (100.0 * ((score - min) as f64 / (max - min) as f64)) as i64 }
        };
        scores.iter().map(normalized).collect()
    }
}

fn untolerated_unschedulable(pod: &Value) -> bool {
    list(&pod["spec"]["tolerations"]).iter().any(|toleration| toleration["key"] == "node.kubernetes.io/unschedulable")
}

fn pick<'a>(rng: &mut StdRng, of: &[&'a str]) -> &'a str {
    of[rng.random_range(0..of.len())]
}

fn random_node(rng: &mut StdRng, index: usize) -> Value {
    let name = format!("node-{index:03}");
    let mut node = json!({
        "metadata": {"name": name, "labels": {HOST: name}},
        "spec": {},
        "status": {"allocatable": {"cpu": "4000m", "memory": "8192Mi", "pods": "12"}},
    });
    if rng.random_bool(0.85) {
        node["metadata"]["labels"][ZONE] = format!("zone-{}", rng.random_range(0..4)).into();
    }
    if rng.random_bool(0.5) {
        node["metadata"]["labels"]["disk"] = ["ssd", "hdd"][rng.random_range(0..2)].into();
    }
    if rng.random_bool(0.15) {
        let effect = ["NoSchedule", "PreferNoSchedule", "NoExecute"][rng.random_range(0..3)];
        node["spec"]["taints"] = json!([{"key": "dedicated", "effect": effect}]);
    }
    if rng.random_bool(0.05) {
        node["spec"]["unschedulable"] = true.into();
    }
    node
}

fn random_selector(rng: &mut StdRng) -> Value {
    let app = format!("app-{}", rng.random_range(0..3));
    match rng.random_range(0..4) {
        0 => json!({"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "app-0"]}]}),
        1 => json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [app]}]}),
        _ => json!({"matchLabels": {"app": app}}),
    }
}

fn random_term(rng: &mut StdRng) -> Value {
    let mut term = json!({"labelSelector": random_selector(rng), "topologyKey": pick(rng, &[ZONE, HOST, "disk"])});
    match rng.random_range(0..6) {
        0 => term["namespaces"] = json!(["team-a"]),
        1 => term["namespaceSelector"] = json!({}),
        2 => term["namespaceSelector"] = json!({"matchLabels": {"tier": "back"}}),
        _ => {}
    }
    term
}

fn random_pod(rng: &mut StdRng, index: usize) -> Value {
    let namespace = ["team-a", "team-b"][rng.random_range(0..2)];
    let mut pod = json!({
        "metadata": {"name": format!("pod-{index}"), "uid": format!("pod-{index}"), "namespace": namespace,
            "labels": {"app": format!("app-{}", rng.random_range(0..3))}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {}}}]},
    });
    let requests = &mut pod["spec"]["containers"][0]["resources"]["requests"];
    if rng.random_bool(0.8) {
        requests["cpu"] = format!("{}m", 100 * rng.random_range(1..12)).into();
    }
    if rng.random_bool(0.8) {
        requests["memory"] = format!("{}Mi", 128 * rng.random_range(1..12)).into();
    }
    if rng.random_bool(0.1) {
        pod["spec"]["containers"][0]["ports"] = json!([{"hostPort": 8000 + rng.random_range(0..2)}]);
    }
    if rng.random_bool(0.2) {
        pod["spec"]["tolerations"] = json!([{"key": "dedicated", "operator": "Exists"}]);
    }
    if rng.random_bool(0.15) {
        pod["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    }
    let affinity = &mut pod["spec"]["affinity"];
    if rng.random_bool(0.15) {
        let operator = ["In", "NotIn"][rng.random_range(0..2)];
        let term = json!({"matchExpressions": [{"key": ZONE, "operator": operator, "values": ["zone-0", "zone-1"]}]});
        affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
            json!({"nodeSelectorTerms": [term]});
    }
    if rng.random_bool(0.15) {
        let term = json!({"matchExpressions": [{"key": "disk", "operator": "Exists"}]});
        affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
            json!([{"weight": 7, "preference": term}]);
    }
    for (kind, chance) in [("podAffinity", 0.15), ("podAntiAffinity", 0.2)] {
        if rng.random_bool(chance) {
            let terms: Vec<Value> = (0..rng.random_range(1..3)).map(|_| random_term(rng)).collect();
            affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"] = terms.into();
        }
        if rng.random_bool(chance) {
            let weight = rng.random_range(1..100);
            let term = json!([{"weight": weight, "podAffinityTerm": random_term(rng)}]);
            affinity[kind]["preferredDuringSchedulingIgnoredDuringExecution"] = term;
        }
    }
    if rng.random_bool(0.4) {
        let constraints = (0..rng.random_range(1..3)).map(|_| {
            let mut constraint = json!({
                "maxSkew": rng.random_range(1..4), "topologyKey": pick(rng, &[ZONE, HOST]),
                "whenUnsatisfiable": pick(rng, &["DoNotSchedule", "ScheduleAnyway"]),
                "labelSelector": random_selector(rng),
            });
            if rng.random_bool(0.3) && constraint["whenUnsatisfiable"] == "DoNotSchedule" {
                constraint["minDomains"] = rng.random_range(1..6).into();
            }
            if rng.random_bool(0.3) {
                constraint["nodeAffinityPolicy"] = "Ignore".into();
            }
            if rng.random_bool(0.3) {
                constraint["nodeTaintsPolicy"] = "Honor".into();
            }
            constraint
        });
        pod["spec"]["topologySpreadConstraints"] = constraints.collect();
    }
    pod
}

/// The number of nodes that fit after which the search ends, as upstream has it.
fn enough(nodes: usize) -> usize {
    if nodes < 100 { nodes } else { (nodes * 50usize.saturating_sub(nodes / 125).max(5) / 100).max(100) }
}

fn check(seed: u64, nodes: usize, steps: usize) {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut world, mut cache, mut snapshot) = (World::default(), Cache::default(), Snapshot::default());
    for (name, labels) in [("team-a", json!({"tier": "front"})), ("team-b", json!({"tier": "back"}))] {
        let namespace = json!({"metadata": {"name": name, "labels": labels}});
        cache.set_namespace(&SharedObject::of(namespace.clone()));
        world.namespaces.insert(name.to_owned(), namespace);
    }
    for index in 0..nodes {
        let node = random_node(&mut rng, index);
        cache.set_node(SharedObject::of(node.clone()));
        world.nodes.insert(text(&node["metadata"]["name"]).to_owned(), node);
    }
    let framework = Framework::new(all(&Handle::default()));
    let (nominated, mut start, mut placed) = (Nominated::default(), 0, 0);
    for step in 0..steps {
        disturb(&mut rng, &mut world, &mut cache);
        let pod = random_pod(&mut rng, step);
        let info = Arc::new(PodInfo::of(SharedObject::of(pod.clone())));
        cache.update_snapshot(&mut snapshot);
        let began = start;
        let decision = decide(&framework, &snapshot, &info, &nominated, &mut start, &mut rng);

        let all: Vec<&Value> = world.nodes.values().collect();
        let turned = all.iter().cycle().skip(began % all.len()).take(all.len());
        let feasible: Vec<&Value> =
            turned.copied().filter(|node| world.is_feasible(&pod, node)).take(enough(all.len())).collect();
        let context = || format!("seed {seed}, step {step}: {pod}");
        match decision {
            Err(refusal) => {
                let missed: Vec<&Value> = feasible.iter().map(|node| &node["metadata"]["name"]).collect();
                assert!(missed.is_empty(), "{} has room on {missed:?}: {}", context(), refusal.why);
            }
            Ok(decision) => {
                let chosen = feasible.iter().position(|node| node["metadata"]["name"] == *decision.node);
                let Some(chosen) = chosen else { panic!("{} does not fit on {}", context(), decision.node) };
                let scores = world.score(&pod, &feasible);
                assert_eq!(
                    scores[chosen],
                    *scores.iter().max().expect("one fits"),
                    "{} on {}",
                    context(),
                    decision.node
                );
                cache.assume_pod(info, &decision.node);
                world.pods.push((decision.node.to_string(), pod));
                placed += 1;
            }
        }
    }
    assert!(placed > 0, "seed {seed}: nothing was placed");
}

/// Removes a pod, or changes, removes or adds a node, now and then.
fn disturb(rng: &mut StdRng, world: &mut World, cache: &mut Cache) {
    if rng.random_bool(0.25) && !world.pods.is_empty() {
        let gone = world.pods.swap_remove(rng.random_range(0..world.pods.len()));
        cache.remove_pod(text(&gone.1["metadata"]["uid"]));
    }
    if rng.random_bool(0.1) {
        let index = rng.random_range(0..world.nodes.len() + 2);
        let node = random_node(rng, index);
        cache.set_node(SharedObject::of(node.clone()));
        world.nodes.insert(text(&node["metadata"]["name"]).to_owned(), node);
    }
    if rng.random_bool(0.03) && world.nodes.len() > 2 {
        let name = world.nodes.keys().nth(rng.random_range(0..world.nodes.len())).cloned().expect("there are some");
        cache.remove_node(&name);
        world.nodes.remove(&name);
    }
}

#[test]
fn on_small_clusters_every_node_is_considered() {
    (0..10).for_each(|seed| check(seed, 12, 80));
}

#[test]
fn on_large_clusters_the_search_ends_early_and_moves_on() {
    check(100, 210, 30);
}
