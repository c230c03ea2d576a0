use super::*;
use serde_json::json;

const HEADER: &str = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

fn surroundings() -> Surroundings {
    Surroundings {
        is_cgroup_v2: true,
        own_values: json!({ "podLogsDir": "/data/logs", "serializeImagePulls": false, "maxParallelImagePulls": 5 }),
    }
}

fn parse(fields: &str) -> Result<KubeletConfiguration, ConfigurationError> {
    KubeletConfiguration::parse(&format!("{HEADER}{fields}"), &surroundings())
}

fn check(fields: &str, expected: &str) {
    let error = parse(fields).expect_err(fields).to_string();
    assert!(error.contains(expected), "{fields}: {error}");
}

#[test]
fn an_empty_file_has_upstreams_defaults_and_this_kubelets_own_values() {
    let own = parse("").expect("good");
    assert_eq!((own.max_pods, own.pod_pids_limit, own.enable_server), (110, -1, true));
    assert_eq!(own.enforce_node_allocatable, ["pods"]);
    assert_eq!(own.node_status_report_frequency.0, 300_000_000_000);
    assert_eq!(own.crash_loop_back_off.max_container_restart_period.map(|period| period.0), Some(300_000_000_000));
    assert_eq!((own.pod_logs_dir.as_str(), own.max_parallel_image_pulls), ("/data/logs", Some(5)));
    assert_eq!(own.effective["authentication"]["webhook"]["cacheTTL"], "2m0s");
    assert_eq!(own.effective["logging"]["flushFrequency"], 5_000_000_000_i64);
    assert_eq!(KubeletConfiguration::without_file(&surroundings()).effective, own.effective);
}

#[test]
fn defaults_depend_on_other_fields() {
    let own = parse("nodeStatusUpdateFrequency: 20s\nmaxParallelImagePulls: 3\n").expect("good");
    assert_eq!(own.node_status_report_frequency.0, 20_000_000_000);
    assert!(!own.serialize_image_pulls);
    assert!(parse("maxParallelImagePulls: 1\n").expect("good").serialize_image_pulls);
    assert_eq!(parse("serializeImagePulls: true\n").expect("good").max_parallel_image_pulls, None);
    // kubeadm writes zeros for what it leaves to the kubelet.
    let zeros = "syncFrequency: 0s\nnodeStatusUpdateFrequency: 0s\nnodeStatusReportFrequency: 0s\nlogging:\n  flushFrequency: 0\n";
    assert_eq!(parse(zeros).map(|own| own.node_status_update_frequency.0), Ok(10_000_000_000));
}

#[test]
fn thresholds_of_eviction_replace_the_defaults() {
    let own = parse("evictionHard: { memory.available: 200Mi }\nimageGCHighThresholdPercent: 90\n").expect("good");
    let settings = own.pressure_settings();
    assert_eq!(settings.eviction.eviction_hard.len(), 1);
    assert_eq!(settings.image_gc.image_gc_high_threshold_percent, 90);
    assert_eq!(parse("").expect("good").pressure_settings().eviction.eviction_hard.len(), 5);
    check(
        "evictionSoft: { memory.available: 1Gi }\n",
        "grace period must be specified for the soft eviction threshold",
    );
    check("evictionHard: { memory.free: 1Gi }\n", "unsupported eviction signal memory.free");
}

#[test]
fn reading_is_strict() {
    check("maxPodz: 1\n", "strict decoding error: unknown field \"maxPodz\"");
    check("authentication:\n  anonymous:\n    enable: true\n", "unknown field \"authentication.anonymous.enable\"");
    check("maxPods: 1\nmaxPods: 2\n", "key \"maxPods\" already set in map");
    check("maxPods: many\n", "cannot unmarshal string into Go struct field");
    let other = KubeletConfiguration::parse("apiVersion: v1\nkind: Pod\n", &surroundings()).expect_err("another kind");
    assert_eq!(other.to_string(), "no kind \"Pod\" is registered for version \"v1\"");
}

#[test]
fn mistakes_are_gathered_in_upstreams_words() {
    check("maxPods: -1\n", "invalid configuration: maxPods (--max-pods) -1 must not be a negative number");
    check(
        "imageGCLowThresholdPercent: 90\n",
        "imageGCLowThresholdPercent (--image-gc-low-threshold) 90 must be less than",
    );
    check(
        "serializeImagePulls: true\nmaxParallelImagePulls: 2\n",
        "maxParallelImagePulls cannot be larger than 1 unless",
    );
    check(
        "topologyManagerPolicy: x\n",
        "topologyManagerPolicy (--topology-manager-policy) \"x\" must be one of: [\"none\" \"best-effort\"",
    );
    check("enforceNodeAllocatable: [pods, pods]\n", "duplicated enforcements \"pods\"");
    check(
        "enforceNodeAllocatable: [none, pods]\n",
        "may not contain additional enforcements when \"none\" is specified",
    );
    check(
        "crashLoopBackOff:\n  maxContainerRestartPeriod: 10m\n",
        "(got: 600 seconds) must be set between 1s and 300s",
    );
    check(
        "reservedSystemCPUs: 3-1\n",
        "unable to parse reservedSystemCPUs (--reserved-cpus) 3-1, error: invalid range \"3-1\" (3 > 1)",
    );
    check(
        "shutdownGracePeriod: 1s\nshutdownGracePeriodCriticalPods: 2s\n",
        "shutdownGracePeriodCriticalPods {2s} must be <= shutdownGracePeriod {1s}",
    );
    check("featureGates:\n  NodeSwap: false\n", "cannot set feature gate NodeSwap to false, feature is locked to true");
    check("podLogsDir: a/../b\n", "pod logs path \"a/../b\" must be absolute path");
    let both = parse("maxPods: -1\nport: 0\nrunOnce: true\n").expect_err("two mistakes").to_string();
    assert!(both.starts_with("[invalid configuration: ") && both.contains("runOnce"), "{both}");
}

#[test]
fn cgroup_v1_is_refused_where_the_file_asks_for_it() {
    let v1 = Surroundings { is_cgroup_v2: false, own_values: json!({ "failCgroupV1": false }) };
    let parse = |fields: &str| KubeletConfiguration::parse(&format!("{HEADER}{fields}"), &v1);
    assert!(parse("").is_ok());
    assert!(
        parse("failCgroupV1: true\n")
            .expect_err("v1")
            .to_string()
            .starts_with("kubelet is configured to not run on a host using cgroup v1.")
    );
}

#[test]
fn a_field_without_effect_is_refused_by_name_when_it_is_set() {
    check("kubeAPIQPS: 7\n", "invalid configuration: kubeAPIQPS: ");
    check(
        "authentication:\n  anonymous:\n    enabled: true\n",
        "invalid configuration: authentication.anonymous.enabled: ",
    );
    check("logging:\n  verbosity: 4\n", "invalid configuration: logging.verbosity: ");
    check("tlsMinVersion: VersionTLS13\n", "invalid configuration: tlsMinVersion: ");
    assert!(parse("kubeAPIQPS: 50\nrotateCertificates: true\ntlsMinVersion: VersionTLS12\n").is_ok());
}

/// The refused fields when they were last counted; the number only becomes smaller.
const REFUSED: usize = 68;

#[test]
fn each_field_of_the_type_has_its_line() {
    let definition = read::definition();
    let fields: Vec<&str> = definition.fields.iter().map(|field| &*field.name).collect();
    let lines: Vec<&str> = support::FIELDS.iter().map(|(name, _)| *name).collect();
    assert_eq!(lines, fields);
    let refused = support::FIELDS.iter().filter(|(_, own)| *own != support::Support::ActedOn).count();
    assert!(refused <= REFUSED, "{refused} fields are refused; only {REFUSED} may be");
}
