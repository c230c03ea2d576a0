//! The flags of a node: what it is called and labelled with, and how its pods are reached.
//! Remembered with the cluster's other flags; those of the network are the server's, and a
//! node that joins takes them over.

use super::pod_network::Backend;
use anyhow::{Result, bail};
use clap::Args;
use ferry_api::view::core::v1::Taint;
use ferry_resources::names::{is_label_value, is_qualified_name};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFlags {
    /// Labels of the node beside the usual ones; several with commas or by repetition
    #[arg(long = "node-label", value_name = "KEY=VALUE", value_delimiter = ',')]
    labels: Vec<String>,
    /// Taints that the node is registered with; several with commas or by repetition
    #[arg(long = "node-taint", value_name = "KEY=VALUE:EFFECT", value_delimiter = ',')]
    taints: Vec<String>,
    /// The largest packet of pods [default: that of the link]
    #[arg(long, value_name = "BYTES")]
    pod_mtu: Option<u32>,
}

/// The flags of the whole cluster's network, given to the server.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkFlags {
    /// How packets reach the pods of other nodes [default: auto]
    #[arg(long, value_name = "HOW")]
    pub pod_network: Option<Backend>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeSettings {
    pub labels: Vec<String>,
    pub taints: Vec<String>,
    pub pod_mtu: Option<u32>,
    pub pod_network: Backend,
    /// The number of the cluster's tunnel, by which two clusters on one link are kept apart.
    pub vni: u32,
}

impl NodeSettings {
    /// The flags of now, or those of before where none are given.
    pub fn with(&self, flags: &NodeFlags) -> Result<Self> {
        let or = |now: &[String], before: &[String]| if now.is_empty() { before.to_vec() } else { now.to_vec() };
        let settings = Self {
            labels: or(&flags.labels, &self.labels),
            taints: or(&flags.taints, &self.taints),
            pod_mtu: flags.pod_mtu.or(self.pod_mtu),
            ..self.clone()
        };
        for label in &settings.labels {
            parse_label(label)?;
        }
        for taint in &settings.taints {
            parse_taint(taint)?;
        }
        if let Some(mtu) = settings.pod_mtu.filter(|mtu| !(576..=65_535).contains(mtu)) {
            bail!("--pod-mtu: {mtu} is not between 576 and 65535");
        }
        Ok(settings)
    }

    pub fn labels(&self) -> BTreeMap<String, String> {
        self.labels.iter().filter_map(|label| parse_label(label).ok()).collect()
    }

    pub fn taints(&self) -> Vec<Taint> {
        self.taints.iter().filter_map(|taint| parse_taint(taint).ok()).collect()
    }
}

/// Labels of Kubernetes' own domains that a kubelet may set on its node (upstream's
/// cmd/kubelet/app/options and plugin/pkg/admission/noderestriction).
const KUBELET_LABELS: [&str; 9] = [
    "kubernetes.io/hostname",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
];
const KUBELET_DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

fn parse_label(text: &str) -> Result<(String, String)> {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    if let Some(why) = is_qualified_name(key).into_iter().next() {
        bail!("--node-label: {text:?}: the key {key:?}: {why}");
    }
    if let Some(why) = is_label_value(value).into_iter().next() {
        bail!("--node-label: {text:?}: the value {value:?}: {why}");
    }
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let within = |parent: &str| domain == parent || domain.ends_with(&format!(".{parent}"));
    let is_reserved = within("kubernetes.io") || within("k8s.io");
    if is_reserved && !KUBELET_LABELS.contains(&key) && !KUBELET_DOMAINS.into_iter().any(within) {
        bail!(
            "--node-label: {key:?} is not a label that a node may give itself; once the node is there: kubectl label node NAME {text}"
        );
    }
    Ok((key.to_owned(), value.to_owned()))
}

fn parse_taint(text: &str) -> Result<Taint> {
    let Some((left, effect)) = text.rsplit_once(':') else {
        bail!("--node-taint: {text:?} is not of the form key=value:effect");
    };
    let (key, value) = left.split_once('=').unwrap_or((left, ""));
    if !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect) {
        bail!("--node-taint: {text:?}: {effect:?} is not NoSchedule, PreferNoSchedule or NoExecute");
    }
    if let Some(why) = is_qualified_name(key).into_iter().next() {
        bail!("--node-taint: {text:?}: the key {key:?}: {why}");
    }
    if let Some(why) = is_label_value(value).into_iter().next() {
        bail!("--node-taint: {text:?}: the value {value:?}: {why}");
    }
    Ok(Taint::new().with_key(key).with_value(value).with_effect(effect))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(labels: &[&str], taints: &[&str]) -> Result<NodeSettings> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        NodeSettings::default().with(&NodeFlags { labels: owned(labels), taints: owned(taints), pod_mtu: None })
    }

    #[test]
    fn flags_are_remembered_until_others_are_given() {
        let first = with(&["disk=ssd", "rack="], &["gpu=yes:NoSchedule"]).expect("good");
        assert_eq!(first.with(&NodeFlags::default()).expect("good"), first);
        assert_eq!(first.labels().get("rack").map(String::as_str), Some(""));
        let other = NodeFlags { labels: vec!["disk=hdd".into()], ..Default::default() };
        let second = first.with(&other).expect("good");
        assert_eq!(second.labels(), BTreeMap::from([("disk".to_owned(), "hdd".to_owned())]));
        assert_eq!(second.taints().len(), 1);
    }

    #[test]
    fn a_mistake_is_named_with_its_flag() {
        let cases: [(&[&str], &[&str], &str); 6] = [
            (&["a b=c"], &[], "--node-label: \"a b=c\": the key"),
            (&["a=b c"], &[], "--node-label: \"a=b c\": the value"),
            (&["node-role.kubernetes.io/worker="], &[], "kubectl label node NAME node-role.kubernetes.io/worker="),
            (&[], &["a=b"], "not of the form key=value:effect"),
            (&[], &["a=b:Never"], "\"Never\" is not NoSchedule"),
            (&[], &["=b:NoExecute"], "the key"),
        ];
        for (labels, taints, why) in cases {
            let error = with(labels, taints).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
        with(&["topology.kubernetes.io/zone=z", "node.kubernetes.io/x=y"], &["a:NoExecute"]).expect("good");
    }
}
