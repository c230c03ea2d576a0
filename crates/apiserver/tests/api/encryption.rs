//! Objects on disk: sealed by each provider, rotated, tampered with, and with keys lost.

use crate::kms_plugin::Plugin;
use crate::server::{CONFIG_MAPS, Server, config_map};
use ferry_apiserver::audit::{Auditor, Log, Policy, Rotation};
use ferry_apiserver::authn::UserInfo;
use ferry_apiserver::{Config, Peer};
use ferry_store::sqlite::SqliteStore;
use ferry_store::{Commit, Expect, Op, Store as _};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const STATUS: &str = "/ferry/encryption";

fn secret(name: &str) -> Value {
    json!({"metadata": {"name": name}, "stringData": {"password": format!("correct-horse-{name}")}})
}

fn keyed(provider: &str, names: &[&str]) -> String {
    let keys: Vec<String> = names
        .iter()
        .map(|name| {
            use base64::Engine as _;
            let mut key = [b'.'; 32];
            key[..name.len()].copy_from_slice(name.as_bytes());
            format!("{{name: {name}, secret: {}}}", base64::engine::general_purpose::STANDARD.encode(key))
        })
        .collect();
    format!("{{{provider}: {{keys: [{}]}}}}", keys.join(", "))
}

/// Replaces the configuration as an editor does: another file is renamed over it.
fn write(file: &Path, resources: &str, providers: &[String]) {
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: {resources}\n  providers: [{}]\n",
        providers.join(", ")
    );
    let part = file.with_extension("part");
    std::fs::write(&part, text).expect("written");
    std::fs::rename(&part, file).expect("renamed");
}

fn configure(file: &Path) -> impl FnOnce(&mut Config) + use<> {
    let file = file.to_owned();
    move |config| {
        config.secret_keys.clear();
        config.encryption_config = vec![file];
    }
}

async fn start(file: &Path) -> Server {
    Server::start_with(TempDir::new().expect("a directory"), configure(file)).await
}

/// Stops a server and opens another on its data.
async fn restart(server: Server, file: &Path) -> Server {
    let Server { api, directory, store, .. } = server;
    drop((api, store));
    until("the store to be free", async || SqliteStore::open(&directory.path().join("store")).is_ok()).await;
    Server::start_with(directory, configure(file)).await
}

async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !condition().await {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn raw(server: &Server, key: &str) -> Vec<u8> {
    server.store.get(key, None).await.expect("read").expect("an entry").value.to_vec()
}

async fn put_raw(server: &Server, key: &str, value: Vec<u8>) {
    let commit = Commit { key: key.to_owned(), expect: Expect::Any, op: Op::Put(value.into()) };
    server.store.commit(commit).await.expect("committed");
}

fn key(name: &str) -> String {
    format!("/registry/secrets/default/{name}")
}

async fn password(server: &Server, name: &str) -> Result<String, String> {
    let answer = server.get(&format!("{SECRETS}/{name}")).await;
    if answer.code != 200 {
        return Err(answer.message());
    }
    use base64::Engine as _;
    let data = answer.json()["data"]["password"].as_str().expect("data").to_owned();
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
    Ok(String::from_utf8(bytes).expect("text"))
}

async fn taken_over(server: &Server, before: &Value) {
    until("the new file to be in force", async || {
        let now = server.get(&format!("{STATUS}?brief=1")).await.ok();
        now["digest"] != before["digest"] && now["settled"] == true
    })
    .await;
}

#[tokio::test]
async fn every_provider_seals_and_opens_after_a_restart() {
    for (provider, prefix) in [
        ("aesgcm", "k8s:enc:aesgcm:v1:one:"),
        ("aescbc", "k8s:enc:aescbc:v1:one:"),
        ("secretbox", "k8s:enc:secretbox:v1:one:"),
    ] {
        let files = TempDir::new().expect("a directory");
        let file = files.path().join("encryption.yaml");
        write(&file, "['*.*']", &[keyed(provider, &["one"])]);
        let server = start(&file).await;
        server.post(SECRETS, &secret("a")).await.ok();
        server.post(CONFIG_MAPS, &config_map("c")).await.ok();
        for key in [key("a"), "/registry/configmaps/default/c".into(), "/registry/namespaces/default".into()] {
            let raw = raw(&server, &key).await;
            assert!(raw.starts_with(prefix.as_bytes()), "{key}: {}", String::from_utf8_lossy(&raw));
        }
        let server = restart(server, &file).await;
        assert_eq!(password(&server, "a").await.as_deref(), Ok("correct-horse-a"));
        server.get(&format!("{CONFIG_MAPS}/c")).await.ok();
    }
}

#[tokio::test]
async fn a_changed_file_is_taken_over_and_a_write_of_the_same_seals_anew() {
    let files = TempDir::new().expect("a directory");
    let file = files.path().join("encryption.yaml");
    write(&file, "[secrets]", &[keyed("aescbc", &["one"])]);
    let server = start(&file).await;
    server.post(SECRETS, &secret("a")).await.ok();
    let before = server.get(&format!("{STATUS}?brief=1")).await.ok();
    // A file that is wrong changes nothing.
    write(&file, "[secrets]", &[]);
    write(&file, "[secrets]", &[keyed("secretbox", &["two"]), keyed("aescbc", &["one"])]);
    taken_over(&server, &before).await;

    assert_eq!(password(&server, "a").await.as_deref(), Ok("correct-horse-a"));
    let read = server.get(&format!("{SECRETS}/a")).await.ok();
    let written = server.put(&format!("{SECRETS}/a"), &read).await.ok();
    assert_ne!(written["metadata"]["resourceVersion"], read["metadata"]["resourceVersion"], "it was stored");
    assert!(raw(&server, &key("a")).await.starts_with(b"k8s:enc:secretbox:v1:two:"));
    let again = server.put(&format!("{SECRETS}/a"), &written).await.ok();
    assert_eq!(again["metadata"]["resourceVersion"], written["metadata"]["resourceVersion"], "once is enough");
    let server = restart(server, &file).await;
    assert_eq!(password(&server, "a").await.as_deref(), Ok("correct-horse-a"));
}

#[tokio::test]
async fn everything_is_sealed_anew_a_page_at_a_time() {
    let files = TempDir::new().expect("a directory");
    let file = files.path().join("encryption.yaml");
    write(&file, "[secrets]", &[keyed("aesgcm", &["one"])]);
    let server = start(&file).await;
    for name in ["a", "b", "c"] {
        server.post(SECRETS, &secret(name)).await.ok();
    }
    let before = server.get(STATUS).await.ok();
    assert_eq!(before["kinds"][0]["sealedBy"], json!({"k8s:enc:aesgcm:v1:one": 3}));
    write(&file, "[secrets]", &[keyed("aesgcm", &["two", "one"])]);
    taken_over(&server, &before).await;
    let stranger = Peer::InProcess(Arc::new(UserInfo::authenticated("stranger", &[])));
    for method in ["GET", "POST"] {
        assert_eq!(server.ask_as(stranger.clone(), method, STATUS, &[], &json!({})).await.code, 403);
    }
    assert_eq!(server.get(STATUS).await.ok()["kinds"][0]["stale"], 3);
    let (mut after, mut resealed) = (String::new(), 0);
    loop {
        let page = server.ask("POST", &format!("{STATUS}?continue={after}"), &[], "").await.ok();
        resealed += page["resealed"].as_u64().expect("a count");
        match page["continue"].as_str() {
            Some(last) => after = last.to_owned(),
            None => break,
        }
    }
    assert_eq!(resealed, 3);
    let status = server.get(STATUS).await.ok();
    assert_eq!(
        status["kinds"],
        json!([{"resource": "secrets", "sealedBy": {"k8s:enc:aesgcm:v1:two": 3}, "stale": 0, "unreadable": []}])
    );
    // The old key is needed by nothing any more.
    write(&file, "[secrets]", &[keyed("aesgcm", &["two"])]);
    let server = restart(server, &file).await;
    for name in ["a", "b", "c"] {
        assert_eq!(password(&server, name).await, Ok(format!("correct-horse-{name}")));
    }
}

#[tokio::test]
async fn what_was_tampered_with_is_named_and_the_rest_goes_on() {
    let files = TempDir::new().expect("a directory");
    let file = files.path().join("encryption.yaml");
    write(&file, "[secrets]", &[keyed("aesgcm", &["one"])]);
    let server = start(&file).await;
    for name in ["good", "tampered", "truncated", "swapped", "plain"] {
        server.post(SECRETS, &secret(name)).await.ok();
    }
    server.post(CONFIG_MAPS, &config_map("c")).await.ok();
    let mut value = raw(&server, &key("tampered")).await;
    *value.last_mut().expect("bytes") ^= 1;
    put_raw(&server, &key("tampered"), value).await;
    let value = raw(&server, &key("truncated")).await;
    put_raw(&server, &key("truncated"), value[..25].to_vec()).await;
    let value = raw(&server, &key("good")).await;
    put_raw(&server, &key("swapped"), value).await;
    put_raw(&server, &key("plain"), br#"{"kind":"Secret","apiVersion":"v1","metadata":{"name":"plain"}}"#.to_vec())
        .await;

    let mut server = server;
    for round in 0..2 {
        for (name, why) in [
            ("tampered", "cipher: message authentication failed"),
            ("truncated", "the stored data was shorter than the required size"),
            ("swapped", "cipher: message authentication failed"),
            ("plain", "no matching prefix found"),
        ] {
            let answer = server.get(&format!("{SECRETS}/{name}")).await;
            let expected =
                format!("Internal error occurred: unable to transform key \"/registry/secrets/default/{name}\": {why}");
            assert_eq!((answer.code, answer.message()), (500, expected), "round {round}");
            for answer in [
                server.put(&format!("{SECRETS}/{name}"), &secret(name)).await,
                server.patch("application/merge-patch+json", &format!("{SECRETS}/{name}"), &json!({})).await,
                server.delete(&format!("{SECRETS}/{name}")).await,
            ] {
                assert!(answer.message().contains(&key(name)), "{}", answer.message());
                assert_eq!(answer.code, 500);
            }
            assert_eq!(server.post(SECRETS, &secret(name)).await.code, 409, "nothing is written over it");
        }
        assert_eq!(password(&server, "good").await.as_deref(), Ok("correct-horse-good"));
        server.get(CONFIG_MAPS).await.ok();
        server.get("/api/v1/namespaces/kube-system/secrets").await.ok();
        let list = server.get("/api/v1/secrets").await;
        assert_eq!((list.code, list.json()["reason"].as_str()), (500, Some("StoreReadError")));
        let causes: Vec<Value> =
            list.json()["details"]["causes"].as_array().expect("causes").iter().map(|c| c["field"].clone()).collect();
        assert_eq!(causes, [key("plain"), key("swapped"), key("tampered"), key("truncated")]);
        // What informers begin with shows the others, with a warning.
        let any = server.get("/api/v1/secrets?resourceVersion=0").await;
        assert!(any.headers["warning"].to_str().expect("text").contains("/registry/secrets/default/tampered"));
        let names: Vec<Value> =
            any.ok()["items"].as_array().expect("items").iter().map(|i| i["metadata"]["name"].clone()).collect();
        assert_eq!(names, ["good"]);
        if round == 0 {
            server = restart(server, &file).await;
        }
    }

    // Deleting what cannot be read is a right of its own and only for what cannot be read.
    let options =
        json!({"kind": "DeleteOptions", "apiVersion": "v1", "ignoreStoreReadErrorWithClusterBreakingPotential": true});
    let role = json!({"metadata": {"name": "deleter"}, "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["delete"]}]});
    server.post("/apis/rbac.authorization.k8s.io/v1/clusterroles", &role).await.ok();
    let binding = json!({"metadata": {"name": "deleter"}, "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "eve"}],
                         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "deleter"}});
    server.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding).await.ok();
    let eve = Peer::InProcess(Arc::new(UserInfo::authenticated("eve", &[])));
    let path = format!("{SECRETS}/tampered");
    let refused = server.ask_as(eve, "DELETE", &path, &[], &options).await;
    assert_eq!(refused.code, 403);
    assert!(refused.message().contains("unsafe-delete-ignore-read-errors"), "{}", refused.message());
    let json = [("content-type", "application/json")];
    let healthy = server.ask("DELETE", &format!("{SECRETS}/good"), &json, options.to_string()).await;
    assert_eq!(healthy.code, 422);
    assert!(healthy.message().contains("is exclusively used to delete corrupt object(s)"), "{}", healthy.message());
    let mut with_grace = options.clone();
    with_grace["gracePeriodSeconds"] = 0.into();
    let both = server.ask("DELETE", &path, &json, with_grace.to_string()).await;
    assert!(both.message().contains("cannot be set together with .gracePeriodSeconds"), "{}", both.message());
    for name in ["tampered", "truncated", "swapped", "plain"] {
        let gone = server.ask("DELETE", &format!("{SECRETS}/{name}"), &json, options.to_string()).await.ok();
        assert_eq!((gone["kind"].as_str(), gone["status"].as_str()), (Some("Status"), Some("Success")));
        assert_eq!(server.get(&format!("{SECRETS}/{name}")).await.code, 404);
    }
    assert_eq!(server.get(SECRETS).await.ok()["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_lost_key_that_is_found_again_opens_everything() {
    let files = TempDir::new().expect("a directory");
    let file = files.path().join("encryption.yaml");
    write(&file, "[secrets]", &[keyed("aesgcm", &["one"])]);
    let server = start(&file).await;
    server.post(SECRETS, &secret("a")).await.ok();
    write(&file, "[secrets]", &[keyed("aesgcm", &["two"])]);
    let server = restart(server, &file).await;
    assert_eq!(
        password(&server, "a").await.unwrap_err(),
        "Internal error occurred: unable to transform key \"/registry/secrets/default/a\": no matching key was found for the provided AES transformer"
    );
    server.post(SECRETS, &secret("b")).await.ok();
    let mut watch = server.watch("/api/v1/secrets?watch=1").await;
    assert_eq!(watch.next_name().await, ("ADDED".into(), "b".into()));
    write(&file, "[secrets]", &[keyed("aesgcm", &["two", "one"])]);
    assert_eq!(watch.next_name().await, ("ADDED".into(), "a".into()));
    assert_eq!(password(&server, "a").await.as_deref(), Ok("correct-horse-a"));
    assert_eq!(server.get(SECRETS).await.ok()["items"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_kms_seals_rotates_goes_and_comes_back() {
    let files = TempDir::new().expect("a directory");
    let file = files.path().join("encryption.yaml");
    let plugin = Plugin::start(files.path());
    write(&file, "[secrets]", &[plugin.provider()]);
    let server = start(&file).await;
    server.post(SECRETS, &secret("a")).await.ok();
    assert!(raw(&server, &key("a")).await.starts_with(b"k8s:enc:kms:v2:plugin:"));
    assert_eq!(plugin.state.lock().decrypts, 0, "our own data key is known");
    assert_eq!(server.get("/readyz/kms-providers").await.code, 200);

    // Another key id: what is sealed from now on is under it, what was sealed still opens.
    plugin.state.lock().key_id = "2".into();
    let server = restart(server, &file).await;
    assert_eq!(password(&server, "a").await.as_deref(), Ok("correct-horse-a"));
    assert_eq!(plugin.state.lock().decrypts, 1);
    server.post(SECRETS, &secret("b")).await.ok();
    let status = server.get(STATUS).await.ok();
    assert_eq!(
        status["kinds"][0]["sealedBy"],
        json!({"k8s:enc:kms:v2:plugin with key 1": 1, "k8s:enc:kms:v2:plugin with key 2": 1})
    );
    assert_eq!(status["kinds"][0]["stale"], 1);
    server.ask("POST", STATUS, &[], "").await.ok();
    let status = server.get(STATUS).await.ok();
    assert_eq!(status["kinds"][0]["sealedBy"], json!({"k8s:enc:kms:v2:plugin with key 2": 2}));

    // The plugin is gone: the server starts, says so, and serves everything else.
    plugin.stop();
    let server = restart(server, &file).await;
    let why = password(&server, "a").await.unwrap_err();
    assert!(why.contains("unable to transform key \"/registry/secrets/default/a\": failed to decrypt DEK"), "{why}");
    let refused = server.post(SECRETS, &secret("c")).await;
    assert_eq!(refused.code, 500, "{}", refused.message());
    server.post(CONFIG_MAPS, &config_map("c")).await.ok();
    let ready = server.get("/readyz").await;
    assert_eq!(ready.code, 500);
    assert!(String::from_utf8_lossy(&ready.bytes).contains("[-]kms-providers failed"));

    // And it comes back.
    plugin.listen();
    until("the plugin to be found", async || password(&server, "a").await.is_ok()).await;
    assert_eq!(password(&server, "a").await.as_deref(), Ok("correct-horse-a"));
    assert_eq!(password(&server, "b").await.as_deref(), Ok("correct-horse-b"));
    server.post(SECRETS, &secret("c")).await.ok();
    assert_eq!(server.get("/readyz").await.code, 200);
    assert_eq!(server.get(SECRETS).await.ok()["items"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn a_configuration_that_is_wrong_keeps_the_server_from_starting() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("encryption.yaml");
    write(&file, "[secrets]", &["{aesgcm: {keys: [{name: one, secret: c2hvcnQ=}]}}".into()]);
    let pki = crate::server::pki(directory.path());
    let store = Arc::new(SqliteStore::open(&directory.path().join("store")).expect("a store"));
    let mut config = Config::from_pki(&pki, "cluster.local", Vec::new());
    config.encryption_config = vec![file];
    let why = ferry_apiserver::ApiServer::start(store, config).await.err().expect("refused").to_string();
    assert!(why.contains("secret is not of the expected length, got 5, expected one of [16 24 32]"), "{why}");
    assert!(!why.contains("c2hvcnQ="), "{why}");
}

#[tokio::test]
async fn no_file_of_the_data_directory_shows_a_secret() {
    const MARK: &str = "correct-horse-everywhere";
    let directory = TempDir::new().expect("a directory");
    let log = directory.path().join("audit.log");
    let policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n";
    let auditor = Auditor::new(
        Policy::parse(policy).expect("a policy"),
        vec![Arc::new(Log::open(&log, Rotation::default()).expect("a log"))],
    );
    let server = Server::start_with(directory, |config| config.audit = Some(Arc::new(auditor))).await;
    let created = server.post(SECRETS, &secret("everywhere")).await.ok();
    let encoded = created["data"]["password"].as_str().expect("data").to_owned();
    server
        .patch(
            "application/merge-patch+json",
            &format!("{SECRETS}/everywhere"),
            &json!({"metadata": {"labels": {"a": "b"}}}),
        )
        .await
        .ok();
    server.get(&format!("{SECRETS}/everywhere")).await.ok();
    let event = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Secret", "namespace": "default", "name": "everywhere"}, "reason": "Made"});
    server.post("/api/v1/namespaces/default/events", &event).await.ok();
    server.delete(&format!("{SECRETS}/everywhere")).await.ok();
    server.post(CONFIG_MAPS, &config_map("plain-to-see")).await.ok();

    let mut seen = false;
    for file in files_below(server.directory.path()) {
        let bytes = std::fs::read(&file).expect("readable");
        for text in [MARK, &encoded] {
            assert!(!contains(&bytes, text), "{} shows it", file.display());
        }
        seen |= contains(&bytes, "plain-to-see");
    }
    assert!(seen, "the search finds what is there");
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}
