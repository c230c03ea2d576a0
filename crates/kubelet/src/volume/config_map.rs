//! configMap: the keys of a ConfigMap as files. It holds no secrets, so it is on the disk.

use super::payload::{DEFAULT_MODE, Medium, PayloadSources, Selection, write};
use super::{Measure, MountedVolume, VolumeFailure, VolumePlugin, VolumeRequest};
use crate::volume::atomic::Payload;
use async_trait::async_trait;
use ferry_api::view::core::v1::{PersistentVolumeView, VolumeView};

const NAME: &str = "configmap";

pub struct ConfigMapVolume;

#[async_trait]
impl VolumePlugin for ConfigMapVolume {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, volume: VolumeView<'_>, _: Option<PersistentVolumeView<'_>>) -> bool {
        volume.config_map().is_some()
    }

    fn measure(&self) -> Measure {
        Measure::Files
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        Ok(request.on_disk(|request| write(request, NAME, Medium::Disk, &render(request)?)).await?)
    }
}

fn render(request: &VolumeRequest) -> Result<Payload, String> {
    let source = request.volume().config_map().unwrap_or_default();
    let mode = source.default_mode().unwrap_or(DEFAULT_MODE);
    let selection = Selection { items: source.items(), optional: source.optional() == Some(true), mode };
    let mut payload = Payload::new();
    PayloadSources::of(request).config_map(source.name(), &selection, &mut payload)?;
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::super::payload::tests::request;
    use super::*;
    use serde_json::json;

    fn check(source: serde_json::Value) -> Result<Payload, String> {
        render(&request(json!({ "name": "v", "configMap": source })))
    }

    #[test]
    fn keys_items_and_modes() {
        let payload = check(json!({ "name": "cm" })).expect("rendered");
        assert_eq!((payload.len(), payload["raw"].data.as_slice()), (3, [0, 1].as_slice()));
        let payload = check(json!({ "name": "cm", "defaultMode": 256,
            "items": [{ "key": "color", "path": "a/b", "mode": 384 }, { "key": "size", "path": "s" }] }));
        let payload = payload.expect("rendered");
        assert_eq!((payload["a/b"].mode, payload["s"].mode), (0o600, 0o400));
    }

    #[test]
    fn a_missing_key_is_named() {
        let missing = check(json!({ "name": "cm", "items": [{ "key": "k", "path": "p" }] }));
        assert_eq!(missing.expect_err("missing"), "references non-existent config key: k");
    }
}
