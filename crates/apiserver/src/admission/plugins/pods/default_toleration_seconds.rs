//! DefaultTolerationSeconds: a pod stays five minutes on a node that stopped answering,
//! unless it says otherwise.

use super::add_toleration;
use crate::admission::{AdmissionRequest, Plugin};
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use serde_json::json;

const SECONDS: i64 = 300;

pub(crate) struct DefaultTolerationSeconds;

#[async_trait]
impl Plugin for DefaultTolerationSeconds {
    fn name(&self) -> &'static str {
        "DefaultTolerationSeconds"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.is_pod_write()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
            let tolerated = pod.items_at(&["spec", "tolerations"]).iter().any(|toleration| {
                let (own, effect) = (toleration.str_at(&["key"]), toleration.str_at(&["effect"]));
                (own.is_empty() || own == key) && (effect.is_empty() || effect == "NoExecute")
            });
            if tolerated {
                continue;
            }
            let toleration =
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS});
            add_toleration(pod, toleration);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use serde_json::Value;

    #[tokio::test]
    async fn five_minutes_unless_told_otherwise() {
        let check = async |given: Value, added: &[&str]| {
            let before = given.as_array().map_or(0, Vec::len);
            let pod = json!({"metadata": {"name": "p"}, "spec": {"tolerations": given}});
            let pod = Case::create(pods(), pod).run(&DefaultTolerationSeconds).await.expect("admitted");
            let all = pod.items_at(&["spec", "tolerations"]);
            let keys: Vec<&str> = all[before..].iter().map(|t| t.str_at(&["key"])).collect();
            assert_eq!(keys, added);
            assert!(all[before..].iter().all(|t| t.i64_at(&["tolerationSeconds"]) == Some(300)));
        };
        let (not_ready, unreachable) = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable");
        check(Value::Null, &[not_ready, unreachable]).await;
        check(json!([{"operator": "Exists"}]), &[]).await;
        check(json!([{"key": not_ready, "effect": "NoExecute", "tolerationSeconds": 5}]), &[unreachable]).await;
        check(json!([{"key": not_ready, "effect": "NoSchedule"}]), &[not_ready, unreachable]).await;
        check(json!([{"key": "other", "operator": "Exists"}]), &[not_ready, unreachable]).await;
    }
}
