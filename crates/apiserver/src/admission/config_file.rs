//! `--admission-control-config-file`: an AdmissionConfiguration, which gives plugins their
//! own configurations, in place or in files named from where it lies. Read once, by the
//! ferry binary, before the server starts.

use super::PluginConfig;
use super::plugins::event_rate_limit;
use super::plugins::pods::image_policy::ImagePolicyConfig;
use super::plugins::pods::pod_security::PodSecurityConfig;
use super::plugins::pods::pod_toleration_restriction::TolerationsConfig;
use ferry_api::field::ErrorList;
use serde::Deserialize;
use serde_yaml_ng::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AdmissionConfiguration {
    api_version: String,
    kind: String,
    #[serde(default)]
    plugins: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    path: PathBuf,
    configuration: Option<Value>,
}

/// The file of PodNodeSelector has neither version nor kind.
#[derive(Deserialize)]
struct NodeSelectors {
    #[serde(rename = "podNodeSelectorPluginConfig", default)]
    selectors: BTreeMap<String, String>,
}

impl PluginConfig {
    /// Takes over what the file says. The error names the file and what is wrong with it.
    pub fn read(&mut self, file: &Path) -> Result<(), String> {
        let named = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
        let found: AdmissionConfiguration = serde_yaml_ng::from_str(&text).map_err(|error| named(error.to_string()))?;
        let is_known = matches!(found.api_version.as_str(), "apiserver.config.k8s.io/v1" | "apiserver.k8s.io/v1alpha1");
        if found.kind != "AdmissionConfiguration" || !is_known {
            let (version, kind) = (found.api_version, found.kind);
            return Err(named(format!("expected AdmissionConfiguration, got {version}, Kind={kind}")));
        }
        let directory = file.parent().unwrap_or(Path::new(""));
        for entry in found.plugins {
            let name = entry.name.clone();
            self.take(entry, directory).map_err(|why| named(format!("plugin {name}: {why}")))?;
        }
        Ok(())
    }

    fn take(&mut self, entry: Entry, directory: &Path) -> Result<(), String> {
        // What is in place counts before a file, as upstream has it.
        let text = match &entry.configuration {
            Some(value) => serde_yaml_ng::to_string(value).map_err(|error| error.to_string())?,
            None if entry.path.as_os_str().is_empty() => return Ok(()),
            None => {
                let path = directory.join(&entry.path);
                std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?
            }
        };
        match entry.name.as_str() {
            "PodSecurity" => self.pod_security = PodSecurityConfig::parse(&text)?,
            "PodNodeSelector" => {
                let found: NodeSelectors = serde_yaml_ng::from_str(&text).map_err(|error| error.to_string())?;
                self.node_selectors = found.selectors;
            }
            "PodTolerationRestriction" => self.tolerations = TolerationsConfig::parse(&text)?,
            "EventRateLimit" => self.event_limits = event_rate_limit::parse(&text)?,
            "ImagePolicyWebhook" => self.image_policy = Some(ImagePolicyConfig::parse(&text, directory)?),
            _ => return Err("this plugin takes no configuration".into()),
        }
        Ok(())
    }
}

/// The mistakes of a configuration as one error: a lone one bare, several in brackets.
pub(super) fn joined(errors: &ErrorList) -> Result<(), String> {
    match errors.as_slice() {
        [] => Ok(()),
        [one] => Err(one.to_string()),
        many => Err(format!("[{}]", many.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<PluginConfig, String> {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).expect("written");
        }
        let mut config = PluginConfig::default();
        config.read(&directory.path().join("admission.yaml")).map(|()| config)
    }

    const HEAD: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n";
    const LEVELS: &str = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n\
                          defaults: {enforce: baseline}\n";

    #[test]
    fn plugins_are_configured_in_place_or_by_files_beside_it() {
        let by_file = format!("{HEAD}plugins: [{{name: PodSecurity, path: levels.yaml}}]\n");
        let config = read(&[("admission.yaml", &by_file), ("levels.yaml", LEVELS)]).expect("valid");
        assert_eq!(config.pod_security.defaults.enforce.to_string(), "baseline:latest");
        let in_place = format!(
            "{HEAD}plugins:\n- name: PodSecurity\n  configuration:\n    {}\n- name: PodNodeSelector\n  configuration:\n    podNodeSelectorPluginConfig: {{shop: disk=ssd}}\n- name: Priority\n",
            LEVELS.trim_end().replace('\n', "\n    ")
        );
        let config = read(&[("admission.yaml", &in_place)]).expect("valid");
        assert_eq!(config.pod_security.defaults.enforce.to_string(), "baseline:latest");
        assert_eq!(config.node_selectors["shop"], "disk=ssd");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_file() {
        let check = |text: &str, why: &str| {
            let error = read(&[("admission.yaml", text)]).expect_err("refused");
            assert!(error.contains("admission.yaml: ") && error.contains(why), "{error}");
        };
        check("apiVersion: v1\nkind: Pod\n", "expected AdmissionConfiguration, got v1, Kind=Pod");
        check(&format!("{HEAD}plugins: [{{name: PodSecurity, path: absent}}]\n"), "plugin PodSecurity: ");
        check(&format!("{HEAD}plugins: [{{name: Priority, configuration: {{}}}}]\n"), "takes no configuration");
        check(&format!("{HEAD}plugin: []\n"), "unknown field");
        assert!(read(&[]).is_err());
    }
}
