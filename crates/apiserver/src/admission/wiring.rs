//! What plugins are made of and which of them are on. `lib.rs` fills a [`Wiring`] once,
//! `all.rs` hands its parts to the plugins.

use super::plugins::event_rate_limit::{self, Limit};
use super::plugins::pods::image_policy::ImagePolicyConfig;
use super::plugins::pods::pod_security::PodSecurityConfig;
use super::plugins::pods::pod_toleration_restriction::TolerationsConfig;
use crate::authz::Authorizer;
use crate::metrics::Metrics;
use crate::registry::lookup::ObjectLookup;
use crate::registry::{Registry, Rows};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// What a plugin may be given.
pub struct Wiring {
    /// The objects in memory.
    pub lookup: Arc<dyn ObjectLookup>,
    pub authorizer: Authorizer,
    pub rows: Arc<Rows>,
    /// For the few plugins that write. Weak, because the registry holds admission.
    pub registry: Weak<Registry>,
    pub config: PluginConfig,
    pub metrics: Arc<Metrics>,
}

/// `--enable-admission-plugins`, `--disable-admission-plugins`, and the parts of the
/// admission configuration that plugins read.
#[derive(Clone, Debug, Default)]
pub struct PluginConfig {
    pub enable: Vec<String>,
    pub disable: Vec<String>,
    /// The node selectors of PodNodeSelector: by namespace, and `clusterDefaultNodeSelector`.
    pub node_selectors: BTreeMap<String, String>,
    /// The defaults and exemptions of PodSecurity.
    pub pod_security: PodSecurityConfig,
    /// The tolerations of PodTolerationRestriction where a namespace names none.
    pub tolerations: TolerationsConfig,
    /// The limits of EventRateLimit.
    pub event_limits: Vec<Limit>,
    /// Whom ImagePolicyWebhook asks.
    pub image_policy: Option<ImagePolicyConfig>,
}

/// Upstream's plugins that are off unless they are asked for. All others are on.
const OFF_BY_DEFAULT: [&str; 13] = [
    "AlwaysAdmit",
    "AlwaysDeny",
    "AlwaysPullImages",
    "DenyServiceExternalIPs",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "ImagePolicyWebhook",
    "LimitPodHardAntiAffinityTopology",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "OwnerReferencesPermissionEnforcement",
    "PodNodeSelector",
    "PodTolerationRestriction",
];

impl PluginConfig {
    pub fn is_on(&self, plugin: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|name| name == plugin);
        if named(&self.enable) {
            return true;
        }
        !named(&self.disable) && !OFF_BY_DEFAULT.contains(&plugin)
    }

    /// That the plugins named are among those there are, and that those that are on have
    /// been told what they cannot do without.
    pub fn check(&self, plugins: &[&str]) -> Result<(), String> {
        for (flag, named) in [("enable", &self.enable), ("disable", &self.disable)] {
            if let Some(unknown) = named.iter().find(|name| !plugins.contains(&name.as_str())) {
                return Err(format!("{flag}-admission-plugins plugin {unknown:?} is unknown"));
            }
        }
        let both: Vec<&str> =
            self.enable.iter().filter(|name| self.disable.contains(name)).map(String::as_str).collect();
        if !both.is_empty() {
            let both = both.join(" ");
            return Err(format!("[{both}] in enable-admission-plugins and disable-admission-plugins overlapped"));
        }
        let failed = |plugin: &str, why: String| {
            Err(format!("failed to initialize admission: couldn't init admission plugin {plugin:?}: {why}"))
        };
        if self.is_on("EventRateLimit")
            && let Err(why) = event_rate_limit::validate(&self.event_limits)
        {
            return failed("EventRateLimit", why);
        }
        if self.is_on("ImagePolicyWebhook") && self.image_policy.is_none() {
            return failed("ImagePolicyWebhook", "no config specified".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_counts_before_the_default() {
        let config = PluginConfig {
            enable: vec!["AlwaysPullImages".into()],
            disable: vec!["LimitRanger".into()],
            ..Default::default()
        };
        assert!(config.is_on("AlwaysPullImages") && config.is_on("Priority"));
        assert!(!config.is_on("LimitRanger") && !config.is_on("NamespaceExists"));
    }

    #[test]
    fn what_cannot_work_is_said_before_anything_starts() {
        let check = |enable: &[&str], disable: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let config = PluginConfig { enable: owned(enable), disable: owned(disable), ..Default::default() };
            config.check(&["Priority", "LimitRanger", "EventRateLimit", "ImagePolicyWebhook"])
        };
        assert_eq!(check(&[], &["LimitRanger"]), Ok(()));
        let cases: [(&[&str], &[&str], &str); 5] = [
            (&["Prority"], &[], "enable-admission-plugins plugin \"Prority\" is unknown"),
            (&[], &["x"], "disable-admission-plugins plugin \"x\" is unknown"),
            (
                &["Priority", "LimitRanger"],
                &["LimitRanger"],
                "[LimitRanger] in enable-admission-plugins and disable-admission-plugins overlapped",
            ),
            (
                &["EventRateLimit"],
                &[],
                "failed to initialize admission: couldn't init admission plugin \"EventRateLimit\": limits: Invalid value: null: must not be empty",
            ),
            (
                &["ImagePolicyWebhook"],
                &[],
                "failed to initialize admission: couldn't init admission plugin \"ImagePolicyWebhook\": no config specified",
            ),
        ];
        for (enable, disable, why) in cases {
            assert_eq!(check(enable, disable), Err(why.to_owned()));
        }
    }
}
