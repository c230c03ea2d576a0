//! The target of an autoscaler: which resource its reference names, found by discovery, and
//! the resource's `scale`, which custom resources may have too.

use crate::discovery::discover;
use ferry_api::gvk::GroupVersion;
use ferry_api::view::Owned;
use ferry_api::view::autoscaling::v1::Scale;
use ferry_client::{Client, Error, Request, ResourcePath};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// How long a kind counts as unknown before discovery is asked again; upstream's RESTMapper
/// is renewed as often.
const UNKNOWN_FOR: Duration = Duration::from_secs(30);

/// How often a scale is written that somebody else has written meanwhile (client-go's
/// retry.DefaultRetry).
const ATTEMPTS: usize = 5;

/// Resources by group and kind. A kind that is found once is asked for no more.
#[derive(Default)]
pub(super) struct RestMapper(Mutex<HashMap<(String, String), Mapping>>);

#[derive(Clone)]
enum Mapping {
    Found(ResourcePath),
    Unknown(Instant),
}

impl RestMapper {
    /// The resource of a kind in its group's preferred version; the error is upstream's
    /// NoKindMatchError.
    pub(super) async fn resource_of(&self, client: &Client, group: &str, kind: &str) -> Result<ResourcePath, String> {
        let key = (group.to_owned(), kind.to_owned());
        let no_match = || format!("no matches for kind {kind:?} in group {group:?}");
        match self.0.lock().get(&key).cloned() {
            Some(Mapping::Found(path)) => return Ok(path),
            Some(Mapping::Unknown(since)) if since.elapsed() < UNKNOWN_FOR => return Err(no_match()),
            _ => {}
        }
        let discovered = discover(client).await.map_err(|error| error.to_string())?;
        let found = discovered.resources.into_iter().find(|found| found.path.group == group && found.kind == kind);
        let mapping = found.map_or(Mapping::Unknown(Instant::now()), |found| Mapping::Found(found.path));
        self.0.lock().insert(key, mapping.clone());
        match mapping {
            Mapping::Found(path) => Ok(path),
            Mapping::Unknown(_) => Err(no_match()),
        }
    }

    /// A resource that answered as if it did not exist may be gone, or served in another
    /// version.
    fn forget(&self, group: &str, kind: &str) {
        self.0.lock().remove(&(group.to_owned(), kind.to_owned()));
    }
}

/// A scale and where it was read.
pub(super) struct ScaleTarget {
    resource: ResourcePath,
    namespace: String,
    name: String,
    pub scale: Scale,
}

impl ScaleTarget {
    /// The scale that a reference names; the error is for the condition.
    pub(super) async fn get(
        client: &Client,
        mapper: &RestMapper,
        namespace: &str,
        (api_version, kind, name): (&str, &str, &str),
    ) -> Result<Self, String> {
        if api_version.matches('/').count() > 1 {
            return Err(format!("unexpected GroupVersion string: {api_version}"));
        }
        let group = GroupVersion::parse(api_version).group;
        let resource = mapper.resource_of(client, &group, kind).await?;
        match read(client, &resource, namespace, name).await {
            Ok(scale) => Ok(Self { resource, namespace: namespace.to_owned(), name: name.to_owned(), scale }),
            Err(error) => {
                // The object itself may be missing, or else its resource.
                let names_object = |status: &ferry_api::status::Status| {
                    status.details.as_ref().is_some_and(|details| !details.name.is_empty())
                };
                if error.is_not_found() && !error.status().is_some_and(names_object) {
                    mapper.forget(&group, kind);
                }
                Err(error.to_string())
            }
        }
    }

    /// Sets the replicas. A write that somebody else's came before is made again on theirs:
    /// the size was decided by metrics and not by what was there.
    pub(super) async fn set_replicas(&mut self, client: &Client, replicas: i32) -> Result<(), Error> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            self.scale.edit_spec(|spec| spec.set_replicas(replicas));
            let (resource, namespace, name) = (&self.resource, &self.namespace, &self.name);
            let written = client.replace_at::<Value>(resource, namespace, name, Some("scale"), self.scale.value());
            match written.await {
                Ok(_) => return Ok(()),
                Err(error) if error.is_conflict() && attempts < ATTEMPTS => {
                    if let Ok(latest) = read(client, resource, namespace, name).await {
                        self.scale = latest;
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

async fn read(client: &Client, resource: &ResourcePath, namespace: &str, name: &str) -> Result<Scale, Error> {
    let request = Request { path: resource.url(namespace, Some(name), Some("scale")), ..Default::default() };
    client.decode::<Value>(request).await.map(Scale::from)
}
