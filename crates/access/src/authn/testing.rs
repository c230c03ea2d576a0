//! Doubles for the tests of authentication, authorization and admission: objects in
//! memory, and an authenticator of a fresh cluster.

use super::{Authenticator, AuthnConfig};
use ferry_api::object::Meta;
use ferry_cache::Stored;
use ferry_cache::lookup::{Change, ObjectLookup, Observer};
use ferry_pki::Authority;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// 2027-01-15T08:00:00Z.
pub fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("in range")
}

/// The answer of something that need not wait.
pub fn ready<T>(asked: impl Future<Output = T>) -> T {
    futures_util::FutureExt::now_or_never(asked).expect("nobody else is asked")
}

/// An [`ObjectLookup`] over a map, for the few kinds that tests need.
#[derive(Default)]
pub struct Objects {
    objects: Mutex<BTreeMap<(String, String, String), Arc<Stored>>>,
    observers: Mutex<Vec<(String, Observer)>>,
    revision: AtomicU64,
}

impl Objects {
    pub fn of(objects: &[Value]) -> Arc<Self> {
        let out = Arc::new(Self::default());
        for object in objects {
            out.put(object.clone());
        }
        out
    }

    pub fn put(&self, mut object: Value) {
        let plural = plural_of(object.gvk().kind.as_ref());
        // Bytes must begin with metadata, as the API server encodes them.
        if object.meta("name").is_none() {
            object.set_meta("name", "");
        }
        let raw = serde_json::to_vec(&object).expect("JSON");
        let revision = self.revision.fetch_add(1, Ordering::Relaxed) + 1;
        let key = match object.namespace() {
            "" => format!("/registry/{plural}/{}", object.name()),
            namespace => format!("/registry/{plural}/{namespace}/{}", object.name()),
        };
        let stored = Arc::new(Stored::plain(key.into(), revision, &raw).expect("has metadata"));
        let key = (plural.to_owned(), object.namespace().to_owned(), object.name().to_owned());
        self.objects.lock().insert(key, stored.clone());
        self.tell(plural, &Change::Put(stored));
    }

    pub fn delete(&self, plural: &str, namespace: &str, name: &str) {
        let removed = self.objects.lock().remove(&(plural.to_owned(), namespace.to_owned(), name.to_owned()));
        if let Some(stored) = removed {
            self.tell(plural, &Change::Delete(stored));
        }
    }

    fn tell(&self, plural: &str, change: &Change) {
        for (wanted, observer) in self.observers.lock().iter() {
            if wanted == plural {
                observer(change);
            }
        }
    }
}

impl ObjectLookup for Objects {
    fn get(&self, _group: &str, plural: &str, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        self.objects.lock().get(&(plural.to_owned(), namespace.to_owned(), name.to_owned())).cloned()
    }

    fn list(&self, _group: &str, plural: &str, namespace: Option<&str>) -> Vec<Arc<Stored>> {
        let objects = self.objects.lock();
        let wanted = objects.iter().filter(|((p, n, _), _)| p == plural && namespace.is_none_or(|ns| ns == n));
        wanted.map(|(_, stored)| stored.clone()).collect()
    }

    fn subscribe(&self, group: &str, plural: &str, observer: Observer) {
        for stored in self.list(group, plural, None) {
            observer(&Change::Put(stored));
        }
        self.observers.lock().push((plural.to_owned(), observer));
    }
}

/// `Pod` is `pods`, `PriorityClass` is `priorityclasses`.
fn plural_of(kind: &str) -> &'static str {
    let lower = kind.to_ascii_lowercase();
    const PLURALS: [&str; 23] = [
        "pods",
        "nodes",
        "secrets",
        "configmaps",
        "serviceaccounts",
        "namespaces",
        "roles",
        "rolebindings",
        "clusterroles",
        "clusterrolebindings",
        "priorityclasses",
        "limitranges",
        "persistentvolumeclaims",
        "persistentvolumes",
        "leases",
        "resourcequotas",
        "csinodes",
        "volumeattachments",
        "resourceslices",
        "podcertificaterequests",
        "storageclasses",
        "ingressclasses",
        "runtimeclasses",
    ];
    PLURALS
        .into_iter()
        .find(|plural| *plural == format!("{lower}s") || *plural == format!("{lower}es"))
        .expect("a kind that the doubles know")
}

/// A cluster's trust with fresh keys, over the objects given.
pub fn authenticator(objects: Arc<Objects>) -> Authenticator {
    let config = config(&Authority::generate("ca", now()).expect("an authority"));
    Authenticator::new(config, objects).expect("set up").0
}

pub fn config(ca: &Authority) -> AuthnConfig {
    let key = rcgen::KeyPair::generate().expect("a key");
    let issuer = "https://kubernetes.default.svc.cluster.local".to_owned();
    AuthnConfig {
        client_ca_pem: ca.certificate_pem().to_owned(),
        front_proxy_ca_pem: None,
        front_proxy_allowed_names: vec!["front-proxy-client".into()],
        service_account: ferry_pki::ServiceAccountKey {
            private_pem: key.serialize_pem(),
            public_pem: key.public_key_pem(),
        },
        audiences: vec![issuer.clone()],
        issuer,
        options: Default::default(),
    }
}
