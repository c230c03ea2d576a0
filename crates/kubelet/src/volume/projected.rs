//! projected: several sources in one directory, service account tokens among them. In memory
//! only.

use super::payload::{DEFAULT_MODE, Medium, PayloadSources, write};
use super::{Measure, MountedVolume, VolumeFailure, VolumePlugin, VolumeRequest};
use crate::volume::atomic::Payload;
use async_trait::async_trait;
use ferry_api::view::core::v1::{PersistentVolumeView, VolumeView};

const NAME: &str = "projected";

pub struct Projected;

#[async_trait]
impl VolumePlugin for Projected {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, volume: VolumeView<'_>, _: Option<PersistentVolumeView<'_>>) -> bool {
        volume.projected().is_some()
    }

    fn measure(&self) -> Measure {
        Measure::Files
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        Ok(request.on_disk(|request| write(request, NAME, Medium::Memory, &render(request)?)).await?)
    }
}

fn render(request: &VolumeRequest) -> Result<Payload, String> {
    let source = request.volume().projected().unwrap_or_default();
    let mode = source.default_mode().unwrap_or(DEFAULT_MODE);
    let sources = PayloadSources::of(request);
    let mut payload = Payload::new();
    for projection in source.sources() {
        sources.projection(request.volume().name(), projection, mode, &mut payload)?;
    }
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::super::payload::tests::request;
    use super::*;
    use serde_json::json;

    #[test]
    fn the_default_token_volume() {
        let payload = render(&request(json!({ "name": "v", "projected": { "sources": [
            { "serviceAccountToken": { "path": "token", "expirationSeconds": 3607 } },
            { "configMap": { "name": "cm", "items": [{ "key": "color", "path": "ca.crt" }] } },
            { "downwardAPI": { "items": [{ "path": "namespace", "fieldRef": { "fieldPath": "metadata.namespace" } }] } }] } })));
        let payload = payload.expect("rendered");
        assert_eq!(payload["token"].data, b"jwt");
        assert_eq!(payload["namespace"].data, b"default");
        assert_eq!(payload["ca.crt"].data, b"red");
    }
}
