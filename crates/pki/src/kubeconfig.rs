//! kubeconfig files: the one ferry writes, and a context merged into one that people
//! already have. Both are functions from text to text; the ferry binary does the I/O.

use crate::Error;
use crate::authority::Identity;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_yaml_ng::{Mapping, Value};

/// One cluster with one user, under the names that kubectl shows.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// The name of the context.
    pub name: &'a str,
    pub cluster: &'a str,
    pub user: &'a str,
    /// `https://127.0.0.1:6443`.
    pub server: &'a str,
    pub ca_pem: &'a str,
    pub identity: &'a Identity,
}

/// A kubeconfig with this context alone, selected.
pub fn kubeconfig_yaml(context: &Context<'_>) -> Result<String, Error> {
    merge_kubeconfig("", context)
}

/// `existing` with the context's three entries added or replaced, and selected. Every
/// other entry, key and preference stays as it is, in its order; text that is no
/// kubeconfig is an error and never overwritten.
pub fn merge_kubeconfig(existing: &str, context: &Context<'_>) -> Result<String, Error> {
    let mut root = parse(existing)?;
    let encode = |pem: &str| Value::from(BASE64.encode(pem));
    set_default(&mut root, "apiVersion", "v1");
    set_default(&mut root, "kind", "Config");
    set_default(&mut root, "preferences", Mapping::new());
    let cluster =
        mapping([("certificate-authority-data", encode(context.ca_pem)), ("server", Value::from(context.server))]);
    let user = mapping([
        ("client-certificate-data", encode(&context.identity.certificate_pem)),
        ("client-key-data", encode(&context.identity.key_pem)),
    ]);
    let chosen = mapping([("cluster", Value::from(context.cluster)), ("user", Value::from(context.user))]);
    put_named(&mut root, "clusters", context.cluster, "cluster", cluster)?;
    put_named(&mut root, "contexts", context.name, "context", chosen)?;
    put_named(&mut root, "users", context.user, "user", user)?;
    root.insert("current-context".into(), context.name.into());
    render(&root)
}

/// `existing` without the context, its cluster and its user; `None` when there is nothing
/// to remove. Called when a cluster is uninstalled.
pub fn remove_context(existing: &str, name: &str, cluster: &str, user: &str) -> Result<Option<String>, Error> {
    let mut root = parse(existing)?;
    let mut removed = false;
    for (list, name) in [("contexts", name), ("clusters", cluster), ("users", user)] {
        if let Some(Value::Sequence(entries)) = root.get_mut(list) {
            let before = entries.len();
            entries.retain(|entry| !is_named(entry, name));
            removed |= entries.len() != before;
        }
    }
    if root.get("current-context").and_then(Value::as_str) == Some(name) {
        root.insert("current-context".into(), "".into());
        removed = true;
    }
    if removed { render(&root).map(Some) } else { Ok(None) }
}

/// The context that is selected, if one is.
pub fn current_context(existing: &str) -> Result<Option<String>, Error> {
    let root = parse(existing)?;
    Ok(root.get("current-context").and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned))
}

/// `existing` with the context selected, and nothing else changed.
pub fn select_context(existing: &str, name: &str) -> Result<String, Error> {
    let mut root = parse(existing)?;
    root.insert("current-context".into(), name.into());
    render(&root)
}

pub fn has_context(existing: &str, name: &str) -> Result<bool, Error> {
    Ok(find_named(&parse(existing)?, "contexts", name).is_some())
}

/// The certificate authority of a cluster, by which two clusters of one name differ.
pub fn authority(existing: &str, cluster: &str) -> Result<Option<String>, Error> {
    let root = parse(existing)?;
    let entry = find_named(&root, "clusters", cluster).and_then(|entry| entry.get("cluster"));
    let data = entry.and_then(|cluster| cluster.get("certificate-authority-data")).and_then(Value::as_str);
    let pem = data.and_then(|data| BASE64.decode(data).ok()).and_then(|pem| String::from_utf8(pem).ok());
    Ok(pem)
}

fn find_named<'a>(root: &'a Mapping, list: &str, name: &str) -> Option<&'a Value> {
    root.get(list)?.as_sequence()?.iter().find(|entry| is_named(entry, name))
}

fn parse(text: &str) -> Result<Mapping, Error> {
    let value: Value = serde_yaml_ng::from_str(text).map_err(|e| Error::Kubeconfig(e.to_string()))?;
    let root = match value {
        Value::Null => Mapping::new(),
        Value::Mapping(root) => root,
        _ => return Err(Error::Kubeconfig("its top level is not a mapping".into())),
    };
    match root.get("kind").map(Value::as_str) {
        None | Some(Some("Config")) => Ok(root),
        Some(other) => Err(Error::Kubeconfig(format!("its kind is {:?}, not Config", other.unwrap_or_default()))),
    }
}

fn render(root: &Mapping) -> Result<String, Error> {
    serde_yaml_ng::to_string(root).map_err(|e| Error::Kubeconfig(e.to_string()))
}

fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Mapping {
    entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect()
}

fn set_default(root: &mut Mapping, key: &str, value: impl Into<Value>) {
    if root.get(key).is_none_or(Value::is_null) {
        root.insert(key.into(), value.into());
    }
}

fn is_named(entry: &Value, name: &str) -> bool {
    entry.get("name").and_then(Value::as_str) == Some(name)
}

/// Puts `{<key>: body, name: name}` into a list of named entries, in place if it is there.
fn put_named(root: &mut Mapping, list: &str, name: &str, key: &str, body: Mapping) -> Result<(), Error> {
    // kubectl writes an empty list as null.
    set_default(root, list, Value::Sequence(Vec::new()));
    let Some(Value::Sequence(entries)) = root.get_mut(list) else {
        return Err(Error::Kubeconfig(format!("{list} is not a list")));
    };
    let entry = Value::Mapping(mapping([(key, Value::Mapping(body)), ("name", name.into())]));
    match entries.iter_mut().find(|entry| is_named(entry, name)) {
        Some(slot) => *slot = entry,
        None => entries.push(entry),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { certificate_pem: "CERT".into(), key_pem: "KEY".into() }
    }

    fn ferry<'a>(identity: &'a Identity, server: &'a str) -> Context<'a> {
        Context { name: "ferry", cluster: "ferry", user: "ferry-admin", server, ca_pem: "CA", identity }
    }

    const THEIRS: &str = "\
apiVersion: v1
kind: Config
clusters:
- cluster: {server: 'https://prod:6443', insecure-skip-tls-verify: true}
  name: prod
contexts:
- context: {cluster: prod, user: me, namespace: team}
  name: prod
users:
- name: me
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: login, args: [a, b]}
current-context: prod
extensions: [{name: x, extension: {y: 1}}]
";

    #[test]
    fn a_new_file_has_one_context() {
        let text = kubeconfig_yaml(&ferry(&identity(), "https://127.0.0.1:6443")).expect("rendered");
        assert_eq!(
            text,
            "apiVersion: v1\nkind: Config\npreferences: {}\nclusters:\n- cluster:\n    certificate-authority-data: Q0E=\n    server: https://127.0.0.1:6443\n  name: ferry\ncontexts:\n- context:\n    cluster: ferry\n    user: ferry-admin\n  name: ferry\nusers:\n- user:\n    client-certificate-data: Q0VSVA==\n    client-key-data: S0VZ\n  name: ferry-admin\ncurrent-context: ferry\n"
        );
    }

    #[test]
    fn a_merge_keeps_everything_else_and_a_second_one_replaces() {
        let identity = identity();
        let once = merge_kubeconfig(THEIRS, &ferry(&identity, "https://a:1")).expect("merged");
        let twice = merge_kubeconfig(&once, &ferry(&identity, "https://b:2")).expect("merged");
        let value: Value = serde_yaml_ng::from_str(&twice).expect("yaml");
        let theirs: Value = serde_yaml_ng::from_str(THEIRS).expect("yaml");
        for list in ["clusters", "contexts", "users"] {
            let (ours, before) =
                (value[list].as_sequence().expect("a list"), theirs[list].as_sequence().expect("a list"));
            assert_eq!(ours.len(), 2, "{list}");
            assert_eq!(ours[0], before[0], "{list}");
        }
        assert_eq!(value["extensions"], theirs["extensions"]);
        assert_eq!(value["clusters"][1]["cluster"]["server"], Value::from("https://b:2"));
        assert_eq!(value["current-context"], Value::from("ferry"));

        let without = remove_context(&twice, "ferry", "ferry", "ferry-admin").expect("read").expect("changed");
        let value: Value = serde_yaml_ng::from_str(&without).expect("yaml");
        for list in ["clusters", "contexts", "users"] {
            assert_eq!(value[list], theirs[list], "{list}");
        }
        assert_eq!(remove_context(&without, "ferry", "ferry", "ferry-admin").expect("read"), None);
    }

    #[test]
    fn what_is_no_kubeconfig_is_refused() {
        let identity = identity();
        for bad in ["- a\n", "kind: Pod\n", "clusters: 3\n", "a: [b\n", "text"] {
            assert!(merge_kubeconfig(bad, &ferry(&identity, "https://a:1")).is_err(), "{bad:?}");
        }
        for empty in ["", "\n", "# only a comment\n", "clusters: null\n"] {
            assert!(merge_kubeconfig(empty, &ferry(&identity, "https://a:1")).is_ok(), "{empty:?}");
        }
    }
}
