//! /version: what clients compare themselves with. kubectl warns when it is more than one
//! minor version away, so the Kubernetes version that is spoken comes first and ferry's
//! own after it, as semver build metadata.

use serde_json::{Value, json};

/// The Kubernetes release whose behaviour this is.
pub(crate) const KUBERNETES: &str = "1.36.4";

pub(crate) fn render() -> Value {
    let platform = match std::env::consts::ARCH {
        "x86_64" => "linux/amd64",
        "aarch64" => "linux/arm64",
        _ => "linux/unknown",
    };
    json!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": format!("v{KUBERNETES}+ferry"),
        "gitCommit": option_env!("FERRY_COMMIT").unwrap_or("unknown"),
        "gitTreeState": "clean",
        "buildDate": option_env!("FERRY_BUILD_DATE").unwrap_or("1970-01-01T00:00:00Z"),
        "goVersion": "none",
        "compiler": "rustc",
        "platform": platform,
    })
}
