//! An archive of images, as `docker save`, `podman save` and `buildah push` write them, and the plan
//! of what of it has to be copied. [`read`] looks through the file once; [`ImageArchive::write`] makes
//! an OCI layout of the parts that the runtime lacks, for `ctr images import`.

use super::{docker_archive, oci_archive};
use anyhow::{Context, Result, bail};
use ferry_kubelet::image::name;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// A manifest, a configuration or an index is at most this long.
const MAX_DOCUMENT: u64 = 16 << 20;

/// Where the bytes of a blob are.
#[derive(Clone, Debug, PartialEq)]
pub enum Blob {
    /// In the archive, from this offset.
    At { offset: u64, size: u64 },
    /// Made here: the manifest for an image whose archive has none.
    Made(Vec<u8>),
}

impl Blob {
    pub fn size(&self) -> u64 {
        match self {
            Self::At { size, .. } => *size,
            Self::Made(bytes) => bytes.len() as u64,
        }
    }
}

/// One image of an archive.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchivedImage {
    /// Its full names, `docker.io/library/busybox:1`.
    pub names: Vec<String>,
    pub media_type: String,
    pub digest: String,
    /// All that belongs to it: manifests, configurations and layers, by digest.
    pub blobs: BTreeSet<String>,
    pub layers: BTreeSet<String>,
}

#[derive(Debug, PartialEq)]
pub struct ImageArchive {
    pub images: Vec<ArchivedImage>,
    pub blobs: BTreeMap<String, Blob>,
}

/// An entry of the tar: a file at an offset, or a link to another entry.
#[derive(Clone, Debug)]
pub enum Entry {
    File { offset: u64, size: u64 },
    Link(String),
}

/// The entries by their path, and the file that they are in.
pub struct Entries<'a> {
    pub file: &'a mut File,
    pub by_path: HashMap<String, Entry>,
}

impl Entries<'_> {
    /// The place of a file, through links between entries as older versions of docker write them.
    pub fn place(&self, path: &str) -> Result<(u64, u64)> {
        let mut at = path.to_owned();
        for _ in 0..8 {
            match self.by_path.get(&at) {
                Some(Entry::File { offset, size }) => return Ok((*offset, *size)),
                Some(Entry::Link(target)) => at = resolve(&at, target),
                None => bail!("{path} is missing in the archive"),
            }
        }
        bail!("{path} is a link without an end")
    }

    pub fn bytes(&mut self, path: &str) -> Result<Vec<u8>> {
        let (offset, size) = self.place(path)?;
        if size > MAX_DOCUMENT {
            bail!("{path} is {size} bytes long, and at most {MAX_DOCUMENT} are read");
        }
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(offset))?;
        Read::by_ref(self.file).take(size).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub fn json(&mut self, path: &str) -> Result<Value> {
        serde_json::from_slice(&self.bytes(path)?).with_context(|| format!("{path} is no JSON"))
    }

    pub fn starts_with(&mut self, path: &str, magic: &[u8]) -> Result<bool> {
        let (offset, size) = self.place(path)?;
        self.file.seek(SeekFrom::Start(offset))?;
        let mut first = Vec::new();
        Read::by_ref(self.file).take(size.min(magic.len() as u64)).read_to_end(&mut first)?;
        Ok(first == magic)
    }

    pub fn digest(&mut self, path: &str) -> Result<String> {
        let (offset, size) = self.place(path)?;
        self.file.seek(SeekFrom::Start(offset))?;
        let (mut rest, mut hash) = (Read::by_ref(self.file).take(size), Sha256::new());
        let mut buffer = vec![0; 1 << 20];
        loop {
            let count = rest.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            hash.update(&buffer[..count]);
        }
        Ok(digest_text(&hash.finalize()))
    }
}

pub fn digest_of(bytes: &[u8]) -> String {
    digest_text(&Sha256::digest(bytes))
}

fn digest_text(hash: &[u8]) -> String {
    hash.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// A link's target from where the link stands. What leads out of the archive is in no entry.
fn resolve(link: &str, target: &str) -> String {
    let mut parts: Vec<&str> = link.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

/// The full name of an image as pods and the runtime understand it.
pub fn full_name(text: &str) -> Result<String> {
    let parts = name::parse(text).map_err(|why| anyhow::anyhow!("{text:?} is no name of an image: {why}"))?;
    let version = match (parts.digest, parts.tag) {
        (Some(digest), _) => format!("@{digest}"),
        (None, tag) => format!(":{}", tag.unwrap_or("latest")),
    };
    Ok(format!("{}/{}{version}", parts.domain, parts.path))
}

/// Reads the directory of an archive. `name` is for an image that has none in the archive.
pub fn read(file: &mut File, name: Option<&str>) -> Result<ImageArchive> {
    let mut by_path = HashMap::new();
    file.seek(SeekFrom::Start(0))?;
    let mut magic = [0; 2];
    let count = file.read(&mut magic)?;
    if count == 2 && magic == [0x1f, 0x8b] {
        bail!("the archive is compressed; `gunzip` it first");
    }
    file.seek(SeekFrom::Start(0))?;
    let mut tar = tar::Archive::new(&mut *file);
    for entry in tar.entries_with_seek().context("this is no tar archive")? {
        let entry = entry.context("this is no whole tar archive")?;
        let path = entry.path()?.to_string_lossy().trim_start_matches("./").to_owned();
        let kind = entry.header().entry_type();
        if kind.is_symlink() || kind.is_hard_link() {
            let target = entry.link_name()?.map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
            // A hard link is counted from the root of the archive.
            let target = if kind.is_hard_link() {
                format!("{}{target}", "../".repeat(path.matches('/').count()))
            } else {
                target
            };
            by_path.insert(path, Entry::Link(target));
        } else if kind.is_file() {
            by_path.insert(path, Entry::File { offset: entry.raw_file_position(), size: entry.size() });
        }
    }
    let mut entries = Entries { file, by_path };
    // docker writes both forms at once, and the one of docker has the names.
    let archive = if entries.by_path.contains_key("manifest.json") {
        docker_archive::read(&mut entries)?
    } else if entries.by_path.contains_key("index.json") {
        oci_archive::read(&mut entries, name)?
    } else {
        bail!("this is neither an archive of docker nor of OCI: it has no manifest.json and no index.json");
    };
    if archive.images.is_empty() {
        bail!("there is no image in the archive");
    }
    if let Some(image) = archive.images.iter().find(|image| image.names.is_empty()) {
        bail!("the image {} has no name in the archive; give it one with --name", image.digest);
    }
    Ok(archive)
}

impl ImageArchive {
    /// The blobs that are not in the runtime yet, in a fixed order.
    pub fn plan_copy(&self, present: &BTreeSet<String>) -> BTreeSet<String> {
        self.blobs.keys().filter(|digest| !present.contains(*digest)).cloned().collect()
    }

    /// Writes an OCI layout with these blobs and with every name.
    pub fn write(
        &self,
        file: &mut File,
        blobs: &BTreeSet<String>,
        out: impl Write,
        mut copied: impl FnMut(&str, u64),
    ) -> Result<()> {
        let mut tar = tar::Builder::new(out);
        let mut manifests = Vec::new();
        for image in &self.images {
            let size = self.blobs.get(&image.digest).map_or(0, Blob::size);
            for name in &image.names {
                manifests.push(json!({"mediaType": image.media_type, "digest": image.digest, "size": size,
                    "annotations": {"io.containerd.image.name": name}}));
            }
        }
        let index = json!({"schemaVersion": 2, "manifests": manifests}).to_string();
        append(&mut tar, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        append(&mut tar, "index.json", index.as_bytes())?;
        for digest in blobs {
            let Some(blob) = self.blobs.get(digest) else { continue };
            let path = format!("blobs/{}", digest.replace(':', "/"));
            match blob {
                Blob::Made(bytes) => append(&mut tar, &path, bytes)?,
                Blob::At { offset, size } => {
                    file.seek(SeekFrom::Start(*offset))?;
                    tar.append_data(&mut header(*size), &path, Read::by_ref(file).take(*size))?;
                }
            }
            copied(digest, blob.size());
        }
        tar.finish()?;
        Ok(())
    }
}

fn header(size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o644);
    header.set_size(size);
    header
}

fn append(tar: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> Result<()> {
    Ok(tar.append_data(&mut header(bytes.len() as u64), path, bytes)?)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A tar of these files; a text that begins with `->` is a link.
    pub fn archive(files: &[(&str, Vec<u8>)]) -> File {
        let mut tar = tar::Builder::new(tempfile::tempfile().expect("a temporary file"));
        for (path, bytes) in files {
            match bytes.strip_prefix(b"->") {
                Some(target) => {
                    let mut header = header(0);
                    header.set_entry_type(tar::EntryType::Symlink);
                    tar.append_link(&mut header, path, String::from_utf8_lossy(target).as_ref()).expect("a link");
                }
                None => append(&mut tar, path, bytes).expect("a file"),
            }
        }
        tar.into_inner().expect("a whole archive")
    }

    #[test]
    fn an_archive_of_anything_else_is_refused_by_its_reason() {
        let check = |mut file: File, why: &str| {
            let error = format!("{:#}", read(&mut file, None).expect_err(why));
            assert!(error.contains(why), "{error}");
        };
        check(archive(&[("hello", b"x".to_vec())]), "it has no manifest.json and no index.json");
        check(archive(&[("manifest.json", b"[]".to_vec())]), "there is no image in the archive");
        let mut compressed = tempfile::tempfile().expect("a temporary file");
        compressed.write_all(&[0x1f, 0x8b, 8]).expect("written");
        check(compressed, "compressed");
    }

    #[test]
    fn a_link_leads_to_another_entry_and_never_out() {
        assert_eq!(resolve("a/layer.tar", "../b/layer.tar"), "b/layer.tar");
        assert_eq!(resolve("a/layer.tar", "../../../etc/passwd"), "etc/passwd");
    }
}
