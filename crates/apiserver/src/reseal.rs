//! `/ferry/encryption`, for administrators: which provider and key sealed how many objects
//! (GET), and sealing anew what another than the first sealed, a page at a time (POST).
//! `ferry secrets` asks; a role must name the path, so that only administrators may.
//!
//! Sealing anew reads a value, opens it, seals it and commits it over the very revision
//! that was read. Whoever writes meanwhile wins and has sealed with the first provider
//! anyway, so a kill at any point leaves values of which each opens.

use crate::ServerState;
use crate::encryption::{Kind, provider};
use crate::query::Query;
use crate::registry::store_failed;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_store::{Commit, DamagedEntry, Expect, Op, RangeOptions};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub const PATH: &str = "/ferry/encryption";

/// How many values one page reads.
const PAGE: usize = 500;

/// How many commits are under way at a time: enough to share what the disk costs.
const AT_ONCE: usize = 64;

/// How many values that cannot be read are named.
const NAMED: usize = 100;

/// The kinds that rules are about, each stock once, in the order of their keys.
fn covered(server: &ServerState) -> Vec<Arc<Row>> {
    let mut rows: BTreeMap<String, Arc<Row>> = BTreeMap::new();
    for row in server.registry.rows.all().iter().filter(|row| row.is_stored()) {
        if server.registry.encryption.covers(Kind::of(row)) {
            rows.entry(row.storage_prefix.to_string()).or_insert_with(|| row.clone());
        }
    }
    rows.into_values().collect()
}

/// Counts the values of every kind that a rule is about by what sealed them; with `brief`
/// in the query it says only which files are in force.
pub(crate) async fn status(server: &ServerState, query: &Query) -> Result<Value, Status> {
    let registry = &server.registry;
    let mut kinds = Vec::new();
    let rows = if query.get("brief").is_some() { Vec::new() } else { covered(server) };
    for row in rows {
        let kind = Kind::of(&row);
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let (mut stale, mut unreadable) = (0u64, Vec::new());
        let mut options = RangeOptions { limit: PAGE, ..Default::default() };
        loop {
            let page = registry.store.range(&row.storage_prefix, options.clone()).await.map_err(store_failed)?;
            registry.encryption.prepare(kind, page.entries.iter().map(|entry| &*entry.value)).await;
            for entry in &page.entries {
                *counts.entry(provider::sealed_by(&entry.value)).or_default() += 1;
                stale += u64::from(registry.encryption.is_stale(kind, &entry.value));
                if let Err(error) = registry.encryption.open(kind, &entry.key, &entry.value)
                    && unreadable.len() < NAMED
                {
                    unreadable.push(error.to_string());
                }
            }
            options.revision = Some(page.revision);
            unreadable.extend(page.damaged.iter().take(NAMED).map(describe_damage));
            options.start_after = page.last_key().map(ToString::to_string);
            if !page.more {
                break;
            }
        }
        kinds.push(json!({
            "resource": row.group_resource().to_string(), "sealedBy": counts, "stale": stale, "unreadable": unreadable,
        }));
    }
    let (digest, settled) = registry.encryption.settled();
    Ok(json!({"digest": digest, "settled": settled, "kinds": kinds}))
}

fn describe_damage(damaged: &DamagedEntry) -> String {
    format!("the value of {:?} at revision {} is damaged", damaged.key, damaged.revision)
}

/// Seals one page anew, after the key `continue` of the query. The answer says how to go on.
pub(crate) async fn reseal(server: &ServerState, query: &Query) -> Result<Value, Status> {
    let registry = &server.registry;
    let after = query.text("continue").unwrap_or_default();
    let (mut read, mut resealed, mut unreadable) = (0u64, 0u64, Vec::new());
    let rows = covered(server);
    let pending =
        |row: &&Arc<Row>| after < row.storage_prefix.as_ref() || after.starts_with(row.storage_prefix.as_ref());
    for row in rows.iter().filter(pending) {
        let kind = Kind::of(row);
        let start_after = after.starts_with(row.storage_prefix.as_ref()).then(|| after.to_owned());
        let options = RangeOptions { limit: PAGE, start_after, ..Default::default() };
        let page = registry.store.range(&row.storage_prefix, options).await.map_err(store_failed)?;
        let Some(last) = page.last_key().map(ToString::to_string) else { continue };
        unreadable.extend(page.damaged.iter().map(describe_damage));
        registry.encryption.prepare(kind, page.entries.iter().map(|entry| &*entry.value)).await;
        let mut commits = Vec::new();
        for entry in &page.entries {
            read += 1;
            if !registry.encryption.is_stale(kind, &entry.value) {
                continue;
            }
            let plain = match registry.encryption.open(kind, &entry.key, &entry.value) {
                Ok(plain) => plain,
                Err(error) => {
                    unreadable.push(error.to_string());
                    continue;
                }
            };
            let (sealed, held) = registry.encryption.seal(kind, &entry.key, &plain).map_err(Status::internal)?;
            let value = sealed.unwrap_or_else(|| plain.into_owned()).into();
            let expect = Expect::Revision(entry.revision);
            commits.push((Commit { key: entry.key.to_string(), expect, op: Op::Put(value) }, held));
        }
        let mut under_way = stream::iter(commits)
            .map(|(commit, held)| async move {
                let outcome = registry.store.commit(commit).await;
                drop(held);
                outcome
            })
            .buffer_unordered(AT_ONCE);
        while let Some(outcome) = under_way.next().await {
            match outcome {
                Ok(_) => resealed += 1,
                // Written or deleted meanwhile, by someone who seals as we do.
                Err(ferry_store::Error::Conflict { .. }) => {}
                Err(error) => return Err(store_failed(error)),
            }
        }
        return Ok(json!({"read": read, "resealed": resealed, "unreadable": unreadable, "continue": last}));
    }
    Ok(json!({"read": read, "resealed": resealed, "unreadable": unreadable}))
}
