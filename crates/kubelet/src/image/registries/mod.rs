//! The registries of this node, from one file: mirrors and authorities go to the runtime as its own
//! files, credentials go with each pull. `Images` asks before it pulls, and that is when a changed
//! file is read again; one with a mistake is reported and the last good one stays in force.

pub mod file;
mod render;

use super::keyring::Credential;
use super::name;
use crate::cri::v1::AuthConfig;
use crate::settings::RegistriesPlace;
use ferry_api::problems::Problems;
use file::{RegistriesFile, parse, split_endpoint};
use parking_lot::Mutex;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

pub struct Registries {
    place: RegistriesPlace,
    problems: Problems,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// When the file that was read last was changed, and its size; `None` before the first look.
    seen: Option<Option<(SystemTime, u64)>>,
    file: RegistriesFile,
}

/// The file's mistakes, for `ferry up`, which refuses to start with one.
pub fn check(file: &Path) -> Result<(), String> {
    read(file).map(drop)
}

fn read(path: &Path) -> Result<RegistriesFile, String> {
    let at = |why: String| format!("{}: {why}", path.display());
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text, path.parent().unwrap_or(Path::new("/"))).map_err(at),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(RegistriesFile::default()),
        Err(error) => Err(at(error.to_string())),
    }
}

impl Registries {
    pub fn new(place: RegistriesPlace, problems: Problems) -> Self {
        Self { place, problems, state: Arc::default() }
    }

    /// The node's credentials for an image: those of the mirrors that it may come from, then those
    /// of its registry.
    pub async fn credentials(&self, image: &str) -> Vec<Credential> {
        self.refresh().await;
        compute_credentials(&self.state.lock().file, image)
    }

    /// Takes over the file if it has changed.
    async fn refresh(&self) {
        let (place, state) = (self.place.clone(), self.state.clone());
        let refreshed = tokio::task::spawn_blocking(move || refresh(&place, &mut state.lock())).await;
        match refreshed {
            Ok(Ok(true)) => self.problems.resolve("kubelet", "registries"),
            Ok(Err(why)) => {
                tracing::warn!(%why, "the registries stay as they were");
                self.problems.report("kubelet", "registries", &why);
            }
            _ => {}
        }
    }
}

/// Whether the file was read anew. Blocking.
fn refresh(place: &RegistriesPlace, state: &mut State) -> Result<bool, String> {
    let metadata = std::fs::metadata(&place.file).ok();
    let stamp = metadata.and_then(|found| Some((found.modified().ok()?, found.len())));
    if state.seen == Some(stamp) {
        return Ok(false);
    }
    state.seen = Some(stamp);
    let file = read(&place.file)?;
    render::write(&place.hosts, &render::render(&file))
        .map_err(|error| format!("cannot write {}: {error}", place.hosts.display()))?;
    state.file = file;
    Ok(true)
}

fn compute_credentials(file: &RegistriesFile, image: &str) -> Vec<Credential> {
    let Ok(parts) = name::parse(image) else { return Vec::new() };
    let mirrors = file.mirrors.get(parts.domain).or_else(|| file.mirrors.get("*"));
    let endpoints = mirrors.into_iter().flat_map(|mirror| &mirror.endpoint);
    let hosts = endpoints.filter_map(|endpoint| split_endpoint(endpoint).ok()).map(|(scheme, host, _)| (scheme, host));
    let mut found = Vec::new();
    for (scheme, host) in hosts.chain([("https", parts.domain)]) {
        let Some(auth) = file.configs.get(host).and_then(|config| config.auth.as_ref()) else { continue };
        let (username, password) = auth.decode().unwrap_or_default();
        let host = if host == "docker.io" { "registry-1.docker.io" } else { host };
        found.push(Credential::of_node(AuthConfig {
            username,
            password,
            identity_token: auth.identity_token.clone(),
            // The runtime offers it to this host alone.
            server_address: format!("{scheme}://{host}"),
            ..Default::default()
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(file: &RegistriesFile, image: &str) -> Vec<(String, String)> {
        let found = compute_credentials(file, image).into_iter();
        found.map(|credential| (credential.auth.username, credential.auth.server_address)).collect()
    }

    #[test]
    fn a_credential_is_for_the_host_that_it_stands_under() {
        let text = "mirrors: { docker.io: { endpoint: ['http://m:5000'] } }
configs: { 'm:5000': { auth: { auth: 'bTpw' } }, r.io: { auth: { username: r, password: p } } }";
        let file = parse(text, Path::new("/")).expect("a good file");
        let of = |user: &str, host: &str| vec![(user.to_owned(), host.to_owned())];
        assert_eq!(users(&file, "busybox:1"), of("m", "http://m:5000"));
        assert_eq!(users(&file, "r.io/a/b"), of("r", "https://r.io"));
        assert_eq!(users(&file, "other.io/a"), vec![]);
    }

    #[tokio::test]
    async fn a_changed_file_is_read_at_the_next_pull_and_a_bad_one_changes_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let place =
            RegistriesPlace { file: directory.path().join("registries.yaml"), hosts: directory.path().join("hosts") };
        let problems = Problems::default();
        let registries = Registries::new(place.clone(), problems.clone());
        let count = async || registries.credentials("r.io/a").await.len();
        assert_eq!(count().await, 0, "there is no file");
        let good =
            "configs: { r.io: { auth: { username: r, password: p } } }\nmirrors: { x.io: { endpoint: ['http://m'] } }";
        std::fs::write(&place.file, good).expect("written");
        assert_eq!(count().await, 1);
        assert!(place.hosts.join("x.io/hosts.toml").exists());
        std::fs::write(&place.file, "config: {}").expect("written");
        assert_eq!(count().await, 1, "the last good one");
        assert!(check(&place.file).expect_err("a mistake").contains("unknown field `config`"));
        assert_eq!(problems.reports().len(), 1);
        std::fs::remove_file(&place.file).expect("removed");
        assert_eq!(count().await, 0);
        assert!(!place.hosts.join("x.io").exists());
    }
}
