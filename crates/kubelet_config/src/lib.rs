//! KubeletConfiguration (kubelet.config.k8s.io/v1beta1): the file that `ferry up
//! --kubelet-config` names, read strictly, filled with defaults and judged.
//!
//! [`KubeletConfiguration::parse`] is the way in. The fields and their constant defaults are facts
//! (`facts/kubelet.config.v1beta1.facts`); [`support`] has a line for each of them: the kubelet acts
//! on it, or refuses every other value than the default by name. The kubelet takes the result in
//! `ferry_kubelet::Config` and shows it at /configz.
//!
//! Upstream: pkg/kubelet/apis/config and staging/src/k8s.io/kubelet/config/v1beta1.

mod defaults;
pub mod feature_gates;
mod read;
pub mod reservation;
mod settings;
pub mod support;
mod types;
mod validation;

pub use settings::PressureSettings;
pub use types::*;

use serde_json::Value;

/// A file that makes no configuration. The sentences are upstream's where it has any.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ConfigurationError {
    #[error("{0}")]
    Syntax(String),
    #[error("no kind {kind:?} is registered for version {version:?}")]
    Kind { kind: String, version: String },
    #[error("strict decoding error: {}", .0.join(", "))]
    Strict(Vec<String>),
    /// A gate that there is not, or that is locked.
    #[error("{0}")]
    FeatureGates(String),
    #[error("{}", aggregate(.0))]
    Invalid(Vec<String>),
}

/// One sentence alone, several in brackets, as Go joins errors.
fn aggregate(sentences: &[String]) -> String {
    match sentences {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

/// What is known of the machine that the file is for.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub is_cgroup_v2: bool,
    /// The values that this kubelet has where the file leaves a field out and that differ from
    /// upstream's defaults: its own directories, ports and cluster addresses.
    pub own_values: Value,
}

impl KubeletConfiguration {
    /// Reads YAML or JSON and returns every mistake in one error.
    pub fn parse(text: &str, surroundings: &Surroundings) -> Result<Self, ConfigurationError> {
        let definition = read::definition();
        let read = read::read(text, &definition)?;
        let baseline = defaults::complete(read::empty(&definition), &definition, &surroundings.own_values);
        let effective = defaults::complete(read, &definition, &surroundings.own_values);
        let mut configuration: Self =
            serde_json::from_value(effective.clone()).map_err(|error| ConfigurationError::Syntax(error.to_string()))?;
        feature_gates::check(&configuration.feature_gates).map_err(ConfigurationError::FeatureGates)?;
        let mut mistakes = validation::validate(&configuration, surroundings);
        mistakes.extend(support::refuse(&effective, &baseline, &definition));
        if !mistakes.is_empty() {
            return Err(ConfigurationError::Invalid(mistakes));
        }
        configuration.effective = effective;
        Ok(configuration)
    }

    /// The configuration of a kubelet without a file.
    pub fn without_file(surroundings: &Surroundings) -> Self {
        let definition = read::definition();
        let effective = defaults::complete(read::empty(&definition), &definition, &surroundings.own_values);
        let mut configuration: Self = serde_json::from_value(effective.clone()).unwrap_or_default();
        configuration.effective = effective;
        configuration
    }
}

#[cfg(test)]
mod tests;
