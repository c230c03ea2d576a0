//! ResourceQuota: what a namespace may hold. A write is admitted when every quota that is
//! about it has room, and is charged to their status before it is stored.
//!
//! It stands last in `all.rs`, so that nothing is charged that another plugin refuses.
//! charge.rs decides, ledger.rs writes. Requests of one namespace that wait together are
//! judged together, one after the other, and cost one write of each quota: with the
//! revision that each quota was read at, no two of them can take the same room, in this
//! process or in another. The quota controller later gives back what was charged for
//! writes that failed.

mod charge;
mod ledger;

use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use async_trait::async_trait;
use charge::{Account, Ask, charge};
use ferry_api::quota::{Evaluator, Write};
use ferry_api::status::Status;
use jiff::Timestamp;
use ledger::{Ledger, RegistryLedger};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::oneshot;

/// How often a batch is judged anew because somebody else wrote a quota meanwhile.
/// Upstream tries three times more; we are in the process that has the store and can
/// afford a few more before a client hears of it.
const RETRIES: usize = 10;

pub(crate) struct ResourceQuota {
    ledger: Arc<dyn Ledger>,
    namespaces: Mutex<HashMap<String, Arc<Namespace>>>,
}

/// Who waits for a verdict in one namespace, and whose turn it is to give them all.
#[derive(Default)]
struct Namespace {
    waiting: Mutex<Vec<Waiter>>,
    turn: Arc<tokio::sync::Mutex<()>>,
}

struct Waiter {
    ask: Ask,
    tell: oneshot::Sender<Result<(), Refusal>>,
}

/// Why a request is refused: a reason for a 403, or a failure to write a quota.
#[derive(Clone, Debug)]
enum Refusal {
    Forbidden(String),
    Failed(Box<Status>),
}

impl ResourceQuota {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        let ledger = RegistryLedger { lookup: wiring.lookup.clone(), registry: wiring.registry.clone() };
        Self::over(Arc::new(ledger))
    }

    fn over(ledger: Arc<dyn Ledger>) -> Self {
        Self { ledger, namespaces: Mutex::default() }
    }

    async fn judge(&self, namespace: &str, ask: Ask) -> Result<(), Refusal> {
        let place = self.namespaces.lock().entry(namespace.to_owned()).or_default().clone();
        let (tell, mut told) = oneshot::channel();
        place.waiting.lock().push(Waiter { ask, tell });
        let turn = place.turn.clone().lock_owned().await;
        // Whoever had the turn before may have judged this request with its own.
        if let Ok(verdict) = told.try_recv() {
            drop(turn);
            self.forget_if_idle(namespace, &place);
            return verdict;
        }
        let batch = std::mem::take(&mut *place.waiting.lock());
        let (ledger, name) = (self.ledger.clone(), namespace.to_owned());
        // A task of its own: a client that goes away must not leave the others, who wait
        // in the same batch, without a verdict.
        tokio::spawn(async move {
            judge_batch(&*ledger, &name, batch).await;
            drop(turn);
        });
        let verdict = told.await;
        self.forget_if_idle(namespace, &place);
        verdict.unwrap_or_else(|_| {
            Err(Refusal::Failed(Box::new(Status::internal("resource quota evaluation was interrupted"))))
        })
    }

    /// Namespaces come and go; what nobody waits in is not kept.
    fn forget_if_idle(&self, namespace: &str, place: &Arc<Namespace>) {
        let mut namespaces = self.namespaces.lock();
        // The map and the caller hold one each; anyone else is about to wait.
        if Arc::strong_count(place) == 2 && place.waiting.lock().is_empty() {
            namespaces.remove(namespace);
        }
    }
}

#[async_trait]
impl Plugin for ResourceQuota {
    fn name(&self) -> &'static str {
        "ResourceQuota"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.row.is_namespaced()
            && request.row.is_stored()
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(evaluator) = Evaluator::of(&request.row.group, &request.row.plural) else { return Ok(()) };
        let Some(object) = request.object.as_deref() else { return Ok(()) };
        let write = Write {
            is_create: request.operation == Operation::Create,
            is_update: request.operation == Operation::Update,
            subresource: &request.subresource,
            object,
            old: request.old_object,
        };
        if !evaluator.handles(&write) || !self.ledger.has_quotas(&request.namespace) {
            return Ok(());
        }
        let ask = Ask {
            evaluator,
            object: object.clone(),
            old: request.old_object.cloned(),
            is_status: request.subresource == "status",
            dry_run: request.dry_run,
        };
        match self.judge(&request.namespace, ask).await {
            Ok(()) => Ok(()),
            Err(Refusal::Forbidden(why)) => Err(request.forbidden(&why)),
            Err(Refusal::Failed(status)) => Err(*status),
        }
    }
}

/// Gives every waiter its verdict. What fits is told so only after the quotas are written.
async fn judge_batch(ledger: &dyn Ledger, namespace: &str, mut batch: Vec<Waiter>) {
    // On a retry only the quotas whose write failed are looked at again: the others have
    // been charged.
    let mut only: Option<Vec<String>> = None;
    let mut last_failure = None;
    for _ in 0..=RETRIES {
        let mut accounts: Vec<Account> = ledger
            .quotas(namespace)
            .into_iter()
            .map(Account::new)
            .filter(|account| only.as_ref().is_none_or(|names| names.iter().any(|name| *name == account.name())))
            .collect();
        batch = charge_all(&mut accounts, batch, Timestamp::now());
        let mut failed = Vec::new();
        for account in accounts.into_iter().filter(Account::is_changed) {
            let name = account.name().to_owned();
            if let Err(status) = ledger.record(account.into_value()).await {
                failed.push(name);
                last_failure = Some(status);
            }
        }
        if failed.is_empty() {
            batch.into_iter().for_each(|waiter| drop(waiter.tell.send(Ok(()))));
            return;
        }
        only = Some(failed);
    }
    let status = last_failure.unwrap_or_else(|| Status::internal("the quotas could not be written"));
    for waiter in batch {
        // A waiter that has gone away has nobody to tell.
        let _ = waiter.tell.send(Err(Refusal::Failed(Box::new(status.clone()))));
    }
}

/// Judges one after the other against what those before it leave. Returns those whose
/// verdict waits for the quotas to be written; all others have been told.
fn charge_all(accounts: &mut Vec<Account>, batch: Vec<Waiter>, now: Timestamp) -> Vec<Waiter> {
    let mut pending = Vec::new();
    for waiter in batch {
        let mut after = accounts.clone();
        match charge(&mut after, &waiter.ask, now) {
            Err(why) => drop(waiter.tell.send(Err(Refusal::Forbidden(why)))),
            Ok(changed) if !changed || waiter.ask.dry_run => drop(waiter.tell.send(Ok(()))),
            Ok(_) => {
                *accounts = after;
                pending.push(waiter);
            }
        }
    }
    pending
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use ferry_api::object::Meta;
    use serde_json::{Value, json};

    /// Quotas in memory, of which some writes meet a conflict first.
    struct Book {
        quotas: Mutex<Vec<Value>>,
        conflicts: Mutex<usize>,
        writes: Mutex<usize>,
    }

    #[async_trait]
    impl Ledger for Book {
        fn has_quotas(&self, _: &str) -> bool {
            true
        }

        fn quotas(&self, _: &str) -> Vec<Value> {
            self.quotas.lock().clone()
        }

        async fn record(&self, quota: Value) -> Result<(), Status> {
            tokio::task::yield_now().await;
            let mut conflicts = self.conflicts.lock();
            if *conflicts > 0 {
                *conflicts -= 1;
                return Err(Status::conflict(
                    &ferry_api::gvk::GroupResource::new("", "resourcequotas"),
                    quota.name(),
                    "it was changed",
                ));
            }
            *self.writes.lock() += 1;
            let mut quotas = self.quotas.lock();
            let slot = quotas.iter_mut().find(|stored| stored.name() == quota.name()).expect("there");
            *slot = quota;
            Ok(())
        }
    }

    fn book(hard: Value, used: Value) -> Arc<Book> {
        let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}});
        Arc::new(Book { quotas: Mutex::new(vec![quota]), conflicts: Mutex::new(0), writes: Mutex::new(0) })
    }

    fn pod(name: &str) -> Value {
        json!({"metadata": {"name": name, "namespace": "ns"}, "spec": {"containers": [{"name": "c"}]}})
    }

    #[tokio::test]
    async fn many_at_once_never_take_more_than_there_is() {
        let book = book(json!({"pods": "7"}), json!({"pods": "0"}));
        *book.conflicts.lock() = 3;
        let plugin = Arc::new(ResourceQuota::over(book.clone()));
        let tasks: Vec<_> = (0..50)
            .map(|n| {
                let plugin = plugin.clone();
                tokio::spawn(async move { Case::create(pods(), pod(&format!("p{n}"))).run(&*plugin).await })
            })
            .collect();
        let mut admitted = 0;
        for task in tasks {
            match task.await.expect("no panic") {
                Ok(_) => admitted += 1,
                Err(status) => {
                    assert!(
                        status.message.contains("exceeded quota: q, requested: pods=1, used: pods=7, limited: pods=7")
                    );
                }
            }
        }
        assert_eq!(admitted, 7);
        assert_eq!(book.quotas.lock()[0]["status"]["used"]["pods"], "7");
        assert!(*book.writes.lock() < 7, "those that wait together share a write");
        assert!(plugin.namespaces.lock().is_empty(), "nobody waits any more");
    }

    #[tokio::test]
    async fn a_quota_that_cannot_be_written_fails_the_request() {
        let book = book(json!({"pods": "7"}), json!({"pods": "0"}));
        *book.conflicts.lock() = usize::MAX;
        let refused = Case::create(pods(), pod("p")).run(&ResourceQuota::over(book)).await.expect_err("never written");
        assert_eq!(refused.code, 409);
    }

    #[tokio::test]
    async fn what_is_refused_is_named() {
        let check = async |hard: Value, used: Value, why: &str| {
            let plugin = ResourceQuota::over(book(hard, used));
            let refused = Case::create(pods(), pod("p")).run(&plugin).await.expect_err("refused");
            assert_eq!((refused.code, refused.message), (403, format!("pods \"p\" is forbidden: {why}")));
        };
        check(
            json!({"pods": "1"}),
            json!({"pods": "1"}),
            "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1",
        )
        .await;
        check(
            json!({"limits.cpu": "1", "memory": "1Gi"}),
            json!({"limits.cpu": "0", "memory": "0"}),
            "failed quota: q: must specify limits.cpu for: c; memory for: c",
        )
        .await;
        check(json!({"pods": "1"}), json!({}), "status unknown for quota: q, resources: pods").await;
    }
}
