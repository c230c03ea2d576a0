//! The pods of this node that have each CSI volume, and how far each volume is. Only memory: the
//! records on the disk (`source.rs`) say it again after a restart.

use crate::backoff::BackOff;
use ferry_api::quantity::Quantity;
use ferry_api::rules::csi_volume::CsiVolumeId;
use jiff::Timestamp;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Upstream's back-off of an operation on a volume (goroutinemap/exponentialbackoff).
const FIRST_RETRY: Duration = Duration::from_millis(500);
const LAST_RETRY: Duration = Duration::from_secs(122);
const GROWTH: &str = "growth";

/// The directories of pods that have each volume, and a lock for the calls about it: of two pods
/// that come and go at once, one must not unstage what the other has staged.
#[derive(Default)]
pub(crate) struct Users(Mutex<HashMap<CsiVolumeId, VolumeUsers>>);

#[derive(Default)]
struct VolumeUsers {
    places: HashSet<PathBuf>,
    calls: Arc<tokio::sync::Mutex<()>>,
    growth: Growth,
}

/// The size of a volume as this node has it.
#[derive(Clone)]
pub(super) struct Growth {
    /// Whether some pod has got the volume already; before, a growth that fails keeps it away.
    pub is_mounted: bool,
    /// The claim's capacity when the volume was mounted here or last grown.
    pub size: Option<Quantity>,
    /// The claim's version after the last growth; older ones in a cache say nothing new.
    pub version: Option<u64>,
    /// The driver does not grow volumes that are in use; the next mount tries again.
    pub is_refused: bool,
    pub retry: BackOff,
}

impl Default for Growth {
    fn default() -> Self {
        Self {
            is_mounted: false,
            size: None,
            version: None,
            is_refused: false,
            retry: BackOff::new(FIRST_RETRY, LAST_RETRY),
        }
    }
}

impl Growth {
    pub fn retry_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.retry.until(GROWTH, now)
    }
}

impl Users {
    pub(super) fn add(&self, id: CsiVolumeId, place: &Path) -> Arc<tokio::sync::Mutex<()>> {
        let mut users = self.0.lock();
        let own = users.entry(id).or_default();
        own.places.insert(place.to_owned());
        own.calls.clone()
    }

    pub(super) fn calls(&self, id: CsiVolumeId) -> Arc<tokio::sync::Mutex<()>> {
        self.0.lock().entry(id).or_default().calls.clone()
    }

    /// Whether any directory but this one has the volume.
    pub(super) fn has_others(&self, id: &CsiVolumeId, place: &Path) -> bool {
        let users = self.0.lock();
        users.get(id).is_some_and(|own| own.places.iter().any(|other| other != place))
    }

    pub(super) fn remove(&self, id: &CsiVolumeId, place: &Path) {
        let mut users = self.0.lock();
        if let Some(own) = users.get_mut(id) {
            own.places.remove(place);
            if own.places.is_empty() {
                users.remove(id);
            }
        }
    }

    pub(super) fn growth(&self, id: &CsiVolumeId) -> Growth {
        self.0.lock().get(id).map(|own| own.growth.clone()).unwrap_or_default()
    }

    /// The volume is mounted here; `size` is nothing where it is not known, after a restart.
    pub(super) fn note_mounted(&self, id: &CsiVolumeId, size: Option<Quantity>) {
        if let Some(own) = self.0.lock().get_mut(id) {
            own.growth.is_mounted = true;
            own.growth.size = own.growth.size.or(size);
        }
    }

    pub(super) fn note_grown(&self, id: &CsiVolumeId, size: Quantity) {
        if let Some(own) = self.0.lock().get_mut(id) {
            own.growth.size = Some(size);
            own.growth.is_mounted = true;
            own.growth.retry.forget(GROWTH);
        }
    }

    pub(super) fn note_refused_growth(&self, id: &CsiVolumeId) {
        if let Some(own) = self.0.lock().get_mut(id) {
            own.growth.is_refused = true;
        }
    }

    pub(super) fn note_claim_version(&self, id: &CsiVolumeId, version: Option<u64>) {
        if let Some(own) = self.0.lock().get_mut(id) {
            own.growth.version = own.growth.version.max(version);
        }
    }

    pub(super) fn note_failed_growth(&self, id: &CsiVolumeId, now: Timestamp) {
        if let Some(own) = self.0.lock().get_mut(id) {
            own.growth.retry.next(GROWTH, now, now);
        }
    }
}
