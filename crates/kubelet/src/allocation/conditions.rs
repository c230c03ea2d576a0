//! The conditions of a resize, PodResizePending and PodResizeInProgress, and the events about
//! them (upstream: pkg/kubelet/status/status_manager.go, pkg/kubelet/events/resize.go). Pure.

use ferry_api::view::View;
use ferry_api::view::core::v1::{ContainerView, PodStatusView, PodView};
use jiff::Timestamp;
use serde_json::{Value, json};

pub const PENDING: &str = "PodResizePending";
pub const IN_PROGRESS: &str = "PodResizeInProgress";
const DEFERRED: &str = "Deferred";
const ERROR: &str = "Error";

/// One condition that is True; one that is not is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct ResizeCondition {
    pub reason: String,
    pub message: String,
    /// The generation of the pod that asked for the resize.
    pub generation: i64,
    pub since: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResizeConditions {
    pub pending: Option<ResizeCondition>,
    pub in_progress: Option<ResizeCondition>,
}

impl ResizeConditions {
    /// As an earlier kubelet wrote them.
    pub fn from_status(status: PodStatusView<'_>) -> Self {
        let find = |kind: &str| {
            let found = status.conditions().iter().find(|condition| condition.type_() == kind)?;
            Some(ResizeCondition {
                reason: found.reason().to_owned(),
                message: found.message().to_owned(),
                generation: found.observed_generation(),
                since: found.last_transition_time().unwrap_or(Timestamp::UNIX_EPOCH),
            })
        };
        Self { pending: find(PENDING), in_progress: find(IN_PROGRESS) }
    }

    /// The resize does not fit now. Returns whether that is news.
    pub fn defer(&mut self, message: String, generation: i64, now: Timestamp) -> bool {
        let before = self.pending.take();
        let is_news = before.as_ref().is_none_or(|old| old.reason != DEFERRED || old.generation != generation);
        let since = before.filter(|old| old.reason == DEFERRED).map_or(now, |old| old.since);
        self.pending = Some(ResizeCondition { reason: DEFERRED.to_owned(), message, generation, since });
        is_news
    }

    /// The resize is allocated and begins. Errors of an earlier one are forgotten.
    pub fn begin(&mut self, generation: i64, now: Timestamp) {
        self.pending = None;
        let condition = ResizeCondition { reason: String::new(), message: String::new(), generation, since: now };
        self.in_progress = Some(condition);
    }

    /// Containers do not have their allocation yet. An error and the generation are kept.
    pub fn keep_in_progress(&mut self, generation: i64, now: Timestamp) {
        if self.in_progress.is_none() {
            let condition = ResizeCondition { reason: String::new(), message: String::new(), generation, since: now };
            self.in_progress = Some(condition);
        }
    }

    /// Everything has its allocation. Returns the generation whose resize that completes.
    pub fn complete(&mut self) -> Option<i64> {
        self.in_progress.take().map(|condition| condition.generation)
    }

    /// A step failed. Returns the generation of the resize if the error is news.
    pub fn fail(&mut self, message: &str, generation: i64, now: Timestamp) -> Option<i64> {
        let before = self.in_progress.take();
        let is_news = before.as_ref().is_none_or(|old| old.reason != ERROR || old.message != message);
        let since = before.as_ref().filter(|old| old.reason == ERROR).map_or(now, |old| old.since);
        let generation = before.map_or(generation, |old| old.generation);
        let condition = ResizeCondition { reason: ERROR.to_owned(), message: message.to_owned(), generation, since };
        self.in_progress = Some(condition);
        is_news.then_some(generation)
    }
}

/// The message of an event: the resources of all containers, in upstream's JSON.
pub fn render_message(prefix: &str, pod: PodView<'_>, generation: i64, error: &str) -> String {
    let summary = |containers: &mut dyn Iterator<Item = ContainerView<'_>>| -> Vec<Value> {
        let resources = |container: ContainerView<'_>| match container.resources().node().to_value() {
            Value::Null => json!({}),
            own => own,
        };
        containers.map(|container| json!({ "name": container.name(), "resources": resources(container) })).collect()
    };
    let mut parts = Vec::new();
    let lists = [("initContainers", pod.spec().init_containers()), ("containers", pod.spec().containers())];
    for (key, list) in lists {
        let list = summary(&mut list.iter());
        if !list.is_empty() {
            parts.push(format!("{key:?}:{}", Value::Array(list)));
        }
    }
    parts.push(format!("\"generation\":{generation}"));
    if !error.is_empty() {
        parts.push(format!("\"error\":{}", Value::from(error)));
    }
    format!("{prefix}: {{{}}}", parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn a_deferred_resize_is_news_once_for_each_generation() {
        let mut conditions = ResizeConditions::default();
        assert!(conditions.defer("full".into(), 2, at(1)));
        assert!(!conditions.defer("still full".into(), 2, at(5)));
        let pending = conditions.pending.clone().expect("pending");
        assert_eq!((pending.message.as_str(), pending.since), ("still full", at(1)));
        assert!(conditions.defer("full".into(), 3, at(9)));
        conditions.begin(3, at(10));
        assert_eq!((conditions.pending.is_none(), conditions.complete()), (true, Some(3)));
        assert_eq!(conditions.complete(), None);
    }

    #[test]
    fn an_error_stays_until_the_resize_is_through_or_another_begins() {
        let mut conditions = ResizeConditions::default();
        conditions.begin(2, at(1));
        assert_eq!(conditions.fail("busy", 5, at(2)), Some(2), "the generation of the resize");
        assert_eq!(conditions.fail("busy", 5, at(3)), None);
        conditions.keep_in_progress(5, at(4));
        let condition = conditions.in_progress.clone().expect("in progress");
        assert_eq!((condition.reason.as_str(), condition.since), ("Error", at(2)));
        conditions.begin(3, at(5));
        assert_eq!(conditions.in_progress.expect("in progress").reason, "");
    }

    #[test]
    fn events_list_the_resources_in_upstreams_json() {
        let pod = pod(
            json!({ "initContainers": [{ "name": "c0", "resources": { "requests": { "cpu": "100m" }, "limits": { "cpu": "200m" } } }],
            "containers": [{ "name": "c1", "resources": { "requests": { "memory": "100" } } }, { "name": "c2" }] }),
        );
        let expected = "Pod resize Deferred: {\"initContainers\":[{\"name\":\"c0\",\"resources\":{\"limits\":{\"cpu\":\"200m\"},\"requests\":{\"cpu\":\"100m\"}}}],\"containers\":[{\"name\":\"c1\",\"resources\":{\"requests\":{\"memory\":\"100\"}}},{\"name\":\"c2\",\"resources\":{}}],\"generation\":2,\"error\":\"no\"}";
        assert_eq!(render_message("Pod resize Deferred", pod.view(), 2, "no"), expected);
    }
}
