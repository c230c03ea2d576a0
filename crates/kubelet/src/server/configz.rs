//! /configz and /flagz: the settings of this kubelet by the names of upstream's
//! KubeletConfiguration, every default among them. Pure.

use crate::Config;
use serde_json::{Map, Value, json};

pub(super) fn render(config: &Config) -> Value {
    json!({ "kubeletconfig": config.configuration.effective })
}

/// By name.
pub(super) fn settings(config: &Config) -> Map<String, Value> {
    config.configuration.effective.as_object().cloned().unwrap_or_default()
}
