//! Writes EndpointSlices for Endpoints that people wrote by hand, so that whoever reads
//! slices (proxy, DNS) also serves Services without a selector.
//!
//! The reference is upstream's pkg/controller/endpointslicemirroring.

use crate::error::Result;
use crate::network::endpoint_slice::writer::{MANAGED_BY, RECHECK, SERVICE_NAME, SlicePlan, SliceWriter};
use crate::network::service_pods::protocol_or_tcp;
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::owner::controller_reference;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{
    EndpointAddressView, EndpointSubsetView, Endpoints, EndpointsView, Service, ServiceView,
};
use ferry_api::view::discovery::v1::{Endpoint, EndpointConditions, EndpointPort, EndpointSlice, EndpointSliceView};
use ferry_api::view::meta::v1::{ObjectMeta, ObjectMetaView};
use ferry_client::{Informers, SharedObject};
use std::collections::BTreeMap;
use std::net::IpAddr;

const MANAGER: &str = "endpointslicemirroring-controller.k8s.io";
const SKIP: &str = "endpointslice.kubernetes.io/skip-mirror";
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";

/// Annotations that speak of the Endpoints object alone.
const NOT_COPIED: [&str; 2] =
    ["endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration"];

/// Upstream's default for --mirroring-max-endpoints-per-subset.
const MAX_PER_SUBSET: usize = 1000;

pub(crate) struct EndpointSliceMirroringController {
    slices: SliceWriter,
}

impl Default for EndpointSliceMirroringController {
    fn default() -> Self {
        Self { slices: SliceWriter::new(MANAGER) }
    }
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
        let services = informers.of::<Service>();
        vec![
            Watch::itself(services.clone()),
            Watch::new(informers.of::<Endpoints>(), move |event, enqueue| {
                // Most services have a selector, and slices of their own.
                let endpoints = event.object();
                let service = services.get(endpoints.namespace(), endpoints.name());
                if service.is_none_or(|service| has_no_selector(service.view())) {
                    enqueue.add_object(endpoints.meta());
                }
            }),
            self.slices.watch(informers),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let Some(existing) = self.slices.existing(ctx, key) else { return Ok(Action::RequeueAfter(RECHECK)) };
        let service = informers.of::<Service>().get(&key.namespace, &key.name);
        let endpoints = informers.of::<Endpoints>().get(&key.namespace, &key.name);
        let source = endpoints.filter(|endpoints| {
            is_mirrored(endpoints.meta()) && service.is_some_and(|service| has_no_selector(service.view()))
        });
        let plan = plan_mirror(source.as_ref().map(SharedObject::view), existing);
        self.slices.execute(ctx, key, &plan).await.map(|()| Action::Done)
    }
}

fn has_no_selector(service: ServiceView<'_>) -> bool {
    service.spec().selector().is_empty()
}

fn is_mirrored(metadata: ObjectMetaView<'_>) -> bool {
    let skips = metadata.labels().get(SKIP) == Some("true");
    // Old leader elections keep their record on an Endpoints object.
    let elects = metadata.annotations().contains_key(LEADER);
    !skips && !elects
}

/// One slice for each subset and IP family; a slice with the same ports is written over.
fn plan_mirror(source: Option<EndpointsView<'_>>, mut existing: Vec<SharedObject<EndpointSlice>>) -> SlicePlan {
    let mut plan = SlicePlan::default();
    for mut wanted in source.map(mirror).unwrap_or_default() {
        let same = |slice: &SharedObject<EndpointSlice>| {
            let (slice, wanted) = (slice.view(), wanted.view());
            slice.address_type() == wanted.address_type() && slice.ports() == wanted.ports()
        };
        let Some(index) = existing.iter().position(same) else {
            plan.create.push(wanted);
            continue;
        };
        let current = existing.remove(index);
        if says_the_same(current.view(), wanted.view()) {
            continue;
        }
        let mut metadata = current.meta().to_owned();
        let new = wanted.view().metadata();
        metadata.set_labels(new.labels());
        metadata.set_annotations(new.annotations());
        metadata.set_owner_references(new.owner_references());
        wanted.set_metadata(metadata);
        plan.update.push(wanted);
    }
    plan.delete = existing;
    plan
}

/// Whether two slices agree in all that the mirror writes; their types and ports do.
fn says_the_same(a: EndpointSliceView<'_>, b: EndpointSliceView<'_>) -> bool {
    a.endpoints() == b.endpoints()
        && a.metadata().labels() == b.metadata().labels()
        && a.metadata().annotations() == b.metadata().annotations()
        && a.metadata().owner_references() == b.metadata().owner_references()
}

fn mirror(endpoints: EndpointsView<'_>) -> Vec<EndpointSlice> {
    let own = endpoints.metadata();
    let annotations = own.annotations().iter().filter(|(key, _)| !NOT_COPIED.contains(key));
    let mut metadata = ObjectMeta::new()
        .with_generate_name(format!("{}-", own.name()))
        .with_namespace(own.namespace())
        .with_labels(own.labels())
        .with_annotations(annotations)
        .with_owner_references([controller_reference::<Endpoints>(endpoints)]);
    metadata.insert_labels(SERVICE_NAME, own.name());
    metadata.insert_labels(MANAGED_BY, MANAGER);
    endpoints.subsets().iter().flat_map(|subset| mirror_subset(subset, &metadata)).collect()
}

fn mirror_subset(subset: EndpointSubsetView<'_>, metadata: &ObjectMeta) -> Vec<EndpointSlice> {
    let ports: Vec<EndpointPort> = subset
        .ports()
        .iter()
        .map(|port| {
            EndpointPort::new()
                .with_name(port.name())
                .with_port(port.port())
                .with_protocol(protocol_or_tcp(port.protocol()))
                .with_app_protocol(port.app_protocol())
        })
        .collect();
    let ready = subset.addresses().iter().map(|address| (address, true));
    let not_ready = subset.not_ready_addresses().iter().map(|address| (address, false));
    let mut families: BTreeMap<&str, Vec<Endpoint>> = BTreeMap::new();
    for (address, ready) in ready.chain(not_ready).take(MAX_PER_SUBSET) {
        if let Some((family, endpoint)) = mirror_address(address, ready) {
            families.entry(family).or_default().push(endpoint);
        }
    }
    let slice = |(family, endpoints): (&str, Vec<Endpoint>)| {
        EndpointSlice::new()
            .with_metadata(metadata.view())
            .with_address_type(family)
            .with_endpoints(endpoints)
            .with_ports(ports.clone())
    };
    families.into_iter().map(slice).collect()
}

fn mirror_address(address: EndpointAddressView<'_>, ready: bool) -> Option<(&'static str, Endpoint)> {
    let ip: IpAddr = address.ip().parse().ok()?;
    let endpoint = Endpoint::new()
        .with_addresses([ip.to_string()])
        .with_conditions(EndpointConditions::new().with_ready(ready))
        .with_hostname(Some(address.hostname()).filter(|hostname| !hostname.is_empty()))
        .with_node_name(address.node_name())
        .with_target_ref(address.target_ref());
    Some((if ip.is_ipv6() { "IPv6" } else { "IPv4" }, endpoint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn addresses_become_endpoints_by_family() {
        let endpoints = Endpoints::from(json!({
            "metadata": {"name": "db", "namespace": "default", "uid": "e"},
            "subsets": [{"addresses": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}], "notReadyAddresses": [{"ip": "192.0.2.2"}],
                "ports": [{"port": 5432}]}],
        }));
        let plan = plan_mirror(Some(endpoints.view()), Vec::new());
        let texts: Vec<String> = plan
            .create
            .iter()
            .flat_map(|slice| {
                let slice = slice.view();
                slice.endpoints().iter().map(move |e| {
                    let address = e.addresses().first().expect("an address");
                    format!("{} {address} {:?}", slice.address_type(), e.conditions().ready())
                })
            })
            .collect();
        assert_eq!(texts, ["IPv4 192.0.2.1 Some(true)", "IPv4 192.0.2.2 Some(false)", "IPv6 2001:db8::1 Some(true)"]);
        let existing: Vec<_> = plan.create.into_iter().map(SharedObject::of).collect();
        let again = plan_mirror(Some(endpoints.view()), existing.clone());
        assert!(again.create.is_empty() && again.update.is_empty() && again.delete.is_empty());
        assert_eq!(plan_mirror(None, existing).delete.len(), 2);
    }

    #[test]
    fn some_endpoints_are_left_alone() {
        let check = |meta: serde_json::Value, expected: bool| {
            assert_eq!(is_mirrored(ObjectMeta::from(meta).view()), expected);
        };
        check(json!({}), true);
        check(json!({"labels": {SKIP: "true"}}), false);
        check(json!({"annotations": {LEADER: "{}"}}), false);
    }
}
