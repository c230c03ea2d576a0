//! The cluster's context in the user's kubeconfig: added at `up`, taken out at `uninstall`,
//! and nothing else in the file touched. The context that was current before `up` is noted
//! beside the cluster's data, and current again after `uninstall`.

use crate::cluster::Cluster;
use anyhow::{Context, Result};
use ferry_pki::{Pki, kubeconfig};
use std::collections::BTreeMap;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Each kubeconfig that the cluster was added to, and the context that was current in it.
type Notes = BTreeMap<PathBuf, String>;

/// Is the cluster's context made the current one?
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// At `up`.
    Select,
    /// When certificates are renewed: the user may work with another cluster by then.
    Keep,
}

/// Where kubectl looks: the first file of $KUBECONFIG, else ~/.kube/config.
pub fn path() -> Option<PathBuf> {
    if let Some(list) = std::env::var_os("KUBECONFIG").filter(|v| !v.is_empty()) {
        return std::env::split_paths(&list).find(|p| !p.as_os_str().is_empty());
    }
    std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".kube/config"))
}

/// Writes the cluster's own copy and merges its context into the user's file.
pub fn write(cluster: &Cluster, pki: &Pki, user_file: Option<&Path>, selection: Selection) -> Result<()> {
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
    let in_file = || format!("cannot merge into {}", file.display());
    let before = read(file)?;
    let current = kubeconfig::current_context(&before).with_context(in_file)?;
    let mut after = kubeconfig::merge_kubeconfig(&before, &context).with_context(in_file)?;
    match (selection, current) {
        (Selection::Select, current) => note(cluster, file, current.as_deref())?,
        (Selection::Keep, Some(current)) => {
            after = kubeconfig::select_context(&after, &current).with_context(in_file)?;
        }
        (Selection::Keep, None) => {}
    }
    if before != after { replace(file, &after) } else { Ok(()) }
}

/// Takes the context out of every file that it was added to. A context of the same name
/// that is another cluster's stays, and so does a file without it.
pub fn remove(cluster: &Cluster) -> Result<()> {
    let mut notes = read_notes(cluster)?;
    if let Some(file) = path() {
        notes.entry(absolute(&file)).or_default();
    }
    let authority = std::fs::read_to_string(cluster.pki_dir().join("ca.crt")).unwrap_or_default();
    for (file, previous) in notes {
        let before = read(&file)?;
        if kubeconfig::authority(&before, &cluster.name)?.is_none_or(|theirs| theirs != authority) {
            continue;
        }
        let Some(mut after) = kubeconfig::remove_context(&before, &cluster.name, &cluster.name, &admin(cluster))?
        else {
            continue;
        };
        if kubeconfig::current_context(&after)?.is_none() && kubeconfig::has_context(&after, &previous)? {
            after = kubeconfig::select_context(&after, &previous)?;
        }
        replace(&file, &after)?;
    }
    Ok(())
}

fn notes_file(cluster: &Cluster) -> PathBuf {
    cluster.data_dir.join("kubeconfigs.json")
}

fn read_notes(cluster: &Cluster) -> Result<Notes> {
    let file = notes_file(cluster);
    match read(&file)?.as_str() {
        "" => Ok(Notes::new()),
        text => serde_json::from_str(text).with_context(|| format!("{} is damaged", file.display())),
    }
}

/// Notes the context that was current, unless it is the cluster's own.
fn note(cluster: &Cluster, file: &Path, current: Option<&str>) -> Result<()> {
    let mut notes = read_notes(cluster)?;
    let noted = notes.clone();
    let previous = notes.entry(absolute(file)).or_default();
    if let Some(current) = current.filter(|current| *current != cluster.name) {
        current.clone_into(previous);
    }
    if notes == noted { Ok(()) } else { replace(&notes_file(cluster), &serde_json::to_string(&notes)?) }
}

fn absolute(file: &Path) -> PathBuf {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use crate::cluster::Wishes;

    fn cluster(dir: &Path, name: &str) -> (Cluster, Pki) {
        let place = Place { data_dir: dir.join(name).join("data"), run_dir: Some(dir.join(name).join("run")) };
        std::fs::create_dir_all(&place.data_dir).expect("made");
        let wishes = Wishes {
            name: Some("same".into()),
            node_name: Some("a".into()),
            node_ip: Some("192.0.2.7".parse().expect("an address")),
            ..Default::default()
        };
        let cluster = Cluster::load_or_decide(&place, &wishes).expect("decided");
        let config = ferry_pki::PkiConfig { node_names: vec!["a".into()], ..Default::default() };
        let pki = ferry_pki::ensure(&cluster.pki_dir(), &config).expect("key material");
        (cluster, pki)
    }

    const THEIRS: &str = "apiVersion: v1\nkind: Config\nclusters: []\ncontexts:\n- context: {cluster: prod, user: me}\n  name: prod\nusers: []\ncurrent-context: prod\n";

    fn current(file: &Path) -> Option<String> {
        kubeconfig::current_context(&read(file).expect("read")).expect("a kubeconfig")
    }

    #[test]
    fn the_context_that_was_current_before_up_is_current_again_after_uninstall() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("config");
        std::fs::write(&file, THEIRS).expect("written");
        let (own, pki) = cluster(dir.path(), "own");
        write(&own, &pki, Some(&file), Selection::Select).expect("written");
        write(&own, &pki, Some(&file), Selection::Select).expect("written");
        assert_eq!(current(&file).as_deref(), Some("same"));
        remove(&own).expect("removed");
        assert_eq!(current(&file).as_deref(), Some("prod"));
        assert!(!read(&file).expect("read").contains("same"));
    }

    #[test]
    fn a_renewal_leaves_the_context_that_the_user_has_chosen_since() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("config");
        std::fs::write(&file, THEIRS).expect("written");
        let (own, pki) = cluster(dir.path(), "own");
        write(&own, &pki, Some(&file), Selection::Select).expect("written");
        let chosen = kubeconfig::select_context(&read(&file).expect("read"), "prod").expect("selected");
        std::fs::write(&file, chosen).expect("written");
        write(&own, &pki, Some(&file), Selection::Keep).expect("written");
        assert_eq!(current(&file).as_deref(), Some("prod"));
    }

    #[test]
    fn another_clusters_context_of_the_same_name_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("config");
        let ((one, first), (other, second)) = (cluster(dir.path(), "one"), cluster(dir.path(), "other"));
        write(&one, &first, Some(&file), Selection::Select).expect("written");
        write(&other, &second, Some(&file), Selection::Select).expect("written");
        let before = read(&file).expect("read");
        remove(&one).expect("nothing of its own");
        assert_eq!(read(&file).expect("read"), before);
        remove(&other).expect("removed");
        assert_ne!(read(&file).expect("read"), before);
    }
}
