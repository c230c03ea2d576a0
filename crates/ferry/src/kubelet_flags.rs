//! The flags of `ferry up` that configure the kubelet, kept with the cluster as those of
//! `access.rs` are, and the rules by which its static pods are completed and judged.

use crate::access::absolute;
use anyhow::{Context, Result, bail};
use clap::{ArgAction, Args};
use ferry_kubelet::settings::RuntimeSettings;
use ferry_kubelet::static_pods::manifest::PodRules;
use ferry_kubelet_config::KubeletConfiguration;
use ferry_resources::{Row, validate_metadata};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct KubeletFlags {
    /// The kubelet's settings: a KubeletConfiguration [default: upstream's defaults]
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub kubelet_config: Option<PathBuf>,
    /// Which programs give credentials for which images: a CredentialProviderConfig, or a directory of them
    #[arg(long, value_name = "PATH", value_parser = crate::resolve::parser())]
    #[serde(default)]
    pub image_credential_provider_config: Option<PathBuf>,
    /// Where the programs of that configuration are
    #[arg(long, value_name = "DIR", value_parser = crate::resolve::parser())]
    #[serde(default)]
    pub image_credential_provider_bin_dir: Option<PathBuf>,
    /// Whether containers without a seccomp profile get the runtime's [default: false]
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(default)]
    pub seccomp_default: Option<bool>,
}

impl KubeletFlags {
    /// The flags of now, and for the rest those of before.
    pub fn or(&self, before: &Self) -> Result<Self> {
        let path = |now: &Option<PathBuf>, before: &Option<PathBuf>| now.clone().or_else(|| before.clone());
        let flags = Self {
            kubelet_config: match &self.kubelet_config {
                Some(file) => Some(absolute(file)?),
                None => before.kubelet_config.clone(),
            },
            image_credential_provider_config: path(
                &self.image_credential_provider_config,
                &before.image_credential_provider_config,
            ),
            image_credential_provider_bin_dir: path(
                &self.image_credential_provider_bin_dir,
                &before.image_credential_provider_bin_dir,
            ),
            seccomp_default: self.seccomp_default.or(before.seccomp_default),
        };
        if flags.image_credential_provider_config.is_some() != flags.image_credential_provider_bin_dir.is_some() {
            bail!("--image-credential-provider-config and --image-credential-provider-bin-dir belong together");
        }
        Ok(flags)
    }

    fn apply(&self, settings: &mut RuntimeSettings) {
        settings.credential_provider_config.clone_from(&self.image_credential_provider_config);
        settings.credential_provider_bin_dir.clone_from(&self.image_credential_provider_bin_dir);
        settings.seccomp_default = self.seccomp_default.unwrap_or(settings.seccomp_default);
    }

    /// Takes the file into the kubelet's configuration. `max_pods` is the flag of that name, which
    /// wins, and `addresses` how many pods a node has addresses for.
    pub fn configure(&self, config: &mut ferry_kubelet::Config, max_pods: Option<u32>, addresses: u32) -> Result<()> {
        if let Some(path) = &self.kubelet_config {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let mut surroundings = config.surroundings();
            let named = |name: &str| format!("--kubelet-config: {}{name}", path.display());
            let mut parsed = KubeletConfiguration::parse(&text, &surroundings).with_context(|| named(""))?;
            if let Some(max_pods) = max_pods {
                surroundings.own_values["maxPods"] = max_pods.into();
                parsed.max_pods = i32::try_from(max_pods).unwrap_or(i32::MAX);
                parsed.effective["maxPods"] = max_pods.into();
            }
            if u32::try_from(parsed.max_pods).is_ok_and(|pods| pods > addresses) {
                bail!(
                    "{}",
                    named(&format!(
                        ": maxPods: {} is more than the {addresses} addresses for pods of a node",
                        parsed.max_pods
                    ))
                );
            }
            config.configure(parsed);
        } else {
            let surroundings = config.surroundings();
            config.configure(KubeletConfiguration::without_file(&surroundings));
        }
        self.apply(&mut config.runtime);
        config.pod_rules = Some(std::sync::Arc::new(RegistryRules));
        Ok(())
    }
}

/// Where device plugins of everyone look for the kubelet.
const DEVICE_PLUGINS: &str = "/var/lib/kubelet/device-plugins";
const DEVICE_PLUGIN_FILES: [&str; 2] = ["kubelet.sock", "kubelet_internal_checkpoint"];

/// The directory of device plugins: the well-known one for the machine's default cluster, unless
/// another kubelet answers there.
pub fn device_plugin_dir(cluster_number: u8) -> Option<PathBuf> {
    let directory = PathBuf::from(DEVICE_PLUGINS);
    let is_taken = std::os::unix::net::UnixStream::connect(directory.join("kubelet.sock")).is_ok();
    (cluster_number == 0 && !is_taken).then_some(directory)
}

/// Leaves nothing of the kubelet's own in the well-known directory, which goes if it is empty then.
pub fn remove_device_plugin_files() {
    let directory = PathBuf::from(DEVICE_PLUGINS);
    for name in DEVICE_PLUGIN_FILES {
        let _ = std::fs::remove_file(directory.join(name));
    }
    let _ = std::fs::remove_dir(&directory);
    let _ = directory.parent().map(std::fs::remove_dir);
}

/// Static pods are completed and judged as the API server does it.
#[derive(Debug)]
struct RegistryRules;

impl PodRules for RegistryRules {
    fn complete(&self, pod: &mut Value) -> Vec<String> {
        let is_pod = |row: &&std::sync::Arc<Row>| row.group.is_empty() && row.kind == "Pod";
        let Some(row) = ferry_resources::all().iter().find(is_pod) else { return vec!["no rules of pods".into()] };
        row.default(pod);
        // A new pod of the API has no status when it is judged.
        let status = pod.as_object_mut().and_then(|fields| fields.remove("status"));
        let mut errors = validate_metadata(pod, row);
        errors.extend(row.validate(pod));
        if let Some(status) = status {
            pod["status"] = status;
        }
        errors.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::json;
    use std::path::Path;

    fn config() -> ferry_kubelet::Config {
        ferry_kubelet::Config::new("a", "192.0.2.1", Path::new("/data"), "/run/containerd.sock")
    }

    #[test]
    fn the_file_is_remembered_its_mistakes_are_named_and_flags_win() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("kubelet.yaml");
        let named = KubeletFlags { kubelet_config: Some(file.clone()), ..Default::default() };
        let kept = KubeletFlags::default().or(&named).expect("the file of before");
        assert_eq!(kept, named);
        let write = |fields: &str| {
            let text = format!("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{fields}");
            std::fs::write(&file, text).expect("written");
        };
        write("maxPodz: 1\n");
        let error = format!("{:#}", kept.configure(&mut config(), None, 250).expect_err("unknown"));
        assert!(error.contains("--kubelet-config") && error.contains("unknown field \"maxPodz\""), "{error}");
        write("maxPods: 40\n");
        let mut own = config();
        kept.configure(&mut own, None, 250).expect("good");
        assert_eq!(own.max_pods, 40);
        kept.configure(&mut own, Some(30), 250).expect("good");
        assert_eq!((own.max_pods, &own.configuration.effective["maxPods"]), (30, &json!(30)));
        let error = format!("{:#}", kept.configure(&mut config(), None, 9).expect_err("too many"));
        assert!(error.contains("maxPods: 40 is more than the 9 addresses"), "{error}");
    }

    #[test]
    fn static_pods_are_judged_by_the_rules_of_the_registry() {
        let mut pod = json!({ "metadata": { "name": "web", "namespace": "default", "uid": "h" },
            "spec": { "nodeName": "a", "containers": [{ "name": "a", "image": "i" }] }, "status": { "phase": "Pending" } });
        assert_eq!(RegistryRules.complete(&mut pod), Vec::<String>::new());
        assert_eq!((&pod["spec"]["restartPolicy"], &pod["status"]["phase"]), (&json!("Always"), &json!("Pending")));
        let mut bad = json!({ "metadata": { "name": "web", "namespace": "default" }, "spec": { "containers": [] } });
        assert!(RegistryRules.complete(&mut bad)[0].starts_with("spec.containers: Required value"));
    }

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: KubeletFlags,
    }

    #[test]
    fn flags_stay_until_others_are_given() {
        let said = |arguments: &[&str]| Line::try_parse_from(["up"].iter().chain(arguments)).expect("flags").flags;
        let both = said(&["--image-credential-provider-config=/c", "--image-credential-provider-bin-dir=/b"]);
        let both = both.or(&KubeletFlags::default()).expect("both");
        assert_eq!(said(&[]).or(&both).expect("both"), both);
        let error = said(&["--image-credential-provider-config=/c"]).or(&KubeletFlags::default()).expect_err("one");
        assert!(error.to_string().contains("belong together"), "{error}");
        let mut settings = RuntimeSettings::default();
        said(&["--seccomp-default"]).or(&both).expect("flags").apply(&mut settings);
        assert!(settings.seccomp_default && settings.credential_provider_bin_dir.is_some());
    }
}
