//! Records of the images that this kubelet pulled and of the credentials that opened
//! their registry, so that a private image which one pod pulled with its secret is no
//! other pod's (upstream: pkg/kubelet/images/pullmanager). Which images need such a proof is the
//! node's policy; by default those that this kubelet has pulled.
//!
//! An intent is written before each pull and removed after its record is: a kubelet that
//! is killed in between finds the intent and knows that the image was pulled, though not
//! by whose right. Files have upstream's layout and form, below `image_manager/`.
//! `Images` asks before it uses an image that is present.

use super::keyring::Credential;
use super::name;
use super::pulled_record::{Access, AccountRecord, PulledRecord, SecretRecord, plan_record};
use crate::cri::v1;
use crate::settings::VerificationPolicy;
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Matching credentials beyond this number are not added to a record, so that namespaces
/// that come and go do not make it grow (upstream: writeRecordWhileMatchingLimit).
const MAX_SECRETS: usize = 100;
pub(super) const API_VERSION: &str = "kubelet.config.k8s.io/v1beta1";

/// A file that is not in the form of a record still proves that the image was pulled.
type Stored = Option<PulledRecord>;

#[derive(Default)]
struct State {
    /// By file name.
    pulled: HashMap<String, Stored>,
    /// Images whose pull began under an earlier kubelet and whose end is not known.
    unfinished: BTreeSet<String>,
    /// The number of pulls of each image that go on now.
    pulling: HashMap<String, usize>,
}

pub struct PullRecords {
    directory: PathBuf,
    policy: VerificationPolicy,
    state: Mutex<State>,
}

/// One pull that goes on. A pull whose pod is deleted is dropped in the middle and counts
/// as failed, as upstream's does when its context ends.
pub struct PullIntent {
    records: Arc<PullRecords>,
    image: String,
    is_over: bool,
}

impl PullIntent {
    /// Called before each pull; the pull must not begin if this fails.
    pub async fn record(records: &Arc<PullRecords>, image: &str) -> std::io::Result<Self> {
        records.intend(image).await?;
        Ok(Self { records: records.clone(), image: image.to_owned(), is_over: false })
    }

    /// The pull succeeded, with this credential or without one.
    pub async fn succeeded(mut self, image_ref: &str, credential: Option<&Credential>) {
        self.records.pulled(&self.image, image_ref, credential).await;
        self.is_over = true;
    }

    pub async fn failed(mut self) {
        self.records.pull_failed(&self.image).await;
        self.is_over = true;
    }
}

impl Drop for PullIntent {
    fn drop(&mut self) {
        // Without a runtime the process ends, and its successor finds the intent.
        if let (false, Ok(handle)) = (self.is_over, tokio::runtime::Handle::try_current()) {
            let (records, image) = (self.records.clone(), std::mem::take(&mut self.image));
            handle.spawn(async move { records.pull_failed(&image).await });
        }
    }
}

impl PullRecords {
    /// Reads the records below the kubelet's directory.
    pub fn open(root: &Path) -> std::io::Result<Self> {
        let directory = root.join("image_manager");
        let mut state = State::default();
        for (file, text) in read_files(&directory.join("pulled"))? {
            let record = serde_json::from_str(&text).ok().and_then(|value| PulledRecord::from_json(&value));
            state.pulled.insert(file, record);
        }
        for (_, text) in read_files(&directory.join("pulling"))? {
            let intent: Value = serde_json::from_str(&text).unwrap_or_default();
            state.unfinished.extend(intent["image"].as_str().map(str::to_owned));
        }
        Ok(Self { directory, policy: VerificationPolicy::default(), state: Mutex::new(state) })
    }

    pub fn with_policy(mut self, policy: VerificationPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Exactly one of [`PullRecords::pulled`] and [`PullRecords::pull_failed`] follows.
    async fn intend(&self, image: &str) -> std::io::Result<()> {
        let mut state = self.state.lock().await;
        let count = state.pulling.get(image).copied().unwrap_or_default();
        if count == 0 {
            let intent = json!({ "kind": "ImagePullIntent", "apiVersion": API_VERSION, "image": image });
            self.write("pulling", image, intent).await?;
        }
        state.pulling.insert(image.to_owned(), count + 1);
        Ok(())
    }

    async fn pulled(&self, image: &str, image_ref: &str, credential: Option<&Credential>) {
        let mut state = self.state.lock().await;
        let mut access = Access::default();
        access.secrets.extend(credential.and_then(Credential::secret));
        access.accounts.extend(credential.and_then(Credential::account));
        access.everybody = access.secrets.is_empty() && access.accounts.is_empty();
        match self.grant(&mut state, image, image_ref, Some(access)).await {
            Ok(()) => self.end_pull(&mut state, image).await,
            // The intent stays: the image counts as pulled by nobody's right, which is safe.
            Err(error) => tracing::warn!(%image, %error, "cannot record the pulled image"),
        }
    }

    async fn pull_failed(&self, image: &str) {
        let mut state = self.state.lock().await;
        self.end_pull(&mut state, image).await;
    }

    async fn end_pull(&self, state: &mut State, image: &str) {
        if let Some(count) = state.pulling.get_mut(image).filter(|count| **count > 1) {
            *count -= 1;
            return;
        }
        state.pulling.remove(image);
        // An older kubelet's pull of the image may have ended well; only its record ends it.
        if state.unfinished.contains(image) && !self.is_recorded(state, image) {
            return;
        }
        state.unfinished.remove(image);
        if let Err(error) = self.remove("pulling", image).await {
            tracing::warn!(%image, %error, "cannot remove the intent to pull the image");
        }
    }

    fn is_recorded(&self, state: &State, image: &str) -> bool {
        let Some(name) = repository(image) else { return false };
        state.pulled.values().flatten().any(|record| record.access.contains_key(&name))
    }

    /// Whether an image that is present is every pod's, so that no credential is looked for.
    pub async fn is_everybodys(&self, image: &str, image_ref: &str) -> bool {
        let state = self.state.lock().await;
        let file = file_name(image_ref);
        let is_in_flight = state.pulling.contains_key(image) || state.unfinished.contains(image);
        if !needs_proof(&self.policy, image, state.pulled.contains_key(&file) || is_in_flight) {
            return true;
        }
        let record = state.pulled.get(&file).and_then(Option::as_ref);
        let access = record.and_then(|record| record.access.get(&repository(image)?));
        access.is_some_and(|access| access.everybody)
    }

    /// Whether the pod must prove by a pull that it may use an image that is present.
    pub async fn must_pull(&self, image: &str, image_ref: &str, credentials: &[Credential]) -> bool {
        if self.is_everybodys(image, image_ref).await {
            return false;
        }
        let mut state = self.state.lock().await;
        let Some(Some(record)) = state.pulled.get(&file_name(image_ref)) else { return true };
        let Some(access) = repository(image).and_then(|name| record.access.get(&name)) else { return true };
        // A pod has one service account, and its tokens change all the time.
        let account = credentials.iter().find_map(Credential::account);
        if account.is_some_and(|own: AccountRecord| access.accounts.contains(&own)) {
            return false;
        }
        let offered: Vec<SecretRecord> = credentials.iter().filter_map(Credential::secret).collect();
        let place = |secret: &SecretRecord| (secret.namespace.clone(), secret.name.clone(), secret.uid.clone());
        let matching = offered.into_iter().find(|offered| {
            access.secrets.iter().any(|known| known.hash == offered.hash || place(known) == place(offered))
        });
        let Some(matching) = matching else { return true };
        // The same secret with a new credential, or the same credential in another secret:
        // either is known from now on.
        if !access.secrets.contains(&matching) && access.secrets.len() < MAX_SECRETS {
            let more = Access { secrets: BTreeSet::from([matching]), ..Default::default() };
            if let Err(error) = self.grant(&mut state, image, image_ref, Some(more)).await {
                tracing::warn!(%image, %error, "cannot record the pod's access to the image");
            }
        }
        false
    }

    /// Turns the intents of an earlier kubelet into records without any access, for those
    /// images that are there. `images` is everything that the runtime has.
    pub async fn adopt(&self, images: &[v1::Image]) {
        let mut state = self.state.lock().await;
        for intent in state.unfinished.clone() {
            let Some(wanted) = full_name(&intent) else { continue };
            let is_named = |image: &&v1::Image| {
                image.repo_tags.iter().chain(&image.repo_digests).any(|name| full_name(name).as_ref() == Some(&wanted))
            };
            let Some(found) = images.iter().find(is_named) else { continue };
            match self.grant(&mut state, &intent, &found.id, None).await {
                Ok(()) => {
                    state.unfinished.remove(&intent);
                    let _ = self.remove("pulling", &intent).await;
                }
                Err(error) => tracing::warn!(image = %intent, %error, "cannot record the pulled image"),
            }
        }
    }

    /// Whether an earlier kubelet left pulls whose end is not known.
    pub async fn has_unfinished(&self) -> bool {
        !self.state.lock().await.unfinished.is_empty()
    }

    /// Removes the records of images that are gone, unless they are younger than the list.
    pub async fn prune(&self, images: &[v1::Image], listed_at: Timestamp) {
        let present: BTreeSet<String> = images.iter().map(|image| file_name(&image.id)).collect();
        let mut state = self.state.lock().await;
        let is_old = |stored: &Stored| stored.as_ref().is_none_or(|record| record.updated < listed_at);
        let gone: Vec<String> = state
            .pulled
            .iter()
            .filter(|(file, stored)| !present.contains(*file) && is_old(stored))
            .map(|(file, _)| file.clone())
            .collect();
        for file in gone {
            match std::fs::remove_file(self.directory.join("pulled").join(&file)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!(%file, %error, "cannot remove the record of an image that is gone");
                }
                _ => drop(state.pulled.remove(&file)),
            }
        }
    }

    /// Adds to who may use the image; `None` only records that it was pulled.
    async fn grant(
        &self,
        state: &mut State,
        image: &str,
        image_ref: &str,
        access: Option<Access>,
    ) -> std::io::Result<()> {
        let file = file_name(image_ref);
        let known = state.pulled.get(&file).cloned().flatten();
        let merged = plan_record(known.as_ref(), image, image_ref, access, Timestamp::now());
        if known.as_ref() == Some(&merged) {
            return Ok(());
        }
        self.write("pulled", image_ref, merged.to_json()).await?;
        state.pulled.insert(file, Some(merged));
        Ok(())
    }

    async fn write(&self, kind: &str, key: &str, value: Value) -> std::io::Result<()> {
        let (directory, file) = (self.directory.join(kind), file_name(key));
        let write = move || write_file(&directory, &file, value.to_string().as_bytes());
        tokio::task::spawn_blocking(write).await.map_err(std::io::Error::other)?
    }

    async fn remove(&self, kind: &str, key: &str) -> std::io::Result<()> {
        match tokio::fs::remove_file(self.directory.join(kind).join(file_name(key))).await {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Whether the use of an image needs a proof (upstream: image_pull_policies.go beside its manager).
fn needs_proof(policy: &VerificationPolicy, image: &str, was_pulled_here: bool) -> bool {
    match policy {
        VerificationPolicy::NeverVerify => false,
        VerificationPolicy::AlwaysVerify => true,
        VerificationPolicy::NeverVerifyPreloadedImages => was_pulled_here,
        VerificationPolicy::NeverVerifyAllowlistedImages(allowed) => {
            let bare = without_version(image);
            !allowed.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => bare.starts_with(prefix),
                None => bare == pattern,
            })
        }
    }
}

/// The image as it was written, without tag and digest.
fn without_version(image: &str) -> &str {
    let name = image.split_once('@').map_or(image, |(name, _)| name);
    match name.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => name,
    }
}

/// `docker.io/library/busybox` for `busybox:1`; whoever may pull one tag of a repository
/// may pull them all.
pub(super) fn repository(image: &str) -> Option<String> {
    name::parse(image).ok().map(|parts| format!("{}/{}", parts.domain, parts.path))
}

/// The repository with tag or digest, as a runtime that spells names out would.
fn full_name(image: &str) -> Option<String> {
    let parts = name::parse(image).ok()?;
    let version = match (parts.digest, parts.tag) {
        (Some(digest), _) => format!("@{digest}"),
        (None, tag) => format!(":{}", tag.unwrap_or("latest")),
    };
    Some(format!("{}/{}{version}", parts.domain, parts.path))
}

fn file_name(key: &str) -> String {
    let digest = Sha256::digest(key.as_bytes());
    digest.iter().fold("sha256-".to_owned(), |name, byte| format!("{name}{byte:02x}"))
}

/// Each file of ours with its text; an unreadable one has none.
fn read_files(directory: &Path) -> std::io::Result<Vec<(String, String)>> {
    std::fs::create_dir_all(directory)?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        if file.starts_with("sha256-") && !file.ends_with(".tmp") {
            files.push((file, std::fs::read_to_string(entry.path()).unwrap_or_default()));
        }
    }
    Ok(files)
}

/// Whole or not at all, also after a power cut.
fn write_file(directory: &Path, file: &str, bytes: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let (path, temporary) = (directory.join(file), directory.join(format!("{file}.tmp")));
    let mut open = std::fs::OpenOptions::new();
    let mut written = open.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    written.write_all(bytes)?;
    written.sync_all()?;
    std::fs::rename(&temporary, &path)?;
    std::fs::File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: &str = "reg.example.com/team/app:1";
    const ID: &str = "sha256:abc";

    fn credential(secret: &str, password: &str) -> Credential {
        let auth = v1::AuthConfig { username: "u".into(), password: password.into(), ..Default::default() };
        Credential::new(auth, "default", secret, &format!("uid-{secret}"))
    }

    fn image(id: &str, tag: &str) -> v1::Image {
        v1::Image { id: id.into(), repo_tags: vec![tag.into()], ..Default::default() }
    }

    async fn pull(records: &PullRecords, credential: Option<&Credential>) {
        records.intend(IMAGE).await.expect("the intent is written");
        records.pulled(IMAGE, ID, credential).await;
    }

    #[tokio::test]
    async fn the_policy_decides_which_images_need_a_proof() {
        let check = async |policy: VerificationPolicy, preloaded: bool, pulled: bool| {
            let directory = tempfile::tempdir().expect("a temporary directory");
            let records = PullRecords::open(directory.path()).expect("empty").with_policy(policy.clone());
            assert_eq!(records.must_pull(IMAGE, ID, &[]).await, preloaded, "{policy:?} of a preloaded image");
            pull(&records, Some(&credential("a", "right"))).await;
            assert_eq!(records.must_pull(IMAGE, ID, &[]).await, pulled, "{policy:?} of a pulled image");
            let own = records.must_pull(IMAGE, ID, &[credential("a", "right")]).await;
            assert!(!own, "{policy:?} of the pod that pulled it");
        };
        check(VerificationPolicy::NeverVerifyPreloadedImages, false, true).await;
        check(VerificationPolicy::NeverVerify, false, false).await;
        check(VerificationPolicy::AlwaysVerify, true, true).await;
        let allow = |pattern: &str| VerificationPolicy::NeverVerifyAllowlistedImages(vec![pattern.into()]);
        check(allow("reg.example.com/team/app"), false, false).await;
        check(allow("reg.example.com/*"), false, false).await;
        check(allow("reg.example.com/team/other"), true, true).await;
    }

    #[tokio::test]
    async fn an_image_pulled_by_a_service_account_is_that_accounts() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = PullRecords::open(directory.path()).expect("an empty directory");
        let of = |name: &str, password: &str| {
            let auth = v1::AuthConfig { username: "u".into(), password: password.into(), ..Default::default() };
            let account = AccountRecord { namespace: "default".into(), name: name.into(), uid: format!("uid-{name}") };
            Credential::of_account(auth, account)
        };
        pull(&records, Some(&of("a", "one"))).await;
        for records in [records, PullRecords::open(directory.path()).expect("the same directory")] {
            assert!(!records.must_pull(IMAGE, ID, &[of("a", "another token")]).await, "the same account");
            assert!(records.must_pull(IMAGE, ID, &[of("b", "one")]).await, "another account");
            assert!(records.must_pull(IMAGE, ID, &[]).await, "no account");
        }
    }

    #[tokio::test]
    async fn an_image_pulled_with_a_secret_is_no_other_pods_also_after_a_restart() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = PullRecords::open(directory.path()).expect("an empty directory");
        assert!(!records.must_pull(IMAGE, ID, &[]).await, "a preloaded image is everybody's");
        pull(&records, Some(&credential("a", "right"))).await;
        for records in [records, PullRecords::open(directory.path()).expect("the same directory")] {
            assert!(records.must_pull(IMAGE, ID, &[]).await, "without a credential");
            assert!(records.must_pull(IMAGE, ID, &[credential("b", "wrong")]).await, "with another one");
            assert!(!records.must_pull(IMAGE, ID, &[credential("a", "right")]).await, "with the same secret");
            let elsewhere = "reg.example.com/other/app:1";
            assert!(records.must_pull(elsewhere, ID, &[credential("a", "right")]).await, "under another name");
        }
    }

    #[tokio::test]
    async fn the_same_credential_or_the_same_secret_is_enough() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = PullRecords::open(directory.path()).expect("an empty directory");
        pull(&records, Some(&credential("a", "right"))).await;
        assert!(!records.must_pull(IMAGE, ID, &[credential("copy", "right")]).await, "the credential is the same");
        assert!(!records.must_pull(IMAGE, ID, &[credential("copy", "rotated")]).await, "the secret is known by now");
        pull(&records, None).await;
        assert!(!records.must_pull(IMAGE, ID, &[]).await, "the registry gives it to everybody");
    }

    #[tokio::test]
    async fn a_pull_that_a_killed_kubelet_began_counts() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = PullRecords::open(directory.path()).expect("an empty directory");
        records.intend(IMAGE).await.expect("the intent is written");
        assert!(records.must_pull(IMAGE, ID, &[]).await, "while it is being pulled");
        drop(records);
        let records = PullRecords::open(directory.path()).expect("the same directory");
        assert!(records.has_unfinished().await);
        assert!(records.must_pull(IMAGE, ID, &[]).await);
        // Under its digest, too, once the runtime's list has shown which image it was.
        let digest = format!("reg.example.com/team/app@sha256:{}", "0".repeat(64));
        records.adopt(&[image(ID, IMAGE)]).await;
        assert!(!records.has_unfinished().await);
        assert!(records.must_pull(&digest, ID, &[credential("a", "right")]).await);
        let again = PullRecords::open(directory.path()).expect("the same directory");
        assert!(again.must_pull(&digest, ID, &[]).await && !again.has_unfinished().await);
    }

    #[tokio::test]
    async fn a_failed_pull_leaves_no_trace_and_records_go_with_their_images() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = PullRecords::open(directory.path()).expect("an empty directory");
        records.intend(IMAGE).await.expect("the intent is written");
        records.pull_failed(IMAGE).await;
        assert!(!records.must_pull(IMAGE, ID, &[]).await);
        pull(&records, Some(&credential("a", "right"))).await;
        records.prune(&[image(ID, IMAGE)], Timestamp::now()).await;
        assert!(records.must_pull(IMAGE, ID, &[]).await);
        records.prune(&[], Timestamp::now()).await;
        assert!(!records.must_pull(IMAGE, ID, &[]).await);
    }

    #[tokio::test]
    async fn a_pull_that_is_dropped_ends_its_intent() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = Arc::new(PullRecords::open(directory.path()).expect("an empty directory"));
        drop(PullIntent::record(&records, IMAGE).await.expect("the intent is written"));
        while records.must_pull(IMAGE, ID, &[]).await {
            tokio::task::yield_now().await;
        }
        assert!(!PullRecords::open(directory.path()).expect("the same directory").has_unfinished().await);
    }

    #[tokio::test]
    async fn a_damaged_record_is_held_against_every_pod() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = PullRecords::open(directory.path()).expect("an empty directory");
        pull(&records, None).await;
        std::fs::write(directory.path().join("image_manager/pulled").join(file_name(ID)), "{torn").expect("written");
        let records = PullRecords::open(directory.path()).expect("the same directory");
        assert!(records.must_pull(IMAGE, ID, &[]).await);
    }
}
