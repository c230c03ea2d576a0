//! Events are remembered for an hour after they last happened (upstream's --event-ttl),
//! then they go, as etcd's leases would make them go.

use crate::ServerState;
use ferry_api::object::Meta;
use ferry_store::{Commit, Expect, Op};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::sync::{Arc, Weak};
use std::time::Duration;

const TTL: SignedDuration = SignedDuration::from_hours(1);

/// How late an event may go. A cluster without events is only counted.
const EVERY: Duration = Duration::from_secs(5 * 60);

/// Ends with the server.
pub fn start(server: &Arc<ServerState>) {
    let server: Weak<ServerState> = Arc::downgrade(server);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            let Some(server) = server.upgrade() else { return };
            expire(&server, Timestamp::now()).await;
        }
    });
}

async fn expire(server: &ServerState, now: Timestamp) {
    let registry = &server.registry;
    let Some(stock) = registry.rows.find("", "v1", "events").and_then(|row| registry.cache.stock(&row)) else { return };
    for stored in stock.list(stock.prefix()).objects {
        if !is_expired(&stored.value(), now) {
            continue;
        }
        // Only this very version: an event that happens again meanwhile stays.
        let commit =
            Commit { key: stored.key().to_string(), expect: Expect::Revision(stored.revision()), op: Op::Delete };
        if let Err(error) = registry.store.commit(commit).await
            && !matches!(error, ferry_store::Error::Conflict { .. })
        {
            tracing::warn!(%error, "removing old events failed; it is tried again later");
            return;
        }
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
