//! secret: the keys of a Secret as files, in memory only.

use super::payload::{DEFAULT_MODE, Medium, PayloadSources, Selection, write};
use super::{Measure, MountedVolume, VolumeFailure, VolumePlugin, VolumeRequest};
use crate::volume::atomic::Payload;
use async_trait::async_trait;
use ferry_api::view::core::v1::{PersistentVolumeView, VolumeView};

const NAME: &str = "secret";

pub struct SecretVolume;

#[async_trait]
impl VolumePlugin for SecretVolume {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, volume: VolumeView<'_>, _: Option<PersistentVolumeView<'_>>) -> bool {
        volume.secret().is_some()
    }

    fn measure(&self) -> Measure {
        Measure::Files
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        Ok(request.on_disk(|request| write(request, NAME, Medium::Memory, &render(request)?)).await?)
    }
}

fn render(request: &VolumeRequest) -> Result<Payload, String> {
    let source = request.volume().secret().unwrap_or_default();
    let mode = source.default_mode().unwrap_or(DEFAULT_MODE);
    let selection = Selection { items: source.items(), optional: source.optional() == Some(true), mode };
    let mut payload = Payload::new();
    PayloadSources::of(request).secret(source.secret_name(), &selection, &mut payload)?;
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::super::payload::tests::request;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_missing_secret_is_named_unless_it_is_optional() {
        let check = |source| render(&request(json!({ "name": "v", "secret": source })));
        assert_eq!(check(json!({ "secretName": "no" })).expect_err("missing"), "secret \"no\" not found");
        assert!(check(json!({ "secretName": "no", "optional": true })).expect("rendered").is_empty());
    }
}
