//! kubeconfig files: read one by one, merged as client-go merges them (the first that sets a
//! value wins), paths taken from the file that names them. `mod.rs` resolves a context of the
//! result, `cmd/config.rs` shows and changes the files.

use crate::error::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A kubeconfig. Entries keep fields that ferry does not read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Kubeconfig {
    #[serde(rename = "apiVersion", default, skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    #[serde(default, deserialize_with = "or_default")]
    pub clusters: Vec<Named<ClusterEntry>>,
    #[serde(default, deserialize_with = "or_default")]
    pub contexts: Vec<Named<ContextEntry>>,
    #[serde(default, deserialize_with = "or_default")]
    pub current_context: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Map::is_empty")]
    pub preferences: Map<String, Value>,
    #[serde(default, deserialize_with = "or_default")]
    pub users: Vec<Named<UserEntry>>,
}

/// An entry of one of the three lists: `{name: x, cluster: {…}}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Named<T> {
    pub name: String,
    pub entry: T,
}

/// The key that holds the entry beside its name.
pub(crate) trait EntryKey {
    const KEY: &'static str;
}

impl<T: EntryKey + Serialize> Serialize for Named<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(T::KEY, &self.entry)?;
        map.serialize_entry("name", &self.name)?;
        map.end()
    }
}

impl<'de, T: EntryKey + Default + serde::de::DeserializeOwned> Deserialize<'de> for Named<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        use serde::de::Error;
        let mut map = Map::<String, Value>::deserialize(deserializer)?;
        let name = map.remove("name").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        let entry = match map.remove(T::KEY) {
            None | Some(Value::Null) => T::default(),
            Some(entry) => {
                serde_json::from_value(entry).map_err(|e| D::Error::custom(format!("{} {name:?}: {e}", T::KEY)))?
            }
        };
        Ok(Self { name, entry })
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct ClusterEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_authority: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_authority_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insecure_skip_tls_verify: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_server_name: Option<String>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct ContextEntry {
    #[serde(deserialize_with = "or_default")]
    pub cluster: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub user: String,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct UserEntry {
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub impersonate: Option<String>,
    #[serde(rename = "as-groups", skip_serializing_if = "Option::is_none")]
    pub impersonate_groups: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_certificate_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_key_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<super::exec::ExecPlugin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(rename = "tokenFile", skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

impl EntryKey for ClusterEntry {
    const KEY: &'static str = "cluster";
}

impl EntryKey for ContextEntry {
    const KEY: &'static str = "context";
}

impl EntryKey for UserEntry {
    const KEY: &'static str = "user";
}

fn or_default<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> std::result::Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The files that a command reads, in order of precedence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConfigFiles {
    pub paths: Vec<PathBuf>,
    /// Named by `--kubeconfig`: then it must exist.
    pub is_explicit: bool,
}

impl ConfigFiles {
    /// `--kubeconfig`, else `$KUBECONFIG`, else `~/.kube/config`.
    pub(crate) fn find(flag: Option<&Path>, variable: Option<std::ffi::OsString>, home: Option<PathBuf>) -> Self {
        if let Some(path) = flag {
            return Self { paths: vec![path.to_owned()], is_explicit: true };
        }
        let listed: Vec<PathBuf> = variable
            .iter()
            .flat_map(|list| std::env::split_paths(list).collect::<Vec<_>>())
            .filter(|path| !path.as_os_str().is_empty())
            .collect();
        let paths = match listed.is_empty() {
            false => listed,
            true => home.map(|home| home.join(".kube/config")).into_iter().collect(),
        };
        Self { paths, is_explicit: false }
    }

    /// All files as one, paths in them made absolute.
    pub(crate) fn load(&self) -> Result<Kubeconfig> {
        let mut merged = Kubeconfig::default();
        for path in &self.paths {
            let mut config = match read(path) {
                Ok(Some(config)) => config,
                Ok(None) if self.is_explicit => {
                    return Err(format!("stat {}: no such file or directory", path.display()).into());
                }
                Ok(None) => continue,
                Err(error) => return Err(format!("error loading config file \"{}\": {error}", path.display()).into()),
            };
            config.resolve_paths(path.parent().unwrap_or(Path::new("")));
            merged.add(config);
        }
        Ok(merged)
    }

    /// The file that a change without an owner goes to: the first that is there, else the last.
    pub(crate) fn default_target(&self) -> Option<&PathBuf> {
        self.paths.iter().find(|path| path.exists()).or(self.paths.last())
    }
}

/// One file as it stands; `None` where there is none.
pub(crate) fn read(path: &Path) -> std::result::Result<Option<Kubeconfig>, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("open {}: {error}", path.display())),
    };
    parse(&text).map(Some)
}

pub(crate) fn parse(text: &str) -> std::result::Result<Kubeconfig, String> {
    let value: Value = serde_yaml_ng::from_str(text).map_err(|e| format!("yaml: {e}"))?;
    match value {
        Value::Null => Ok(Kubeconfig::default()),
        value => serde_json::from_value(value).map_err(|e| e.to_string()),
    }
}

impl Kubeconfig {
    /// Takes over what is not set yet.
    fn add(&mut self, other: Self) {
        if self.current_context.is_empty() {
            self.current_context = other.current_context;
        }
        add_missing(&mut self.clusters, other.clusters);
        add_missing(&mut self.contexts, other.contexts);
        add_missing(&mut self.users, other.users);
        for (key, value) in other.preferences {
            self.preferences.entry(key).or_insert(value);
        }
    }

    fn resolve_paths(&mut self, dir: &Path) {
        let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let resolve = |path: &mut Option<String>| {
            if let Some(path) = path.as_mut().filter(|path| !path.is_empty() && !path.starts_with('/')) {
                *path = dir.join(&*path).display().to_string();
            }
        };
        for cluster in &mut self.clusters {
            resolve(&mut cluster.entry.certificate_authority);
        }
        for user in &mut self.users {
            resolve(&mut user.entry.client_certificate);
            resolve(&mut user.entry.client_key);
            resolve(&mut user.entry.token_file);
            // A plugin named by a path, and not looked up on $PATH, is relative to the file too.
            if let Some(exec) =
                user.entry.exec.as_mut().filter(|e| e.command.contains('/') && !e.command.starts_with('/'))
            {
                exec.command = dir.join(&exec.command).display().to_string();
            }
        }
    }

    pub(crate) fn context(&self, name: &str) -> Option<&ContextEntry> {
        find(&self.contexts, name)
    }

    pub(crate) fn cluster(&self, name: &str) -> Option<&ClusterEntry> {
        find(&self.clusters, name)
    }

    pub(crate) fn user(&self, name: &str) -> Option<&UserEntry> {
        find(&self.users, name)
    }
}

fn find<'a, T>(entries: &'a [Named<T>], name: &str) -> Option<&'a T> {
    entries.iter().find(|entry| entry.name == name).map(|entry| &entry.entry)
}

fn add_missing<T>(entries: &mut Vec<Named<T>>, others: Vec<Named<T>>) {
    for other in others {
        if find(entries, &other.name).is_none() {
            entries.push(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_file_that_sets_a_value_wins_and_paths_are_its_own() {
        let dir = tempfile::tempdir().expect("a directory");
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        std::fs::write(
            &one,
            "clusters:\n- name: a\n  cluster: {server: 'https://one', certificate-authority: ca.crt}\ncontexts: null\n",
        )
        .expect("written");
        std::fs::write(
            &two,
            "current-context: c\nclusters:\n- name: a\n  cluster: {server: 'https://two'}\n- name: b\n  cluster: {server: 'https://b'}\ncontexts:\n- name: c\n  context: {cluster: b, user: u, namespace: n}\nusers:\n- name: u\n",
        )
        .expect("written");
        let absent = dir.path().join("absent");
        let files = ConfigFiles { paths: vec![absent.clone(), one, two], is_explicit: false };
        let config = files.load().expect("loaded");
        assert_eq!(config.current_context, "c");
        let a = config.cluster("a").expect("a");
        assert_eq!(a.server.as_deref(), Some("https://one"));
        assert_eq!(a.certificate_authority.as_deref(), Some(&*dir.path().join("ca.crt").display().to_string()));
        assert_eq!(config.context("c").and_then(|c| c.namespace.as_deref()), Some("n"));
        assert_eq!(config.user("u"), Some(&UserEntry::default()));
        let explicit = ConfigFiles { paths: vec![absent.clone()], is_explicit: true };
        let error = explicit.load().expect_err("missing").render();
        assert_eq!(error, format!("error: stat {}: no such file or directory", absent.display()));
    }

    #[test]
    fn the_variable_lists_files_and_the_flag_names_one() {
        let home = || Some(PathBuf::from("/home/me"));
        assert_eq!(ConfigFiles::find(None, None, home()).paths, [PathBuf::from("/home/me/.kube/config")]);
        let two = ConfigFiles::find(None, Some("/a::/b".into()), home());
        assert_eq!(two.paths, [PathBuf::from("/a"), PathBuf::from("/b")]);
        let flag = ConfigFiles::find(Some(Path::new("/c")), Some("/a".into()), home());
        assert_eq!(flag, ConfigFiles { paths: vec!["/c".into()], is_explicit: true });
    }
}
