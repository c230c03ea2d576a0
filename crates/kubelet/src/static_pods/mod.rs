//! Static pods: pods of manifests in staticPodPath of the kubelet's configuration, which run
//! with or without the API (upstream: pkg/kubelet/config/file.go). `workers` runs them like
//! others; [`mirror`] shows them in the API.
//!
//! A manifest that cannot be read is reported and leaves the others as they are. The pod of one
//! that disappears, or changes, ends first; then the new one starts.

pub mod manifest;
pub mod mirror;
mod references;

use crate::Error;
use crate::context::Context;
use crate::directory_watch::DirectoryWatch;
use ferry_api::view::core::v1::Pod;
use ferry_client::SharedObject;
use jiff::Timestamp;
use manifest::{MAX_BYTES, PodRules, SEEN, read_manifest};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

/// Namespace and name.
pub type FullName = (String, String);

/// One change of the manifests.
#[derive(Clone, Debug)]
pub struct StaticChange {
    pub pod: SharedObject<Pod>,
    /// The manifest is gone, or says something else by now.
    pub gone: bool,
}

/// The static pods as the manifests have them.
pub struct StaticPods {
    inner: Mutex<Inner>,
    listed: watch::Sender<bool>,
    is_changed: Notify,
    changes: mpsc::UnboundedSender<StaticChange>,
}

#[derive(Default)]
struct Inner {
    pods: BTreeMap<FullName, SharedObject<Pod>>,
    /// Names whose earlier pods have not ended yet, with their number.
    ending: BTreeMap<FullName, usize>,
    /// Names that the keeper of mirrors has yet to look at.
    changed: BTreeSet<FullName>,
    receiver: Option<mpsc::UnboundedReceiver<StaticChange>>,
}

impl Default for StaticPods {
    fn default() -> Self {
        let (changes, receiver) = mpsc::unbounded_channel();
        Self {
            inner: Mutex::new(Inner { receiver: Some(receiver), ..Default::default() }),
            listed: watch::Sender::new(false),
            is_changed: Notify::new(),
            changes,
        }
    }
}

impl StaticPods {
    /// The changes, for the one who runs the pods.
    pub fn take_changes(&self) -> Option<mpsc::UnboundedReceiver<StaticChange>> {
        self.inner.lock().receiver.take()
    }

    pub fn get(&self, namespace: &str, name: &str) -> Option<SharedObject<Pod>> {
        self.inner.lock().pods.get(&(namespace.to_owned(), name.to_owned())).cloned()
    }

    pub fn list(&self) -> Vec<SharedObject<Pod>> {
        self.inner.lock().pods.values().cloned().collect()
    }

    fn names(&self) -> BTreeSet<FullName> {
        self.inner.lock().pods.keys().cloned().collect()
    }

    /// Returns when the manifests have been read once.
    pub async fn listed(&self) {
        let _ = self.listed.subscribe().wait_for(|listed| *listed).await;
    }

    fn is_ending(&self, namespace: &str, name: &str) -> bool {
        self.inner.lock().ending.contains_key(&(namespace.to_owned(), name.to_owned()))
    }

    /// Nothing runs of this pod any more, whose manifest is gone.
    pub fn note_ended(&self, pod: &SharedObject<Pod>) {
        let name = (pod.namespace().to_owned(), pod.name().to_owned());
        let mut inner = self.inner.lock();
        if let Some(count) = inner.ending.get_mut(&name) {
            *count -= 1;
            if *count == 0 {
                inner.ending.remove(&name);
            }
            inner.changed.insert(name);
            self.is_changed.notify_one();
        }
    }

    /// The names that have changed since the last call, as soon as there are any.
    async fn changed(&self) -> BTreeSet<FullName> {
        loop {
            let changed = std::mem::take(&mut self.inner.lock().changed);
            if !changed.is_empty() {
                return changed;
            }
            self.is_changed.notified().await;
        }
    }

    /// Takes over what the manifests say now.
    fn replace(&self, pods: Vec<Pod>, now: Timestamp) {
        let mut inner = self.inner.lock();
        let mut new = BTreeMap::new();
        for pod in pods {
            let pod = SharedObject::of(pod);
            // Of two manifests of one name the later counts.
            new.insert((pod.namespace().to_owned(), pod.name().to_owned()), pod);
        }
        let old = std::mem::take(&mut inner.pods);
        for (name, pod) in &old {
            if new.get(name).is_none_or(|other| other.uid() != pod.uid()) {
                *inner.ending.entry(name.clone()).or_default() += 1;
                inner.changed.insert(name.clone());
                let _ = self.changes.send(StaticChange { pod: pod.clone(), gone: true });
            }
        }
        for (name, pod) in new {
            let pod = match old.get(&name).filter(|known| known.uid() == pod.uid()) {
                Some(known) => known.clone(),
                None => {
                    let pod = with_time(&pod, now);
                    inner.changed.insert(name.clone());
                    let _ = self.changes.send(StaticChange { pod: pod.clone(), gone: false });
                    pod
                }
            };
            inner.pods.insert(name, pod);
        }
        drop(inner);
        self.is_changed.notify_one();
        self.listed.send_replace(true);
    }
}

fn with_time(pod: &SharedObject<Pod>, now: Timestamp) -> SharedObject<Pod> {
    let mut value: Value = pod.to_owned().into();
    value["metadata"]["annotations"][SEEN] = json!(now.to_string());
    SharedObject::of(value)
}

/// Follows the manifests until `shutdown`.
pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let path = PathBuf::from(&context.config.configuration.static_pod_path);
    let rules = context.config.pod_rules.clone();
    let (false, Some(rules)) = (path.as_os_str().is_empty(), rules) else {
        context.static_pods.listed.send_replace(true);
        shutdown.cancelled().await;
        return Ok(());
    };
    let watched = watched_directory(&path).map_err(|source| Error::Directory { path: path.clone(), source })?;
    let watch = DirectoryWatch::of_files(&watched).map_err(|source| Error::Directory { path: watched, source })?;
    let mut reported = BTreeSet::new();
    loop {
        let (path, node_name, rules) = (path.clone(), context.config.node_name.clone(), rules.clone());
        let read = tokio::task::spawn_blocking(move || read_all(&path, &node_name, &*rules)).await;
        if let Ok((pods, mistakes)) = read {
            report(&context, &mut reported, mistakes);
            context.static_pods.replace(pods, Timestamp::now());
        }
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = watch.changed() => {}
        }
    }
}

/// The directory to watch: of the manifests, or of the one manifest that is named itself.
fn watched_directory(path: &Path) -> std::io::Result<PathBuf> {
    if path.is_file() {
        return Ok(path.parent().unwrap_or(Path::new("/")).to_owned());
    }
    std::fs::create_dir_all(path)?;
    Ok(path.to_owned())
}

/// Mistakes are shown until the manifest is mended.
fn report(context: &Context, reported: &mut BTreeSet<PathBuf>, mistakes: BTreeMap<PathBuf, String>) {
    let subject = |path: &Path| format!("static pod manifest {}", path.display());
    for path in reported.iter().filter(|path| !mistakes.contains_key(*path)) {
        context.client.problems().resolve("kubelet", &subject(path));
    }
    for (path, why) in &mistakes {
        tracing::error!(path = %path.display(), %why, "Could not process manifest file");
        context.client.problems().report("kubelet", &subject(path), why);
    }
    *reported = mistakes.into_keys().collect();
}

/// The pods of all manifests in the order of their names, and why others are none. Blocking.
fn read_all(path: &Path, node_name: &str, rules: &dyn PodRules) -> (Vec<Pod>, BTreeMap<PathBuf, String>) {
    let mut files = Vec::new();
    if path.is_file() {
        files.push(path.to_owned());
    } else {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !is_hidden && entry.path().is_file() {
                files.push(entry.path());
            }
        }
        files.sort();
    }
    let (mut pods, mut mistakes) = (Vec::new(), BTreeMap::new());
    for file in files {
        match read_file(&file).and_then(|text| read_manifest(&text, &file, node_name, rules)) {
            Ok(pod) => pods.push(pod),
            Err(why) => drop(mistakes.insert(file, why)),
        }
    }
    (pods, mistakes)
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut text).map_err(|error| error.to_string())?;
    if text.len() > MAX_BYTES {
        return Err(format!("the read limit of {MAX_BYTES} bytes is reached"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::manifest::tests::NoRules;
    use super::*;

    fn manifest(name: &str, image: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{ name: {name} }}\nspec: {{ containers: [{{ name: a, image: {image} }}] }}\n"
        )
    }

    #[test]
    fn a_bad_manifest_leaves_the_others_as_they_are() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("written");
        write("b.yaml", &manifest("b", "i"));
        write("a.json", "{ not JSON");
        write(".c.yaml", &manifest("c", "i"));
        std::fs::create_dir(directory.path().join("d")).expect("made");
        let (pods, mistakes) = read_all(directory.path(), "n", &NoRules);
        assert_eq!(pods.len(), 1);
        assert_eq!(mistakes.into_keys().collect::<Vec<_>>(), [directory.path().join("a.json")]);
    }

    #[tokio::test]
    async fn a_changed_manifest_ends_one_pod_and_starts_another() {
        let store = StaticPods::default();
        let mut changes = store.take_changes().expect("the first to ask");
        let read = |image: &str| {
            read_manifest(manifest("web", image).as_bytes(), Path::new("/m/web"), "n", &NoRules).expect("good")
        };
        let mut next = || {
            let change = changes.try_recv().ok()?;
            Some((change.pod.uid().to_owned(), change.gone))
        };
        store.replace(vec![read("i")], Timestamp::UNIX_EPOCH);
        let (first, gone) = next().expect("a pod starts");
        assert!(!gone);
        store.replace(vec![read("i")], Timestamp::now());
        assert_eq!(next(), None, "the same text is the same pod");
        assert_eq!(store.list()[0].meta().annotations().get(SEEN), Some("1970-01-01T00:00:00Z"));
        store.replace(vec![read("j")], Timestamp::UNIX_EPOCH);
        assert_eq!(next(), Some((first.clone(), true)));
        let second = next().expect("the new one");
        assert!(second.0 != first && !second.1);
        assert!(store.is_ending("default", "web-n"));
        let old = SharedObject::of(read("i"));
        store.note_ended(&old);
        assert!(!store.is_ending("default", "web-n"));
        assert_eq!(store.changed().await, BTreeSet::from([("default".to_owned(), "web-n".to_owned())]));
    }
}
