//! downwardAPI: fields of the pod as files, in memory only, because annotations may be secret.

use super::payload::{DEFAULT_MODE, Medium, PayloadSources, write};
use super::{Measure, MountedVolume, VolumeFailure, VolumePlugin, VolumeRequest};
use crate::volume::atomic::Payload;
use async_trait::async_trait;
use ferry_api::view::core::v1::{PersistentVolumeView, VolumeView};

const NAME: &str = "downward-api";

pub struct DownwardApi;

#[async_trait]
impl VolumePlugin for DownwardApi {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, volume: VolumeView<'_>, _: Option<PersistentVolumeView<'_>>) -> bool {
        volume.downward_api().is_some()
    }

    fn measure(&self) -> Measure {
        Measure::Files
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        Ok(request.on_disk(|request| write(request, NAME, Medium::Memory, &render(request)?)).await?)
    }
}

fn render(request: &VolumeRequest) -> Result<Payload, String> {
    let source = request.volume().downward_api().unwrap_or_default();
    let mut payload = Payload::new();
    let mode = source.default_mode().unwrap_or(DEFAULT_MODE);
    PayloadSources::of(request).downward(source.items(), mode, &mut payload)?;
    Ok(payload)
}
