//! The sandboxes and containers that the runtime has for one pod, newest first.
//!
//! `pod_worker` reads it afresh before each decision; `plan` and `status` judge it.

use crate::allocation::amounts::ContainerAmounts;
use crate::cgroup::{self, CgroupValues};
use crate::container_files::ContainerFiles;
use crate::cri::{self, Runtime, RuntimeError, v1};
use crate::log_line::LogLine;
use crate::wakers::Wakers;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

pub const POD_NAME_LABEL: &str = "io.kubernetes.pod.name";
pub const POD_NAMESPACE_LABEL: &str = "io.kubernetes.pod.namespace";
pub const POD_UID_LABEL: &str = "io.kubernetes.pod.uid";
pub const CONTAINER_NAME_LABEL: &str = "io.kubernetes.container.name";
pub const HASH_ANNOTATION: &str = "io.kubernetes.container.hash";
pub const RESTART_COUNT_ANNOTATION: &str = "io.kubernetes.container.restartCount";
/// The amounts that the container was created with.
pub const AMOUNTS_ANNOTATION: &str = "ferry.dev/container-resources";
pub const TERMINATION_PATH_ANNOTATION: &str = "io.kubernetes.container.terminationMessagePath";
pub const TERMINATION_POLICY_ANNOTATION: &str = "io.kubernetes.container.terminationMessagePolicy";

/// A termination message is at most this long; the fallback to logs takes the last 80
/// lines of at most 2 KiB (upstream: pkg/kubelet/container/helpers.go).
const MAX_TERMINATION_MESSAGE: u64 = 4096;
const MAX_FALLBACK_BYTES: u64 = 2048;
const MAX_FALLBACK_LINES: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Created,
    Running,
    Exited,
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Sandbox {
    pub id: String,
    pub attempt: u32,
    pub created_at: i64,
    pub ready: bool,
    pub host_network: bool,
    pub ips: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ContainerRecord {
    pub id: String,
    pub name: String,
    pub sandbox_id: String,
    pub state: State,
    pub created_at: i64,
    pub started_at: i64,
    pub finished_at: i64,
    pub exit_code: i32,
    pub reason: String,
    pub message: String,
    pub image: String,
    pub image_id: String,
    pub hash: u64,
    pub restart_count: u32,
    pub log_path: String,
    /// The amounts that the runtime was last told; `None` for a container that carries none.
    pub actuated: Option<ContainerAmounts>,
    /// The resources of its cgroup, while it runs.
    pub cgroup: Option<CgroupValues>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodRuntime {
    pub sandboxes: Vec<Sandbox>,
    pub containers: Vec<ContainerRecord>,
    /// The resources of the pod's own cgroup, for a pod with resources.
    pub cgroup: Option<CgroupValues>,
}

impl PodRuntime {
    /// The newest container of that name.
    pub fn latest(&self, name: &str) -> Option<&ContainerRecord> {
        self.containers.iter().find(|c| c.name == name)
    }

    /// Addresses of the newest sandbox, while it is ready.
    pub fn ips(&self) -> &[String] {
        self.sandboxes.first().filter(|s| s.ready).map(|s| s.ips.as_slice()).unwrap_or_default()
    }

    /// Adds what the cgroups have: the pod's is `parent`, and the runtime makes those of the
    /// containers below it. Blocking, for a few reads of the kernel's own files.
    pub fn read_cgroups(&mut self, parent: &str) {
        self.cgroup = cgroup::read(parent);
        for record in self.containers.iter_mut().filter(|record| record.state == State::Running) {
            record.cgroup = cgroup::read(&format!("{parent}/{}", record.id));
        }
    }

    pub fn running(&self) -> impl Iterator<Item = &ContainerRecord> {
        self.containers.iter().filter(|c| c.state == State::Running)
    }
}

/// A pod as the runtime's labels name it; enough to clean up after one that the API has
/// already forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodIdentity {
    pub uid: String,
    pub namespace: String,
    pub name: String,
}

impl PodIdentity {
    pub fn from_labels(labels: &HashMap<String, String>) -> Option<Self> {
        let label = |key: &str| labels.get(key).cloned().unwrap_or_default();
        let uid = labels.get(POD_UID_LABEL)?.clone();
        Some(Self { uid, namespace: label(POD_NAMESPACE_LABEL), name: label(POD_NAME_LABEL) })
    }

    /// `<namespace>_<name>_<uid>`; none of the three has an underscore.
    pub fn from_log_directory(name: &str) -> Option<Self> {
        let mut parts = name.split('_');
        let identity = Self { namespace: parts.next()?.into(), name: parts.next()?.into(), uid: parts.next()?.into() };
        parts.next().is_none().then_some(identity)
    }
}

/// Remembers dead containers, whose statuses cannot change, so that a pod that has
/// crashed many times costs no more calls than a healthy one.
pub struct Observer {
    files: ContainerFiles,
    dead: HashMap<String, ContainerRecord>,
}

impl Observer {
    pub fn new(files: ContainerFiles) -> Self {
        Self { files, dead: HashMap::new() }
    }

    /// Reads everything the pod has. Its ids are added to the wakers before their states
    /// are read, so that no change after the reading goes unnoticed.
    pub async fn observe(
        &mut self,
        runtime: &dyn Runtime,
        uid: &str,
        wakers: Option<&Wakers>,
    ) -> cri::Result<PodRuntime> {
        let labels = HashMap::from([(POD_UID_LABEL.to_string(), uid.to_string())]);
        let listed = runtime
            .list_pod_sandboxes(Some(v1::PodSandboxFilter { label_selector: labels.clone(), ..Default::default() }))
            .await?;
        let own = |id: &str| {
            if let Some(wakers) = wakers {
                wakers.add(uid, id);
            }
        };
        listed.iter().for_each(|item| own(&item.id));
        let mut sandboxes = Vec::with_capacity(listed.len());
        for item in listed {
            match runtime.pod_sandbox_status(&item.id).await {
                Ok(status) => sandboxes.push(sandbox(status)),
                // Removed between the list and the look: gone is all there is to know.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error),
            }
        }
        sandboxes.sort_by_key(|s| std::cmp::Reverse(s.created_at));

        let listed =
            runtime.list_containers(Some(v1::ContainerFilter { label_selector: labels, ..Default::default() })).await?;
        listed.iter().for_each(|item| own(&item.id));
        self.dead.retain(|id, _| listed.iter().any(|c| c.id == *id));
        let mut containers = Vec::with_capacity(listed.len());
        for item in listed {
            if let Some(record) = self.dead.get(&item.id) {
                containers.push(record.clone());
                continue;
            }
            let status = match runtime.container_status(&item.id).await {
                Ok(status) => status,
                Err(error) if error.is_not_found() => continue,
                Err(error) => return Err(error),
            };
            let record = container(&self.files, status, item.pod_sandbox_id);
            if record.state == State::Exited {
                self.dead.insert(record.id.clone(), record.clone());
            }
            containers.push(record);
        }
        containers.sort_by_key(|c| std::cmp::Reverse(c.created_at));
        Ok(PodRuntime { sandboxes, containers, cgroup: None })
    }
}

fn sandbox(status: v1::PodSandboxStatus) -> Sandbox {
    let network = status.network.unwrap_or_default();
    let ips = std::iter::once(network.ip)
        .chain(network.additional_ips.into_iter().map(|ip| ip.ip))
        .filter(|ip| !ip.is_empty())
        .collect();
    let host_network = status
        .linux
        .and_then(|linux| linux.namespaces)
        .and_then(|namespaces| namespaces.options)
        .is_some_and(|options| options.network == v1::NamespaceMode::Node as i32);
    Sandbox {
        id: status.id,
        attempt: status.metadata.map(|m| m.attempt).unwrap_or_default(),
        created_at: status.created_at,
        ready: status.state == v1::PodSandboxState::SandboxReady as i32,
        host_network,
        ips,
    }
}

fn container(files: &ContainerFiles, status: v1::ContainerStatus, sandbox_id: String) -> ContainerRecord {
    let state = match v1::ContainerState::try_from(status.state) {
        Ok(v1::ContainerState::ContainerCreated) => State::Created,
        Ok(v1::ContainerState::ContainerRunning) => State::Running,
        Ok(v1::ContainerState::ContainerExited) => State::Exited,
        _ => State::Unknown,
    };
    let annotation = |key: &str| status.annotations.get(key).map(String::as_str).unwrap_or_default();
    let mut message = status.message.clone();
    if state == State::Exited {
        let text = termination_message(files, &status);
        if !text.is_empty() {
            if !message.is_empty() {
                message.push_str(": ");
            }
            message.push_str(&text);
        }
    }
    ContainerRecord {
        name: status.labels.get(CONTAINER_NAME_LABEL).cloned().unwrap_or_default(),
        sandbox_id,
        state,
        created_at: status.created_at,
        started_at: status.started_at,
        finished_at: status.finished_at,
        exit_code: status.exit_code,
        reason: status.reason.clone(),
        message,
        image: status.image.as_ref().map(|i| i.image.clone()).unwrap_or_default(),
        image_id: status.image_ref.clone(),
        hash: u64::from_str_radix(annotation(HASH_ANNOTATION), 16).unwrap_or_default(),
        restart_count: annotation(RESTART_COUNT_ANNOTATION).parse().unwrap_or_default(),
        log_path: status.log_path.clone(),
        actuated: ContainerAmounts::parse(annotation(AMOUNTS_ANNOTATION)),
        cgroup: None,
        id: status.id,
    }
}

/// What a dead container wanted to say: the file it may write, or the tail of its log
/// when the policy asks for that and it failed silently.
pub fn termination_message(files: &ContainerFiles, status: &v1::ContainerStatus) -> String {
    let annotation = |key: &str| status.annotations.get(key).map(String::as_str).unwrap_or_default();
    let path = annotation(TERMINATION_PATH_ANNOTATION);
    let label = |key: &str| status.labels.get(key).map(String::as_str).unwrap_or_default();
    let (uid, name) = (label(POD_UID_LABEL), label(CONTAINER_NAME_LABEL));
    let at_path = status.mounts.iter().filter(|m| !path.is_empty() && m.container_path == path);
    let mut opened = at_path.map(|m| files.open_termination_message(uid, name, Path::new(&m.host_path)));
    if let Some(Ok(file)) = opened.find(Result::is_ok)
        && let Ok(text) = read_tail(file, MAX_TERMINATION_MESSAGE)
        && !text.is_empty()
    {
        return text;
    }
    let fallback = annotation(TERMINATION_POLICY_ANNOTATION) == "FallbackToLogsOnError" && status.exit_code != 0;
    let log = fallback.then(|| files.open_log(Path::new(&status.log_path)));
    log.and_then(Result::ok).map(log_tail).unwrap_or_default()
}

fn read_tail(mut file: File, limit: u64) -> std::io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last lines of a CRI log without their time, stream and tag. Stamps take about
/// forty bytes a line, so a wider window is read than is kept.
fn log_tail(log: File) -> String {
    let Ok(text) = read_tail(log, MAX_FALLBACK_BYTES * 8) else { return String::new() };
    let lines: Vec<LogLine<'_>> = text.lines().filter_map(|line| LogLine::parse(line.as_bytes())).collect();
    let mut tail = Vec::new();
    lines[lines.len().saturating_sub(MAX_FALLBACK_LINES)..].iter().for_each(|line| line.append_to(&mut tail));
    let start = tail.len().saturating_sub(MAX_FALLBACK_BYTES as usize);
    // A character that the window cuts in two is left out.
    let start = (start..tail.len()).find(|at| tail[*at] & 0xc0 != 0x80).unwrap_or(tail.len());
    String::from_utf8_lossy(&tail[start..]).into_owned()
}

/// Every pod the runtime knows of, for adoption and for cleaning up after pods that
/// vanished while nobody looked.
pub async fn list_pods(runtime: &dyn Runtime) -> Result<Vec<PodIdentity>, RuntimeError> {
    let mut found = Vec::new();
    for sandbox in runtime.list_pod_sandboxes(None).await? {
        if let Some(identity) = PodIdentity::from_labels(&sandbox.labels)
            && !found.contains(&identity)
        {
            found.push(identity);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fallback_keeps_the_words_of_the_last_lines() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("0.log");
        let lines: String = (0..200).map(|n| format!("2026-01-01T00:00:00.000000000Z stderr F line {n}\n")).collect();
        std::fs::write(&path, lines).expect("the log is written");
        let tail = log_tail(File::open(&path).expect("opened"));
        assert!(tail.ends_with("line 198\nline 199\n"), "{tail}");
        assert!(tail.lines().count() <= MAX_FALLBACK_LINES);
    }

    #[test]
    fn a_last_line_without_its_newline_gets_none_in_the_termination_message() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("0.log");
        let check = |log: &str, expected: &str| {
            std::fs::write(&path, log).expect("the log is written");
            assert_eq!(log_tail(File::open(&path).expect("opened")), expected);
        };
        check("2026-01-01T00:00:00Z stdout P DONE\n", "DONE");
        check(
            "2026-01-01T00:00:00Z stdout P on\n2026-01-01T00:00:01Z stdout F e\n2026-01-01T00:00:02Z stdout P DONE\n",
            "one\nDONE",
        );
        check("2026-01-01T00:00:00Z stdout F DONE\n", "DONE\n");
    }

    #[test]
    fn log_directories_name_their_pod() {
        let identity = PodIdentity::from_log_directory("kube-system_dns-1_u-1").expect("a pod's directory");
        assert_eq!(
            (identity.namespace.as_str(), identity.name.as_str(), identity.uid.as_str()),
            ("kube-system", "dns-1", "u-1")
        );
        assert_eq!(PodIdentity::from_log_directory("other"), None);
    }
}
