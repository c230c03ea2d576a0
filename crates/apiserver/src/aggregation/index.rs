//! The APIServices as they are now, kept in step with the stored objects: which group
//! version is answered elsewhere, whether it can be, and in which order all are offered.

use super::priority::{self, OWN_GROUP, OWN_PRIORITY, Ranked};
use crate::registry::lookup::Change;
use crate::webhook::tls::{Protocols, client_config, unverified_config};
use arc_swap::ArcSwap;
use base64::Engine as _;
use ferry_api::object::Meta;
use ferry_pki::LiveIdentity;
use rustls::ClientConfig;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// One APIService.
#[derive(Clone)]
pub(crate) struct Entry {
    pub name: String,
    pub group: String,
    pub version: String,
    pub group_priority: i64,
    pub version_priority: i64,
    /// `None` for what this server answers itself.
    pub remote: Option<Remote>,
    pub available: bool,
    /// Made on first use and kept until the service reference changes.
    tls: Arc<OnceLock<Result<Arc<ClientConfig>, String>>>,
}

/// Where a group version is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remote {
    pub namespace: String,
    pub service: String,
    pub port: u16,
    pub skip_verify: bool,
    /// PEM; empty means the machine's authorities.
    pub ca_bundle: String,
}

impl Remote {
    /// The name that the backend's certificate must carry.
    pub(crate) fn server_name(&self) -> String {
        format!("{}.{}.svc", self.service, self.namespace)
    }
}

impl Entry {
    pub(crate) fn read(object: &Value) -> Self {
        let remote = object.at(&["spec", "service"]).filter(|service| service.is_object()).map(|service| Remote {
            namespace: service.str_at(&["namespace"]).to_owned(),
            service: service.str_at(&["name"]).to_owned(),
            port: service.i64_at(&["port"]).and_then(|port| u16::try_from(port).ok()).unwrap_or(443),
            skip_verify: object.bool_at(&["spec", "insecureSkipTLSVerify"]).unwrap_or(false),
            ca_bundle: decode_bundle(object.str_at(&["spec", "caBundle"])),
        });
        Self {
            name: object.name().to_owned(),
            group: object.str_at(&["spec", "group"]).to_owned(),
            version: object.str_at(&["spec", "version"]).to_owned(),
            group_priority: object.i64_at(&["spec", "groupPriorityMinimum"]).unwrap_or(0),
            version_priority: object.i64_at(&["spec", "versionPriority"]).unwrap_or(0),
            remote,
            available: is_available(object),
            tls: Arc::default(),
        }
    }

    /// The TLS settings towards the backend, with the front proxy's certificate as it is
    /// when a connection is made.
    pub(crate) fn tls(&self, identity: Option<&Arc<LiveIdentity>>) -> Result<Arc<ClientConfig>, String> {
        let made = self.tls.get_or_init(|| {
            let remote = self.remote.as_ref().ok_or("a local APIService has no backend")?;
            let made = match (remote.skip_verify, remote.ca_bundle.as_str()) {
                (true, _) => unverified_config(None, Protocols::Http1),
                (false, "") => client_config(None, None, Protocols::Http1),
                (false, bundle) => client_config(Some(bundle), None, Protocols::Http1),
            };
            let mut config = Arc::unwrap_or_clone(made.map_err(|error| error.to_string())?);
            if let Some(identity) = identity {
                config.client_auth_cert_resolver = identity.clone();
            }
            Ok(Arc::new(config))
        });
        made.clone()
    }
}

/// Whether the condition Available is strictly true.
fn is_available(object: &Value) -> bool {
    let mut conditions = object.items_at(&["status", "conditions"]).iter();
    let condition = conditions.find(|condition| condition.str_at(&["type"]) == "Available");
    condition.is_some_and(|condition| condition.str_at(&["status"]) == "True")
}

fn decode_bundle(text: &str) -> String {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Readers take a snapshot; the cache's feeder alone writes.
#[derive(Default)]
pub(crate) struct Index(ArcSwap<Vec<Arc<Entry>>>);

impl Index {
    pub(crate) fn all(&self) -> Arc<Vec<Arc<Entry>>> {
        self.0.load_full()
    }

    /// The names of all, and whether each can be answered for.
    pub(crate) fn availability(&self) -> Vec<(String, bool)> {
        let all = self.0.load();
        all.iter().map(|entry| (entry.name.clone(), entry.remote.is_none() || entry.available)).collect()
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<Entry>> {
        self.0.load().iter().find(|entry| entry.name == name).cloned()
    }

    /// The APIService that answers elsewhere for a path, if there is one.
    pub(crate) fn remote_of_path(&self, path: &str) -> Option<Arc<Entry>> {
        let mut parts = path.trim_start_matches('/').split('/');
        let (root, group, version) = (parts.next()?, parts.next()?, parts.next()?);
        if root != "apis" {
            return None;
        }
        let all = self.0.load();
        all.iter().find(|entry| entry.remote.is_some() && entry.group == group && entry.version == version).cloned()
    }

    pub(crate) fn apply(&self, change: &Change) {
        let mut all: Vec<Arc<Entry>> = self.all().to_vec();
        match change {
            Change::Put(stored) => {
                let mut entry = Entry::read(&stored.value());
                match all.iter_mut().find(|old| old.name == entry.name) {
                    Some(old) => {
                        if old.remote == entry.remote {
                            entry.tls = old.tls.clone();
                        }
                        *old = Arc::new(entry);
                    }
                    None => all.push(Arc::new(entry)),
                }
            }
            Change::Delete(stored) => all.retain(|entry| entry.name != stored.name()),
        }
        self.0.store(Arc::new(all));
    }

    /// Groups and their versions in the order of discovery: what APIServices say, what
    /// `served` has beside them, and the group of APIServices before all.
    pub(crate) fn ordered(&self, served: impl Iterator<Item = (String, String)>) -> Vec<(String, Vec<String>)> {
        let all = self.0.load();
        let mut ranked: Vec<Ranked> = all
            .iter()
            .map(|entry| Ranked {
                group: entry.group.clone(),
                version: entry.version.clone(),
                group_priority: entry.group_priority,
                version_priority: entry.version_priority,
            })
            .collect();
        for (group, version) in served {
            if ranked.iter().any(|known| known.group == group && known.version == version) {
                continue;
            }
            let (group_priority, version_priority) = match group.as_str() {
                OWN_GROUP => (OWN_PRIORITY, 1),
                _ => priority::builtin(&group, &version).unwrap_or(priority::CUSTOM),
            };
            ranked.push(Ranked { group, version, group_priority, version_priority });
        }
        priority::sort(ranked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_api_service_is_read_with_its_backend() {
        let object = json!({"metadata": {"name": "v1.a.b"}, "spec": {
            "group": "a.b", "version": "v1", "groupPriorityMinimum": 2000, "versionPriority": 5,
            "service": {"namespace": "n", "name": "s"}, "caBundle": "YWJj"},
            "status": {"conditions": [{"type": "Available", "status": "True"}]}});
        let entry = Entry::read(&object);
        let remote = entry.remote.clone().expect("a backend");
        assert_eq!((remote.port, remote.ca_bundle.as_str(), remote.server_name().as_str()), (443, "abc", "s.n.svc"));
        assert!(entry.available);
        assert_eq!(
            entry.tls(None).expect_err("no PEM"),
            "unable to load root certificates: unable to parse bytes as PEM block"
        );
    }

    #[test]
    fn order_is_what_api_services_say_and_ours_first() {
        let index = Index::default();
        let served = [(OWN_GROUP, "v1"), ("apps", "v1"), ("x.y", "v1"), ("apps", "v1")];
        let order = index.ordered(served.iter().map(|(g, v)| ((*g).to_owned(), (*v).to_owned())));
        let names: Vec<&str> = order.iter().map(|(group, _)| group.as_str()).collect();
        assert_eq!(names, [OWN_GROUP, "apps", "x.y"]);
        assert_eq!(order[1].1, ["v1"]);
    }
}
