//! A container's environment, from every source its spec may name.

use super::{ConfigError, Machine, References, downward, expand};
use crate::pod;
use k8s_openapi::api::core::v1::{Container, Pod};
use std::collections::BTreeMap;

/// Sources in rising precedence: envFrom in order, then env in order; services' variables
/// only where the container has not set the name itself. Later values may use earlier
/// ones as `$(NAME)`.
pub fn render_env(
    container: &Container,
    pod: &Pod,
    references: &References,
    services: &BTreeMap<String, String>,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut env: BTreeMap<String, String> = BTreeMap::new();
    for source in container.env_from.iter().flatten() {
        let prefix = source.prefix.as_deref().unwrap_or_default();
        if let Some(wanted) = &source.config_map_ref {
            match references.config_map(&wanted.name) {
                Ok(found) => {
                    for (key, value) in found.data.iter().flatten() {
                        env.insert(format!("{prefix}{key}"), value.clone());
                    }
                }
                Err(_) if wanted.optional == Some(true) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(wanted) = &source.secret_ref {
            match references.secret(&wanted.name) {
                Ok(found) => {
                    for (key, value) in found.data.iter().flatten() {
                        env.insert(format!("{prefix}{key}"), String::from_utf8_lossy(&value.0).into_owned());
                    }
                }
                Err(_) if wanted.optional == Some(true) => {}
                Err(error) => return Err(error),
            }
        }
    }
    for variable in container.env.iter().flatten() {
        let value = match (variable.value.as_deref().filter(|v| !v.is_empty()), &variable.value_from) {
            (Some(value), _) => {
                Some(expand::expand(value, |name| env.get(name).or_else(|| services.get(name)).cloned()))
            }
            (None, Some(source)) => value_from(source, container, pod, references, pod_ips, machine)?,
            (None, None) => Some(String::new()),
        };
        if let Some(value) = value {
            env.insert(variable.name.clone(), value);
        }
    }
    for (name, value) in services {
        env.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Ok(env)
}

/// `None` where an optional source is missing: the variable is then not set at all.
fn value_from(
    source: &k8s_openapi::api::core::v1::EnvVarSource,
    container: &Container,
    pod: &Pod,
    references: &References,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<Option<String>, ConfigError> {
    if let Some(field) = &source.field_ref {
        return downward::field_value(&field.field_path, pod, pod_ips, machine).map(Some);
    }
    if let Some(resource) = &source.resource_field_ref {
        return downward::resource_value(resource, pod, container, machine).map(Some);
    }
    if let Some(wanted) = &source.config_map_key_ref {
        let optional = wanted.optional == Some(true);
        let map = match references.config_map(&wanted.name) {
            Err(_) if optional => return Ok(None),
            other => other?,
        };
        return match map.data.as_ref().and_then(|data| data.get(&wanted.key)) {
            Some(value) => Ok(Some(value.clone())),
            None if optional => Ok(None),
            None => Err(missing_key(&wanted.key, "ConfigMap", pod, &wanted.name)),
        };
    }
    if let Some(wanted) = &source.secret_key_ref {
        let optional = wanted.optional == Some(true);
        let secret = match references.secret(&wanted.name) {
            Err(_) if optional => return Ok(None),
            other => other?,
        };
        return match secret.data.as_ref().and_then(|data| data.get(&wanted.key)) {
            Some(value) => Ok(Some(String::from_utf8_lossy(&value.0).into_owned())),
            None if optional => Ok(None),
            None => Err(missing_key(&wanted.key, "Secret", pod, &wanted.name)),
        };
    }
    Err(ConfigError::new("the environment variable names a source that this node does not know"))
}

fn missing_key(key: &str, kind: &str, pod: &Pod, name: &str) -> ConfigError {
    ConfigError(format!("couldn't find key {key} in {kind} {}/{name}", pod::namespace(pod)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use serde_json::json;
    use std::collections::HashMap;
    use std::sync::Arc;

    fn references() -> References {
        let map = serde_json::from_value(json!({ "data": { "color": "red", "size": "xl" } })).expect("a config map");
        let secret = serde_json::from_value(json!({ "data": { "password": "aHVudGVyMg==" } })).expect("a secret");
        References {
            config_maps: HashMap::from([("cm".to_string(), Arc::new(map))]),
            secrets: HashMap::from([("s".to_string(), Arc::new(secret))]),
        }
    }

    fn check(container: serde_json::Value) -> Result<BTreeMap<String, String>, ConfigError> {
        let pod = pod(json!({ "containers": [container] }));
        let services =
            BTreeMap::from([("WEB_PORT".to_string(), "80".to_string()), ("A".to_string(), "svc".to_string())]);
        render_env(&pod::containers(&pod)[0], &pod, &references(), &services, &[], &Machine::default())
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
