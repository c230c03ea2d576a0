//! The plugin's part of the admission configuration (`PodSecurityConfiguration`): what
//! counts where a namespace says nothing, and who is exempt.

use ferry_api::field::{Error, ErrorList, Path};
use ferry_pod_security::policy::{Level, LevelVersion, Policy, Version};
use ferry_resources::names::{dns1123_label, dns1123_subdomain};
use serde::Deserialize;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodSecurityConfig {
    pub defaults: Policy,
    pub exempt_users: Vec<String>,
    pub exempt_namespaces: Vec<String>,
    pub exempt_runtime_classes: Vec<String>,
}

const API_VERSIONS: [&str; 3] = [
    "pod-security.admission.config.k8s.io/v1",
    "pod-security.admission.config.k8s.io/v1beta1",
    "pod-security.admission.config.k8s.io/v1alpha1",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: String,
    kind: String,
    #[serde(default)]
    defaults: Defaults,
    #[serde(default)]
    exemptions: Exemptions,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Defaults {
    enforce: Option<String>,
    enforce_version: Option<String>,
    audit: Option<String>,
    audit_version: Option<String>,
    warn: Option<String>,
    warn_version: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Exemptions {
    #[serde(default)]
    usernames: Vec<String>,
    #[serde(default)]
    namespaces: Vec<String>,
    #[serde(default)]
    runtime_classes: Vec<String>,
}

impl PodSecurityConfig {
    /// Reads a configuration in YAML or JSON; the error names every mistake.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
        if file.kind != "PodSecurityConfiguration" || !API_VERSIONS.contains(&file.api_version.as_str()) {
            return Err(format!("expected PodSecurityConfiguration, got {}, Kind={}", file.api_version, file.kind));
        }
        let mut errors = ErrorList::new();
        let defaults = &file.defaults;
        let mut mode = |name: &str, level: &Option<String>, version: &Option<String>| {
            let path = Path::new("defaults").child(name);
            let level = read(&path, level, Level::parse, &mut errors);
            let path = Path::new("defaults").child(&format!("{name}-version"));
            LevelVersion { level, version: read(&path, version, Version::parse, &mut errors) }
        };
        let enforce = mode("enforce", &defaults.enforce, &defaults.enforce_version);
        let warn = mode("warn", &defaults.warn, &defaults.warn_version);
        let audit = mode("audit", &defaults.audit, &defaults.audit_version);
        let exempt = file.exemptions;
        check_names("namespaces", &exempt.namespaces, |name| dns1123_label(name, false), &mut errors);
        check_names("runtimeClasses", &exempt.runtime_classes, |name| dns1123_subdomain(name, false), &mut errors);
        let not_empty =
            |name: &str| if name.is_empty() { vec!["username must not be empty".to_owned()] } else { vec![] };
        check_names("usernames", &exempt.usernames, not_empty, &mut errors);
        crate::admission::config_file::joined(&errors)?;
        Ok(Self {
            defaults: Policy { enforce, audit, warn },
            exempt_users: exempt.usernames,
            exempt_namespaces: exempt.namespaces,
            exempt_runtime_classes: exempt.runtime_classes,
        })
    }
}

/// An empty value is as good as none.
fn read<T: Default>(
    path: &Path,
    value: &Option<String>,
    parse: impl Fn(&str) -> Result<T, &'static str>,
    errors: &mut ErrorList,
) -> T {
    let Some(text) = value.as_deref().filter(|text| !text.is_empty()) else { return T::default() };
    parse(text).unwrap_or_else(|why| {
        errors.push(Error::invalid(path, text, why));
        T::default()
    })
}

fn check_names(field: &str, names: &[String], check: impl Fn(&str) -> Vec<String>, errors: &mut ErrorList) {
    for (index, name) in names.iter().enumerate() {
        let path = Path::new("exemptions").child(field).index(index);
        let why = check(name);
        if !why.is_empty() {
            errors.push(Error::invalid(&path, name.as_str(), why.join(", ")));
        } else if names[..index].contains(name) {
            errors.push(Error::duplicate(&path, name.as_str()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n";

    #[test]
    fn what_is_not_said_is_privileged() {
        assert_eq!(PodSecurityConfig::parse(HEAD), Ok(PodSecurityConfig::default()));
        let said = format!(
            "{HEAD}defaults: {{enforce: baseline, enforce-version: v1.30, warn: restricted}}\n\
             exemptions: {{usernames: [root], namespaces: [kube-system], runtimeClasses: [kata]}}\n"
        );
        let config = PodSecurityConfig::parse(&said).expect("valid");
        let modes = config.defaults.modes().map(|(_, mode)| mode.to_string());
        assert_eq!(modes, ["baseline:v1.30", "privileged:latest", "restricted:latest"]);
        assert_eq!(config.exempt_users, ["root"]);
        assert_eq!(config.exempt_namespaces, ["kube-system"]);
        assert_eq!(config.exempt_runtime_classes, ["kata"]);
    }

    #[test]
    fn every_mistake_is_named() {
        let wrong = format!(
            "{HEAD}defaults: {{enforce: strict, audit-version: '2'}}\n\
             exemptions: {{usernames: [a, a, ''], namespaces: [UPPER]}}\n"
        );
        let error = PodSecurityConfig::parse(&wrong).expect_err("invalid");
        for part in [
            r#"defaults.enforce: Invalid value: "strict": must be one of privileged, baseline, restricted"#,
            r#"defaults.audit-version: Invalid value: "2": must be "latest" or "v1.x""#,
            r#"exemptions.namespaces[0]: Invalid value: "UPPER""#,
            r#"exemptions.usernames[1]: Duplicate value: "a""#,
            r#"exemptions.usernames[2]: Invalid value: "": username must not be empty"#,
        ] {
            assert!(error.contains(part), "{part} in {error}");
        }
        assert!(PodSecurityConfig::parse(&format!("{HEAD}default: {{}}\n")).is_err(), "a misspelt field");
        assert!(PodSecurityConfig::parse("apiVersion: v1\nkind: Pod\n").is_err());
    }
}
