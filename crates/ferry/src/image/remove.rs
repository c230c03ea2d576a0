//! `ferry image rm`: removes images from the cluster's containerd, with all their names. One that
//! pods use, or that ferry itself needs, stays unless it is forced.

use super::connect;
use super::list::users;
use crate::progress::say;
use crate::{Place, images};
use anyhow::{Result, bail};
use clap::Args;
use ferry_kubelet::cri::{Runtime, v1};

/// Remove images from the cluster
#[derive(Args)]
pub struct RemoveArgs {
    #[command(flatten)]
    place: Place,
    /// Names or ids of images
    #[arg(required = true, value_name = "IMAGE")]
    images: Vec<String>,
    /// Remove images also while pods use them
    #[arg(short, long)]
    force: bool,
}

pub async fn run(args: RemoveArgs) -> Result<()> {
    let (_, runtime) = connect(&args.place).await?;
    let containers = runtime.list_containers(None).await?;
    let mut found: Vec<v1::Image> = Vec::new();
    // All are judged before the first is removed.
    for name in &args.images {
        let Some(image) = runtime.image_status(name).await? else { bail!("there is no image {name:?}") };
        if let (Some(why), false) = (judge(&image, &containers), args.force) {
            bail!("{name:?} {why}; --force removes it nevertheless");
        }
        if !found.iter().any(|known| known.id == image.id) {
            found.push(image);
        }
    }
    for image in found {
        runtime.remove_image(&image.id).await?;
        let names = if image.repo_tags.is_empty() { image.id } else { image.repo_tags.join(", ") };
        say(&format!("removed {names}"));
    }
    Ok(())
}

/// Why an image is to stay.
fn judge(image: &v1::Image, containers: &[v1::Container]) -> Option<String> {
    if image.repo_tags.iter().any(|name| images::ALL.contains(&name.as_str())) {
        return Some("is ferry's own, and the next `ferry up` would bring it back".into());
    }
    let pods = users(image, containers);
    match pods.as_slice() {
        [] => None,
        [one] => Some(format!("is used by pod {one}")),
        [first, ..] => Some(format!("is used by {} pods, {first} among them", pods.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_in_use_and_ferrys_own_stay() {
        let image =
            |name: &str| v1::Image { id: "sha256:1".into(), repo_tags: vec![name.into()], ..Default::default() };
        let container = v1::Container { image_ref: "sha256:1".into(), ..Default::default() };
        assert_eq!(judge(&image("app:1"), &[]), None);
        assert!(judge(&image("app:1"), &[container]).expect("in use").starts_with("is used by pod"));
        assert!(judge(&image(images::PAUSE), &[]).expect("ours").contains("ferry's own"));
    }
}
