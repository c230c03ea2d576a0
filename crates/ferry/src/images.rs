//! The images ferry brings along: its applets packed as OCI images and imported into
//! containerd, so that a cluster needs no registry for its sandboxes and its demo.

use crate::cluster::Cluster;
use anyhow::{Context, Result, bail};
use ferry_kubelet::cri::Runtime;
use ferry_kubelet::cri::grpc::GrpcRuntime;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::process::Stdio;
use tokio::io::AsyncWriteExt;

pub const PAUSE: &str = "localhost/ferry/pause:1";
pub const WEB: &str = "localhost/ferry/web:1";
pub const CLIENT: &str = "localhost/ferry/client:1";
pub const ALL: [&str; 3] = [PAUSE, WEB, CLIENT];

static APPLETS: &[u8] = include_bytes!(env!("FERRY_APPLETS"));

/// What each image runs when its pod says nothing else.
fn entrypoints() -> [(&'static str, Vec<&'static str>); 3] {
    [(PAUSE, vec!["/applets", "pause"]), (WEB, vec!["/applets", "web"]), (CLIENT, vec!["/applets", "sleep"])]
}

/// Imports the images unless this very archive was imported before and they are all there.
pub async fn import(cluster: &Cluster, ctr: &Path) -> Result<()> {
    let archive = render_archive().context("cannot pack the images")?;
    let digest = hex(&Sha256::digest(&archive));
    let mark = cluster.data_dir.join("containerd/ferry-images");
    if std::fs::read_to_string(&mark).is_ok_and(|seen| seen == digest) && all_present(cluster).await {
        return Ok(());
    }
    let mut child = tokio::process::Command::new(ctr)
        .args(["--address"])
        .arg(cluster.runtime_socket())
        .args(["--namespace", "k8s.io", "images", "import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", ctr.display()))?;
    let mut stdin = child.stdin.take().context("ctr takes no input")?;
    // ctr may refuse before it has read everything; its own words say more than a broken pipe.
    let written = stdin.write_all(&archive).await;
    drop(stdin);
    let output = child.wait_with_output().await.context("ctr was lost")?;
    if !output.status.success() {
        bail!("cannot import ferry's images: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    written.context("cannot hand the images to ctr")?;
    std::fs::write(&mark, digest).with_context(|| format!("cannot write {}", mark.display()))
}

/// Whether the runtime still has them; someone may have cleaned up.
async fn all_present(cluster: &Cluster) -> bool {
    let Ok(runtime) = GrpcRuntime::connect(&cluster.runtime_socket().to_string_lossy()) else { return false };
    let looks = ALL.map(|name| runtime.image_status(name));
    futures_util::future::join_all(looks).await.into_iter().all(|found| matches!(found, Ok(Some(_))))
}

/// An OCI image layout as a tar: one layer with the applets, one manifest an image.
fn render_archive() -> Result<Vec<u8>> {
    let mut blobs: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |media_type: &str, bytes: Vec<u8>| {
        let digest = hex(&Sha256::digest(&bytes));
        let descriptor = json!({"mediaType": media_type, "digest": format!("sha256:{digest}"), "size": bytes.len()});
        if !blobs.iter().any(|(known, _)| *known == digest) {
            blobs.push((digest, bytes));
        }
        descriptor
    };
    let layer = render_layer()?;
    let layer = add("application/vnd.oci.image.layer.v1.tar", layer);
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let mut manifests: Vec<Value> = Vec::new();
    for (name, command) in entrypoints() {
        let config = json!({
            "architecture": architecture,
            "os": "linux",
            "config": {"Entrypoint": command, "Env": ["PATH=/"], "WorkingDir": "/"},
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
        });
        let config = add("application/vnd.oci.image.config.v1+json", serde_json::to_vec(&config)?);
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config,
            "layers": [layer],
        });
        let mut manifest = add("application/vnd.oci.image.manifest.v1+json", serde_json::to_vec(&manifest)?);
        manifest["annotations"] = json!({"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name});
        manifests.push(manifest);
    }
    let mut tar = tar::Builder::new(Vec::new());
    append(&mut tar, "oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    append(&mut tar, "index.json", 0o644, &serde_json::to_vec(&json!({"schemaVersion": 2, "manifests": manifests}))?)?;
    for (digest, bytes) in &blobs {
        append(&mut tar, &format!("blobs/sha256/{digest}"), 0o644, bytes)?;
    }
    Ok(tar.into_inner()?)
}

/// The file system of every image: the applets under the names people know, and the
/// directories that a runtime mounts onto.
fn render_layer() -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for dir in ["dev/", "etc/", "proc/", "sys/", "tmp/"] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Directory);
        header.set_mode(if dir == "tmp/" { 0o1777 } else { 0o755 });
        header.set_size(0);
        tar.append_data(&mut header, dir, std::io::empty())?;
    }
    append(&mut tar, "applets", 0o755, APPLETS)?;
    append(&mut tar, "etc/passwd", 0o644, b"root:x:0:0:root:/:/applets\nnobody:x:65534:65534:nobody:/:/applets\n")?;
    append(&mut tar, "etc/group", 0o644, b"root:x:0:\nnobody:x:65534:\n")?;
    append(&mut tar, "etc/nsswitch.conf", 0o644, b"hosts: files dns\n")?;
    Ok(tar.into_inner()?)
}

fn append(tar: &mut tar::Builder<Vec<u8>>, path: &str, mode: u32, bytes: &[u8]) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_mode(mode);
    header.set_size(bytes.len() as u64);
    // No time of its own, so that the same binary gives the same image.
    header.set_mtime(0);
    Ok(tar.append_data(&mut header, path, bytes)?)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_an_image_layout_whose_digests_hold() {
        let archive = render_archive().expect("packed");
        assert_eq!(archive, render_archive().expect("packed again"), "the same bytes every time");
        let mut files = std::collections::BTreeMap::new();
        for entry in tar::Archive::new(archive.as_slice()).entries().expect("a tar") {
            let mut entry = entry.expect("an entry");
            let path = entry.path().expect("a path").to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut bytes).expect("read");
            files.insert(path, bytes);
        }
        for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with("blobs/")) {
            assert_eq!(*path, format!("blobs/sha256/{}", hex(&Sha256::digest(bytes))));
        }
        let index: Value = serde_json::from_slice(&files["index.json"]).expect("JSON");
        let names: Vec<&str> = index["manifests"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|m| m["annotations"]["io.containerd.image.name"].as_str())
            .collect();
        assert_eq!(names, [PAUSE, WEB, CLIENT]);
    }
}
