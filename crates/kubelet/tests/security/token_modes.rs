//! A service account token is readable for the pod's own user or group and for nobody else,
//! as soon as the pod says who that is (upstream: pkg/volume/projected/projected.go).

use crate::{Scene, Verdict, with_own_mounts};
use ferry_api::view::core::v1::Pod;
use ferry_client::SharedObject;
use ferry_kubelet::volume::{PodVolumes, Tokens, Volumes};
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const USER: u32 = 1001;
const GROUP: u32 = 2002;

fn pod(security: Value, containers: Value) -> Pod {
    Pod::from(json!({ "metadata": { "namespace": "default", "name": "p", "uid": "u" },
        "spec": { "securityContext": security, "containers": containers, "volumes": [{ "name": "v",
            "projected": { "defaultMode": 0o644, "sources": [{ "serviceAccountToken": { "path": "token" } }] } }] } }))
}

/// Whether a user with a group of their own may do this, by the mode alone.
fn may(path: &Path, user: u32, group: u32, bit: u32) -> bool {
    let meta = std::fs::metadata(path).expect("there");
    let shift = if meta.uid() == user {
        6
    } else if meta.gid() == group {
        3
    } else {
        0
    };
    meta.mode() >> shift & bit != 0
}

/// `write` sets the pod's volumes up and answers where its token is.
fn attack(write: &dyn Fn(&Scene, &Pod) -> PathBuf, verdict: &mut Verdict) {
    let one = json!([{ "name": "a" }]);
    let own_user = json!([{ "name": "a", "securityContext": { "runAsUser": USER } }]);
    let cases = [
        ("a pod with a user", json!({ "runAsUser": USER }), one.clone(), (USER, 1)),
        ("containers with a user", json!({}), own_user, (USER, 1)),
        ("a pod with a group", json!({ "fsGroup": GROUP }), one.clone(), (3, GROUP)),
        ("a pod with both", json!({ "runAsUser": USER, "fsGroup": GROUP }), one, (USER, GROUP)),
    ];
    for (what, security, containers, (user, group)) in cases {
        let scene = Scene::set_up();
        let token = write(&scene, &pod(security, containers));
        assert!(may(&token, user, group, 0o4), "{what}: the pod itself reads it");
        verdict.tried(format!("{what}: a stranger reads it"), may(&token, 4242, 4242, 0o4));
        if group == GROUP {
            verdict.tried(format!("{what}: the group writes it"), may(&token, 4242, group, 0o2));
        }
    }
}

#[test]
fn ferry_closes_tokens_to_strangers() {
    with_own_mounts(|| {
        let mut verdict = Verdict::default();
        let ferry = |scene: &Scene, pod: &Pod| {
            let mut own = PodVolumes::new(&scene.root(), SharedObject::from(pod.clone()));
            own.tokens = Tokens::from([(("v".to_string(), "token".to_string()), "jwt".to_string())]);
            // Its threads are made by this one, and so in its mount namespace.
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            let mounted = runtime.block_on(Volumes::of_machine(&scene.root()).set_up(&Arc::new(own)));
            mounted.expect("set up").volumes["v"].path.join("token")
        };
        attack(&ferry, &mut verdict);
        verdict.assert_held();
    });
}

#[test]
fn a_kubelet_that_keeps_the_default_mode_is_found_out() {
    let mut verdict = Verdict::default();
    let careless = |scene: &Scene, _: &Pod| {
        let token = scene.volume().join("token");
        std::fs::write(&token, "jwt").expect("written");
        nix::unistd::chown(&token, None, Some(GROUP.into())).expect("given");
        crate::set_mode(&token, 0o664);
        token
    };
    attack(&careless, &mut verdict);
    verdict.assert_breached();
}
