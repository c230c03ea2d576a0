//! Random histories, answered by the store and by the model. Where they differ, proptest
//! shrinks the history to the shortest one that still does.

use bytes::Bytes;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::model::{Model, Refusal};
use super::{Harness, next};
use crate::{Commit, Error, Event, Expect, Op, RangeOptions, Revision, Store, Watch};

/// Each case opens a store of its own and waits for the disk at each commit.
const CASES: u32 = 48;

#[derive(Clone, Debug)]
enum Action {
    Commit { key: String, expect: ExpectChoice, value: Option<Vec<u8>> },
    Get { key: String, revision: Option<Choice> },
    Range { prefix: String, limit: usize, start_after: Option<String>, revision: Option<Choice>, count: bool },
    Watch { prefix: String, from: Choice },
    Compact { revision: Choice },
    Restart,
}

#[derive(Clone, Copy, Debug)]
enum ExpectChoice {
    Any,
    Absent,
    /// The revision that the key really has, so that many updates succeed.
    Right,
    Some(Choice),
}

/// A revision as a fraction of the history so far: it means something whatever the length.
#[derive(Clone, Copy, Debug)]
struct Choice(u8);

impl Choice {
    /// From one before the start to one after the end.
    fn of(self, base: Revision, latest: Revision) -> Revision {
        let span = latest - base + 3;
        (base - 1) + u64::from(self.0) * (span - 1) / 255
    }
}

pub fn random_histories_match_the_model(harness: &impl Harness) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime for the property test");
    let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let outcome = TestRunner::new(config)
        .run(&prop::collection::vec(action(), 1..60), |actions| runtime.block_on(check_history(harness, actions)));
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

async fn check_history<H: Harness>(harness: &H, actions: Vec<Action>) -> Result<(), TestCaseError> {
    let mut store = harness.open().await;
    let base = store.current_revision();
    let mut model = Model::new(base);
    let mut watches: Vec<OpenWatch> = Vec::new();

    for action in actions {
        let choose = |choice: Choice| choice.of(base, model.latest());
        match action {
            Action::Commit { key, expect, value } => {
                let expect = match expect {
                    ExpectChoice::Any => Expect::Any,
                    ExpectChoice::Absent => Expect::Absent,
                    ExpectChoice::Some(choice) => Expect::Revision(choose(choice)),
                    ExpectChoice::Right => {
                        let current = model.get(&key, None).expect("the latest state is always readable");
                        current.map_or(Expect::Absent, |entry| Expect::Revision(entry.revision))
                    }
                };
                let op = value.map_or(Op::Delete, |value| Op::Put(Bytes::from(value)));
                let commit = Commit { key, expect, op };
                let before = model.get(&commit.key, None).expect("the latest state is always readable");
                let expected = model.commit(&commit).map(|revision| (revision, before));
                let found = store.commit(commit).await.map(|committed| (committed.revision, committed.previous));
                prop_assert_eq!(refusal(found), expected);
            }
            Action::Get { key, revision } => {
                let revision = revision.map(choose);
                prop_assert_eq!(refusal(store.get(&key, revision).await), model.get(&key, revision));
            }
            Action::Range { prefix, limit, start_after, revision, count } => {
                let revision = revision.map(choose);
                let options = RangeOptions { limit, start_after, revision, count_remaining: count };
                let expected = model.range(&prefix, &options);
                prop_assert_eq!(refusal(store.range(&prefix, options).await), expected);
            }
            Action::Watch { prefix, from } => {
                let from = choose(from);
                match store.watch(&prefix, from).await {
                    Ok(watch) => watches.push(OpenWatch { watch, prefix, from, seen: Vec::new() }),
                    Err(error) => {
                        prop_assert!(from < model.horizon, "{}", error);
                        prop_assert_eq!(refusal::<()>(Err(error)), Err(Refusal::Compacted(model.horizon)));
                    }
                }
            }
            Action::Compact { revision } => {
                let revision = choose(revision);
                // What is unread may not survive a compaction, so let everyone catch up first.
                catch_up_all(&mut watches, &model).await?;
                prop_assert_eq!(refusal(store.compact(revision).await), model.compact(revision));
            }
            Action::Restart => {
                catch_up_all(&mut watches, &model).await?;
                watches.clear();
                store = harness.restart(store).await;
            }
        }
        prop_assert_eq!(store.current_revision(), model.latest());
    }
    catch_up_all(&mut watches, &model).await
}

struct OpenWatch {
    watch: Watch,
    prefix: String,
    from: Revision,
    seen: Vec<Event>,
}

impl OpenWatch {
    /// Reads until as much was seen as should be, and compares all of it. An event too many
    /// shows up in the next batch, here or when the next changes are compared. Returns whether
    /// the watch goes on: the horizon may have overtaken it.
    async fn catch_up(&mut self, model: &Model) -> Result<bool, TestCaseError> {
        let expected = model.events(&self.prefix, self.from);
        while self.seen.len() < expected.len() {
            let position = self.seen.last().map_or(self.from, |event| event.revision);
            match next(&mut self.watch).await {
                Some(Ok(batch)) => self.seen.extend(batch),
                Some(Err(Error::Compacted { horizon })) if horizon == model.horizon && position < horizon => {
                    return Ok(false);
                }
                other => return Err(TestCaseError::fail(format!("the watch from {} gave {other:?}", self.from))),
            }
        }
        prop_assert_eq!(&self.seen, &expected);
        Ok(true)
    }
}

async fn catch_up_all(watches: &mut Vec<OpenWatch>, model: &Model) -> Result<(), TestCaseError> {
    for mut watch in std::mem::take(watches) {
        if watch.catch_up(model).await? {
            watches.push(watch);
        }
    }
    Ok(())
}

/// A store's error in the model's words. Errors that the model does not know fail the case.
fn refusal<T>(result: Result<T, Error>) -> Result<T, Refusal> {
    result.map_err(|error| match error {
        Error::Conflict { current, .. } => Refusal::Conflict(current),
        Error::Compacted { horizon } => Refusal::Compacted(horizon),
        Error::FutureRevision { .. } => Refusal::Future,
        other => panic!("{other}"),
    })
}

fn action() -> impl Strategy<Value = Action> {
    let value = || prop::option::weighted(0.75, prop::collection::vec(any::<u8>(), 0..6));
    let limit = prop_oneof![Just(0usize), 1..5usize];
    prop_oneof![
        12 => (key(), expect(), value()).prop_map(|(key, expect, value)| Action::Commit { key, expect, value }),
        3 => (key(), prop::option::of(choice())).prop_map(|(key, revision)| Action::Get { key, revision }),
        4 => (prefix(), limit, prop::option::of(key()), prop::option::of(choice()), any::<bool>()).prop_map(
            |(prefix, limit, start_after, revision, count)| Action::Range { prefix, limit, start_after, revision, count }
        ),
        3 => (prefix(), choice()).prop_map(|(prefix, from)| Action::Watch { prefix, from }),
        1 => choice().prop_map(|revision| Action::Compact { revision }),
        1 => Just(Action::Restart),
    ]
}

fn choice() -> impl Strategy<Value = Choice> {
    any::<u8>().prop_map(Choice)
}

/// Few keys, so that they are often updated; near each other, so that prefixes are put to test.
fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["/a", "/a/", "/a/x", "/a/y", "/a0", "/b/x", "/b/é"]).prop_map(str::to_string)
}

fn prefix() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["", "/a", "/a/", "/b/", "/c"]).prop_map(str::to_string)
}

fn expect() -> impl Strategy<Value = ExpectChoice> {
    prop_oneof![
        3 => Just(ExpectChoice::Any),
        1 => Just(ExpectChoice::Absent),
        3 => Just(ExpectChoice::Right),
        1 => choice().prop_map(ExpectChoice::Some),
    ]
}
