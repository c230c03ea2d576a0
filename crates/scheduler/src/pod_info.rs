//! A pod with the facts that decisions read of it, computed once when the pod enters the
//! queue or the cache: a search compares them with a thousand nodes.

use crate::labels::Labels;
use crate::resources::{Resources, compute_non_zero_requests, compute_requests};
use crate::topology::AffinityTerms;
use ferry_api::rules::host_port::{HostPort, host_ports};
use ferry_api::rules::volume_match::claim_name;
use ferry_api::view::core::v1::{Pod, PodSpecView, PodView};
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

    pub fn is_assigned(&self) -> bool {
        !self.spec().node_name().is_empty()
    }

    pub fn nominated_node_name(&self) -> &str {
        self.view().status().nominated_node_name()
    }
}
