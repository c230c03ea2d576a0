//! What plugins are made of and which of them are on. `lib.rs` fills a [`Wiring`] once,
//! `all.rs` hands its parts to the plugins.

use super::pod_security::PodSecurityConfig;
use crate::authz::Authorizer;
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
}
