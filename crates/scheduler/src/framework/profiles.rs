//! The profiles of one scheduler: pods choose theirs by `schedulerName`.

use super::Framework;
use crate::pod_info::PodInfo;
use std::collections::BTreeMap;
use std::sync::Arc;

/// At least one profile, by name.
pub struct Profiles {
    by_name: BTreeMap<String, Arc<Framework>>,
    /// The profile of a pod that names none of ours, which only tests have.
    first: Arc<Framework>,
}

impl Profiles {
    /// `None` for no profiles at all.
    pub fn new(profiles: BTreeMap<String, Framework>) -> Option<Self> {
        let by_name: BTreeMap<String, Arc<Framework>> =
            profiles.into_iter().map(|(name, framework)| (name, Arc::new(framework))).collect();
        let first = by_name.values().next()?.clone();
        Some(Self { by_name, first })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The profile that decides about the pod.
    pub fn of(&self, pod: &PodInfo) -> &Arc<Framework> {
        if self.by_name.len() == 1 {
            return &self.first;
        }
        self.by_name.get(pod.spec().scheduler_name()).unwrap_or(&self.first)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Framework>> {
        self.by_name.values()
    }
}

impl From<Framework> for Profiles {
    /// One profile for all pods.
    fn from(framework: Framework) -> Self {
        let first = Arc::new(framework);
        Self { by_name: BTreeMap::from([(String::new(), first.clone())]), first }
    }
}
