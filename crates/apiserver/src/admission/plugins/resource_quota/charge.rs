//! Whether a write fits into the quotas, and what they have used after it: upstream's
//! CheckRequest, as a function of nothing but its arguments.

use ferry_api::object::{Meta, ensure_object};
use ferry_api::quota::{Amounts, Evaluator, add, amounts_at, mask, names, render, subtract, to_value, without_zeros};
use jiff::Timestamp;
use serde_json::Value;

/// A write that wants to be charged.
#[derive(Clone)]
pub(super) struct Ask {
    pub evaluator: Evaluator,
    pub object: Value,
    /// What it replaces.
    pub old: Option<Value>,
    /// A change of status is charged and never refused: it tells what already is.
    pub is_status: bool,
    /// Judged, but not charged.
    pub dry_run: bool,
}

/// A quota with a running account of what is used.
#[derive(Clone)]
pub(super) struct Account {
    quota: Value,
    hard: Amounts,
    used: Amounts,
    changed: bool,
}

impl Account {
    pub(super) fn new(quota: Value) -> Self {
        let (hard, used) = (amounts_at(&quota, &["status", "hard"]), amounts_at(&quota, &["status", "used"]));
        Self { quota, hard, used, changed: false }
    }

    pub(super) fn name(&self) -> &str {
        self.quota.name()
    }

    pub(super) fn is_changed(&self) -> bool {
        self.changed
    }

    /// The quota as it is to be written.
    pub(super) fn into_value(mut self) -> Value {
        let status = ensure_object(&mut self.quota).entry("status").or_insert(Value::Null);
        ensure_object(status).insert("used".into(), to_value(&self.used));
        self.quota
    }
}

/// Charges the accounts, or says why they have no room and leaves them as they are.
/// The answer is whether anything changed.
pub(super) fn charge(accounts: &mut [Account], ask: &Ask, now: Timestamp) -> Result<bool, String> {
    let evaluator = &ask.evaluator;
    let mut concerned = Vec::new();
    for (index, account) in accounts.iter().enumerate() {
        if !evaluator.matches(&account.quota, &ask.object) {
            continue;
        }
        let restricted: Vec<&str> =
            account.hard.keys().map(String::as_str).filter(|name| evaluator.measures(name)).collect();
        evaluator
            .check_constraints(&restricted, &ask.object)
            .map_err(|why| format!("failed quota: {}: {why}", account.name()))?;
        if !restricted.iter().all(|name| account.used.contains_key(*name)) {
            return Err(format!("status unknown for quota: {}, resources: {}", account.name(), names(restricted)));
        }
        concerned.push(index);
    }
    if concerned.is_empty() {
        return Ok(false);
    }
    let usage = evaluator.usage(&ask.object, now);
    let negative: Vec<&str> =
        usage.iter().filter(|(_, amount)| amount.is_negative()).map(|(name, _)| name.as_str()).collect();
    if !negative.is_empty() {
        return Err(format!("quota usage is negative for resource(s): {}", names(negative)));
    }
    // An object that moves into a quota's scope is new to it; one that was in it before
    // costs what it grows by.
    let growth = ask.old.as_ref().map(|old| subtract(&usage, &evaluator.usage(old, now)));
    let mut after: Vec<(usize, Amounts)> = Vec::new();
    for index in concerned {
        let account = &accounts[index];
        let delta = match (&growth, &ask.old) {
            (Some(growth), Some(old)) if evaluator.matches(&account.quota, old) => growth,
            _ => &usage,
        };
        let requested = mask(&without_zeros(delta.clone()), account.hard.keys());
        if requested.is_empty() {
            continue;
        }
        let used = add(&account.used, &requested);
        if !ask.is_status {
            let exceeded: Vec<&String> = requested
                .keys()
                .filter(|name| used.get(*name).zip(account.hard.get(*name)).is_some_and(|(used, hard)| used > hard))
                .collect();
            if !exceeded.is_empty() {
                let show = |amounts: &Amounts| render(&mask(amounts, exceeded.iter().copied()));
                return Err(format!(
                    "exceeded quota: {}, requested: {}, used: {}, limited: {}",
                    account.name(),
                    show(&requested),
                    show(&account.used),
                    show(&account.hard)
                ));
            }
        }
        after.push((index, used));
    }
    let changed = !after.is_empty();
    for (index, used) in after {
        accounts[index].used = used;
        accounts[index].changed = true;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn account(spec: Value, used: Value) -> Account {
        let hard = spec["hard"].clone();
        Account::new(json!({"metadata": {"name": "q"}, "spec": spec, "status": {"hard": hard, "used": used}}))
    }

    fn ask(evaluator: Evaluator, object: Value, old: Option<Value>) -> Ask {
        Ask { evaluator, object, old, is_status: false, dry_run: false }
    }

    fn run(accounts: &mut [Account], ask: &Ask) -> Result<bool, String> {
        charge(accounts, ask, Timestamp::UNIX_EPOCH)
    }

    fn service(kind: &str) -> Value {
        json!({"spec": {"type": kind, "ports": [{"port": 80}, {"port": 81}]}})
    }

    #[test]
    fn an_update_costs_what_it_grows_by() {
        let hard = json!({"hard": {"services": "1", "services.nodeports": "2", "pods": "9"}});
        let mut accounts = [account(hard, json!({"services": "1", "services.nodeports": "0", "pods": "0"}))];
        let grown = ask(Evaluator::Service, service("NodePort"), Some(service("ClusterIP")));
        assert_eq!(run(&mut accounts, &grown), Ok(true));
        assert_eq!(
            accounts[0].clone().into_value()["status"]["used"],
            json!({"services": "1", "services.nodeports": "2", "pods": "0"})
        );
        let same = ask(Evaluator::Service, service("NodePort"), Some(service("NodePort")));
        assert_eq!(run(&mut accounts, &same), Ok(false));
        let less = ask(Evaluator::Service, service("ClusterIP"), Some(service("NodePort")));
        assert_eq!(run(&mut accounts, &less), Ok(false), "the controller gives back");
        let more = ask(Evaluator::Service, service("NodePort"), None);
        assert_eq!(
            run(&mut accounts, &more),
            Err("exceeded quota: q, requested: services=1,services.nodeports=2, used: services=1,services.nodeports=2, limited: services=1,services.nodeports=2".into())
        );
    }

    #[test]
    fn all_quotas_must_have_room_and_none_is_charged_otherwise() {
        let mut accounts = [
            account(json!({"hard": {"configmaps": "5"}}), json!({"configmaps": "0"})),
            account(json!({"hard": {"count/configmaps": "0"}}), json!({"count/configmaps": "0"})),
        ];
        let evaluator = Evaluator::of("", "configmaps").expect("counted");
        assert!(run(&mut accounts, &ask(evaluator, json!({}), None)).is_err());
        assert!(accounts.iter().all(|account| !account.is_changed()));
    }

    #[test]
    fn an_object_that_enters_a_scope_is_new_to_the_quota() {
        let scoped = json!({"hard": {"pods": "1"}, "scopes": ["Terminating"]});
        let mut accounts = [account(scoped, json!({"pods": "0"}))];
        let pod = |spec: Value| json!({"spec": spec});
        let entering = ask(Evaluator::Pod, pod(json!({"activeDeadlineSeconds": 9})), Some(pod(json!({}))));
        assert_eq!(run(&mut accounts, &entering), Ok(true));
        assert!(run(&mut accounts, &entering).is_err());
    }

    #[test]
    fn a_quota_without_a_status_yet_holds_nobody_up() {
        let mut fresh = [Account::new(json!({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}))];
        assert_eq!(run(&mut fresh, &ask(Evaluator::Pod, json!({}), None)), Ok(false));
    }

    #[test]
    fn negative_requests_are_refused() {
        let mut accounts = [account(json!({"hard": {"requests.storage": "1"}}), json!({"requests.storage": "0"}))];
        let claim = json!({"spec": {"resources": {"requests": {"storage": "-1"}}}});
        assert_eq!(
            run(&mut accounts, &ask(Evaluator::Claim, claim, None)),
            Err("quota usage is negative for resource(s): requests.storage".into())
        );
    }
}
