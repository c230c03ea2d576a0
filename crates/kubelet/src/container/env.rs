//! A container's environment, from every source its spec may name.

use super::{ConfigError, Machine, References, downward, env_file, expand};
use crate::pod;
use ferry_api::view::Base64;
use ferry_api::view::core::v1::{ContainerView, EnvVarSourceView, PodView};
use std::collections::BTreeMap;

/// Sources in rising precedence: envFrom in order, then env in order; services' variables
/// only where the container has not set the name itself. Later values may use earlier
/// ones as `$(NAME)`.
pub fn render_env(
    container: ContainerView<'_>,
    pod: PodView<'_>,
    references: &References,
    services: &BTreeMap<String, String>,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut env: BTreeMap<String, String> = BTreeMap::new();
    for source in container.env_from() {
        let prefix = source.prefix();
        if let Some(wanted) = source.config_map_ref() {
            match references.config_map(wanted.name()) {
                Ok(found) => {
                    for (key, value) in found.data() {
                        env.insert(format!("{prefix}{key}"), value.to_owned());
                    }
                }
                Err(_) if wanted.optional() == Some(true) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(wanted) = source.secret_ref() {
            match references.secret(wanted.name()) {
                Ok(found) => {
                    for (key, value) in found.data() {
                        env.insert(format!("{prefix}{key}"), text(value));
                    }
                }
                Err(_) if wanted.optional() == Some(true) => {}
                Err(error) => return Err(error),
            }
        }
    }
    for variable in container.env() {
        let value = match (variable.value_(), variable.value_from()) {
            ("", Some(source)) => value_from(source, container, pod, references, pod_ips, machine)?,
            (value, _) => Some(expand::expand(value, |name| env.get(name).or_else(|| services.get(name)).cloned())),
        };
        if let Some(value) = value {
            env.insert(variable.name().to_owned(), value);
        }
    }
    for (name, value) in services {
        env.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Ok(env)
}

/// `None` where an optional source is missing: the variable is then not set at all.
fn value_from(
    source: EnvVarSourceView<'_>,
    container: ContainerView<'_>,
    pod: PodView<'_>,
    references: &References,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<Option<String>, ConfigError> {
    if let Some(field) = source.field_ref() {
        return downward::field_value(field.field_path(), pod, pod_ips, machine).map(Some);
    }
    if let Some(resource) = source.resource_field_ref() {
        return downward::resource_value(resource, pod, container, machine).map(Some);
    }
    if let Some(wanted) = source.config_map_key_ref() {
        let optional = wanted.optional() == Some(true);
        let map = match references.config_map(wanted.name()) {
            Err(_) if optional => return Ok(None),
            other => other?,
        };
        return match map.data().get(wanted.key()) {
            Some(value) => Ok(Some(value.to_owned())),
            None if optional => Ok(None),
            None => Err(missing_key(wanted.key(), "ConfigMap", pod, wanted.name())),
        };
    }
    if let Some(wanted) = source.secret_key_ref() {
        let optional = wanted.optional() == Some(true);
        let secret = match references.secret(wanted.name()) {
            Err(_) if optional => return Ok(None),
            other => other?,
        };
        return match secret.data().get(wanted.key()) {
            Some(value) => Ok(Some(text(value))),
            None if optional => Ok(None),
            None => Err(missing_key(wanted.key(), "Secret", pod, wanted.name())),
        };
    }
    if let Some(wanted) = source.file_key_ref() {
        return env_file::value(wanted, &references.env_files);
    }
    Err(ConfigError::new("the environment variable names a source that this node does not know"))
}

/// The bytes of a secret as a variable's value.
fn text(bytes: Base64<'_>) -> String {
    String::from_utf8_lossy(&bytes.decode()).into_owned()
}

fn missing_key(key: &str, kind: &str, pod: PodView<'_>, name: &str) -> ConfigError {
    ConfigError(format!("couldn't find key {key} in {kind} {}/{name}", pod::namespace(pod)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use ferry_client::SharedObject;
    use serde_json::json;
    use std::collections::HashMap;

    fn references() -> References {
        let map = SharedObject::of(json!({ "data": { "color": "red", "size": "xl" } }));
        let secret = SharedObject::of(json!({ "data": { "password": "aHVudGVyMg==" } }));
        References {
            config_maps: HashMap::from([("cm".to_string(), map)]),
            secrets: HashMap::from([("s".to_string(), secret)]),
            ..Default::default()
        }
    }

    fn check(container: serde_json::Value) -> Result<BTreeMap<String, String>, ConfigError> {
        let pod = pod(json!({ "containers": [container] }));
        let services =
            BTreeMap::from([("WEB_PORT".to_string(), "80".to_string()), ("A".to_string(), "svc".to_string())]);
        let container = pod::containers(pod.view()).first().expect("a container");
        render_env(container, pod.view(), &references(), &services, &[], &Machine::default())
    }

    #[test]
    fn sources_are_merged_in_upstreams_order() {
        let env = check(json!({ "name": "a",
            "envFrom": [{ "prefix": "P_", "configMapRef": { "name": "cm" } }, { "secretRef": { "name": "none", "optional": true } }],
            "env": [{ "name": "A", "value": "1" }, { "name": "B", "value": "$(A)-$(WEB_PORT)-$(LATER)" },
                { "name": "PW", "valueFrom": { "secretKeyRef": { "name": "s", "key": "password" } } },
                { "name": "GONE", "valueFrom": { "configMapKeyRef": { "name": "cm", "key": "none", "optional": true } } },
                { "name": "NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }] }))
        .expect("a good container");
        assert_eq!(env["P_color"], "red");
        assert_eq!(env["A"], "1");
        assert_eq!(env["B"], "1-80-$(LATER)");
        assert_eq!(env["PW"], "hunter2");
        assert_eq!(env["NAME"], "web");
        assert_eq!(env["WEB_PORT"], "80");
        assert!(!env.contains_key("GONE"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = |source| {
            check(json!({ "name": "a", "env": [{ "name": "A", "valueFrom": source }] })).expect_err("missing").0
        };
        assert_eq!(error(json!({ "configMapKeyRef": { "name": "no", "key": "k" } })), "configmap \"no\" not found");
        assert_eq!(
            error(json!({ "secretKeyRef": { "name": "s", "key": "k" } })),
            "couldn't find key k in Secret default/s"
        );
    }
}
