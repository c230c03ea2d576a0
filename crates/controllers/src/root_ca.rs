//! Publishes the cluster's certificate authority as ConfigMap kube-root-ca.crt in every
//! namespace; it is mounted into pods beside their token.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::service_account::is_active;
use async_trait::async_trait;
use ferry_client::{Informer, Informers, ListParams};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use std::collections::BTreeMap;

const NAME: &str = "kube-root-ca.crt";
const DESCRIPTION_KEY: &str = "kubernetes.io/description";
/// Upstream's words, which tools show to users.
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

pub struct RootCaController {
    pub root_ca: String,
}

#[async_trait]
impl Controller for RootCaController {
    fn name(&self) -> &'static str {
        "root-ca-cert-publisher"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![
            Watch::itself(informers.of::<Namespace>()),
            Watch::new(published(informers), |event, enqueue| {
                enqueue.add(Key::new("", event.object().metadata.namespace.clone().unwrap_or_default()));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let namespace = ctx.informers.of::<Namespace>().get("", &key.name);
        if !namespace.is_some_and(|namespace| is_active(&namespace)) {
            return Ok(Action::Done);
        }
        let current = published(&ctx.informers).get(&key.name, NAME);
        let Some(wanted) = plan_config_map(&key.name, &self.root_ca, current.as_deref()) else {
            return Ok(Action::Done);
        };
        let result = match current {
            Some(_) => ctx.client.replace(&key.name, &wanted).await,
            None => ctx.client.create(&key.name, &wanted).await,
        };
        match result {
            Err(error) if error.is_already_exists() || error.is_not_found() => {}
            other => drop(other.during("publish the certificate authority in", key)?),
        }
        Ok(Action::Done)
    }
}

fn published(informers: &Informers) -> Informer<ConfigMap> {
    informers.with(ListParams { field_selector: Some(format!("metadata.name={NAME}")), ..Default::default() })
}

/// What people change in it is changed back, except what they add to its metadata.
fn plan_config_map(namespace: &str, root_ca: &str, current: Option<&ConfigMap>) -> Option<ConfigMap> {
    let data = BTreeMap::from([("ca.crt".to_owned(), root_ca.to_owned())]);
    let mut wanted = current.cloned().unwrap_or_else(|| ConfigMap {
        metadata: ObjectMeta {
            name: Some(NAME.to_owned()),
            namespace: Some(namespace.to_owned()),
            ..Default::default()
        },
        ..Default::default()
    });
    wanted.data = Some(data);
    let annotations = wanted.metadata.annotations.get_or_insert_default();
    annotations.entry(DESCRIPTION_KEY.to_owned()).or_insert_with(|| DESCRIPTION.to_owned());
    (Some(&wanted) != current).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tampering_is_undone_and_the_rest_left_alone() {
        let made = plan_config_map("default", "PEM", None).expect("one is made");
        assert_eq!(plan_config_map("default", "PEM", Some(&made)), None);
        let mut tampered = made.clone();
        tampered.data.as_mut().expect("data").insert("more".into(), "x".into());
        tampered.metadata.labels = Some(BTreeMap::from([("mine".into(), "yes".into())]));
        let mended = plan_config_map("default", "PEM", Some(&tampered)).expect("it is mended");
        assert_eq!(mended.data, made.data);
        assert_eq!(mended.metadata.labels, tampered.metadata.labels);
        assert!(plan_config_map("default", "NEW PEM", Some(&made)).is_some());
    }
}
