//! Which pods are isolated, by which policies, and whose peers they are: kept from event to
//! event, so that one change costs what it changes. `sync.rs` notes what has changed and calls
//! [`State::update`], which returns the owners whose rules are new.
//!
//! | change | looked at again |
//! |---|---|
//! | a pod | the pod: groups and policies by its labels |
//! | a policy | its chains; this node's pods that it selects or did; pods of groups that are new |
//! | a namespace | the groups that select namespaces; its pods, if one of these has changed |
//!
//! Everything is level-triggered: what is looked at again is computed from the informers' state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use ferry_api::rules::key::ObjectKey;
use ferry_api::rules::pod;
use ferry_api::selector::Selector;
use ferry_api::view::core::v1::{Namespace, Pod, PodView};
use ferry_api::view::networking::v1::NetworkPolicy;
use ferry_client::{Informer, SharedObject, labels};
use ferry_nftables::{OwnedRules, Protocol};

use crate::Config;
use crate::group::{GroupId, GroupKey, Groups};
use crate::policy::{Direction, Policy, compile_policy};
use crate::render;
use crate::selector_index::SelectorIndex;
use crate::sync::Owner;

/// The index of pods by the names of their ports.
const BY_PORT_NAME: &str = "port-name";

/// A pod that no API object can be called: where the cluster's DNS answers.
const DNS_POD: &str = ":dns";
const DNS_NAMESPACE: &str = "kube-system";
const DNS_LABEL: (&str, &str) = ("k8s-app", "kube-dns");

/// What has happened since the last update.
#[derive(Debug, Default)]
pub struct Changes {
    pub pods: BTreeSet<ObjectKey>,
    pub policies: BTreeSet<ObjectKey>,
    pub namespaces: BTreeSet<String>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.policies.is_empty() && self.namespaces.is_empty()
    }
}

/// The policies that judge a pod in one direction: shared by all pods that have the same.
type StackKey = (Direction, Vec<Arc<ObjectKey>>);

#[derive(Debug)]
struct Stack {
    id: u64,
    pods: usize,
}

/// What a pod's last rules have been made of.
#[derive(Debug, Default)]
struct Known {
    groups: BTreeSet<GroupId>,
    stacks: Vec<StackKey>,
}

pub struct State {
    node_name: String,
    pods: Informer<Pod>,
    policies: Informer<NetworkPolicy>,
    namespaces: Informer<Namespace>,
    dns: Option<SharedObject<Pod>>,
    /// Policies as their rules are now.
    compiled: HashMap<Arc<ObjectKey>, Policy>,
    /// By namespace: its policies, by the pods they select.
    selecting: HashMap<String, SelectorIndex<Arc<ObjectKey>>>,
    groups: Groups,
    /// How many rules name a port so.
    port_names: HashMap<String, usize>,
    stacks: HashMap<StackKey, Stack>,
    last_stack: u64,
    known: HashMap<Arc<ObjectKey>, Known>,
}

/// The update that is being made.
#[derive(Default)]
struct Update {
    pods: BTreeSet<ObjectKey>,
    rules: BTreeMap<Owner, OwnedRules>,
}

impl State {
    pub fn new(
        config: &Config,
        pods: Informer<Pod>,
        policies: Informer<NetworkPolicy>,
        namespaces: Informer<Namespace>,
    ) -> State {
        State {
            node_name: config.node_name.clone(),
            pods: labels::by_label(pods).indexed(BY_PORT_NAME, |pod| port_names(pod.view())),
            policies,
            namespaces: labels::by_label(namespaces),
            dns: dns_pod(&config.dns),
            compiled: HashMap::new(),
            selecting: HashMap::new(),
            groups: Groups::default(),
            port_names: HashMap::new(),
            stacks: HashMap::new(),
            last_stack: 0,
            known: HashMap::new(),
        }
    }

    /// The rules of all owners that the changes concern.
    pub fn update(&mut self, changes: Changes) -> BTreeMap<Owner, OwnedRules> {
        let mut update = Update { pods: changes.pods, rules: BTreeMap::new() };
        for namespace in changes.namespaces {
            self.update_namespace(&namespace, &mut update);
        }
        for key in changes.policies {
            self.update_policy(key, &mut update);
        }
        update.rules.insert(Owner::Unknown, render::render_unknown(!self.compiled.is_empty()));
        for key in std::mem::take(&mut update.pods) {
            self.update_pod(key, &mut update);
        }
        update.rules
    }

    fn update_namespace(&mut self, name: &str, update: &mut Update) {
        let namespace = self.namespaces.get("", name);
        let labels = namespace.as_ref().map(|namespace| namespace.meta().labels());
        if self.groups.relabel(name, labels) {
            self.look_at_pods(name, &Selector::everything(), update);
        }
    }

    fn update_policy(&mut self, key: ObjectKey, update: &mut Update) {
        let key = Arc::new(key);
        let object = self.policies.get(&key.namespace, &key.name);
        let new = object.map(|policy| compile_policy(policy.view()));
        let old = self.compiled.remove(&key);
        if old == new {
            if let Some(same) = new {
                self.compiled.insert(key, same);
            }
            return;
        }
        // The new uses first, so that what both versions name is kept.
        for group in new.iter().flat_map(Policy::groups) {
            self.acquire_group(group, update);
        }
        for name in new.iter().flat_map(Policy::port_names) {
            self.acquire_port_name(name, update);
        }
        for group in old.iter().flat_map(Policy::groups) {
            if let Some((id, group)) = self.groups.release(group) {
                update.rules.insert(Owner::Group(id), OwnedRules::default());
                update.pods.extend(group.members.iter().map(|pod| (**pod).clone()));
            }
        }
        for name in old.iter().flat_map(Policy::port_names) {
            self.release_port_name(name, update);
        }
        let isolates = |policy: &Option<Policy>| {
            policy.as_ref().map(|policy| (policy.pods.clone(), policy.ingress.is_some(), policy.egress.is_some()))
        };
        if isolates(&old) != isolates(&new) {
            self.reselect(&key, old.as_ref(), new.as_ref(), update);
        }
        let rules = new.as_ref().map(|policy| render::render_policy(&key, policy, |group| self.groups.id(group)));
        update.rules.insert(Owner::Policy(Arc::clone(&key)), rules.unwrap_or_default());
        if let Some(new) = new {
            self.compiled.insert(key, new);
        }
    }

    /// A policy selects other pods now, or isolates them in another direction.
    fn reselect(&mut self, key: &Arc<ObjectKey>, old: Option<&Policy>, new: Option<&Policy>, update: &mut Update) {
        let index = self.selecting.entry(key.namespace.clone()).or_default();
        if let Some(old) = old {
            index.remove(&old.pods, key);
        }
        if let Some(new) = new {
            index.insert(&new.pods, key);
        }
        if index.is_empty() {
            self.selecting.remove(&key.namespace);
        }
        for policy in old.into_iter().chain(new) {
            for pod in labels::selected(&self.pods, &key.namespace, &policy.pods) {
                if pod.view().spec().node_name() == self.node_name {
                    update.pods.insert(ObjectKey::of(pod.meta()));
                }
            }
        }
    }

    fn acquire_group(&mut self, key: &GroupKey, update: &mut Update) {
        let Some(id) = self.groups.acquire(key, &self.namespaces) else { return };
        update.rules.insert(Owner::Group(id), render::render_group(id));
        let (namespaces, pods) = match (self.groups.get(id), self.groups.pods(id)) {
            (Some(group), Some(pods)) => (group.namespaces.clone(), pods.clone()),
            _ => return,
        };
        for namespace in namespaces {
            self.look_at_pods(&namespace, &pods, update);
        }
    }

    fn look_at_pods(&self, namespace: &str, selector: &Selector, update: &mut Update) {
        let found = labels::selected(&self.pods, namespace, selector);
        update.pods.extend(found.iter().map(|pod| ObjectKey::of(pod.meta())));
        if self.dns.is_some() && namespace == DNS_NAMESPACE {
            update.pods.insert(ObjectKey::new(DNS_NAMESPACE, DNS_POD));
        }
    }

    fn acquire_port_name(&mut self, name: &str, update: &mut Update) {
        let uses = self.port_names.entry(name.to_owned()).or_default();
        *uses += 1;
        if *uses == 1 {
            update.rules.insert(Owner::PortName(name.into()), render::render_port_name(name));
            self.look_at_named_ports(name, update);
        }
    }

    fn release_port_name(&mut self, name: &str, update: &mut Update) {
        let Some(uses) = self.port_names.get_mut(name) else { return };
        *uses -= 1;
        if *uses == 0 {
            self.port_names.remove(name);
            update.rules.insert(Owner::PortName(name.into()), OwnedRules::default());
            self.look_at_named_ports(name, update);
        }
    }

    fn look_at_named_ports(&self, name: &str, update: &mut Update) {
        let pods = self.pods.by_index(BY_PORT_NAME, name);
        update.pods.extend(pods.iter().map(|pod| ObjectKey::of(pod.meta())));
        if self.dns.as_ref().is_some_and(|dns| port_names(dns.view()).iter().any(|port| port == name)) {
            update.pods.insert(ObjectKey::new(DNS_NAMESPACE, DNS_POD));
        }
    }

    fn update_pod(&mut self, key: ObjectKey, update: &mut Update) {
        let object = match &self.dns {
            Some(dns) if key.name == DNS_POD => Some(dns.clone()),
            _ => self.pods.get(&key.namespace, &key.name),
        };
        let key = Arc::new(key);
        let mut now = Known::default();
        let mut rules = OwnedRules::default();
        if let Some(pod) = object.as_ref().map(SharedObject::view) {
            let addresses = addresses(pod);
            if !addresses.is_empty() {
                let labels = pod.metadata().labels();
                now.groups = self.groups.of_pod(&key.namespace, labels);
                let is_own = pod.spec().node_name() == self.node_name && key.name != DNS_POD;
                let judged = is_own.then(|| {
                    Direction::BOTH.map(|direction| {
                        let stack = self.stack_of(&key.namespace, pod, direction);
                        (!stack.1.is_empty()).then(|| {
                            now.stacks.push(stack.clone());
                            self.acquire_stack(stack, update)
                        })
                    })
                });
                let ports = named_ports(pod, |name| self.port_names.contains_key(name));
                rules = render::render_pod(&addresses, now.groups.iter().copied(), &ports, judged);
            }
        }
        self.remember(&key, now, update);
        update.rules.insert(Owner::Pod(key), rules);
    }

    /// The policies that isolate a pod in a direction, in the order of their names.
    fn stack_of(&self, namespace: &str, pod: PodView<'_>, direction: Direction) -> StackKey {
        let labels = pod.metadata().labels();
        let candidates = self.selecting.get(namespace).map(|index| index.candidates(labels)).unwrap_or_default();
        let isolating = candidates.into_iter().filter(|key| {
            self.compiled.get(key).is_some_and(|policy| {
                policy.rules(direction).is_some() && policy.pods.matches_with(|name| labels.get(name))
            })
        });
        (direction, isolating.collect())
    }

    fn acquire_stack(&mut self, key: StackKey, update: &mut Update) -> u64 {
        if let Some(stack) = self.stacks.get_mut(&key) {
            stack.pods += 1;
            return stack.id;
        }
        self.last_stack += 1;
        let id = self.last_stack;
        let rules = render::render_stack(id, key.0, key.1.iter().map(|policy| &**policy));
        update.rules.insert(Owner::Stack(id), rules);
        self.stacks.insert(key, Stack { id, pods: 1 });
        id
    }

    /// Gives up what the pod's last rules were made of and keeps what the new ones are.
    fn remember(&mut self, key: &Arc<ObjectKey>, now: Known, update: &mut Update) {
        let before = self.known.remove(key).unwrap_or_default();
        for group in before.groups.difference(&now.groups) {
            self.groups.part(*group, key);
        }
        for group in now.groups.difference(&before.groups) {
            self.groups.join(*group, key);
        }
        for stack in before.stacks {
            let Some(held) = self.stacks.get_mut(&stack) else { continue };
            held.pods -= 1;
            if held.pods == 0 {
                update.rules.insert(Owner::Stack(held.id), OwnedRules::default());
                self.stacks.remove(&stack);
            }
        }
        if !now.groups.is_empty() || !now.stacks.is_empty() {
            self.known.insert(Arc::clone(key), now);
        }
    }
}

/// The addresses by which policies know a pod. Those of pods in the host's network are the
/// node's, and those of a pod that has stopped may be another pod's.
fn addresses(pod: PodView<'_>) -> Vec<IpAddr> {
    if pod.spec().host_network() || pod::is_terminal(pod) {
        return Vec::new();
    }
    let status = pod.status();
    let all = status.pod_ips().iter().map(|address| address.ip());
    let single = status.pod_ips().is_empty().then(|| status.pod_ip());
    all.chain(single).filter_map(|address| address.parse().ok()).collect()
}

/// The named ports of containers that run beside each other.
fn named_ports<'a>(pod: PodView<'a>, is_named: impl Fn(&str) -> bool) -> Vec<(&'a str, Protocol, u16)> {
    let sidecars = pod.spec().init_containers().iter().filter(|container| pod::is_sidecar(*container));
    let ports = pod.spec().containers().iter().chain(sidecars).flat_map(|container| container.ports().iter());
    ports
        .filter(|port| !port.name().is_empty() && is_named(port.name()))
        .filter_map(|port| {
            Some((port.name(), Protocol::parse(port.protocol())?, u16::try_from(port.container_port()).ok()?))
        })
        .collect()
}

fn port_names(pod: PodView<'_>) -> Vec<String> {
    let mut names: Vec<String> = named_ports(pod, |_| true).iter().map(|(name, ..)| (*name).to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// The cluster's DNS as the pod that it is elsewhere.
fn dns_pod(addresses: &[IpAddr]) -> Option<SharedObject<Pod>> {
    use ferry_api::view::core::v1::{Container, ContainerPort, PodIP, PodSpec, PodStatus};
    use ferry_api::view::meta::v1::ObjectMeta;
    if addresses.is_empty() {
        return None;
    }
    let port = |name: &str, protocol: &str| {
        ContainerPort::new().with_name(name).with_container_port(53).with_protocol(protocol)
    };
    let container = Container::new().with_name("coredns").with_ports([port("dns", "UDP"), port("dns-tcp", "TCP")]);
    let ips = addresses.iter().map(|address| PodIP::new().with_ip(address.to_string()));
    let pod = Pod::new()
        .with_metadata(ObjectMeta::new().with_namespace(DNS_NAMESPACE).with_name(DNS_POD).with_labels([DNS_LABEL]))
        .with_spec(PodSpec::new().with_containers([container]))
        .with_status(PodStatus::new().with_pod_ips(ips));
    Some(SharedObject::from(pod))
}

#[cfg(test)]
mod tests;
