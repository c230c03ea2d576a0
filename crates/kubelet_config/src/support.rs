//! Each field of the configuration: the kubelet acts on it, or refuses every value but the default
//! by the field's name. No field is accepted and ignored.
//!
//! **Invariant:** the refused fields only become fewer. A test holds the table against the facts, so
//! that a new field has its line on arrival, and counts the refused ones.

use crate::feature_gates;
use ferry_api::schema::{Type, TypeDef};
use serde_json::Value;

/// The answer to a field that differs from its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    ActedOn,
    /// Refused with this sentence after the field's name.
    Refused(&'static str),
    /// One other value, as JSON, asks for what this kubelet does anyway.
    Only(&'static str, &'static str),
}

use Support::{ActedOn, Only, Refused};

const CLUSTER_TLS: &str = "the kubelet serves with the certificates of the cluster";
const CLUSTER_AUTH: &str = "clients of the kubelet are judged by the cluster's own certificates";
const EVENTS: &str = "the kubelet acts on events and asks for nothing periodically";
const NO_PROXY: &str = "the kubelet writes no rules of iptables";
const IN_PROCESS: &str = "the kubelet reaches the API in its own process";
const OWN_LOG: &str = "the log is configured by --log";
const ENDPOINT: &str = "the runtime is chosen by --container-runtime-endpoint";
const ONE_CGROUP: &str = "the cgroups of pods are below the one named for the cluster";
const NOT_YET: &str = "this kubelet does not support it";

/// By top-level field, in the order of the type.
pub const FIELDS: &[(&str, Support)] = &[
    ("kind", ActedOn),
    ("apiVersion", ActedOn),
    ("enableServer", ActedOn),
    ("staticPodPath", ActedOn),
    ("podLogsDir", ActedOn),
    ("syncFrequency", Refused(EVENTS)),
    ("fileCheckFrequency", Refused(EVENTS)),
    ("httpCheckFrequency", Refused(EVENTS)),
    ("staticPodURL", Refused("static pods come from staticPodPath only")),
    ("staticPodURLHeader", Refused("static pods come from staticPodPath only")),
    ("address", ActedOn),
    ("port", Refused("the kubelet's port is set by --kubelet-port")),
    ("readOnlyPort", Refused("the kubelet serves nothing without authentication")),
    ("tlsCertFile", Refused(CLUSTER_TLS)),
    ("tlsPrivateKeyFile", Refused(CLUSTER_TLS)),
    ("tlsCipherSuites", Refused("the server offers the suites of its TLS library")),
    ("tlsCurvePreferences", Refused("the server offers the curves of its TLS library")),
    ("tlsMinVersion", Only("\"VersionTLS12\"", "the server accepts TLS 1.2 and 1.3")),
    ("rotateCertificates", Only("true", CLUSTER_TLS)),
    ("serverTLSBootstrap", Refused(CLUSTER_TLS)),
    ("authentication", Refused(CLUSTER_AUTH)),
    ("authorization", Refused(CLUSTER_AUTH)),
    ("registryPullQPS", Refused("pulls are limited by maxParallelImagePulls")),
    ("registryBurst", Refused("pulls are limited by maxParallelImagePulls")),
    ("imagePullCredentialsVerificationPolicy", ActedOn),
    ("preloadedImagesVerificationAllowlist", ActedOn),
    ("eventRecordQPS", Refused(IN_PROCESS)),
    ("eventBurst", Refused(IN_PROCESS)),
    ("enableDebuggingHandlers", Refused("exec, attach, logs and port-forward are always served")),
    ("enableContentionProfiling", Refused("there is no contention profile")),
    ("healthzPort", Refused("the kubelet's health is part of ferry's own")),
    ("healthzBindAddress", Refused("the kubelet's health is part of ferry's own")),
    ("oomScoreAdj", Refused("the kubelet has no process of its own")),
    ("clusterDomain", ActedOn),
    ("clusterDNS", ActedOn),
    ("streamingConnectionIdleTimeout", Refused(NOT_YET)),
    ("nodeStatusUpdateFrequency", ActedOn),
    ("nodeStatusReportFrequency", ActedOn),
    ("nodeLeaseDurationSeconds", ActedOn),
    ("imageMinimumGCAge", ActedOn),
    ("imageMaximumGCAge", ActedOn),
    ("imageGCHighThresholdPercent", ActedOn),
    ("imageGCLowThresholdPercent", ActedOn),
    ("volumeStatsAggPeriod", Refused("volumes are measured when somebody asks")),
    ("kubeletCgroups", Refused("the kubelet has no process of its own")),
    ("systemCgroups", Refused("processes of the system are left where they are")),
    ("cgroupRoot", Refused(ONE_CGROUP)),
    ("cgroupsPerQOS", Refused(ONE_CGROUP)),
    ("cgroupDriver", Refused("the runtime uses the cgroupfs driver")),
    ("cpuManagerPolicy", ActedOn),
    ("singleProcessOOMKill", ActedOn),
    ("cpuManagerPolicyOptions", ActedOn),
    ("cpuManagerReconcilePeriod", Refused(EVENTS)),
    ("memoryManagerPolicy", Refused(NOT_YET)),
    ("topologyManagerPolicy", ActedOn),
    ("topologyManagerScope", ActedOn),
    ("topologyManagerPolicyOptions", ActedOn),
    ("qosReserved", Refused("the gate QOSReserved is off")),
    ("runtimeRequestTimeout", ActedOn),
    ("hairpinMode", Refused("the bridge is in hairpin mode by CNI")),
    ("maxPods", ActedOn),
    ("podCIDR", Refused("the pod range is the Node's")),
    ("podPidsLimit", ActedOn),
    ("resolvConf", ActedOn),
    ("runOnce", Refused("the kubelet does not end")),
    ("cpuCFSQuota", ActedOn),
    ("cpuCFSQuotaPeriod", Refused("quotas are of 100ms")),
    ("nodeStatusMaxImages", ActedOn),
    ("maxOpenFiles", Refused("the kubelet has no process of its own")),
    ("contentType", Refused(IN_PROCESS)),
    ("kubeAPIQPS", Refused(IN_PROCESS)),
    ("kubeAPIBurst", Refused(IN_PROCESS)),
    ("serializeImagePulls", ActedOn),
    ("maxParallelImagePulls", ActedOn),
    ("evictionHard", ActedOn),
    ("evictionSoft", ActedOn),
    ("evictionSoftGracePeriod", ActedOn),
    ("evictionPressureTransitionPeriod", ActedOn),
    ("evictionMaxPodGracePeriod", ActedOn),
    ("evictionMinimumReclaim", ActedOn),
    ("mergeDefaultEvictionSettings", ActedOn),
    ("podsPerCore", ActedOn),
    ("enableControllerAttachDetach", Refused("volumes are attached by the controller")),
    ("protectKernelDefaults", Refused("the kubelet changes no flag of the kernel")),
    ("makeIPTablesUtilChains", Refused(NO_PROXY)),
    ("iptablesMasqueradeBit", Refused(NO_PROXY)),
    ("iptablesDropBit", Refused(NO_PROXY)),
    ("featureGates", ActedOn),
    ("failSwapOn", ActedOn),
    ("memorySwap", Refused(NOT_YET)),
    ("containerLogMaxSize", ActedOn),
    ("containerLogMaxFiles", ActedOn),
    ("containerLogMaxWorkers", ActedOn),
    ("containerLogMonitorInterval", ActedOn),
    ("configMapAndSecretChangeDetectionStrategy", Refused("ConfigMaps and Secrets are watched")),
    ("systemReserved", ActedOn),
    ("kubeReserved", ActedOn),
    ("reservedSystemCPUs", ActedOn),
    ("showHiddenMetricsForVersion", Refused("no metric is hidden")),
    ("systemReservedCgroup", Refused("processes of the system are left where they are")),
    ("kubeReservedCgroup", Refused("the kubelet has no process of its own")),
    ("enforceNodeAllocatable", ActedOn),
    ("allowedUnsafeSysctls", ActedOn),
    ("volumePluginDir", Refused("there are no flexVolumes")),
    ("providerID", ActedOn),
    ("kernelMemcgNotification", Refused(NOT_YET)),
    ("logging", Refused(OWN_LOG)),
    ("enableSystemLogHandler", Refused(NOT_YET)),
    ("enableSystemLogQuery", ActedOn),
    ("shutdownGracePeriod", ActedOn),
    ("shutdownGracePeriodCriticalPods", ActedOn),
    ("shutdownGracePeriodByPodPriority", ActedOn),
    ("crashLoopBackOff", ActedOn),
    ("reservedMemory", Refused(NOT_YET)),
    ("enableProfilingHandler", Refused("profiles are those of ferry")),
    ("enableDebugFlagsHandler", Refused("the log is configured by --log")),
    ("seccompDefault", ActedOn),
    ("memoryThrottlingFactor", Refused("the gate MemoryQoS is off")),
    ("memoryReservationPolicy", Refused("the gate MemoryQoS is off")),
    ("registerWithTaints", ActedOn),
    ("registerNode", Refused("the kubelet always registers its node")),
    ("tracing", Refused("the kubelet exports no traces")),
    ("localStorageCapacityIsolation", Refused("the node always reports its ephemeral storage")),
    ("containerRuntimeEndpoint", Refused(ENDPOINT)),
    ("imageServiceEndpoint", Refused(ENDPOINT)),
    ("failCgroupV1", ActedOn),
    ("userNamespaces", Refused("pods have no user namespaces")),
];

fn support_of(name: &str) -> Support {
    FIELDS.iter().find(|(field, _)| *field == name).map_or(Refused(NOT_YET), |(_, support)| *support)
}

/// The sentences for fields that differ from the values of a configuration without them.
pub(crate) fn refuse(effective: &Value, baseline: &Value, definition: &TypeDef) -> Vec<String> {
    let mut out = Vec::new();
    for field in &definition.fields {
        let name = &*field.name;
        let (own, default) = (&effective[name], &baseline[name]);
        let rule = match support_of(name) {
            ActedOn => continue,
            Only(value, _) if serde_json::from_str(value).is_ok_and(|value: Value| value == *own) => continue,
            Refused(rule) | Only(_, rule) => rule,
        };
        for path in differences(own, default, &field.ty, name) {
            out.push(format!("invalid configuration: {path}: {rule}"));
        }
    }
    let gates = effective["featureGates"].as_object().into_iter().flatten();
    let gates = gates.filter_map(|(name, value)| Some((name.clone(), value.as_bool()?))).collect();
    out.extend(feature_gates::refuse(&gates));
    out
}

/// The paths of the fields that differ, as deep as the type has structs.
fn differences(own: &Value, default: &Value, ty: &Type, path: &str) -> Vec<String> {
    if is_same(own, default) {
        return Vec::new();
    }
    let Type::Struct(of) = ty else { return vec![path.to_owned()] };
    let below = |field: &str| format!("{path}.{field}");
    let fields = of.get().fields.iter();
    fields
        .flat_map(|field| differences(&own[&*field.name], &default[&*field.name], &field.ty, &below(&field.name)))
        .collect()
}

/// Zero and absent are the same, as for Go.
fn is_same(a: &Value, b: &Value) -> bool {
    fn is_zero(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Bool(flag) => !flag,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => text.is_empty() || text == "0s" || text == "0",
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.values().all(is_zero),
        }
    }
    a == b || (is_zero(a) && is_zero(b))
}
