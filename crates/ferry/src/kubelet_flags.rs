//! The kubelet's own flags, as far as `ferry up` has them, by upstream's names. They are kept with
//! the cluster, as those of `access.rs` are.

use anyhow::{Result, bail};
use clap::{ArgAction, Args};
use ferry_kubelet::settings::RuntimeSettings;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct KubeletFlags {
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
    /// What is said now, and for the rest what was said before.
    pub fn or(&self, before: &Self) -> Result<Self> {
        let path = |now: &Option<PathBuf>, before: &Option<PathBuf>| now.clone().or_else(|| before.clone());
        let flags = Self {
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

    pub fn apply(&self, settings: &mut RuntimeSettings) {
        settings.credential_provider_config.clone_from(&self.image_credential_provider_config);
        settings.credential_provider_bin_dir.clone_from(&self.image_credential_provider_bin_dir);
        settings.seccomp_default = self.seccomp_default.unwrap_or(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

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
