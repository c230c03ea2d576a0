//! Words of which a field has one.

use super::{Mistakes, has_gate};
use crate::KubeletConfiguration;

pub(super) fn validate(own: &KubeletConfiguration, out: &mut Mistakes) {
    out.require(!own.server_tls_bootstrap || has_gate(own, "RotateKubeletServerCertificate"), || {
        "serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate".into()
    });
    out.require(!own.run_once, || {
        "runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set".into()
    });
    for taint in &own.register_with_taints {
        let is_effect = ["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&taint.effect.as_str());
        if !is_effect || taint.key.is_empty() {
            let (key, value, effect) = (&taint.key, &taint.value, &taint.effect);
            out.0.push(format!("invalid taint: {{{key} {value} {effect} <nil>}}"));
        }
        out.require(taint.time_added.is_none(), || "taint.TimeAdded is not nil".into());
    }
    let policy = own.topology_manager_policy.as_str();
    out.require(["none", "best-effort", "restricted", "single-numa-node"].contains(&policy), || {
        format!("topologyManagerPolicy (--topology-manager-policy) {policy:?} must be one of: [\"none\" \"best-effort\" \"restricted\" \"single-numa-node\"]")
    });
    let scope = own.topology_manager_scope.as_str();
    out.require(["container", "pod"].contains(&scope), || {
        format!("topologyManagerScope (--topology-manager-scope) {scope:?} must be one of: \"container\", or \"pod\"")
    });
    let swap = own.memory_swap.swap_behavior.as_str();
    out.require(["", "NoSwap", "LimitedSwap"].contains(&swap), || {
        format!("memorySwap.swapBehavior {swap:?} must be one of: \"\", \"LimitedSwap\" or \"NoSwap\"")
    });
    let hairpin = own.hairpin_mode.as_str();
    out.require(["none", "hairpin-veth", "promiscuous-bridge"].contains(&hairpin), || {
        format!("option {hairpin:?} specified for hairpinMode (--hairpin-mode). Valid options are \"none\", \"hairpin-veth\" or \"promiscuous-bridge\"")
    });
    let verification = own.image_pull_credentials_verification_policy.as_str();
    let policies = ["NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify"];
    out.require(policies.contains(&verification), || {
        let [a, b, c, d] = policies;
        format!("option {verification:?} specified for imagePullCredentialsVerificationPolicy. Valid options are {a:?}, {b:?}, {c:?} or {d:?}")
    });
    let has_list = !own.preloaded_images_verification_allowlist.is_empty();
    out.require(!has_list || verification == "NeverVerifyAllowlistedImages", || {
        "can't set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not \"NeverVerifyAllowlistedImages\"".into()
    });
    let reservation = own.memory_reservation_policy.as_str();
    out.require(reservation != "TieredReservation" || has_gate(own, "MemoryQoS"), || {
        format!("memoryReservationPolicy {reservation:?} requires MemoryQoS feature gate to be enabled")
    });
    out.require(["None", "TieredReservation"].contains(&reservation), || {
        format!("option {reservation:?} specified for memoryReservationPolicy. Valid options are \"None\" or \"TieredReservation\"")
    });
    out.require(!own.container_runtime_endpoint.is_empty(), || {
        "the containerRuntimeEndpoint was not specified or empty".into()
    });
    // Upstream's CPU and memory managers refuse these when they are made.
    let policy = own.cpu_manager_policy.as_str();
    if !["none", "static"].contains(&policy) {
        out.0.push(format!("unknown policy: \"{policy}\""));
    }
    let policy = own.memory_manager_policy.as_str();
    if !["None", "Static"].contains(&policy) {
        out.0.push(format!("unknown policy: \"{policy}\""));
    }
}
