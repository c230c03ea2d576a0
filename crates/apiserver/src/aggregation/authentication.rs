//! kube-system/extension-apiserver-authentication: what an aggregated API server must know
//! to believe the headers by which this one names its callers
//! (controlplane/controller/clusterauthenticationtrust upstream). Made at start and made
//! again whenever somebody changes or deletes it, and when authorities are replaced.

use crate::ServerState;
use crate::controlplane::{Action, Key, ServerController, bootstrap, key_of};
use crate::registry::lookup::Change;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_pki::Facts;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";

struct ClusterAuthenticationTrust;

pub(super) async fn start(server: &Arc<ServerState>) {
    let queue = server.controllers.queue_of::<ClusterAuthenticationTrust>();
    let controller = Arc::new(ClusterAuthenticationTrust);
    let key = Key::new(NAMESPACE, NAME);
    server.reconcile_first(&controller, &queue, [key.clone()]).await;
    let (enqueue, own) = (queue.clone(), key.clone());
    let observer = move |change: &Change| {
        if key_of(change) == own {
            enqueue.add(own.clone());
        }
    };
    server.lookup.subscribe("", "configmaps", Box::new(observer));
    let (replaced, enqueue) = (server.authenticator.authorities_changed(), queue.clone());
    server.controllers.spawn(async move {
        loop {
            replaced.notified().await;
            enqueue.add(key.clone());
        }
    });
    server.run_controller(controller, &queue);
}

impl ServerController for ClusterAuthenticationTrust {
    const NAME: &'static str = "cluster_authentication_trust_controller";

    async fn reconcile(&self, server: &Arc<ServerState>, _: &Key) -> Result<Action, Status> {
        sync(server).await.map(|()| Action::Done)
    }
}

async fn sync(server: &ServerState) -> Result<(), Status> {
    let present = server.lookup.get("", "configmaps", NAMESPACE, NAME).map(|stored| stored.value());
    let trust = Trust {
        client_ca: server.authenticator.client_ca_pem(),
        front_proxy_ca: server.authenticator.front_proxy_ca_pem(),
        front_proxy_names: &server.config.authentication.front_proxy_allowed_names,
    };
    let data = plan_data(present.as_ref().and_then(|object| object.at(&["data"])), &trust, Timestamp::now());
    if present.as_ref().and_then(|object| object.at(&["data"])) == Some(&data) {
        return Ok(());
    }
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, "namespace": NAMESPACE}, "data": data,
    });
    bootstrap::put(&server.registry, "", "v1", "configmaps", object).await
}

/// Whom this server trusts now.
struct Trust<'a> {
    client_ca: String,
    front_proxy_ca: Option<String>,
    front_proxy_names: &'a [String],
}

/// What is there and what we know, joined: other API servers of the cluster may have
/// written authorities of their own, and of a replaced one there may still be certificates
/// about. An authority goes when its time is over.
fn plan_data(present: Option<&Value>, trust: &Trust<'_>, now: Timestamp) -> Value {
    let old = |key: &str| present.and_then(|data| data.get(key)).and_then(Value::as_str).unwrap_or_default();
    let certificates = |key: &'static str, ours: &str| (key, join_certificates(old(key), ours, now));
    let mut data: BTreeMap<&str, String> = [certificates("client-ca-file", &trust.client_ca)].into();
    if let Some(ca) = &trust.front_proxy_ca {
        let list = |key: &'static str, ours: &[&str]| (key, join_names(old(key), ours));
        let names: Vec<&str> = trust.front_proxy_names.iter().map(String::as_str).collect();
        data.extend([
            certificates("requestheader-client-ca-file", ca),
            list("requestheader-allowed-names", &names),
            list("requestheader-extra-headers-prefix", &["X-Remote-Extra-"]),
            list("requestheader-group-headers", &["X-Remote-Group"]),
            list("requestheader-uid-headers", &["X-Remote-Uid"]),
            list("requestheader-username-headers", &["X-Remote-User"]),
        ]);
    }
    json!(data)
}

/// A JSON list of names; what is no such list is replaced.
fn join_names(old: &str, ours: &[&str]) -> String {
    let mut names: Vec<String> = serde_json::from_str(old).unwrap_or_default();
    for own in ours {
        if !names.iter().any(|name| name == own) {
            names.push((*own).to_owned());
        }
    }
    json!(names).to_string()
}

/// The certificates of both that have not expired, each once; all else goes.
fn join_certificates(old: &str, ours: &str, now: Timestamp) -> String {
    let mut blocks: Vec<String> = Vec::new();
    for block in pem_blocks(old).into_iter().chain(pem_blocks(ours)) {
        let is_alive = Facts::of_pem(NAME, &block).is_ok_and(|facts| facts.not_after > now);
        if is_alive && !blocks.contains(&block) {
            blocks.push(block);
        }
    }
    blocks.concat()
}

fn pem_blocks(text: &str) -> Vec<String> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        let Some(length) = rest[start..].find(END) else { break };
        let block = &rest[start..start + length + END.len()];
        let lines: Vec<&str> = block.lines().map(str::trim).collect();
        blocks.push(format!("{}\n", lines.join("\n")));
        rest = &rest[start + length + END.len()..];
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_pki::Authority;

    #[test]
    fn certificates_and_names_are_joined_once() {
        let now = Timestamp::from_second(1_800_000_000).expect("in range");
        let authority = |name: &str| Authority::generate(name, now).expect("an authority").certificate_pem().to_owned();
        let (one, two) = (authority("one"), authority("two"));
        let join = |old: &str, at: Timestamp| join_certificates(old, &one, at);
        assert_eq!(join("", now), one);
        assert_eq!(join(&format!("# text\n{two}"), now), format!("{two}{one}"));
        assert_eq!(join(&format!("{two}{one}"), now), format!("{two}{one}"));
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert_eq!(join(&format!("{broken}{two}"), now), format!("{two}{one}"));
        let later = now + jiff::SignedDuration::from_hours(24 * 365 * 20);
        assert_eq!(join(&two, later), "", "what has expired is no authority any more");
        assert_eq!(join_names("", &["a"]), "[\"a\"]");
        assert_eq!(join_names("[\"b\",\"a\"]", &["a"]), "[\"b\",\"a\"]");
        assert_eq!(join_names("nonsense", &["a"]), "[\"a\"]");
    }
}
