//! What the Job controller has written and not yet seen in its caches, and the failures that
//! hold a Job's pods back. A reconcile begins when its own writes have come back
//! (upstream's gate StaleControllerConsistencyJob).

use super::backoff::FailureRecord;
use crate::runner::Key;
use ferry_api::view::batch::v1::Job;
use ferry_api::view::core::v1::Pod;
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_client::{Informer, SharedObject};
use parking_lot::Mutex;
use std::collections::HashMap;

#[derive(Default)]
pub(super) struct Memory {
    jobs: Mutex<HashMap<Key, JobMemory>>,
}

#[derive(Default)]
struct JobMemory {
    uid: String,
    /// The resource version of the last status that was written.
    written: u64,
    /// The pods whose finalizer was removed, by uid: their name and resource version since.
    released: HashMap<String, (String, u64)>,
    failures: FailureRecord,
}

impl Memory {
    /// Whether the caches hold all that was written for the Job. Called before anything is
    /// counted. Another Job of the same name begins without a memory.
    pub(super) fn has_seen_writes(&self, job: &SharedObject<Job>, pods: &Informer<Pod>) -> bool {
        let mut jobs = self.jobs.lock();
        let key = Key::of(job.meta());
        let Some(memory) = jobs.get_mut(&key) else { return true };
        if memory.uid != job.uid() {
            jobs.remove(&key);
            return true;
        }
        memory.released.retain(|uid, (name, written)| {
            let cached = pods.get(job.namespace(), name).filter(|pod| pod.uid() == uid);
            cached.is_some_and(|pod| version(pod.meta()) < *written)
        });
        memory.released.is_empty() && version(job.meta()) >= memory.written
    }

    pub(super) fn wrote_status(&self, job: &SharedObject<Job>, failures: FailureRecord) {
        self.change(job, |memory| {
            memory.written = version(job.meta());
            memory.failures = failures;
        });
    }

    pub(super) fn released(&self, job: &SharedObject<Job>, pod: &SharedObject<Pod>) {
        self.change(job, |memory| {
            memory.released.insert(pod.uid().to_owned(), (pod.name().to_owned(), version(pod.meta())));
        });
    }

    pub(super) fn failures(&self, key: &Key) -> FailureRecord {
        self.jobs.lock().get(key).map(|memory| memory.failures).unwrap_or_default()
    }

    pub(super) fn forget(&self, key: &Key) {
        self.jobs.lock().remove(key);
    }

    fn change(&self, job: &SharedObject<Job>, change: impl FnOnce(&mut JobMemory)) {
        let mut jobs = self.jobs.lock();
        let memory = jobs.entry(Key::of(job.meta())).or_default();
        if memory.uid != job.uid() {
            *memory = JobMemory { uid: job.uid().to_owned(), ..Default::default() };
        }
        change(memory);
    }
}

fn version(meta: ObjectMetaView<'_>) -> u64 {
    meta.resource_version().parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(uid: &str, version: &str) -> SharedObject<Job> {
        SharedObject::of(json!({"metadata": {"namespace": "ns", "name": "pi", "uid": uid, "resourceVersion": version}}))
    }

    fn pod(version: &str) -> SharedObject<Pod> {
        SharedObject::of(
            json!({"metadata": {"namespace": "ns", "name": "p", "uid": "pod", "resourceVersion": version}}),
        )
    }

    #[test]
    fn a_job_waits_until_its_writes_come_back() {
        let (memory, pods) = (Memory::default(), Informer::fixed([pod("4")]));
        assert!(memory.has_seen_writes(&job("u", "5"), &pods));
        memory.wrote_status(&job("u", "9"), FailureRecord { failures: 2, last: None });
        assert!(!memory.has_seen_writes(&job("u", "5"), &pods));
        assert!(memory.has_seen_writes(&job("u", "9"), &pods));
        memory.released(&job("u", "9"), &pod("10"));
        assert!(!memory.has_seen_writes(&job("u", "9"), &pods));
        pods.put(pod("10"));
        assert!(memory.has_seen_writes(&job("u", "11"), &pods));
        assert_eq!(memory.failures(&Key::new("ns", "pi")).failures, 2);
    }

    #[test]
    fn a_pod_that_is_gone_and_a_job_of_another_uid_are_not_waited_for() {
        let (memory, pods) = (Memory::default(), Informer::fixed([pod("4")]));
        memory.released(&job("u", "9"), &pod("10"));
        pods.remove("ns", "p");
        assert!(memory.has_seen_writes(&job("u", "9"), &pods));
        memory.wrote_status(&job("u", "20"), FailureRecord { failures: 2, last: None });
        assert!(memory.has_seen_writes(&job("v", "15"), &pods));
        assert_eq!(memory.failures(&Key::new("ns", "pi")), FailureRecord::default());
    }
}
