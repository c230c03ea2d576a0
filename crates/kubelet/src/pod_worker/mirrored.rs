//! The status of a static pod: kept here, and written to its mirror where there is one.

use super::{PodWorker, revision};
use crate::pod;
use crate::static_pods::mirror::static_uid;
use crate::status;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Pod, PodStatus};
use ferry_client::{Patch, SharedObject};

impl PodWorker {
    /// Returns false when the API did not take the status; there may be no API at all.
    pub(super) async fn write_mirror(&mut self, status: PodStatus) -> bool {
        let (namespace, name) = (self.wanted.namespace().to_owned(), self.wanted.name().to_owned());
        let cached = self.context.pods.get(&namespace, &name);
        let cached = cached.filter(|mirror| static_uid(mirror.view()) == Some(self.uid.as_str()));
        // The answer to the last write may be newer than the cache.
        let is_newer = |own: &SharedObject<Pod>, other: &SharedObject<Pod>| {
            own.uid() == other.uid() && revision(own) > revision(other)
        };
        let mirror = match (cached, self.mirror.take()) {
            (Some(cached), Some(written)) if is_newer(&written, &cached) => Some(written),
            (cached, _) => cached,
        };
        self.mirror.clone_from(&mirror);
        let patch = mirror
            .as_ref()
            .and_then(|mirror| status::patch::status_patch(mirror.uid(), mirror.view().status(), status.view()));
        let mut known = self.wanted.to_owned();
        known.set_status(status);
        self.known = SharedObject::of(known);
        let Some(patch) = patch else { return true };
        match self.context.client.api::<Pod>(&namespace).patch_status(&name, &Patch::Strategic(patch)).await {
            Ok(mirror) => {
                self.mirror = Some(mirror);
                true
            }
            // A mirror that comes wakes its pod.
            Err(error) if error.is_not_found() || error.is_conflict() => true,
            Err(error) => {
                tracing::warn!(pod = %pod::full_name(self.wanted.view()), %error, "cannot write the status of a mirror pod");
                false
            }
        }
    }
}
