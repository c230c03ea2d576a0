//! Archives in docker's own form: manifest.json names the configuration and the layers of each
//! image. The manifest that a registry would have is made here: the digest of a layer that is not
//! compressed is the one that stands in the configuration, so that it need not be read.

use super::archive::{ArchivedImage, Blob, Entries, ImageArchive, digest_of, full_name};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

pub fn read(entries: &mut Entries<'_>) -> Result<ImageArchive> {
    let list = entries.json("manifest.json")?;
    let mut archive = ImageArchive { images: Vec::new(), blobs: BTreeMap::new() };
    for image in list.as_array().context("manifest.json is no list")? {
        let found = read_image(entries, image, &mut archive.blobs)?;
        archive.images.push(found);
    }
    Ok(archive)
}

fn read_image(entries: &mut Entries<'_>, image: &Value, blobs: &mut BTreeMap<String, Blob>) -> Result<ArchivedImage> {
    let path = image["Config"].as_str().context("manifest.json: Config is missing")?;
    let text = entries.bytes(path)?;
    let config: Value = serde_json::from_slice(&text).with_context(|| format!("{path} is no JSON"))?;
    let (offset, size) = entries.place(path)?;
    let config_digest = digest_of(&text);
    blobs.insert(config_digest.clone(), Blob::At { offset, size });
    let layers: Vec<&str> = image["Layers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let diff_ids: Vec<&str> =
        config["rootfs"]["diff_ids"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if layers.len() != diff_ids.len() {
        bail!("{path} has {} layers and manifest.json has {}", diff_ids.len(), layers.len());
    }
    let mut descriptors = Vec::new();
    for (path, diff_id) in layers.into_iter().zip(diff_ids) {
        let (offset, size) = entries.place(path)?;
        let is_compressed = entries.starts_with(path, &[0x1f, 0x8b])?;
        let (media_type, digest) = match is_compressed {
            true => (format!("{LAYER}+gzip"), entries.digest(path)?),
            false => (LAYER.to_owned(), diff_id.to_owned()),
        };
        blobs.insert(digest.clone(), Blob::At { offset, size });
        descriptors.push(json!({"mediaType": media_type, "digest": digest, "size": size}));
    }
    let layers: BTreeSet<String> =
        descriptors.iter().filter_map(|own| own["digest"].as_str()).map(str::to_owned).collect();
    let config = json!({"mediaType": CONFIG, "digest": config_digest, "size": text.len()});
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": descriptors});
    let manifest = manifest.to_string().into_bytes();
    let digest = digest_of(&manifest);
    blobs.insert(digest.clone(), Blob::Made(manifest));
    let names = image["RepoTags"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok(ArchivedImage {
        names: names.map(full_name).collect::<Result<_>>()?,
        media_type: MANIFEST.to_owned(),
        blobs: layers.iter().cloned().chain([digest.clone(), config_digest]).collect(),
        digest,
        layers,
    })
}

#[cfg(test)]
mod tests {
    use super::super::archive::{read, tests::archive};
    use super::*;
    use std::io::{Read, Seek};

    #[test]
    fn only_what_is_missing_is_copied_and_the_manifest_is_made() {
        let (base, top) = (b"base layer".to_vec(), b"top layer".to_vec());
        let config = json!({"rootfs": {"type": "layers", "diff_ids": [digest_of(&base), digest_of(&top)]}}).to_string();
        let manifest = json!([{"Config": "c.json", "RepoTags": ["example/app:1", "app:2"], "Layers": ["b/layer.tar", "t/layer.tar"]}]);
        let mut file = archive(&[
            ("b/layer.tar", b"->../x/layer.tar".to_vec()),
            ("x/layer.tar", base.clone()),
            ("t/layer.tar", top.clone()),
            ("c.json", config.into_bytes()),
            ("manifest.json", manifest.to_string().into_bytes()),
        ]);
        let found = read(&mut file, None).expect("an archive");
        assert_eq!(found.images[0].names, ["docker.io/example/app:1", "docker.io/library/app:2"]);
        let missing = found.plan_copy(&BTreeSet::from([digest_of(&base)]));
        assert!(!missing.contains(&digest_of(&base)) && missing.contains(&digest_of(&top)));
        assert_eq!(missing.len(), 3, "the top layer, the configuration and the manifest");
        let (mut out, mut copied) = (Vec::new(), 0);
        found.write(&mut file, &missing, &mut out, |_, size| copied += size).expect("written");
        let mut written = tar::Archive::new(out.as_slice());
        let mut paths = Vec::new();
        for entry in written.entries().expect("a tar") {
            let mut entry = entry.expect("an entry");
            let path = entry.path().expect("a path").to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("read");
            if let Some(digest) = path.strip_prefix("blobs/sha256/") {
                assert_eq!(digest_of(&bytes), format!("sha256:{digest}"), "a blob is what its name says");
            }
            paths.push(path);
        }
        assert_eq!(paths.len(), 5);
        file.rewind().expect("it is still open");
    }

    #[test]
    fn an_archive_with_parts_missing_is_refused() {
        let config = json!({"rootfs": {"diff_ids": ["sha256:1"]}}).to_string().into_bytes();
        let manifest = json!([{"Config": "c.json", "RepoTags": ["a:1"], "Layers": ["l.tar"]}]).to_string();
        let mut file = archive(&[("c.json", config), ("manifest.json", manifest.into_bytes())]);
        assert!(read(&mut file, None).expect_err("no layer").to_string().contains("l.tar is missing"));
    }
}
