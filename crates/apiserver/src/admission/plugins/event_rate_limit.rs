//! EventRateLimit: how many events a second the server takes, in all, of a namespace, of a
//! user, or of one source about one object. Off unless asked for.

use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use async_trait::async_trait;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// How many buckets a limit has where nobody says otherwise.
const DEFAULT_BUCKETS: usize = 4096;

const KINDS: [&str; 4] = ["Namespace", "Server", "SourceAndObject", "User"];

/// One limit, as it was configured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limit {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    qps: i32,
    #[serde(default)]
    burst: i32,
    #[serde(default)]
    cache_size: i32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: String,
    kind: String,
    #[serde(default)]
    limits: Vec<Limit>,
}

/// Reads a configuration in YAML or JSON.
pub(crate) fn parse(text: &str) -> Result<Vec<Limit>, String> {
    let file: File = serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
    if (file.api_version.as_str(), file.kind.as_str()) != ("eventratelimit.admission.k8s.io/v1alpha1", "Configuration")
    {
        return Err(format!("no kind {:?} is registered for version {:?}", file.kind, file.api_version));
    }
    validate(&file.limits)?;
    Ok(file.limits)
}

/// The error names every mistake.
pub(crate) fn validate(limits: &[Limit]) -> Result<(), String> {
    let mut errors = ErrorList::new();
    let root = Path::new("limits");
    if limits.is_empty() {
        errors.push(Error::invalid(&root, Value::Null, "must not be empty"));
    }
    for (index, limit) in limits.iter().enumerate() {
        let path = root.index(index);
        if !KINDS.contains(&limit.kind.as_str()) {
            errors.push(Error::not_supported(&path.child("type"), limit.kind.as_str(), &KINDS));
        }
        for (field, number) in [("burst", limit.burst), ("qps", limit.qps)] {
            if number <= 0 {
                errors.push(Error::invalid(&path.child(field), number, "must be positive"));
            }
        }
        if limit.kind != "Server" && limit.cache_size < 0 {
            errors.push(Error::invalid(&path.child("cacheSize"), limit.cache_size, "must not be negative"));
        }
    }
    crate::admission::config_file::joined(&errors)
}

pub(crate) struct EventRateLimit {
    enforcers: Vec<Enforcer>,
}

impl EventRateLimit {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        Self::of(&wiring.config.event_limits)
    }

    fn of(limits: &[Limit]) -> Self {
        let enforcers = limits.iter().map(|limit| Enforcer { limit: limit.clone(), buckets: Mutex::default() });
        Self { enforcers: enforcers.collect() }
    }

    fn accept(&self, request: &AdmissionRequest<'_>, now: Instant) -> Result<(), Status> {
        let refusals: Vec<String> =
            self.enforcers.iter().filter_map(|enforcer| enforcer.accept(request, now).err()).collect();
        let text = match refusals.as_slice() {
            [] => return Ok(()),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        Err(Status::failure(429, "TooManyRequests", format!("Too many requests: {text}")))
    }
}

#[async_trait]
impl Plugin for EventRateLimit {
    fn name(&self) -> &'static str {
        "EventRateLimit"
    }

    /// Events of events.k8s.io are another kind to upstream's plugin, which passes them over.
    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.is_for("", "events")
            && !request.dry_run
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        self.accept(request, Instant::now())
    }
}

/// One limit at work.
struct Enforcer {
    limit: Limit,
    buckets: Mutex<Buckets>,
}

impl Enforcer {
    fn accept(&self, request: &AdmissionRequest<'_>, now: Instant) -> Result<(), String> {
        let key = self.key(request);
        let capacity = match self.limit.cache_size {
            0 => DEFAULT_BUCKETS,
            size => usize::try_from(size).unwrap_or(DEFAULT_BUCKETS),
        };
        let mut buckets = self.buckets.lock();
        if buckets.of(&key, capacity, &self.limit, now).take(&self.limit, now) {
            return Ok(());
        }
        Err(format!("limit reached on type {} for key {key}", self.limit.kind))
    }

    fn key(&self, request: &AdmissionRequest<'_>) -> String {
        match self.limit.kind.as_str() {
            "Namespace" => request.namespace.clone(),
            "User" => request.user.name.clone(),
            "SourceAndObject" => {
                let Some(event) = request.object.as_deref() else { return String::new() };
                let source = ["component", "host"].map(|field| event.str_at(&["source", field]));
                let object = ["kind", "namespace", "name", "uid", "apiVersion"]
                    .map(|field| event.str_at(&["involvedObject", field]));
                source.iter().chain(&object).copied().collect()
            }
            _ => String::new(),
        }
    }
}

/// What is left of an allowance, and since when.
struct Bucket {
    left: f64,
    at: Instant,
    used: u64,
}

impl Bucket {
    fn take(&mut self, limit: &Limit, now: Instant) -> bool {
        let gained = now.saturating_duration_since(self.at).as_secs_f64() * f64::from(limit.qps);
        self.left = (self.left + gained).min(f64::from(limit.burst));
        self.at = now;
        if self.left < 1.0 {
            return false;
        }
        self.left -= 1.0;
        true
    }
}

/// The buckets of one limit. The one that was not used for the longest makes room, and
/// comes back full.
#[derive(Default)]
struct Buckets {
    by_key: HashMap<String, Bucket>,
    by_use: BTreeMap<u64, String>,
    uses: u64,
}

impl Buckets {
    fn of(&mut self, key: &str, capacity: usize, limit: &Limit, now: Instant) -> &mut Bucket {
        self.uses += 1;
        match self.by_key.get(key) {
            Some(bucket) => {
                self.by_use.remove(&bucket.used);
            }
            None if self.by_key.len() >= capacity => {
                if let Some((_, oldest)) = self.by_use.pop_first() {
                    self.by_key.remove(&oldest);
                }
            }
            None => {}
        }
        self.by_use.insert(self.uses, key.to_owned());
        let full = || Bucket { left: f64::from(limit.burst), at: now, used: 0 };
        let bucket = self.by_key.entry(key.to_owned()).or_insert_with(full);
        bucket.used = self.uses;
        bucket
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::row;
    use crate::authn::UserInfo;
    use crate::registry::Caller;
    use ferry_resources::Scope;
    use serde_json::json;
    use std::time::Duration;

    const HEAD: &str = "apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\n";

    fn plugin(limits: &str) -> EventRateLimit {
        EventRateLimit::of(&parse(&format!("{HEAD}limits: {limits}\n")).expect("valid"))
    }

    /// One event of `source` about a pod in a namespace, sent by a user.
    fn send(plugin: &EventRateLimit, namespace: &str, user: &str, source: &str, now: Instant) -> Result<(), String> {
        let events = row("", "Event", "events", Scope::Namespaced);
        let caller = Caller::testing(UserInfo::authenticated(user, &[]));
        let mut event = json!({"source": {"component": source}, "involvedObject": {"kind": "Pod", "name": "p"}});
        let mut request = AdmissionRequest::new(Operation::Create, &events, namespace, "e", "", &caller);
        request.object = Some(&mut event);
        assert!(plugin.handles(&request));
        plugin.accept(&request, now).map_err(|status| {
            assert_eq!((status.code, status.reason.as_str()), (429, "TooManyRequests"));
            status.message
        })
    }

    #[test]
    fn a_bucket_empties_and_fills_again() {
        let plugin = plugin("[{type: Server, qps: 2, burst: 3}]");
        let begun = Instant::now();
        for _ in 0..3 {
            assert_eq!(send(&plugin, "a", "ann", "s", begun), Ok(()));
        }
        let refused = Err("Too many requests: limit reached on type Server for key ".to_owned());
        assert_eq!(send(&plugin, "b", "bob", "t", begun), refused);
        assert_eq!(send(&plugin, "a", "ann", "s", begun + Duration::from_millis(500)), Ok(()));
        assert_eq!(send(&plugin, "a", "ann", "s", begun + Duration::from_millis(500)), refused);
        let later = begun + Duration::from_secs(600);
        let taken = (0..10).take_while(|_| send(&plugin, "a", "ann", "s", later).is_ok()).count();
        assert_eq!(taken, 3, "no more than the burst is saved up");
    }

    #[test]
    fn each_kind_of_limit_has_its_own_buckets() {
        let now = Instant::now();
        let cases = [
            ("Namespace", ("b", "ann", "s"), "a"),
            ("User", ("a", "bob", "s"), "ann"),
            ("SourceAndObject", ("a", "ann", "t"), "sPodp"),
        ];
        for (kind, (namespace, user, source), key) in cases {
            let plugin = plugin(&format!("[{{type: {kind}, qps: 1, burst: 1}}]"));
            assert_eq!(send(&plugin, "a", "ann", "s", now), Ok(()));
            let refused = format!("Too many requests: limit reached on type {kind} for key {key}");
            assert_eq!(send(&plugin, "a", "ann", "s", now), Err(refused));
            assert_eq!(send(&plugin, namespace, user, source, now), Ok(()), "{kind}");
        }
        let two = plugin("[{type: User, qps: 1, burst: 1}, {type: Namespace, qps: 1, burst: 1}]");
        assert_eq!(send(&two, "a", "ann", "s", now), Ok(()));
        assert_eq!(
            send(&two, "a", "ann", "s", now),
            Err("Too many requests: [limit reached on type User for key ann, limit reached on type Namespace for key a]".into())
        );
    }

    #[test]
    fn the_bucket_unused_for_the_longest_makes_room() {
        let plugin = plugin("[{type: User, qps: 1, burst: 1, cacheSize: 2}]");
        let now = Instant::now();
        let ok = |user: &str| send(&plugin, "a", user, "s", now).is_ok();
        assert!(ok("ann") && ok("bob") && !ok("ann"));
        assert!(ok("cid"), "in place of bob");
        assert!(!ok("ann"), "still known");
        assert!(ok("bob"), "forgotten");
    }

    #[test]
    fn every_mistake_of_a_configuration_is_named() {
        let check = |limits: &str, expected: &str| {
            assert_eq!(parse(&format!("{HEAD}{limits}\n")), Err(expected.to_owned()));
        };
        check("limits: []", "limits: Invalid value: null: must not be empty");
        check(
            "limits: [{type: Node, qps: 0, burst: 1, cacheSize: -1}]",
            "[limits[0].type: Unsupported value: \"Node\": supported values: \"Namespace\", \"Server\", \"SourceAndObject\", \"User\", limits[0].qps: Invalid value: 0: must be positive, limits[0].cacheSize: Invalid value: -1: must not be negative]",
        );
        assert!(parse("apiVersion: v1\nkind: Pod\n").is_err());
    }
}
