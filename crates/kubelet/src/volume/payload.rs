//! configMap, secret, downwardAPI and projected: volumes whose files the kubelet writes. The
//! files are rendered purely and then written at once (atomic.rs).

use super::atomic::{self, File, Payload};
use super::beneath::Dir;
use super::ownership::{Access, give_to_group};
use super::place::{make_directory, mount_tmpfs};
use super::{MountedVolume, Publication, Tokens, VolumePlugin, volume_directory};
use crate::container::{ConfigError, Machine, References, downward};
use crate::pod;
use ferry_api::view::core::v1::{DownwardAPIVolumeFileView, KeyToPathView, PodView, VolumeProjectionView, VolumeView};
use ferry_api::view::{Base64, List, Map};

const DEFAULT_MODE: i32 = 0o644;

pub struct Written;

impl VolumePlugin for Written {
    fn takes(&self, volume: VolumeView<'_>) -> bool {
        volume.config_map().is_some()
            || volume.secret().is_some()
            || volume.downward_api().is_some()
            || volume.projected().is_some()
    }

    fn publish(&self, publication: &Publication<'_>, volume: VolumeView<'_>) -> Result<MountedVolume, String> {
        let Publication { root, pod, references, tokens, pod_ips, machine, .. } = *publication;
        let rendered = render(pod, volume, references, tokens, pod_ips, machine)?;
        let Some((plugin, payload)) = rendered else { return Err("the volume has no files".into()) };
        let path = volume_directory(root, pod.metadata().uid(), plugin, volume.name());
        let (mut directory, _) = make_directory(root, &path, 0o755)?;
        // Data that may be secret stays off the disk.
        if plugin != "configmap" {
            directory = mount_tmpfs(directory, &path, None)?.0;
        }
        let own = |volume: &Dir| match publication.fs_group() {
            Some(group) => give_to_group(volume, group, Access::ReadOnly),
            None => Ok(()),
        };
        atomic::write(&directory, &payload, own).map_err(|error| error.to_string())?;
        Ok(MountedVolume { path, must_be_read_only: true })
    }
}

/// Everything `render` reads besides the volume itself.
struct Sources<'a> {
    pod: PodView<'a>,
    references: &'a References,
    tokens: &'a Tokens,
    pod_ips: &'a [String],
    machine: &'a Machine,
}

/// The keys of a ConfigMap or Secret that a volume shows.
struct Selection<'a> {
    /// All keys under their own names where it is empty.
    items: List<'a, KeyToPathView<'a>>,
    optional: bool,
    mode: i32,
}

/// The data of a ConfigMap or Secret; a Secret has no text.
struct Contents<'a> {
    text: Map<'a, &'a str>,
    binary: Map<'a, Base64<'a>>,
}

/// The plugin's directory name and the files; `None` for kinds that hold no payload.
pub fn render(
    pod: PodView<'_>,
    volume: VolumeView<'_>,
    references: &References,
    tokens: &Tokens,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<Option<(&'static str, Payload)>, String> {
    let sources = Sources { pod, references, tokens, pod_ips, machine };
    let mut payload = Payload::new();
    if let Some(source) = volume.config_map() {
        let mode = source.default_mode().unwrap_or(DEFAULT_MODE);
        let selection = Selection { items: source.items(), optional: source.optional() == Some(true), mode };
        sources.config_map(source.name(), &selection, &mut payload)?;
        return Ok(Some(("configmap", payload)));
    }
    if let Some(source) = volume.secret() {
        let mode = source.default_mode().unwrap_or(DEFAULT_MODE);
        let selection = Selection { items: source.items(), optional: source.optional() == Some(true), mode };
        sources.secret(source.secret_name(), &selection, &mut payload)?;
        return Ok(Some(("secret", payload)));
    }
    if let Some(source) = volume.downward_api() {
        let mode = source.default_mode().unwrap_or(DEFAULT_MODE);
        sources.downward(source.items(), mode, &mut payload)?;
        return Ok(Some(("downward-api", payload)));
    }
    if let Some(source) = volume.projected() {
        let mode = source.default_mode().unwrap_or(DEFAULT_MODE);
        for projection in source.sources() {
            sources.projection(volume.name(), projection, mode, &mut payload)?;
        }
        return Ok(Some(("projected", payload)));
    }
    Ok(None)
}

impl Sources<'_> {
    fn projection(
        &self,
        volume: &str,
        projection: VolumeProjectionView<'_>,
        mode: i32,
        payload: &mut Payload,
    ) -> Result<(), String> {
        if let Some(source) = projection.config_map() {
            let selection = Selection { items: source.items(), optional: source.optional() == Some(true), mode };
            self.config_map(source.name(), &selection, payload)?;
        }
        if let Some(source) = projection.secret() {
            let selection = Selection { items: source.items(), optional: source.optional() == Some(true), mode };
            self.secret(source.name(), &selection, payload)?;
        }
        if let Some(source) = projection.downward_api() {
            self.downward(source.items(), mode, payload)?;
        }
        if let Some(source) = projection.service_account_token() {
            let path = source.path();
            let token = self.tokens.get(&(volume.to_owned(), path.to_owned()));
            let token = token.ok_or_else(|| format!("no service account token for {path:?}"))?;
            // Readable by the one user the pod runs as, or by its group, and by nobody else.
            let user = common_user(self.pod);
            let group = self.pod.spec().security_context().and_then(|context| context.fs_group());
            let mode = if user.is_some() || group.is_some() { 0o600 } else { mode };
            payload.insert(path.to_owned(), File { user, ..file(token.clone().into_bytes(), mode) });
        }
        if projection.cluster_trust_bundle().is_some() || projection.pod_certificate().is_some() {
            return Err("this node cannot project cluster trust bundles or pod certificates".into());
        }
        Ok(())
    }

    fn config_map(&self, name: &str, selection: &Selection<'_>, payload: &mut Payload) -> Result<(), String> {
        match self.references.config_map(name) {
            Ok(found) => {
                let contents = Contents { text: found.data(), binary: found.binary_data() };
                select("config", &contents, selection, payload)
            }
            Err(_) if selection.optional => Ok(()),
            Err(ConfigError(why)) => Err(why),
        }
    }

    fn secret(&self, name: &str, selection: &Selection<'_>, payload: &mut Payload) -> Result<(), String> {
        match self.references.secret(name) {
            Ok(found) => {
                let contents = Contents { text: Map::default(), binary: found.data() };
                select("secret", &contents, selection, payload)
            }
            Err(_) if selection.optional => Ok(()),
            Err(ConfigError(why)) => Err(why),
        }
    }

    fn downward(
        &self,
        items: List<'_, DownwardAPIVolumeFileView<'_>>,
        mode: i32,
        payload: &mut Payload,
    ) -> Result<(), String> {
        for item in items {
            let value = if let Some(field) = item.field_ref() {
                downward::field_value(field.field_path(), self.pod, self.pod_ips, self.machine)
            } else if let Some(resource) = item.resource_field_ref() {
                let name = resource.container_name();
                match pod::find_container(self.pod, name) {
                    Some((_, container)) => downward::resource_value(resource, self.pod, container, self.machine),
                    None => Err(ConfigError(format!("container {name} not found"))),
                }
            } else {
                continue;
            };
            let data = value.map_err(|ConfigError(why)| why)?.into_bytes();
            payload.insert(item.path().to_owned(), file(data, item.mode().unwrap_or(mode)));
        }
        Ok(())
    }
}

fn file(data: Vec<u8>, mode: i32) -> File {
    File { data, mode: mode as u32 & 0o777, user: None }
}

impl<'a> Contents<'a> {
    fn get(&self, key: &str) -> Option<Vec<u8>> {
        let binary = self.binary.get(key).map(Base64::decode);
        binary.or_else(|| Some(self.text.get(key)?.as_bytes().to_vec()))
    }

    fn iter(&self) -> impl Iterator<Item = (&'a str, Vec<u8>)> {
        let text = self.text.iter().map(|(key, text)| (key, text.as_bytes().to_vec()));
        text.chain(self.binary.iter().map(|(key, bytes)| (key, bytes.decode())))
    }
}

/// All keys under their own names, or the listed ones under the paths they are given.
fn select(what: &str, contents: &Contents<'_>, selection: &Selection<'_>, payload: &mut Payload) -> Result<(), String> {
    if selection.items.is_empty() {
        payload.extend(contents.iter().map(|(key, data)| (key.to_owned(), file(data, selection.mode))));
        return Ok(());
    }
    for item in selection.items {
        match contents.get(item.key()) {
            Some(data) => {
                payload.insert(item.path().to_owned(), file(data, item.mode().unwrap_or(selection.mode)));
            }
            None if selection.optional => {}
            None => return Err(format!("references non-existent {what} key: {}", item.key())),
        }
    }
    Ok(())
}

/// The user every container runs as, if they agree on one.
fn common_user(pod: PodView<'_>) -> Option<u32> {
    let of_pod = pod.spec().security_context().and_then(|context| context.run_as_user());
    let mut users = pod::containers(pod)
        .iter()
        .chain(pod::init_containers(pod))
        .map(|container| container.security_context().and_then(|context| context.run_as_user()).or(of_pod));
    let first = users.next()??;
    users.all(|user| user == Some(first)).then(|| u32::try_from(first).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use ferry_client::SharedObject;
    use serde_json::json;
    use std::collections::HashMap;

    fn check(volume: serde_json::Value) -> Result<Option<(&'static str, Payload)>, String> {
        let map = json!({ "data": { "color": "red", "size": "xl" }, "binaryData": { "raw": "AAE=" } });
        let references =
            References { config_maps: HashMap::from([("cm".into(), SharedObject::of(map))]), secrets: HashMap::new() };
        let tokens = Tokens::from([(("v".to_string(), "token".to_string()), "jwt".to_string())]);
        let pod = pod(json!({ "containers": [{ "name": "a" }] }));
        render(pod.view(), VolumeView::from(&volume), &references, &tokens, &[], &Machine::default())
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
