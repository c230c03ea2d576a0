//! The node's answer to fields that it does not act on (`ferry_api::unsupported`): a pod
//! with one of security meaning is rejected, a volume that cannot be mounted keeps its pod
//! waiting, and a container with one is not started. `pod_worker` asks before it admits a
//! pod, `sync` before each start, because ephemeral containers come after admission.

use crate::admit::Rejection;
use crate::cri::features::HandlerFeatures;
use ferry_api::unsupported::{Consequence, FieldUse, fields_of_container, fields_of_pod_spec};
use ferry_api::view::View;
use ferry_api::view::core::v1::{ContainerView, PodView};

/// The answer to one pod's spec.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Judgement {
    pub rejection: Option<Rejection>,
    /// The volumes that keep the pod from starting, with the rule of each.
    pub missing_volumes: Option<String>,
}

/// Upstream's reason for a pod that needs a feature which the node lacks
/// (pkg/kubelet/lifecycle/handlers.go).
const REASON: &str = "PodFeatureUnsupported";

/// Upstream's reason and message for Strict groups (pkg/kubelet/lifecycle/predicate.go).
const NO_STRICT_GROUPS: &str = "SupplementalGroupsPolicyNotSupported";

/// By the features of the pod's handler, and by whether the runtime reports Strict groups.
pub(crate) fn judge(pod: PodView<'_>, handler: &HandlerFeatures, strict_groups: Option<bool>) -> Judgement {
    let strict = pod.spec().security_context().and_then(|own| own.supplemental_groups_policy()) == Some("Strict");
    if strict && strict_groups != Some(true) {
        let message = "SupplementalGroupsPolicy=Strict is not supported in this node".into();
        return Judgement {
            rejection: Some(Rejection { reason: NO_STRICT_GROUPS.into(), message }),
            ..Default::default()
        };
    }
    let mut uses = fields_of_pod_spec(&pod.spec().node().to_value(), "spec");
    // Fields that this runtime can do what others cannot.
    uses.retain(|found| match found.field.path {
        "hostUsers" => !handler.user_namespaces,
        "securityContext.supplementalGroupsPolicy" => false,
        _ => true,
    });
    let rejected = sentences(&uses, |found| found.field.consequence == Consequence::Rejected);
    let volumes = sentences(&uses, |found| {
        found.field.consequence == Consequence::Waits && found.field.path.starts_with("volumes[*]")
    });
    Judgement {
        rejection: rejected.map(|text| Rejection {
            reason: REASON.into(),
            message: format!("Pod requires node features that are not available: {text}"),
        }),
        missing_volumes: volumes,
    }
}

/// The reason why a container is not started; `at` is its place in the pod, as events name it.
pub(crate) fn judge_container(container: ContainerView<'_>, at: &str) -> Option<String> {
    sentences(&fields_of_container(&container.node().to_value(), at), |found| {
        found.field.consequence != Consequence::Ignored
    })
}

fn sentences(uses: &[FieldUse], is_meant: impl Fn(&FieldUse) -> bool) -> Option<String> {
    let sentences: Vec<String> = uses.iter().filter(|found| is_meant(found)).map(FieldUse::sentence).collect();
    (!sentences.is_empty()).then(|| sentences.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Container;
    use serde_json::json;

    #[test]
    fn a_pod_is_rejected_by_the_name_of_the_field() {
        let judge = |spec| judge(pod(spec).view(), &HandlerFeatures::default(), None);
        let judgement = judge(
            json!({ "hostUsers": false, "containers": [{ "name": "a", "securityContext": { "procMount": "Unmasked" } }] }),
        );
        let rejection = judgement.rejection.expect("rejected");
        assert_eq!(rejection.reason, "PodFeatureUnsupported");
        assert_eq!(
            rejection.message,
            "Pod requires node features that are not available: spec.hostUsers: this node gives pods no user namespace of their own"
        );
        assert_eq!(judge(json!({ "hostUsers": true, "containers": [{ "name": "a" }] })), Judgement::default());
    }

    #[test]
    fn what_the_runtime_reports_decides_on_user_namespaces_and_groups() {
        let alone = pod(json!({ "hostUsers": false, "containers": [{ "name": "a" }] }));
        let able = HandlerFeatures { user_namespaces: true, ..Default::default() };
        assert_eq!(judge(alone.view(), &able, None), Judgement::default());
        assert!(judge(alone.view(), &HandlerFeatures::default(), Some(true)).rejection.is_some());
        let strict = pod(json!({ "securityContext": { "supplementalGroupsPolicy": "Strict" } }));
        assert_eq!(judge(strict.view(), &able, Some(true)), Judgement::default());
        for reported in [None, Some(false)] {
            let rejection = judge(strict.view(), &able, reported).rejection.expect("rejected");
            assert_eq!(rejection.reason, "SupplementalGroupsPolicyNotSupported");
            assert_eq!(rejection.message, "SupplementalGroupsPolicy=Strict is not supported in this node");
        }
    }

    #[test]
    fn an_ephemeral_container_is_judged_by_itself() {
        let container = Container::from(json!({ "name": "debug",
            "volumeMounts": [{ "name": "v", "mountPath": "/v", "readOnly": true, "recursiveReadOnly": "Enabled" }] }));
        let why = judge_container(container.view(), "spec.ephemeralContainers{debug}").expect("not started");
        assert!(why.starts_with("spec.ephemeralContainers{debug}.volumeMounts[0].recursiveReadOnly: "), "{why}");
        assert_eq!(judge_container(Container::new().with_name("c").view(), "spec"), None);
    }
}
