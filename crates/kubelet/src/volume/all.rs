//! Every kind of volume that this node has, one line each.

use super::{VolumePlugin, config_map, downward_api, empty_dir, host_path, local, projected, secret};

pub(super) fn plugins() -> Vec<Box<dyn VolumePlugin>> {
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
