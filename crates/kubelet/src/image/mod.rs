//! Brings a container's image onto the machine by its pull policy, with upstream's
//! events and back-off (pkg/kubelet/images/image_manager.go). `sync` calls it before
//! each container start, and the image volumes of a pod do.

pub mod credential_provider;
pub mod keyring;
pub mod name;
mod pull_records;
mod pulled_record;
pub mod registries;

use crate::backoff::BackOff;
use crate::cri::{Runtime, v1};
use crate::settings::RuntimeSettings;
use credential_provider::CredentialProviders;
use ferry_api::rules::duration;
use ferry_api::view::core::v1::Secret;
use ferry_client::{Client, EventType, Recorder, Reference, SharedObject};
use jiff::{SignedDuration, Timestamp};
use keyring::Credential;
use parking_lot::Mutex;
use pull_records::{PullIntent, PullRecords};
use registries::Registries;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// How long the error itself is shown before the back-off takes its place.
const NAME_THE_WAIT: SignedDuration = SignedDuration::from_secs(2);

/// Why the image is not there; `reason` is what `kubectl get pods` shows.
#[derive(Clone, Debug, PartialEq)]
pub struct PullFailure {
    pub reason: &'static str,
    pub message: String,
    /// When it is worth trying again.
    pub retry_at: Option<Timestamp>,
}

/// What is wanted, by whom.
pub struct Wanted<'a> {
    pub image: &'a str,
    pub policy: &'a str,
    pub pod_uid: &'a str,
    pub reference: &'a Reference,
    pub secrets: &'a [SharedObject<Secret>],
    pub service_account: &'a str,
    pub sandbox: &'a v1::PodSandboxConfig,
}

pub struct Images {
    runtime: Arc<dyn Runtime>,
    recorder: Recorder,
    pulls: Semaphore,
    records: Arc<PullRecords>,
    providers: Option<CredentialProviders>,
    registries: Option<Registries>,
    state: Mutex<PullState>,
}

#[derive(Default)]
struct PullState {
    backoff: BackOff,
    /// The last pull's error, repeated while backing off so that the cause stays visible.
    last_error: HashMap<String, String>,
}

impl Images {
    /// The records of pulls are kept below `root`, the kubelet's directory.
    pub fn new(
        runtime: Arc<dyn Runtime>,
        recorder: Recorder,
        client: &Client,
        settings: &RuntimeSettings,
        root: &Path,
    ) -> std::io::Result<Self> {
        let records = PullRecords::open(root)?.with_policy(settings.verification.clone());
        let providers = CredentialProviders::load(settings, client).map_err(std::io::Error::other)?;
        let registries = settings.registries.clone().map(|place| Registries::new(place, client.problems().clone()));
        Ok(Self {
            runtime,
            recorder,
            pulls: Semaphore::new(settings.parallel_pulls()),
            records: Arc::new(records),
            providers,
            registries,
            state: Mutex::default(),
        })
    }

    /// The pod's secrets first, then the node's own credentials, then those of plugins.
    async fn credentials(&self, wanted: &Wanted<'_>, image: &str) -> Vec<Credential> {
        let mut found = keyring::lookup(wanted.secrets, image);
        if let Some(registries) = &self.registries {
            found.extend(registries.credentials(image).await);
        }
        if let Some(providers) = &self.providers {
            let pod = wanted.sandbox.metadata.clone().unwrap_or_default();
            found.extend(providers.credentials(image, &pod, wanted.service_account).await);
        }
        found
    }

    /// The image as the runtime has it, pulled first if the policy asks for it.
    pub async fn ensure(&self, wanted: &Wanted<'_>) -> Result<v1::Image, PullFailure> {
        let image = match name::with_default_tag(wanted.image) {
            Ok(image) => image,
            Err(why) => {
                let message = format!("Failed to apply default image tag {:?}: {why}", wanted.image);
                self.say(wanted, EventType::Warning, "InspectFailed", message.clone());
                return Err(failure("InvalidImageName", message));
            }
        };
        let mut credentials = None;
        if wanted.policy != "Always" {
            match self.present(&image).await {
                Ok(Some(found)) if self.may_use(wanted, &image, &found.id, &mut credentials).await => {
                    self.say(
                        wanted,
                        EventType::Normal,
                        "Pulled",
                        format!(
                            "Container image {:?} already present on machine and can be accessed by the pod",
                            wanted.image
                        ),
                    );
                    return Ok(found);
                }
                // An image that is there and not the pod's is not betrayed to it either.
                Ok(_) if wanted.policy == "Never" => {
                    let message =
                        format!("Container image {:?} is not present with pull policy of Never", wanted.image);
                    self.say(wanted, EventType::Warning, "ErrImageNeverPull", message.clone());
                    return Err(failure("ErrImageNeverPull", message));
                }
                Ok(_) => {}
                Err(error) => {
                    let message = format!("Failed to inspect image {:?}: {error}", "");
                    self.say(wanted, EventType::Warning, "InspectFailed", message.clone());
                    return Err(failure("ImageInspectError", message));
                }
            }
        }
        let credentials = match credentials {
            Some(credentials) => credentials,
            None => self.credentials(wanted, &image).await,
        };
        self.pull(wanted, &image, &credentials).await
    }

    /// Whether the pod may use an image that is here. Credentials are looked up only if it matters.
    async fn may_use(
        &self,
        wanted: &Wanted<'_>,
        image: &str,
        id: &str,
        credentials: &mut Option<Vec<Credential>>,
    ) -> bool {
        if self.records.is_everybodys(image, id).await {
            return true;
        }
        let found = self.credentials(wanted, image).await;
        let must_pull = self.records.must_pull(image, id, &found).await;
        *credentials = Some(found);
        !must_pull
    }

    /// The image if it is on this machine. Pulls that an earlier kubelet did not see the
    /// end of are looked into first, because their images are not preloaded ones.
    async fn present(&self, image: &str) -> crate::cri::Result<Option<v1::Image>> {
        if self.records.has_unfinished().await {
            self.records.adopt(&self.runtime.list_images().await?).await;
        }
        self.runtime.image_status(image).await
    }

    /// Removes the records of images that are gone; `images` was listed at that time.
    pub async fn prune_records(&self, images: &[v1::Image], listed_at: Timestamp) {
        self.records.prune(images, listed_at).await;
    }

    async fn pull(
        &self,
        wanted: &Wanted<'_>,
        image: &str,
        credentials: &[Credential],
    ) -> Result<v1::Image, PullFailure> {
        let key = format!("{}_{}", wanted.pod_uid, wanted.image);
        let waiting = {
            let state = self.state.lock();
            let until = state.backoff.until(&key, Timestamp::now());
            until.map(|until| (until, state.last_error.get(&key).cloned()))
        };
        if let Some((until, last)) = waiting {
            let message = format!("Back-off pulling image {:?}", wanted.image);
            self.say(wanted, EventType::Normal, "BackOff", message.clone());
            let message = match last {
                Some(last) => format!("{message}: {last}"),
                None => message,
            };
            return Err(PullFailure { reason: "ImagePullBackOff", message, retry_at: Some(until) });
        }
        self.say(wanted, EventType::Normal, "Pulling", format!("Pulling image {:?}", wanted.image));
        let started = Instant::now();
        // Closed only with the process.
        let _permit = self.pulls.acquire().await;
        let began = Instant::now();
        let intent = PullIntent::record(&self.records, image).await.map_err(|error| {
            let message = format!("Failed to record image pull intent for container image {:?}: {error}", wanted.image);
            failure("ErrImagePull", message)
        })?;
        match self.pull_with_credentials(wanted, image, credentials).await {
            Ok((reference, credential)) => {
                let found = match self.runtime.image_status(image).await {
                    Ok(Some(found)) => found,
                    _ => v1::Image { id: reference, ..Default::default() },
                };
                intent.succeeded(&found.id, credential).await;
                let size = found.size;
                let mut state = self.state.lock();
                state.backoff.forget(&key);
                state.last_error.remove(&key);
                drop(state);
                self.say(
                    wanted,
                    EventType::Normal,
                    "Pulled",
                    format!(
                        "Successfully pulled image {:?} in {} ({} including waiting). Image size: {size} bytes.",
                        wanted.image,
                        duration::format(millis(began.elapsed())),
                        duration::format(millis(started.elapsed())),
                    ),
                );
                Ok(found)
            }
            Err(error) => {
                intent.failed().await;
                self.say(
                    wanted,
                    EventType::Warning,
                    "Failed",
                    format!("Failed to pull image {:?}: {error}", wanted.image),
                );
                let (reason, message) = judge(wanted.image, &error);
                let now = Timestamp::now();
                let mut state = self.state.lock();
                state.backoff.next(&key, now, now);
                state.last_error.insert(key.clone(), format!("{reason}: {message}"));
                // The next look is soon, so that the wait is called by its name.
                let retry_at = now.saturating_add(NAME_THE_WAIT).ok();
                Err(PullFailure { reason, message, retry_at })
            }
        }
    }

    /// Each matching credential in turn, or none at all where none matches. Returns the
    /// runtime's name of the image and the credential that opened the registry.
    async fn pull_with_credentials<'c>(
        &self,
        wanted: &Wanted<'_>,
        image: &str,
        credentials: &'c [Credential],
    ) -> Result<(String, Option<&'c Credential>), String> {
        if credentials.is_empty() {
            let pulled = self.runtime.pull_image(image, None, wanted.sandbox.clone()).await;
            return pulled.map(|reference| (reference, None)).map_err(|error| error.to_string());
        }
        let mut errors = Vec::new();
        for credential in credentials {
            match self.runtime.pull_image(image, Some(credential.auth.clone()), wanted.sandbox.clone()).await {
                Ok(reference) => return Ok((reference, Some(credential))),
                Err(error) => errors.push(error.to_string()),
            }
        }
        Err(match errors.len() {
            1 => errors.remove(0),
            _ => format!("[{}]", errors.join(", ")),
        })
    }

    /// Forgets what was remembered for a pod that is gone.
    pub fn forget(&self, pod_uid: &str) {
        let mut state = self.state.lock();
        let prefix = format!("{pod_uid}_");
        let keys: Vec<String> = state.last_error.keys().filter(|key| key.starts_with(&prefix)).cloned().collect();
        for key in keys {
            state.last_error.remove(&key);
            state.backoff.forget(&key);
        }
    }

    fn say(&self, wanted: &Wanted<'_>, kind: EventType, reason: &str, message: String) {
        self.recorder.event(wanted.reference, kind, reason, message);
    }
}

/// The policy of an image, which depends on its tag where none is stated.
pub fn pull_policy<'a>(stated: &'a str, image: &str) -> &'a str {
    match image.rsplit_once(':') {
        _ if !stated.is_empty() => stated,
        Some((_, tag)) if tag != "latest" && !tag.contains('/') => "IfNotPresent",
        _ => "Always",
    }
}

fn failure(reason: &'static str, message: String) -> PullFailure {
    PullFailure { reason, message, retry_at: None }
}

fn millis(duration: Duration) -> Duration {
    Duration::from_millis(duration.as_millis() as u64)
}

fn judge(image: &str, error: &str) -> (&'static str, String) {
    for (prefix, text) in [
        ("RegistryUnavailable", "the registry is unavailable"),
        ("SignatureValidationFailed", "the signature validation failed"),
    ] {
        if let Some(rest) = error.strip_prefix(prefix) {
            return (prefix, format!("image pull failed for {image} because {text}{rest}"));
        }
    }
    ("ErrImagePull", error.to_string())
}
