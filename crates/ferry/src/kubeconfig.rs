//! The `ferry` context in the user's kubeconfig: added at `up`, taken out at `uninstall`,
//! and nothing else in the file touched.

use crate::cluster::Cluster;
use anyhow::{Context, Result};
use ferry_pki::{Pki, kubeconfig};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Where kubectl looks: the first file of $KUBECONFIG, else ~/.kube/config.
pub fn path() -> Option<PathBuf> {
    if let Some(list) = std::env::var_os("KUBECONFIG").filter(|v| !v.is_empty()) {
        return std::env::split_paths(&list).find(|p| !p.as_os_str().is_empty());
    }
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".kube/config"))
}

/// Writes the cluster's own copy and merges its context into the user's file.
pub fn write(cluster: &Cluster, pki: &Pki, user_file: Option<&Path>) -> Result<()> {
    let server = cluster.api_url();
    let context = kubeconfig::Context {
        name: &cluster.name,
        cluster: &cluster.name,
        user: &admin(cluster),
        server: &server,
        ca_pem: pki.ca.certificate_pem(),
        identity: &pki.admin,
    };
    let own = cluster.data_dir.join("admin.kubeconfig");
    replace(&own, &kubeconfig::kubeconfig_yaml(&context)?)?;
    let Some(file) = user_file else { return Ok(()) };
    let before = read(file)?;
    let after = kubeconfig::merge_kubeconfig(&before, &context)
        .with_context(|| format!("cannot merge into {}", file.display()))?;
    if before != after { replace(file, &after) } else { Ok(()) }
}

/// Takes the context out again; a file without it stays as it is.
pub fn remove(cluster: &Cluster, file: &Path) -> Result<()> {
    let before = read(file)?;
    if before.is_empty() {
        return Ok(());
    }
    match kubeconfig::remove_context(&before, &cluster.name, &cluster.name, &admin(cluster))? {
        Some(after) => replace(file, &after),
        None => Ok(()),
    }
}

fn admin(cluster: &Cluster) -> String {
    format!("{}-admin", cluster.name)
}

fn read(file: &Path) -> Result<String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// Writes beside the file and renames, so that no reader ever sees half a kubeconfig;
/// the mode of a file that is there is kept.
fn replace(file: &Path, text: &str) -> Result<()> {
    // A kubeconfig behind a link stays behind its link.
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let dir = file.parent().context("a kubeconfig needs a directory")?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mode = std::fs::metadata(&file).map_or(0o600, |m| m.permissions().mode() & 0o7777);
    let part = file.with_extension(format!("ferry-{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let written = options
        .open(&part)
        .and_then(|mut out| std::io::Write::write_all(&mut out, text.as_bytes()))
        .and_then(|()| std::fs::rename(&part, &file));
    written.with_context(|| format!("cannot write {}", file.display()))
}
