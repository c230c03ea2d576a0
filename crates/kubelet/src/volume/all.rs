//! Every kind of volume that this node has, one line each.

use super::{
    NodeParts, VolumePlugin, config_map, csi, downward_api, empty_dir, host_path, image, local, projected, secret,
};
use std::path::Path;

pub(super) fn plugins(root: &Path, parts: NodeParts) -> Vec<Box<dyn VolumePlugin>> {
    let NodeParts { images, runtime, csi: drivers, csi_objects: objects, node, client, recorder, node_name } = parts;
    let mut plugins = plugins_of_machine();
    plugins.push(Box::new(image::ImageVolume { images, runtime }));
    plugins.push(Box::new(csi::CsiVolume {
        root: root.into(),
        drivers,
        objects,
        client,
        recorder,
        node_name,
        node,
        users: csi::Users::default(),
        published: Default::default(),
        tokens: Default::default(),
    }));
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
