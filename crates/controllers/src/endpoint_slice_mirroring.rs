//! Writes EndpointSlices for Endpoints that people wrote by hand, so that whoever reads
//! slices (proxy, DNS) also serves Services without a selector.
//!
//! The reference is upstream's pkg/controller/endpointslicemirroring.

use crate::claim::controller_reference;
use crate::error::{During, Result};
use crate::expectations::{Expectations, Seen};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_client::{DeleteParams, Event, Informers};
use k8s_openapi::api::core::v1::{EndpointAddress, EndpointSubset, Endpoints, Service};
use k8s_openapi::api::discovery::v1::{Endpoint, EndpointConditions, EndpointPort, EndpointSlice};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

const SERVICE_NAME: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslicemirroring-controller.k8s.io";
const SKIP: &str = "endpointslice.kubernetes.io/skip-mirror";
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";

/// Annotations that speak of the Endpoints object alone.
const NOT_COPIED: [&str; 2] =
    ["endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration"];

/// Upstream's default for --mirroring-max-endpoints-per-subset.
const MAX_PER_SUBSET: usize = 1000;

const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

#[derive(Default)]
pub struct EndpointSliceMirroringController {
    expectations: Arc<Expectations>,
}

#[async_trait]
impl Controller for EndpointSliceMirroringController {
    fn name(&self) -> &'static str {
        "endpoint-slice-mirroring-controller"
    }

    fn identity(&self) -> &'static str {
        "endpointslicemirroring-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let expectations = self.expectations.clone();
        let services = informers.of::<Service>();
        vec![
            Watch::itself(informers.of::<Service>()),
            Watch::new(informers.of::<Endpoints>(), move |event, enqueue| {
                // Services with a selector have slices of their own; theirs are most.
                let meta = &event.object().metadata;
                let namespace = meta.namespace.as_deref().unwrap_or_default();
                let service = services.get(namespace, meta.name.as_deref().unwrap_or_default());
                if service.is_none_or(|service| has_no_selector(&service)) {
                    enqueue.add_object(meta);
                }
            }),
            Watch::new(informers.of::<EndpointSlice>(), move |event, enqueue| {
                let Some(key) = mirrored(event.object()) else { return };
                if let Event::Deleted(slice) = event {
                    expectations.observe_gone(&key, slice.metadata.uid.as_deref().unwrap_or_default());
                }
                enqueue.add(key);
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let slices = ctx.informers.of::<EndpointSlice>();
        let caught_up = self.expectations.are_met(key, |name, uid| match slices.get(&key.namespace, name) {
            Some(slice) if slice.metadata.uid.as_deref() == Some(uid) => Seen::Alive,
            _ => Seen::Absent,
        });
        if !caught_up {
            return Ok(Action::RequeueAfter(RECHECK));
        }
        let existing: Vec<Arc<EndpointSlice>> = slices
            .list(Some(&key.namespace))
            .into_iter()
            .filter(|slice| mirrored(slice).as_ref() == Some(key))
            .collect();
        let service = ctx.informers.of::<Service>().get(&key.namespace, &key.name);
        let endpoints = ctx.informers.of::<Endpoints>().get(&key.namespace, &key.name);
        let source = endpoints.filter(|endpoints| {
            is_mirrored(&endpoints.metadata) && service.is_some_and(|service| has_no_selector(&service))
        });
        let plan = plan_mirror(source.as_deref(), existing);
        self.expectations.open(key);
        let result = self.execute(ctx, key, plan).await;
        self.expectations.close(key);
        result.map(|()| Action::Done)
    }
}

impl EndpointSliceMirroringController {
    async fn execute(&self, ctx: &Context, key: &Key, plan: MirrorPlan) -> Result<()> {
        for slice in &plan.create {
            let made = ctx.client.create(&key.namespace, slice).await.during("mirror the endpoints", key)?;
            let (uid, name) = (made.metadata.uid.unwrap_or_default(), made.metadata.name.unwrap_or_default());
            self.expectations.created(key, &uid, &name);
        }
        for slice in &plan.update {
            ctx.client.replace(&key.namespace, slice).await.during("mirror the endpoints", key)?;
        }
        for slice in &plan.delete {
            let name = slice.metadata.name.as_deref().unwrap_or_default();
            match ctx.client.delete::<EndpointSlice>(&key.namespace, name, &DeleteParams::default()).await {
                Err(error) if error.is_not_found() => {}
                other => other.during("delete the endpoint slice", name)?,
            }
        }
        Ok(())
    }
}

fn has_no_selector(service: &Service) -> bool {
    service.spec.as_ref().is_some_and(|spec| spec.selector.is_none())
}

fn is_mirrored(meta: &ObjectMeta) -> bool {
    let skips = meta.labels.as_ref().and_then(|labels| labels.get(SKIP)).is_some_and(|skip| skip == "true");
    // Old leader elections keep their record on an Endpoints object.
    let elects = meta.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(LEADER));
    !skips && !elects
}

/// The Endpoints that a slice of ours mirrors.
fn mirrored(slice: &EndpointSlice) -> Option<Key> {
    let labels = slice.metadata.labels.as_ref()?;
    if labels.get(MANAGED_BY).map(String::as_str) != Some(MANAGER) {
        return None;
    }
    Some(Key::new(slice.metadata.namespace.clone().unwrap_or_default(), labels.get(SERVICE_NAME)?.clone()))
}

#[derive(Debug, Default)]
struct MirrorPlan {
    create: Vec<EndpointSlice>,
    update: Vec<EndpointSlice>,
    delete: Vec<Arc<EndpointSlice>>,
}

/// One slice for each subset and IP family; a slice with the same ports is written over.
fn plan_mirror(source: Option<&Endpoints>, mut existing: Vec<Arc<EndpointSlice>>) -> MirrorPlan {
    let mut plan = MirrorPlan::default();
    for wanted in source.map(mirror).unwrap_or_default() {
        let same =
            |slice: &Arc<EndpointSlice>| slice.address_type == wanted.address_type && slice.ports == wanted.ports;
        let Some(index) = existing.iter().position(same) else {
            plan.create.push(wanted);
            continue;
        };
        let current = existing.remove(index);
        let metadata = ObjectMeta {
            labels: wanted.metadata.labels.clone(),
            annotations: wanted.metadata.annotations.clone(),
            owner_references: wanted.metadata.owner_references.clone(),
            ..current.metadata.clone()
        };
        let wanted = EndpointSlice { metadata, ..wanted };
        if wanted != *current {
            plan.update.push(wanted);
        }
    }
    plan.delete = existing;
    plan
}

fn mirror(endpoints: &Endpoints) -> Vec<EndpointSlice> {
    let mut labels = endpoints.metadata.labels.clone().unwrap_or_default();
    let name = endpoints.metadata.name.clone().unwrap_or_default();
    labels.insert(SERVICE_NAME.to_owned(), name.clone());
    labels.insert(MANAGED_BY.to_owned(), MANAGER.to_owned());
    let mut annotations: BTreeMap<String, String> = endpoints.metadata.annotations.clone().unwrap_or_default();
    annotations.retain(|key, _| !NOT_COPIED.contains(&key.as_str()));
    let metadata = ObjectMeta {
        generate_name: Some(format!("{name}-")),
        namespace: endpoints.metadata.namespace.clone(),
        labels: Some(labels),
        annotations: (!annotations.is_empty()).then_some(annotations),
        owner_references: Some(vec![controller_reference(endpoints)]),
        ..Default::default()
    };
    let subsets = endpoints.subsets.as_deref().unwrap_or_default();
    subsets.iter().flat_map(|subset| mirror_subset(subset, &metadata)).collect()
}

fn mirror_subset(subset: &EndpointSubset, metadata: &ObjectMeta) -> Vec<EndpointSlice> {
    let ports: Vec<EndpointPort> = subset
        .ports
        .iter()
        .flatten()
        .map(|port| EndpointPort {
            name: Some(port.name.clone().unwrap_or_default()),
            port: Some(port.port),
            protocol: Some(port.protocol.clone().unwrap_or_else(|| "TCP".to_owned())),
            app_protocol: port.app_protocol.clone(),
        })
        .collect();
    let ready = subset.addresses.iter().flatten().map(|address| (address, true));
    let not_ready = subset.not_ready_addresses.iter().flatten().map(|address| (address, false));
    let mut families: BTreeMap<&str, Vec<Endpoint>> = BTreeMap::new();
    for (address, ready) in ready.chain(not_ready).take(MAX_PER_SUBSET) {
        if let Some((family, endpoint)) = mirror_address(address, ready) {
            families.entry(family).or_default().push(endpoint);
        }
    }
    let slice = |(family, endpoints): (&str, Vec<Endpoint>)| EndpointSlice {
        metadata: metadata.clone(),
        address_type: family.to_owned(),
        endpoints: Some(endpoints),
        ports: Some(ports.clone()),
    };
    families.into_iter().map(slice).collect()
}

fn mirror_address(address: &EndpointAddress, ready: bool) -> Option<(&'static str, Endpoint)> {
    let ip: IpAddr = address.ip.parse().ok()?;
    let endpoint = Endpoint {
        addresses: vec![ip.to_string()],
        conditions: Some(EndpointConditions { ready: Some(ready), ..Default::default() }),
        hostname: address.hostname.clone(),
        node_name: address.node_name.clone(),
        target_ref: address.target_ref.clone(),
        ..Default::default()
    };
    Some((if ip.is_ipv6() { "IPv6" } else { "IPv4" }, endpoint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_become_endpoints_by_family() {
        let endpoints: Endpoints = serde_json::from_value(json!({
            "metadata": {"name": "db", "namespace": "default", "uid": "e"},
            "subsets": [{"addresses": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}], "notReadyAddresses": [{"ip": "192.0.2.2"}],
                "ports": [{"port": 5432}]}],
        }))
        .expect("endpoints");
        let plan = plan_mirror(Some(&endpoints), Vec::new());
        let texts: Vec<String> = plan
            .create
            .iter()
            .flat_map(|slice| {
                slice.endpoints.iter().flatten().map(|e| {
                    format!(
                        "{} {} {:?}",
                        slice.address_type,
                        e.addresses[0],
                        e.conditions.as_ref().and_then(|c| c.ready)
                    )
                })
            })
            .collect();
        assert_eq!(texts, ["IPv4 192.0.2.1 Some(true)", "IPv4 192.0.2.2 Some(false)", "IPv6 2001:db8::1 Some(true)"]);
        let existing: Vec<_> = plan.create.into_iter().map(Arc::new).collect();
        let again = plan_mirror(Some(&endpoints), existing.clone());
        assert!(again.create.is_empty() && again.update.is_empty() && again.delete.is_empty());
        assert_eq!(plan_mirror(None, existing).delete.len(), 2);
    }

    #[test]
    fn some_endpoints_are_left_alone() {
        let check = |meta: serde_json::Value, expected: bool| {
            assert_eq!(is_mirrored(&serde_json::from_value(meta).expect("metadata")), expected);
        };
        check(json!({}), true);
        check(json!({"labels": {SKIP: "true"}}), false);
        check(json!({"annotations": {LEADER: "{}"}}), false);
    }
}
