//! The pods that use a claim, found without going over all pods. Used by the controllers
//! that bind claims, protect them and make them for ephemeral volumes.

use crate::runner::Key;
use ferry_api::rules::volume_match::claim_name;
use ferry_api::view::core::v1::{Pod, PodView};
use ferry_client::{Informer, SharedObject};

const BY_CLAIM: &str = "claim";

/// Indexes pods by the claims that they name or have made for them.
pub(super) fn by_claim(pods: Informer<Pod>) -> Informer<Pod> {
    pods.indexed(BY_CLAIM, |pod| {
        let keys = claims_of(pod.view()).into_iter();
        keys.map(|key| key.to_string()).collect()
    })
}

/// The pods that use a claim.
pub(super) fn using_claim(pods: &Informer<Pod>, claim: &Key) -> Vec<SharedObject<Pod>> {
    pods.by_index(BY_CLAIM, &claim.to_string())
}

/// The claims that a pod names or has made for its ephemeral volumes.
pub(super) fn claims_of(pod: PodView<'_>) -> Vec<Key> {
    let namespace = pod.metadata().namespace();
    let volumes = pod.spec().volumes().iter();
    volumes.filter_map(|volume| Some(Key::new(namespace, claim_name(pod, volume)?))).collect()
}
