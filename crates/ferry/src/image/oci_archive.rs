//! Archives of the OCI image layout: index.json names the manifests, and blobs stand below their
//! digests. Of an image for several platforms those parts are copied that the archive has.

use super::archive::{ArchivedImage, Blob, Entries, ImageArchive, full_name};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const CONTAINERD_NAME: &str = "io.containerd.image.name";
const OCI_NAME: &str = "org.opencontainers.image.ref.name";
/// An index of indexes of manifests is the most that anybody writes.
const MAX_DEPTH: usize = 4;

pub fn read(entries: &mut Entries<'_>, name: Option<&str>) -> Result<ImageArchive> {
    let index = entries.json("index.json")?;
    let mut archive = ImageArchive { images: Vec::new(), blobs: BTreeMap::new() };
    let manifests = index["manifests"].as_array().context("index.json: manifests is missing")?;
    if name.is_some() && manifests.len() > 1 {
        bail!("--name: the archive has {} images, which have names of their own", manifests.len());
    }
    for descriptor in manifests {
        let digest = text(descriptor, "digest").context("index.json: a manifest without a digest")?;
        let mut image = ArchivedImage {
            names: names_of(descriptor, name)?,
            media_type: text(descriptor, "mediaType").unwrap_or_default().to_owned(),
            digest: digest.to_owned(),
            blobs: BTreeSet::new(),
            layers: BTreeSet::new(),
        };
        gather(entries, digest, MAX_DEPTH, &mut image, &mut archive.blobs)?;
        archive.images.push(image);
    }
    Ok(archive)
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value[key].as_str().filter(|text| !text.is_empty())
}

/// A reference that is only a tag says nothing of the image's name.
fn names_of(descriptor: &Value, name: Option<&str>) -> Result<Vec<String>> {
    let annotation = |key: &str| text(&descriptor["annotations"], key);
    let is_whole = |name: &&str| name.contains(['/', ':']);
    let found = name.or_else(|| annotation(CONTAINERD_NAME)).or_else(|| annotation(OCI_NAME).filter(is_whole));
    found.map(|name| full_name(name)).into_iter().collect()
}

/// A manifest or an index with everything below it. Layers of other platforms may be missing.
fn gather(
    entries: &mut Entries<'_>,
    digest: &str,
    depth: usize,
    image: &mut ArchivedImage,
    blobs: &mut BTreeMap<String, Blob>,
) -> Result<()> {
    let document = entries.json(&path_of(digest)?)?;
    take(entries, digest, image, blobs)?;
    for child in document["manifests"].as_array().into_iter().flatten() {
        let digest = text(child, "digest").context("an index names a manifest without a digest")?;
        if entries.place(&path_of(digest)?).is_err() {
            continue;
        }
        if depth == 0 {
            bail!("indexes of indexes without an end");
        }
        gather(entries, digest, depth - 1, image, blobs)?;
    }
    let layers = document["layers"].as_array().into_iter().flatten();
    for (part, is_layer) in layers.map(|layer| (layer, true)).chain([(&document["config"], false)]) {
        let Some(digest) = text(part, "digest") else { continue };
        take(entries, digest, image, blobs)?;
        if is_layer {
            image.layers.insert(digest.to_owned());
        }
    }
    Ok(())
}

fn take(
    entries: &Entries<'_>,
    digest: &str,
    image: &mut ArchivedImage,
    blobs: &mut BTreeMap<String, Blob>,
) -> Result<()> {
    let (offset, size) = entries.place(&path_of(digest)?)?;
    blobs.insert(digest.to_owned(), Blob::At { offset, size });
    image.blobs.insert(digest.to_owned());
    Ok(())
}

fn path_of(digest: &str) -> Result<String> {
    let good = digest.split_once(':').filter(|(kind, hash)| {
        let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain(kind) && is_plain(hash)
    });
    let (kind, hash) = good.with_context(|| format!("{digest:?} is no digest"))?;
    Ok(format!("blobs/{kind}/{hash}"))
}

#[cfg(test)]
mod tests {
    use super::super::archive::{digest_of, read, tests::archive};
    use super::*;
    use serde_json::json;

    fn layout(annotations: Value) -> std::fs::File {
        let (layer, config) = (b"layer".to_vec(), b"{}".to_vec());
        let at = |bytes: &[u8]| format!("blobs/{}", digest_of(bytes).replace(':', "/"));
        let manifest = json!({"config": {"digest": digest_of(&config)}, "layers": [{"digest": digest_of(&layer)}]});
        let manifest = manifest.to_string().into_bytes();
        let absent = json!({"digest": "sha256:abc", "platform": {"architecture": "arm64"}});
        let index = json!({"manifests": [{"digest": digest_of(&manifest)}, absent]}).to_string().into_bytes();
        let top =
            json!({"manifests": [{"digest": digest_of(&index), "mediaType": "index", "annotations": annotations}]});
        archive(&[
            (&at(&layer), layer.clone()),
            (&at(&config), config.clone()),
            (&at(&manifest), manifest.clone()),
            (&at(&index), index.clone()),
            ("index.json", top.to_string().into_bytes()),
        ])
    }

    #[test]
    fn an_image_of_several_platforms_is_read_as_far_as_it_is_there() {
        let found = read(&mut layout(json!({OCI_NAME: "example/app:1"})), None).expect("an archive");
        let image = &found.images[0];
        assert_eq!(image.names, ["docker.io/example/app:1"]);
        assert_eq!((image.blobs.len(), image.layers.len()), (4, 1));
    }

    #[test]
    fn an_image_that_is_only_tagged_needs_a_name() {
        let error = read(&mut layout(json!({OCI_NAME: "latest"})), None).expect_err("no name").to_string();
        assert!(error.contains("give it one with --name"), "{error}");
        let found = read(&mut layout(json!({})), Some("app")).expect("named");
        assert_eq!(found.images[0].names, ["docker.io/library/app:latest"]);
    }

    #[test]
    fn a_digest_is_no_path() {
        assert!(path_of("sha256:../../etc/passwd").is_err());
        assert!(path_of("abc").is_err());
    }
}
