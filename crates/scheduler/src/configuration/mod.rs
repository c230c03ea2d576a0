//! KubeSchedulerConfiguration v1, as a file has it: profiles with their plugins and arguments,
//! the share of nodes that a search looks at, and the back-off.
//!
//! Reading is strict and gathers every mistake. Settings of the process that a scheduler
//! inside ferry does not have (clientConnection, leaderElection, profiling, parallelism) are
//! read and have no effect.
//!
//! Upstream: pkg/scheduler/apis/config/{v1,validation}, and `NewFramework` of
//! pkg/scheduler/framework/runtime/framework.go for the order of plugins.

mod args;
mod extenders;
mod plugin_sets;
mod read;

use crate::extender::{ExtenderConfig, Extenders};
use crate::framework::{Framework, Handle};
use crate::plugins::all::{PluginArgs, all_with};
use crate::queue::BackoffTimes;
use args::read_args;
use extenders::read_extenders;
use ferry_api::field::{Error, Path};
use plugin_sets::PluginSets;
use read::{Mistakes, Object};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The name that pods ask for unless they name another.
pub const DEFAULT_SCHEDULER_NAME: &str = "default-scheduler";

#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    #[error("cannot read the configuration: {0}")]
    Syntax(#[from] serde_yaml_ng::Error),
    #[error("no kind {kind:?} is registered for version {version:?}")]
    Kind { kind: String, version: String },
    #[error("strict decoding error: {}", .0.join(", "))]
    Strict(Vec<String>),
    #[error("{0}")]
    Invalid(String),
    /// The plugins of a profile do not make a scheduler.
    #[error("initializing profiles: creating profile for scheduler name {profile}: {reason}")]
    Profile { profile: String, reason: String },
}

/// A configuration that makes a scheduler.
#[derive(Clone)]
pub struct Configuration {
    profiles: Vec<Profile>,
    extenders: Vec<ExtenderConfig>,
    pub backoff: BackoffTimes,
}

#[derive(Clone)]
struct Profile {
    scheduler_name: String,
    feasible_percent: usize,
    plugins: PluginSets,
    args: PluginArgs,
}

impl Default for Configuration {
    fn default() -> Self {
        let profile = Profile {
            scheduler_name: DEFAULT_SCHEDULER_NAME.to_owned(),
            feasible_percent: 0,
            plugins: PluginSets::default(),
            args: PluginArgs::default(),
        };
        Self { profiles: vec![profile], extenders: Vec::new(), backoff: BackoffTimes::default() }
    }
}

impl Configuration {
    /// Reads YAML or JSON. Returns every mistake in one error.
    pub fn parse(text: &str) -> Result<Self, ConfigurationError> {
        let value: Value = serde_yaml_ng::from_str(text)?;
        let mut mistakes = Mistakes::default();
        let known = [
            "apiVersion",
            "kind",
            "parallelism",
            "leaderElection",
            "clientConnection",
            "enableProfiling",
            "enableContentionProfiling",
            "percentageOfNodesToScore",
            "podInitialBackoffSeconds",
            "podMaxBackoffSeconds",
            "profiles",
            "extenders",
            "delayCacheUntilActive",
        ];
        let root = Object::new(Some(&value), Path::root(), &known, &mut mistakes);
        let version = root.text("apiVersion", &mut mistakes).unwrap_or_default();
        let kind = root.text("kind", &mut mistakes).unwrap_or_default();
        if (version, kind) != ("kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration") {
            return Err(ConfigurationError::Kind { kind: kind.to_owned(), version: version.to_owned() });
        }
        let out = read_configuration(&root, &mut mistakes);
        if !mistakes.decoding.is_empty() {
            return Err(ConfigurationError::Strict(mistakes.decoding));
        }
        let errors: Vec<String> = mistakes.validation.iter().map(ToString::to_string).collect();
        match errors.as_slice() {
            [] => {}
            [one] => return Err(ConfigurationError::Invalid(one.clone())),
            several => return Err(ConfigurationError::Invalid(format!("[{}]", several.join(", ")))),
        }
        // Plugins that are not there, or decide nothing at a point, show when they are put together.
        out.build(&Handle::default())?;
        out.build_extenders()?;
        Ok(out)
    }

    /// The clients of the extenders.
    pub fn build_extenders(&self) -> Result<Extenders, ConfigurationError> {
        Extenders::new(&self.extenders).map_err(|reason| ConfigurationError::Invalid(format!("extenders: {reason}")))
    }

    /// The plugins of each profile, by scheduler name.
    pub fn build(&self, handle: &Handle) -> Result<BTreeMap<String, Framework>, ConfigurationError> {
        let build = |profile: &Profile| {
            let plugins = all_with(handle, &profile.args);
            let name = &profile.scheduler_name;
            let framework = profile.plugins.assemble(name, plugins);
            let framework =
                framework.map_err(|reason| ConfigurationError::Profile { profile: name.clone(), reason })?;
            Ok((name.clone(), framework.with_feasible_percent(profile.feasible_percent)))
        };
        self.profiles.iter().map(build).collect()
    }
}

fn read_configuration(root: &Object<'_>, mistakes: &mut Mistakes) -> Configuration {
    if root.number("parallelism", mistakes).is_some_and(|own| own <= 0) {
        let value = root.number("parallelism", mistakes).unwrap_or(0);
        let reason = "should be an integer value greater than zero";
        mistakes.validation.push(Error::invalid(&Path::new("parallelism"), value, reason));
    }
    let election = [
        "leaderElect",
        "leaseDuration",
        "renewDeadline",
        "retryPeriod",
        "resourceLock",
        "resourceName",
        "resourceNamespace",
    ];
    root.object("leaderElection", &election, mistakes);
    let connection = ["kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"];
    root.object("clientConnection", &connection, mistakes);
    for name in ["enableProfiling", "enableContentionProfiling", "delayCacheUntilActive"] {
        root.flag(name, mistakes);
    }
    let percent = read_percent(root, mistakes).unwrap_or(0);
    let (extenders, ignored) = read_extenders(root, mistakes);
    let mut profiles = read_profiles(root, percent, mistakes);
    profiles.iter_mut().for_each(|profile| profile.args.fit.ignored_resources.extend(ignored.clone()));
    Configuration { profiles, extenders, backoff: read_backoff(root, mistakes) }
}

fn read_percent(object: &Object<'_>, mistakes: &mut Mistakes) -> Option<usize> {
    let percent = object.number("percentageOfNodesToScore", mistakes)?;
    if !(0..=100).contains(&percent) {
        let path = object.path.child("percentageOfNodesToScore");
        mistakes.validation.push(Error::invalid(&path, percent, "not in valid range [0-100]"));
    }
    usize::try_from(percent).ok()
}

fn read_backoff(root: &Object<'_>, mistakes: &mut Mistakes) -> BackoffTimes {
    let initial = root.number("podInitialBackoffSeconds", mistakes).unwrap_or(1);
    let max = root.number("podMaxBackoffSeconds", mistakes).unwrap_or(10);
    if initial <= 0 {
        let path = Path::new("podInitialBackoffSeconds");
        mistakes.validation.push(Error::invalid(&path, initial, "must be greater than 0"));
    }
    if max < initial {
        let reason = "must be greater than or equal to PodInitialBackoffSeconds";
        mistakes.validation.push(Error::invalid(&Path::new("podMaxBackoffSeconds"), max, reason));
    }
    let seconds = |number: i64| Duration::from_secs(u64::try_from(number).unwrap_or(0));
    BackoffTimes { initial: seconds(initial), max: seconds(max) }
}

fn read_profiles(root: &Object<'_>, percent: usize, mistakes: &mut Mistakes) -> Vec<Profile> {
    let known = ["schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"];
    let objects = root.objects("profiles", &known, mistakes);
    if objects.is_empty() {
        let mut profiles = Configuration::default().profiles;
        profiles.iter_mut().for_each(|profile| profile.feasible_percent = percent);
        return profiles;
    }
    // The name may be left out where there is only one.
    let default_name = if objects.len() == 1 { DEFAULT_SCHEDULER_NAME } else { "" };
    let mut out: Vec<Profile> = Vec::new();
    for object in &objects {
        let name = object.text("schedulerName", mistakes).unwrap_or(default_name).to_owned();
        let path = object.path.child("schedulerName");
        if name.is_empty() {
            mistakes.validation.push(Error::required(&path, ""));
        } else if let Some(index) = out.iter().position(|other| other.scheduler_name == name) {
            let first = format!("profiles[{index}].schedulerName");
            mistakes.validation.push(Error::duplicate(&path, first));
        }
        let plugins = PluginSets::read(object, mistakes);
        if out.first().is_some_and(|first| !first.plugins.has_same_queue_sort(&plugins)) {
            let path = object.path.child("plugins").child("queueSort");
            let own = plugins.queue_sort_names();
            mistakes.validation.push(Error::invalid(&path, own, "must be the same for all profiles"));
        }
        out.push(Profile {
            scheduler_name: name,
            feasible_percent: read_percent(object, mistakes).unwrap_or(percent),
            plugins,
            args: read_plugin_config(object, mistakes),
        });
    }
    out
}

fn read_plugin_config(profile: &Object<'_>, mistakes: &mut Mistakes) -> PluginArgs {
    let mut out = PluginArgs::default();
    let mut seen = BTreeSet::new();
    for config in profile.objects("pluginConfig", &["name", "args"], mistakes) {
        let name = config.text("name", mistakes).unwrap_or_default();
        if !seen.insert(name) {
            mistakes.validation.push(Error::duplicate(&config.path, name));
        }
        if let Some(reason) = plugin_sets::why_invalid(name) {
            mistakes.validation.push(Error::invalid(&config.path, name, reason));
            continue;
        }
        read_args(name, config.get("args"), &config.path.child("args"), &mut out, mistakes);
    }
    out
}

#[cfg(test)]
mod tests;
