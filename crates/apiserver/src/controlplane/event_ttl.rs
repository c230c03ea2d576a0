//! Events are remembered for an hour after they last happened (upstream's --event-ttl),
//! then they go, as etcd's leases would make them go.

use super::{Action, Key, ServerController};
use crate::ServerState;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_store::{Commit, Error, Expect, Op};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const TTL: SignedDuration = SignedDuration::from_hours(1);

/// How late an event may go. A cluster without events is only counted.
const EVERY: Duration = Duration::from_secs(5 * 60);

struct EventTtl;

/// Ends with the server.
pub(crate) fn start(server: &Arc<ServerState>) {
    let queue = server.controllers.queue_of::<EventTtl>();
    queue.add_after(Key::new("", "events"), EVERY);
    server.run_controller(Arc::new(EventTtl), &queue);
}

impl ServerController for EventTtl {
    const NAME: &'static str = "event_ttl";

    async fn reconcile(&self, server: &Arc<ServerState>, _: &Key) -> Result<Action, Status> {
        let (registry, now) = (&server.registry, Timestamp::now());
        let stock = registry.rows.find("", "v1", "events").and_then(|row| registry.cache.stock(&row));
        let Some(stock) = stock else { return Ok(Action::Done) };
        for stored in stock.list(stock.prefix()).objects {
            if !is_expired(&stored.value(), now) {
                continue;
            }
            // Only this very version: an event that happens again meanwhile stays.
            let commit =
                Commit { key: stored.key().to_string(), expect: Expect::Revision(stored.revision()), op: Op::Delete };
            match registry.store.commit(commit).await {
                Ok(_) | Err(Error::Conflict { .. }) => {}
                Err(error) => return Err(Status::internal(format!("removing old events failed: {error}"))),
            }
        }
        Ok(Action::RequeueAfter(EVERY))
    }
}

/// Whether the last time that the event tells of is more than an hour ago. A time in the
/// future is no time at which it happened; the server's own creation time counts then.
fn is_expired(event: &Value, now: Timestamp) -> bool {
    let times =
        [&["series", "lastObservedTime"][..], &["lastTimestamp"], &["eventTime"], &["metadata", "creationTimestamp"]];
    let read = times.into_iter().filter_map(|path| event.str_at(path).parse::<Timestamp>().ok());
    let last = read.filter(|time| *time <= now).max();
    last.is_some_and(|last| now.duration_since(last) > TTL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_goes_an_hour_after_it_last_happened() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().expect("a time");
        let event =
            |last: &str| json!({"metadata": {"creationTimestamp": "2026-01-01T08:00:00Z"}, "lastTimestamp": last});
        assert!(is_expired(&event("2026-01-01T10:59:59Z"), now));
        assert!(!is_expired(&event("2026-01-01T11:00:01Z"), now));
        assert!(!is_expired(&json!({"metadata": {}}), now));
    }

    #[test]
    fn an_event_dated_in_the_year_9999_goes_an_hour_after_its_creation() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().expect("a time");
        for field in ["lastTimestamp", "eventTime"] {
            let mut event = json!({"metadata": {"creationTimestamp": "2026-01-01T10:59:59Z"}});
            event[field] = "9999-12-31T23:59:59Z".into();
            assert!(is_expired(&event, now), "{field}");
            event["metadata"]["creationTimestamp"] = "2026-01-01T11:00:01Z".into();
            assert!(!is_expired(&event, now), "{field}");
        }
        let series = json!({"metadata": {"creationTimestamp": "2026-01-01T08:00:00Z"},
            "series": {"lastObservedTime": "9999-12-31T23:59:59.000000Z"}});
        assert!(is_expired(&series, now));
    }
}
