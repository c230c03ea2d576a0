use super::*;
use crate::query::Query;
use http::Method;
use serde_json::json;

/// A level of two seats with one queue of one place, taken by everyone called `u…`.
fn small() -> FlowControl {
    let mut state = State::default();
    for object in defaults::mandatory() {
        state.put(&object);
    }
    state.put(&json!({
        "kind": "PriorityLevelConfiguration", "metadata": {"name": "small", "uid": "level"},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 1, "borrowingLimitPercent": 0,
            "limitResponse": {"type": "Queue", "queuing": {"queues": 1, "handSize": 1, "queueLengthLimit": 1}},
        }},
    }));
    state.put(&json!({
        "kind": "FlowSchema", "metadata": {"name": "small", "uid": "schema"},
        "spec": {
            "priorityLevelConfiguration": {"name": "small"}, "matchingPrecedence": 50,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{
                "subjects": [{"kind": "User", "user": {"name": "*"}}],
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"],
                    "clusterScope": true, "namespaces": ["*"]}],
            }],
        },
    }));
    state.divide();
    if let Some(standing) = state.levels.get_mut("small") {
        standing.limits = Limits { nominal: 2, minimum: 2, maximum: 2 };
    }
    FlowControl(Arc::new(Shared { state: Mutex::new(state), epoch: Instant::now(), hasher: Default::default() }))
}

fn pods() -> RequestInfo {
    crate::request_info::resolve(&Method::GET, "/api/v1/pods", &Query::default())
}

fn user() -> UserInfo {
    UserInfo::authenticated("u", &[])
}

#[tokio::test]
async fn who_finds_no_seat_waits_and_who_finds_no_queue_is_refused() {
    let control = small();
    let (info, user) = (pods(), user());
    let first = control.enter(&info, &user, 0).await.ok().expect("a seat");
    let second = control.enter(&info, &user, 0).await.ok().expect("a seat");
    assert_eq!((&*first.schema_uid, &*first.level_uid), ("schema", "level"));
    let mut third = Box::pin(control.enter(&info, &user, 0));
    assert!(futures_util::poll!(&mut third).is_pending());
    let refused = control.enter(&info, &user, 0).await.err().expect("the queue is full");
    assert_eq!(refused.status.code, 429);
    assert_eq!(refused.status.details.as_ref().map(|details| details.retry_after_seconds), Some(1));
    drop(first);
    let third = third.await.ok().expect("a seat became free");
    drop((second, third));
    let state = control.0.state.lock();
    assert_eq!((state.levels["small"].in_use, state.levels["small"].executing), (0, 0));
}

#[tokio::test]
async fn one_who_leaves_the_queue_takes_no_seat_with_it() {
    let control = small();
    let (info, user) = (pods(), user());
    let seats = [control.enter(&info, &user, 0).await.ok(), control.enter(&info, &user, 0).await.ok()];
    assert!(seats.iter().all(Option::is_some));
    let mut gone = Box::pin(control.enter(&info, &user, 0));
    assert!(futures_util::poll!(&mut gone).is_pending());
    drop(gone);
    let mut admitted = Box::pin(control.enter(&info, &user, 0));
    assert!(futures_util::poll!(&mut admitted).is_pending());
    drop(seats);
    // It was given a seat and leaves before it sees it.
    drop(admitted);
    let state = control.0.state.lock();
    assert_eq!(
        (state.levels["small"].in_use, state.levels["small"].queues.as_ref().map(Queues::waiting)),
        (0, Some(0))
    );
}

#[tokio::test]
async fn the_exempt_never_wait() {
    let control = small();
    let admin = UserInfo::authenticated("a", &["system:masters"]);
    let mut seats = Vec::new();
    for _ in 0..2000 {
        seats.push(control.enter(&pods(), &admin, 100_000).await.ok().expect("a seat"));
    }
    assert_eq!(control.0.state.lock().levels["exempt"].executing, 2000);
}

#[tokio::test]
async fn a_level_that_goes_sends_its_waiting_away() {
    let control = small();
    let (info, user) = (pods(), user());
    let _seats = [control.enter(&info, &user, 0).await.ok(), control.enter(&info, &user, 0).await.ok()];
    let mut waits = Box::pin(control.enter(&info, &user, 0));
    assert!(futures_util::poll!(&mut waits).is_pending());
    let level = json!({"kind": "PriorityLevelConfiguration", "metadata": {"name": "small"}});
    control.0.state.lock().remove(&level);
    assert_eq!(waits.await.err().map(|refused| refused.status.code), Some(429));
}
