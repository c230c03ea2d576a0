//! Keeps an APIService for every group version that this server answers itself: the
//! builtin ones from the start, those of custom resources as they come and go
//! (kube-aggregator's autoregister and controlplane's crdregistration). The group of
//! resource metrics is ours only as long as no other server takes it.

use super::priority::{self, CUSTOM, OWN_GROUP};
use crate::ServerState;
use crate::controlplane::{self, Key, ServerController, key_of};
use crate::registry::lookup::Change;
use crate::registry::{Caller, DeleteOptions, IfAbsent, Part, Target, Tracking};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

const GROUP: &str = "apiregistration.k8s.io";
const PLURAL: &str = "apiservices";
const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");

const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
const ON_START: &str = "onstart";
const ALWAYS: &str = "true";

/// The builtin group that users may give to a server of their own, which is metrics-server
/// on other clusters. Its APIService is left alone while it names a Service, and made again
/// when it is gone.
const REPLACEABLE_GROUP: &str = "metrics.k8s.io";

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

/// The APIServices that were there when the server started, and those that were looked at since.
struct Autoregister {
    at_start: BTreeSet<String>,
    synced: Mutex<BTreeSet<String>>,
}

/// Makes the builtin ones before the first request is taken, then follows the changes.
pub(super) async fn start(server: &Arc<ServerState>) {
    let lookup = &server.lookup;
    let at_start: BTreeSet<String> =
        lookup.list(GROUP, PLURAL, None).iter().map(|stored| stored.name().to_owned()).collect();
    let mut names = at_start.clone();
    names.extend(server.registry.rows.all().iter().map(|row| name_of(&row.group, &row.version)));
    for stored in lookup.list(DEFINITIONS.0, DEFINITIONS.1, None) {
        names.extend(served_by(&stored.value()));
    }
    let controller = Arc::new(Autoregister { at_start, synced: Mutex::default() });
    let queue = server.controllers.queue_of::<Autoregister>();
    server.reconcile_first(&controller, &queue, names.into_iter().map(|name| Key::new("", name))).await;
    server.enqueue_changes(GROUP, PLURAL, &queue);
    // By definition, so that a version that it serves no more is looked at as well.
    let served: Mutex<HashMap<Key, Vec<String>>> = Mutex::default();
    let enqueue = queue.clone();
    let observer = move |change: &Change| {
        let now = match change {
            Change::Put(stored) => served_by(&stored.value()),
            Change::Delete(_) => Vec::new(),
        };
        let before = if now.is_empty() {
            served.lock().remove(&key_of(change))
        } else {
            served.lock().insert(key_of(change), now.clone())
        };
        for name in before.into_iter().flatten().chain(now) {
            enqueue.add(Key::new("", name));
        }
    };
    lookup.subscribe(DEFINITIONS.0, DEFINITIONS.1, Box::new(observer));
    server.run_controller(controller, &queue);
}

impl ServerController for Autoregister {
    const NAME: &'static str = "autoregister";

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<controlplane::Action, Status> {
        let name = &key.name;
        let current = server.lookup.get(GROUP, PLURAL, "", name).map(|stored| stored.value());
        let is_synced = self.synced.lock().contains(name);
        let action = plan(wanted(server, name).as_ref(), current.as_ref(), self.at_start.contains(name), is_synced);
        match execute(server, name, action).await {
            Ok(()) => {
                self.synced.lock().insert(name.clone());
            }
            // The write that was faster brings the key back.
            Err(status) if status.is_conflict() || status.is_not_found() || status.is_already_exists() => {}
            Err(status) => return Err(status),
        }
        Ok(controlplane::Action::Done)
    }
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
    let Some(row) = registry.rows.find(GROUP, "v1", PLURAL) else { return Ok(()) };
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

fn name_of(group: &str, version: &str) -> String {
    format!("{version}.{group}")
}

/// The names of the APIServices that a definition is a reason for.
fn served_by(definition: &Value) -> Vec<String> {
    let group = definition.str_at(&["spec", "group"]);
    let versions = definition.items_at(&["spec", "versions"]).iter();
    let served = versions.filter(|version| version.bool_at(&["served"]).unwrap_or(false));
    served.map(|version| name_of(group, version.str_at(&["name"]))).collect()
}

/// The APIService of this name as it should be, if this server answers for its group version.
fn wanted(server: &ServerState, name: &str) -> Option<Value> {
    let (version, group) = name.split_once('.')?;
    let is_own = group == OWN_GROUP;
    if !is_own
        && server.registry.rows.all().iter().any(|row| row.group == group && row.version == version)
        && let Some(priorities) = priority::builtin(group, version)
    {
        let managed = if group == REPLACEABLE_GROUP { ALWAYS } else { ON_START };
        return Some(render(group, version, priorities, managed));
    }
    let mut definitions = server.lookup.list(DEFINITIONS.0, DEFINITIONS.1, None).into_iter();
    let in_group = |stored: &str| stored.split_once('.').is_some_and(|(_, own)| own == group);
    let is_served = definitions
        .any(|stored| in_group(stored.name()) && served_by(&stored.value()).iter().any(|served| served == name));
    is_served.then(|| render(group, version, CUSTOM, ALWAYS))
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
        "metadata": {"name": name_of(group, version), "labels": {MANAGED: managed}},
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
