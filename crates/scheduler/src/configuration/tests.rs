//! Configurations that are refused, with upstream's words, and ones that change the profile.

use super::*;
use crate::cycle::decide;
use crate::framework::Nominated;
use crate::plugins::testing::{asking, holding, node};
use crate::snapshot::Snapshot;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::json;

fn configuration(over: Value) -> String {
    let mut value = json!({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"});
    for (key, field) in over.as_object().expect("an object") {
        value[key] = field.clone();
    }
    value.to_string()
}

#[track_caller]
fn refused(over: Value, expected: &str) {
    let error = Configuration::parse(&configuration(over)).err().expect("a refusal").to_string();
    assert_eq!(error, expected);
}

/// The mistake of the arguments of one plugin.
#[track_caller]
fn refused_args(plugin: &str, args: Value, expected: &str) {
    let config = json!({"profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}]});
    refused(config, &format!("profiles[0].pluginConfig[0].args{expected}"));
}

/// The node that a pod of one cpu goes to: `empty`, or `busy`, which has three in use.
fn chosen(over: Value) -> String {
    let configuration = Configuration::parse(&configuration(over)).expect("a configuration");
    let frameworks = configuration.build(&Handle::default()).expect("profiles");
    let framework = frameworks.values().next().expect("a profile");
    let nodes = vec![
        holding(node("busy", json!({})), &[asking(json!({"cpu": "3", "memory": "6Gi"}))]),
        holding(node("empty", json!({})), &[]),
    ];
    let (snapshot, pod) = (Snapshot::of(nodes), asking(json!({"cpu": "1", "memory": "2Gi"})));
    let mut rng = StdRng::seed_from_u64(1);
    let decision = decide(framework, &snapshot, &pod, &Nominated::default(), &mut 0, &mut rng);
    decision.map(|decision| decision.node.to_string()).unwrap_or_default()
}

#[test]
fn yaml_is_read_and_defaults_are_filled_in() {
    let text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: a\n- schedulerName: b\n  percentageOfNodesToScore: 30\npodMaxBackoffSeconds: 20\n";
    let configuration = Configuration::parse(text).expect("a configuration");
    let frameworks = configuration.build(&Handle::default()).expect("profiles");
    let percents: Vec<(&str, usize)> =
        frameworks.iter().map(|(name, framework)| (name.as_str(), framework.feasible_percent())).collect();
    assert_eq!(percents, [("a", 0), ("b", 30)]);
    assert_eq!(configuration.backoff, BackoffTimes { initial: Duration::from_secs(1), max: Duration::from_secs(20) });
}

#[test]
fn a_configuration_is_read_strictly() {
    let kind = Configuration::parse("apiVersion: v1\nkind: Pod").err().expect("a refusal").to_string();
    assert_eq!(kind, "no kind \"Pod\" is registered for version \"v1\"");
    assert!(Configuration::parse("{").is_err());
    refused(json!({"profile": []}), "strict decoding error: unknown field \"profile\"");
    refused(
        json!({"profiles": [{"plugins": {"filter": {"enable": []}}, "pluginConfig": [{"name": "NodeAffinity", "args": {"x": 1}}]}]}),
        "strict decoding error: unknown field \"profiles[0].plugins.filter.enable\", unknown field \"profiles[0].pluginConfig[0].args.x\"",
    );
    refused(json!({"parallelism": "x"}), "strict decoding error: parallelism: expected an integer");
    refused(json!({"parallelism": 0}), "parallelism: Invalid value: 0: should be an integer value greater than zero");
    refused(
        json!({"percentageOfNodesToScore": 101}),
        "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
    );
    refused(
        json!({"podInitialBackoffSeconds": 0}),
        "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
    );
    refused(
        json!({"podInitialBackoffSeconds": 20}),
        "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
    );
}

#[test]
fn extenders_are_read_and_their_mistakes_named() {
    let extender = |over: Value| {
        let mut extender = json!({"urlPrefix": "http://127.0.0.1:1/x", "filterVerb": "filter"});
        over.as_object().into_iter().flatten().for_each(|(field, value)| extender[field] = value.clone());
        json!({"extenders": [extender]})
    };
    refused(
        extender(json!({"prioritizeVerb": "score"})),
        "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
    );
    refused(
        extender(json!({"managedResources": [{"name": "cpu"}]})),
        "extenders[0].managedResources[0].name: Invalid value: \"cpu\": is an invalid extended resource name",
    );
    let two = json!({"urlPrefix": "http://127.0.0.1:1", "bindVerb": "bind"});
    refused(
        json!({"extenders": [two, two]}),
        "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can implement bind",
    );
    refused(
        extender(json!({"tlsConfig": {"caData": "bm90aGluZw=="}})),
        "extenders: unable to load root certificates: unable to parse bytes as PEM block",
    );
    let managed = json!([{"name": "example.com/gpu", "ignoredByScheduler": true}]);
    let mut config = extender(json!({"managedResources": managed, "httpTimeout": "100ms", "ignorable": true}));
    config["apiVersion"] = "kubescheduler.config.k8s.io/v1".into();
    config["kind"] = "KubeSchedulerConfiguration".into();
    let found = Configuration::parse(&config.to_string()).expect("a configuration");
    assert_eq!(found.extenders[0].timeout, Duration::from_millis(100));
    assert!(found.profiles[0].args.fit.ignored_resources.contains("example.com/gpu"));
}

#[test]
fn profiles_must_differ_in_name_and_agree_on_the_queue() {
    refused(
        json!({"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]}),
        "profiles[1].schedulerName: Duplicate value: \"profiles[0].schedulerName\"",
    );
    refused(json!({"profiles": [{"schedulerName": "a"}, {}]}), "profiles[1].schedulerName: Required value");
    let sorted = json!({"schedulerName": "b", "plugins": {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}});
    refused(
        json!({"profiles": [{"schedulerName": "a"}, sorted]}),
        "profiles[1].plugins.queueSort: Invalid value: [\"PrioritySort\"]: must be the same for all profiles",
    );
    let nothing = json!({"profiles": [{"plugins": {"bind": {"disabled": [{"name": "*"}]}}}]});
    refused(
        nothing,
        "initializing profiles: creating profile for scheduler name default-scheduler: at least one bind plugin is needed for profile with scheduler name \"default-scheduler\"",
    );
    let prefix = "initializing profiles: creating profile for scheduler name default-scheduler: ";
    let with = |point: &str, name: &str| json!({"profiles": [{"plugins": {point: {"enabled": [{"name": name}]}}}]});
    refused(with("filter", "Nothing"), &format!("{prefix}FilterPlugin \"Nothing\" does not exist"));
    refused(
        with("filter", "ImageLocality"),
        &format!("{prefix}plugin \"ImageLocality\" does not extend FilterPlugin plugin"),
    );
    refused(
        with("filter", "EBSLimits"),
        "profiles[0].plugins.filter.enabled[0]: Invalid value: \"EBSLimits\": was invalid in version \"kubescheduler.config.k8s.io/v1\" (KubeSchedulerConfiguration is version \"kubescheduler.config.k8s.io/v1\")",
    );
}

#[test]
fn plugins_are_disabled_and_weighed() {
    assert_eq!(chosen(json!({})), "empty");
    let most = json!({"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}});
    assert_eq!(chosen(json!({"profiles": [{"pluginConfig": [most]}]})), "busy");
    // With all scores gone, the first node that has a random turn is taken; with one left, it decides.
    let score = |plugins: Value| json!({"disabled": [{"name": "*"}], "enabled": plugins});
    let only_fit =
        json!({"profiles": [{"plugins": {"score": score(json!([{"name": "NodeResourcesFit", "weight": 5}]))}}]});
    assert_eq!(chosen(only_fit), "empty");
    let no_fit = json!({"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}, {"name": "NodeResourcesBalancedAllocation"}]}}}]});
    assert!(!chosen(no_fit).is_empty());
    let affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["busy"]}]}]}});
    let added =
        json!({"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": affinity}}]}]});
    assert_eq!(chosen(added), "busy");
}

#[test]
fn arguments_are_refused_in_upstreams_words() {
    refused_args(
        "InterPodAffinity",
        json!({"hardPodAffinityWeight": 101}),
        ".hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
    );
    refused_args(
        "DefaultPreemption",
        json!({"minCandidateNodesPercentage": -1}),
        ".minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]",
    );
    refused_args("DefaultPreemption", json!({"kind": "Other"}), ": Invalid value: \"Other\": has to match plugin args");
    refused_args(
        "VolumeBinding",
        json!({"bindTimeoutSeconds": -1}),
        ".bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
    );
    refused_args(
        "PodTopologySpread",
        json!({"defaultingType": "None"}),
        ".defaultingType: Unsupported value: \"None\": supported values: \"System\", \"List\"",
    );
    let constraint = json!({"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"});
    refused_args(
        "PodTopologySpread",
        json!({"defaultingType": "List", "defaultConstraints": [constraint]}),
        ".defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
    );
    refused_args(
        "NodeResourcesFit",
        json!({"ignoredResourceGroups": ["a/b"]}),
        ".ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/'",
    );
    let strategy = |strategy: Value| json!({"scoringStrategy": strategy});
    refused_args(
        "NodeResourcesFit",
        strategy(json!({"type": "Best"})),
        ".scoringStrategy.type: Unsupported value: \"Best\": supported values: \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"",
    );
    refused_args(
        "NodeResourcesFit",
        strategy(json!({"type": "RequestedToCapacityRatio"})),
        ".scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio",
    );
    let shape = json!([{"utilization": 10, "score": 1}, {"utilization": 10, "score": 2}]);
    refused_args(
        "NodeResourcesFit",
        strategy(json!({"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": shape}})),
        ".scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 10: values must be sorted in increasing order",
    );
    refused_args(
        "NodeResourcesBalancedAllocation",
        json!({"resources": [{"name": "cpu", "weight": 2}]}),
        ".resources[0].weight: Invalid value: 2: must be 1",
    );
}
