//! Keeps an APIService for every group version that this server answers itself: the
//! builtin ones from the start, those of custom resources as they come and go
//! (kube-aggregator's autoregister and controlplane's crdregistration). The group of
//! resource metrics is ours only as long as no other server takes it.

use super::priority::{self, CUSTOM, OWN_GROUP};
use crate::ServerState;
use crate::registry::{Caller, DeleteOptions, IfAbsent, Part, Target, Tracking};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;

const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
const ON_START: &str = "onstart";
const ALWAYS: &str = "true";

/// The builtin group that users may give to a server of their own, which is metrics-server
/// on other clusters. Its APIService is left alone while it names a Service, and made again
/// when it is gone.
const REPLACEABLE_GROUP: &str = "metrics.k8s.io";

/// How many are written at a time; they share commits.
const AT_ONCE: usize = 64;

/// How long to wait before writes that failed are tried again.
const RETRY: Duration = Duration::from_secs(5);

/// What is done about one APIService.
#[derive(Debug, PartialEq)]
enum Action {
    Nothing,
    Create(Value),
    /// The present object with the spec that is wanted.
    Update(Value),
    /// The uid, so that only this very object goes.
    Delete(String),
}

/// What was there and what was done since the server started.
#[derive(Default)]
struct Memory {
    at_start: BTreeSet<String>,
    synced: BTreeSet<String>,
}

/// Makes the builtin ones before the first request is taken, then follows the changes.
pub async fn start(server: &Arc<ServerState>) {
    let lookup = &server.lookup;
    let wake = Arc::new(Notify::new());
    for (group, plural) in
        [("apiregistration.k8s.io", "apiservices"), ("apiextensions.k8s.io", "customresourcedefinitions")]
    {
        let wake = wake.clone();
        lookup.subscribe(group, plural, Box::new(move |_| wake.notify_one()));
    }
    let mut memory = Memory { at_start: current(server).into_keys().collect(), ..Memory::default() };
    let done = sync(server, &mut memory).await;
    let server: Weak<ServerState> = Arc::downgrade(server);
    tokio::spawn(async move {
        let mut done = done;
        loop {
            if done {
                wake.notified().await;
            } else {
                let _ = tokio::time::timeout(RETRY, wake.notified()).await;
            }
            let Some(server) = server.upgrade() else { return };
            done = sync(&server, &mut memory).await;
        }
    });
}

/// One pass over all; false when some write has to be tried again.
async fn sync(server: &Arc<ServerState>, memory: &mut Memory) -> bool {
    let (wanted, current) = (wanted(server), current(server));
    let names: BTreeSet<&String> = wanted.keys().chain(current.keys()).collect();
    let mut work = Vec::new();
    for name in names {
        let action =
            plan(wanted.get(name), current.get(name), memory.at_start.contains(name), memory.synced.contains(name));
        if action == Action::Nothing {
            memory.synced.insert(name.clone());
        } else {
            let server = server.clone();
            let name = name.clone();
            work.push(async move {
                let outcome = execute(&server, &name, action).await;
                (name, outcome)
            });
        }
    }
    let outcomes: Vec<(String, Result<(), Status>)> = stream::iter(work).buffer_unordered(AT_ONCE).collect().await;
    let mut done = true;
    for (name, outcome) in outcomes {
        match outcome {
            Ok(()) => {
                memory.synced.insert(name);
            }
            // Whoever was faster has woken us already.
            Err(status) if status.is_conflict() || status.is_not_found() || status.is_already_exists() => {}
            Err(status) => {
                tracing::warn!(name, error = status.message, "an APIService could not be written; it is tried again");
                done = false;
            }
        }
    }
    done
}

/// Upstream's table of cases (autoregister_controller.go checkAPIService).
fn plan(wanted: Option<&Value>, current: Option<&Value>, at_start: bool, synced: bool) -> Action {
    let managed = |object: &Value| object.label(MANAGED).map(str::to_owned);
    let once = |object: &Value| managed(object).as_deref() == Some(ON_START);
    let (current, wanted) = match (current, wanted) {
        (None, None) => return Action::Nothing,
        (_, Some(wanted)) if once(wanted) && synced => return Action::Nothing,
        (None, Some(wanted)) => return Action::Create(wanted.clone()),
        (Some(current), wanted) => (current, wanted),
    };
    if !matches!(managed(current).as_deref(), Some(ON_START | ALWAYS)) {
        return Action::Nothing;
    }
    if once(current) && (!at_start || synced) {
        return Action::Nothing;
    }
    if current.str_at(&["spec", "group"]) == REPLACEABLE_GROUP
        && current.at(&["spec", "service"]).is_some_and(Value::is_object)
    {
        return Action::Nothing;
    }
    match wanted {
        None => Action::Delete(current.uid().to_owned()),
        Some(wanted) if current.at(&["spec"]) == wanted.at(&["spec"]) => Action::Nothing,
        Some(wanted) => {
            let mut object = current.clone();
            object["spec"] = wanted["spec"].clone();
            Action::Update(object)
        }
    }
}

async fn execute(server: &ServerState, name: &str, action: Action) -> Result<(), Status> {
    let registry = &server.registry;
    let Some(row) = registry.rows.find("apiregistration.k8s.io", "v1", "apiservices") else { return Ok(()) };
    let caller = Caller::server();
    match action {
        Action::Nothing => Ok(()),
        Action::Create(object) => registry.create(&row, "", object, Tracking::Update, &caller).await.map(|_| ()),
        Action::Update(object) => {
            let target = Target { row: &row, namespace: "", name, part: Part::Main, absent: IfAbsent::AsKind };
            registry.update(&target, Tracking::Update, &caller, &mut |_| Ok(object.clone())).await.map(|_| ())
        }
        Action::Delete(uid) => {
            let options = DeleteOptions { uid: Some(uid), ..DeleteOptions::default() };
            registry.delete(&row, "", name, &options, &caller).await.map(|_| ())
        }
    }
}

fn current(server: &ServerState) -> BTreeMap<String, Value> {
    let objects = server.lookup.list("apiregistration.k8s.io", "apiservices", None);
    objects.iter().map(|stored| (stored.name().to_owned(), stored.value())).collect()
}

fn wanted(server: &ServerState) -> BTreeMap<String, Value> {
    let mut wanted = BTreeMap::new();
    for row in server.registry.rows.all().iter().filter(|row| row.group != OWN_GROUP) {
        if let Some(priorities) = priority::builtin(&row.group, &row.version) {
            let managed = if row.group == REPLACEABLE_GROUP { ALWAYS } else { ON_START };
            let object = render(&row.group, &row.version, priorities, managed);
            wanted.insert(object.name().to_owned(), object);
        }
    }
    for stored in server.lookup.list("apiextensions.k8s.io", "customresourcedefinitions", None) {
        let definition = stored.value();
        let group = definition.str_at(&["spec", "group"]);
        for version in definition.items_at(&["spec", "versions"]) {
            if version.bool_at(&["served"]).unwrap_or(false) {
                let object = render(group, version.str_at(&["name"]), CUSTOM, ALWAYS);
                wanted.entry(object.name().to_owned()).or_insert(object);
            }
        }
    }
    wanted
}

fn render(group: &str, version: &str, (group_priority, version_priority): (i64, i64), managed: &str) -> Value {
    let mut spec = json!({
        "version": version, "groupPriorityMinimum": group_priority, "versionPriority": version_priority,
    });
    if !group.is_empty() {
        spec["group"] = group.into();
    }
    json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": format!("{version}.{group}"), "labels": {MANAGED: managed}},
        "spec": spec,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstreams_table_of_cases_holds() {
        let priorities = (10, 10);
        let once = render("a.b", "v1", priorities, ON_START);
        let always = render("a.b", "v1", priorities, ALWAYS);
        let other = |managed| {
            let mut object = render("a.b", "v1", (20, 20), managed);
            object.set_meta("uid", "u");
            object
        };
        let users = json!({"metadata": {"name": "v1.a.b"}, "spec": {}});
        let updated = |mut object: Value| {
            object["spec"] = once["spec"].clone();
            Action::Update(object)
        };
        let gone = || Action::Delete("u".into());
        // Nothing there.
        assert_eq!(plan(None, None, false, false), Action::Nothing);
        assert_eq!(plan(Some(&once), None, false, false), Action::Create(once.clone()));
        assert_eq!(plan(Some(&once), None, false, true), Action::Nothing);
        assert_eq!(plan(Some(&always), None, false, true), Action::Create(always.clone()));
        // A user's own.
        assert_eq!(plan(Some(&always), Some(&users), true, false), Action::Nothing);
        assert_eq!(plan(None, Some(&users), true, false), Action::Nothing);
        // One that is synced on start, made since, or there at the start.
        assert_eq!(plan(None, Some(&other(ON_START)), false, false), Action::Nothing);
        assert_eq!(plan(None, Some(&other(ON_START)), true, false), gone());
        assert_eq!(plan(None, Some(&other(ON_START)), true, true), Action::Nothing);
        assert_eq!(plan(Some(&once), Some(&other(ON_START)), true, false), updated(other(ON_START)));
        // One that is always synced.
        assert_eq!(plan(None, Some(&other(ALWAYS)), false, true), gone());
        assert_eq!(plan(Some(&always), Some(&other(ALWAYS)), false, true), updated(other(ALWAYS)));
        assert_eq!(plan(Some(&always), Some(&always), false, true), Action::Nothing);
    }

    #[test]
    fn the_metrics_group_is_ours_until_another_server_takes_it() {
        let ours = render(REPLACEABLE_GROUP, "v1beta1", (100, 100), ALWAYS);
        let mut theirs = ours.clone();
        theirs["spec"]["service"] = json!({"namespace": "kube-system", "name": "metrics-server"});
        assert_eq!(plan(Some(&ours), Some(&theirs), true, false), Action::Nothing);
        assert_eq!(plan(Some(&ours), None, false, true), Action::Create(ours.clone()));
        let mut emptied = theirs;
        emptied["spec"]["service"] = Value::Null;
        assert_eq!(plan(Some(&ours), Some(&emptied), true, true), Action::Update(ours.clone()));
        let mut other = render("apps", "v1", (10, 10), ALWAYS);
        other["spec"]["service"] = json!({"namespace": "a", "name": "b"});
        let apps = render("apps", "v1", (10, 10), ALWAYS);
        assert_eq!(plan(Some(&apps), Some(&other), true, false), Action::Update(apps.clone()));
    }
}
