//! Volumes whose files the kubelet writes: what configMap, secret, downwardAPI and projected
//! have in common. The files are rendered purely and then written at once (atomic.rs).

use super::atomic::{self, File, Payload};
use super::beneath::Dir;
use super::ownership::{Access, give_to_group};
use super::place::{make_directory, mount_tmpfs};
use super::{MountedVolume, Tokens, VolumeRequest};
use crate::container::{ConfigError, Machine, References, downward};
use crate::pod;
use ferry_api::view::core::v1::{DownwardAPIVolumeFileView, KeyToPathView, PodView, VolumeProjectionView};
use ferry_api::view::{Base64, List, Map};

pub(super) const DEFAULT_MODE: i32 = 0o644;

/// Where the files of a volume are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    Disk,
    /// Data that may be secret stays off the disk.
    Memory,
}

/// Writes the files into the volume's directory. Blocking.
pub(super) fn write(
    request: &VolumeRequest,
    plugin: &str,
    medium: Medium,
    payload: &Payload,
) -> Result<MountedVolume, String> {
    let path = request.directory(plugin, request.volume().name());
    let (mut directory, _) = make_directory(request.root(), &path, 0o755)?;
    if medium == Medium::Memory {
        directory = mount_tmpfs(directory, &path, None)?.0;
    }
    let own = |volume: &Dir| match request.fs_group() {
        Some(group) => give_to_group(volume, group, Access::ReadOnly),
        None => Ok(()),
    };
    atomic::write(&directory, payload, own).map_err(|error| error.to_string())?;
    Ok(MountedVolume::directory(path, true))
}

/// Everything that files are rendered from besides the volume itself.
pub(super) struct PayloadSources<'a> {
    pod: PodView<'a>,
    references: &'a References,
    tokens: &'a Tokens,
    pod_ips: &'a [String],
    machine: &'a Machine,
}

/// The keys of a ConfigMap or Secret that a volume shows.
pub(super) struct Selection<'a> {
    /// All keys under their own names where it is empty.
    pub(super) items: List<'a, KeyToPathView<'a>>,
    pub(super) optional: bool,
    pub(super) mode: i32,
}

/// The data of a ConfigMap or Secret; a Secret has no text.
struct Contents<'a> {
    text: Map<'a, &'a str>,
    binary: Map<'a, Base64<'a>>,
}

impl<'a> PayloadSources<'a> {
    pub(super) fn of(request: &'a VolumeRequest) -> Self {
        let sources = request.sources();
        Self {
            pod: request.pod(),
            references: &sources.references,
            tokens: &sources.tokens,
            pod_ips: &sources.pod_ips,
            machine: &sources.machine,
        }
    }
}

impl PayloadSources<'_> {
    pub(super) fn projection(
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

    pub(super) fn config_map(
        &self,
        name: &str,
        selection: &Selection<'_>,
        payload: &mut Payload,
    ) -> Result<(), String> {
        match self.references.config_map(name) {
            Ok(found) => {
                let contents = Contents { text: found.data(), binary: found.binary_data() };
                select("config", &contents, selection, payload)
            }
            Err(_) if selection.optional => Ok(()),
            Err(ConfigError(why)) => Err(why),
        }
    }

    pub(super) fn secret(&self, name: &str, selection: &Selection<'_>, payload: &mut Payload) -> Result<(), String> {
        match self.references.secret(name) {
            Ok(found) => {
                let contents = Contents { text: Map::default(), binary: found.data() };
                select("secret", &contents, selection, payload)
            }
            Err(_) if selection.optional => Ok(()),
            Err(ConfigError(why)) => Err(why),
        }
    }

    pub(super) fn downward(
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
pub(super) mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use crate::volume::PodVolumes;
    use ferry_client::SharedObject;
    use serde_json::json;
    use std::collections::HashMap;
    use std::path::Path;
    use std::sync::Arc;

    /// A request for one volume, with a ConfigMap `cm` and a token.
    pub fn request(volume: serde_json::Value) -> VolumeRequest {
        let map = json!({ "data": { "color": "red", "size": "xl" }, "binaryData": { "raw": "AAE=" } });
        let references =
            References { config_maps: HashMap::from([("cm".into(), SharedObject::of(map))]), ..Default::default() };
        let pod = pod(json!({ "containers": [{ "name": "a" }], "volumes": [volume] }));
        let mut volumes = PodVolumes::new(Path::new("/"), pod.into());
        volumes.references = Arc::new(references);
        volumes.tokens = Tokens::from([(("v".to_string(), "token".to_string()), "jwt".to_string())]);
        VolumeRequest::all(&Arc::new(volumes)).next().expect("the one volume")
    }

    #[test]
    fn the_user_of_all_containers_owns_the_tokens() {
        let check = |spec, expected| assert_eq!(common_user(ferry_api::view::Owned::view(&pod(spec))), expected);
        let user = |id| json!({ "runAsUser": id });
        check(json!({ "containers": [{ "name": "a" }] }), None);
        check(json!({ "securityContext": user(7), "containers": [{ "name": "a" }, { "name": "b" }] }), Some(7));
        let other = json!([{ "name": "a" }, { "name": "b", "securityContext": user(8) }]);
        check(json!({ "securityContext": user(7), "containers": other }), None);
    }
}
