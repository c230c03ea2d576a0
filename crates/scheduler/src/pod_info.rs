//! A pod with the facts that decisions read of it, computed once when the pod enters the
//! queue or the cache: a search compares them with a thousand nodes.

use crate::framework::Resource;
use crate::labels::Labels;
use crate::resources::{Resources, compute_non_zero_requests, compute_requests};
use crate::topology::AffinityTerms;
use ferry_api::rules::host_port::{HostPort, host_ports};
use ferry_api::rules::resource_claim::claims_of;
use ferry_api::rules::volume_match::claim_name;
use ferry_api::view::core::v1::{PersistentVolumeClaim, Pod, PodSpecView, PodView};
use ferry_api::view::resource::v1::ResourceClaim;
use ferry_client::SharedObject;
use std::sync::Arc;

#[derive(Debug)]
pub struct PodInfo {
    pub pod: SharedObject<Pod>,
    pub uid: Arc<str>,
    pub namespace: Box<str>,
    pub labels: Labels,
    /// The terms of inter-pod affinity, which few pods have.
    pub affinity: Option<Box<AffinityTerms>>,
    pub priority: i32,
    pub requests: Resources,
    pub non_zero_requests: Resources,
    pub ports: Vec<HostPort<'static>>,
    pub has_volumes: bool,
    /// The names of the claims that it uses, its own ephemeral ones included.
    pub claims: Vec<Box<str>>,
    /// The names of the ResourceClaims that are known so far; a template may still be waiting.
    pub resource_claims: Vec<Box<str>>,
    pub has_resource_claims: bool,
    pub is_deleting: bool,
    /// When it started, in nanoseconds; pods that have not are the youngest.
    pub started: i128,
}

impl PodInfo {
    pub fn of(pod: SharedObject<Pod>) -> Self {
        let view = pod.view();
        Self {
            uid: pod.uid().into(),
            namespace: pod.namespace().into(),
            labels: Labels::of(view.metadata().labels()),
            affinity: AffinityTerms::of(view),
            priority: view.spec().priority().unwrap_or(0),
            requests: compute_requests(view),
            non_zero_requests: compute_non_zero_requests(view),
            ports: host_ports(view.spec()).map(HostPort::into_owned).collect(),
            has_volumes: !view.spec().volumes().is_empty(),
            claims: view
                .spec()
                .volumes()
                .iter()
                .filter_map(|volume| Some((*claim_name(view, volume)?).into()))
                .collect(),
            resource_claims: claims_of(view).map(Into::into).collect(),
            has_resource_claims: !view.spec().resource_claims().is_empty(),
            is_deleting: pod.is_deleting(),
            started: view.status().start_time().map_or(i128::MAX, |time| time.as_nanosecond()),
            pod,
        }
    }

    pub fn view(&self) -> PodView<'_> {
        self.pod.view()
    }

    pub fn spec(&self) -> PodSpecView<'_> {
        self.view().spec()
    }

    pub fn name(&self) -> &str {
        self.pod.name()
    }

    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The objects of its namespace that it names, whose changes can matter to it.
    pub fn names(&self) -> impl Iterator<Item = (Resource, &str)> {
        let volumes = self.claims.iter().map(|name| (const { Resource::of::<PersistentVolumeClaim>() }, &**name));
        let devices = self.resource_claims.iter().map(|name| (const { Resource::of::<ResourceClaim>() }, &**name));
        volumes.chain(devices)
    }

    pub fn is_assigned(&self) -> bool {
        !self.spec().node_name().is_empty()
    }

    pub fn nominated_node_name(&self) -> &str {
        self.view().status().nominated_node_name()
    }
}
