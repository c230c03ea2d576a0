//! Every kind of volume that this node has, one line each.

use super::{VolumePlugin, config_map, downward_api, empty_dir, host_path, image, local, projected, secret};
use crate::cri::Runtime;
use crate::image::Images;
use std::sync::Arc;

pub(super) fn plugins(images: &Arc<Images>, runtime: &Arc<dyn Runtime>) -> Vec<Box<dyn VolumePlugin>> {
    let mut plugins = plugins_of_machine();
    plugins.push(Box::new(image::ImageVolume { images: images.clone(), runtime: runtime.clone() }));
    plugins
}

/// The kinds that need nothing but this machine.
pub(super) fn plugins_of_machine() -> Vec<Box<dyn VolumePlugin>> {
    vec![
        Box::new(config_map::ConfigMapVolume),
        Box::new(downward_api::DownwardApi),
        Box::new(empty_dir::EmptyDir),
        Box::new(host_path::HostPath),
        Box::new(local::Local),
        Box::new(projected::Projected),
        Box::new(secret::SecretVolume),
    ]
}
