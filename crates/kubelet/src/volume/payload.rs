//! What goes into configMap, secret, downwardAPI and projected volumes. Pure.

use super::Tokens;
use super::atomic::{File, Payload};
use crate::container::{ConfigError, Machine, References, downward};
use crate::pod;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Volume, VolumeProjection};
use std::collections::BTreeMap;

const DEFAULT_MODE: i32 = 0o644;

/// Everything `render` reads besides the volume itself.
struct Sources<'a> {
    pod: &'a Pod,
    references: &'a References,
    tokens: &'a Tokens,
    pod_ips: &'a [String],
    machine: &'a Machine,
}

/// The plugin's directory name and the files; `None` for kinds that hold no payload.
pub fn render(
    pod: &Pod,
    volume: &Volume,
    references: &References,
    tokens: &Tokens,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<Option<(&'static str, Payload)>, String> {
    let sources = Sources { pod, references, tokens, pod_ips, machine };
    let mut payload = Payload::new();
    if let Some(source) = &volume.config_map {
        let mode = source.default_mode.unwrap_or(DEFAULT_MODE);
        let optional = source.optional == Some(true);
        sources.config_map(&source.name, source.items.as_deref(), optional, mode, &mut payload)?;
        return Ok(Some(("configmap", payload)));
    }
    if let Some(source) = &volume.secret {
        let mode = source.default_mode.unwrap_or(DEFAULT_MODE);
        let optional = source.optional == Some(true);
        let name = source.secret_name.as_deref().unwrap_or_default();
        sources.secret(name, source.items.as_deref(), optional, mode, &mut payload)?;
        return Ok(Some(("secret", payload)));
    }
    if let Some(source) = &volume.downward_api {
        let mode = source.default_mode.unwrap_or(DEFAULT_MODE);
        sources.downward(source.items.as_deref().unwrap_or_default(), mode, &mut payload)?;
        return Ok(Some(("downward-api", payload)));
    }
    if let Some(source) = &volume.projected {
        let mode = source.default_mode.unwrap_or(DEFAULT_MODE);
        for projection in source.sources.iter().flatten() {
            sources.projection(&volume.name, projection, mode, &mut payload)?;
        }
        return Ok(Some(("projected", payload)));
    }
    Ok(None)
}

impl Sources<'_> {
    fn projection(
        &self,
        volume: &str,
        projection: &VolumeProjection,
        mode: i32,
        payload: &mut Payload,
    ) -> Result<(), String> {
        if let Some(source) = &projection.config_map {
            self.config_map(&source.name, source.items.as_deref(), source.optional == Some(true), mode, payload)?;
        }
        if let Some(source) = &projection.secret {
            self.secret(&source.name, source.items.as_deref(), source.optional == Some(true), mode, payload)?;
        }
        if let Some(source) = &projection.downward_api {
            self.downward(source.items.as_deref().unwrap_or_default(), mode, payload)?;
        }
        if let Some(source) = &projection.service_account_token {
            let token = self
                .tokens
                .get(&(volume.to_string(), source.path.clone()))
                .ok_or_else(|| format!("no service account token for {:?}", source.path))?;
            // Readable by the one user the pod runs as, or by its group, and by nobody else.
            let user = common_user(self.pod);
            let group = pod::spec(self.pod).security_context.as_ref().and_then(|context| context.fs_group);
            let mode = if user.is_some() || group.is_some() { 0o600 } else { mode };
            payload.insert(
                source.path.clone(),
                File { data: token.clone().into_bytes(), mode: mode as u32 & 0o777, user },
            );
        }
        if projection.cluster_trust_bundle.is_some() || projection.pod_certificate.is_some() {
            return Err("this node cannot project cluster trust bundles or pod certificates".into());
        }
        Ok(())
    }

    fn config_map(
        &self,
        name: &str,
        items: Option<&[KeyToPath]>,
        optional: bool,
        mode: i32,
        payload: &mut Payload,
    ) -> Result<(), String> {
        let data = match self.references.config_map(name) {
            Ok(found) => config_map_data(found),
            Err(_) if optional => return Ok(()),
            Err(ConfigError(why)) => return Err(why),
        };
        select("config", data, items, optional, mode, payload)
    }

    fn secret(
        &self,
        name: &str,
        items: Option<&[KeyToPath]>,
        optional: bool,
        mode: i32,
        payload: &mut Payload,
    ) -> Result<(), String> {
        let data = match self.references.secret(name) {
            Ok(found) => found.data.clone().unwrap_or_default().into_iter().map(|(k, v)| (k, v.0)).collect(),
            Err(_) if optional => return Ok(()),
            Err(ConfigError(why)) => return Err(why),
        };
        select("secret", data, items, optional, mode, payload)
    }

    fn downward(&self, items: &[DownwardAPIVolumeFile], mode: i32, payload: &mut Payload) -> Result<(), String> {
        for item in items {
            let value = if let Some(field) = &item.field_ref {
                downward::field_value(&field.field_path, self.pod, self.pod_ips, self.machine)
            } else if let Some(resource) = &item.resource_field_ref {
                let name = resource.container_name.as_deref().unwrap_or_default();
                match pod::find_container(self.pod, name) {
                    Some((_, container)) => downward::resource_value(resource, self.pod, &container, self.machine),
                    None => Err(ConfigError(format!("container {name} not found"))),
                }
            } else {
                continue;
            };
            let data = value.map_err(|ConfigError(why)| why)?.into_bytes();
            payload.insert(item.path.clone(), file(data, item.mode.unwrap_or(mode)));
        }
        Ok(())
    }
}

fn file(data: Vec<u8>, mode: i32) -> File {
    File { data, mode: mode as u32 & 0o777, user: None }
}

fn config_map_data(map: &ConfigMap) -> BTreeMap<String, Vec<u8>> {
    let text = map.data.clone().unwrap_or_default().into_iter().map(|(key, value)| (key, value.into_bytes()));
    let binary: BTreeMap<String, ByteString> = map.binary_data.clone().unwrap_or_default();
    text.chain(binary.into_iter().map(|(key, value)| (key, value.0))).collect()
}

/// All keys under their own names, or the listed ones under the paths they are given.
fn select(
    what: &str,
    mut data: BTreeMap<String, Vec<u8>>,
    items: Option<&[KeyToPath]>,
    optional: bool,
    mode: i32,
    payload: &mut Payload,
) -> Result<(), String> {
    let Some(items) = items.filter(|items| !items.is_empty()) else {
        payload.extend(data.into_iter().map(|(key, data)| (key, file(data, mode))));
        return Ok(());
    };
    for item in items {
        match data.get_mut(&item.key) {
            Some(data) => {
                payload.insert(item.path.clone(), file(data.clone(), item.mode.unwrap_or(mode)));
            }
            None if optional => {}
            None => {
                return Err(match what {
                    "secret" => format!("references non-existent secret key: {}", item.key),
                    _ => format!("references non-existent config key: {}", item.key),
                });
            }
        }
    }
    Ok(())
}

/// The user every container runs as, if they agree on one.
fn common_user(pod: &Pod) -> Option<u32> {
    let of_pod = pod::spec(pod).security_context.as_ref().and_then(|context| context.run_as_user);
    let mut users = pod::containers(pod)
        .iter()
        .chain(pod::init_containers(pod))
        .map(|container| container.security_context.as_ref().and_then(|context| context.run_as_user).or(of_pod));
    let first = users.next()??;
    users.all(|user| user == Some(first)).then(|| u32::try_from(first).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use serde_json::json;
    use std::collections::HashMap;
    use std::sync::Arc;

    fn check(volume: serde_json::Value) -> Result<Option<(&'static str, Payload)>, String> {
        let map = json!({ "data": { "color": "red", "size": "xl" }, "binaryData": { "raw": "AAE=" } });
        let references = References {
            config_maps: HashMap::from([("cm".into(), Arc::new(serde_json::from_value(map).expect("a map")))]),
            secrets: HashMap::new(),
        };
        let tokens = Tokens::from([(("v".to_string(), "token".to_string()), "jwt".to_string())]);
        let volume: Volume = serde_json::from_value(volume).expect("a volume");
        let pod = pod(json!({ "containers": [{ "name": "a" }] }));
        render(&pod, &volume, &references, &tokens, &[], &Machine::default())
    }

    #[test]
    fn keys_items_and_modes() {
        let (plugin, payload) =
            check(json!({ "name": "v", "configMap": { "name": "cm" } })).expect("rendered").expect("a payload");
        assert_eq!((plugin, payload.len()), ("configmap", 3));
        assert_eq!(payload["raw"].data, [0, 1]);
        let (_, payload) = check(json!({ "name": "v", "configMap": { "name": "cm", "defaultMode": 256,
            "items": [{ "key": "color", "path": "a/b", "mode": 384 }, { "key": "size", "path": "s" }] } }))
        .expect("rendered")
        .expect("a payload");
        assert_eq!((payload["a/b"].mode, payload["s"].mode), (0o600, 0o400));
    }

    #[test]
    fn the_default_token_volume() {
        let (plugin, payload) = check(json!({ "name": "v", "projected": { "sources": [
            { "serviceAccountToken": { "path": "token", "expirationSeconds": 3607 } },
            { "configMap": { "name": "cm", "items": [{ "key": "color", "path": "ca.crt" }] } },
            { "downwardAPI": { "items": [{ "path": "namespace", "fieldRef": { "fieldPath": "metadata.namespace" } }] } }] } }))
        .expect("rendered")
        .expect("a payload");
        assert_eq!(plugin, "projected");
        assert_eq!(payload["token"].data, b"jwt");
        assert_eq!(payload["namespace"].data, b"default");
        assert_eq!(payload["ca.crt"].data, b"red");
    }

    #[test]
    fn what_is_missing_is_named_unless_optional() {
        let error = |volume| check(volume).expect_err("missing");
        assert_eq!(error(json!({ "name": "v", "secret": { "secretName": "no" } })), "secret \"no\" not found");
        assert_eq!(
            error(json!({ "name": "v", "configMap": { "name": "cm", "items": [{ "key": "k", "path": "p" }] } })),
            "references non-existent config key: k"
        );
        assert!(check(json!({ "name": "v", "secret": { "secretName": "no", "optional": true } })).is_ok());
    }
}
