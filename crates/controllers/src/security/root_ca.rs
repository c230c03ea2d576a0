//! Publishes the cluster's certificate authority as ConfigMap kube-root-ca.crt in every
//! namespace; it is mounted into pods beside their token.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::security::service_account::is_active;
use async_trait::async_trait;
use ferry_api::view::core::v1::{ConfigMap, ConfigMapView, Namespace};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::{Informer, Informers, ListParams};

const NAME: &str = "kube-root-ca.crt";
const DESCRIPTION_KEY: &str = "kubernetes.io/description";
/// Upstream's words, which tools show to users.
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

pub(crate) struct RootCaController {
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
                enqueue.add(Key::new("", event.object().namespace()));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let namespace = ctx.informers.of::<Namespace>().get("", &key.name);
        if !namespace.is_some_and(|namespace| is_active(namespace.view())) {
            return Ok(Action::Done);
        }
        let current = published(&ctx.informers).get(&key.name, NAME);
        let plan = plan_config_map(&key.name, &self.root_ca, current.as_ref().map(|current| current.view()));
        let Some(wanted) = plan else { return Ok(Action::Done) };
        let config_maps = ctx.client.api::<ConfigMap>(&key.name);
        let result = match current {
            Some(_) => config_maps.replace(&wanted).await,
            None => config_maps.create(&wanted).await,
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

/// The ConfigMap as it must be; `None` where it is so already. Labels and annotations that
/// people add to it stay, and any other change of theirs is undone.
fn plan_config_map(namespace: &str, root_ca: &str, current: Option<ConfigMapView<'_>>) -> Option<ConfigMap> {
    let is_described = current.is_some_and(|current| current.metadata().annotations().contains_key(DESCRIPTION_KEY));
    let is_current =
        current.is_some_and(|current| current.data().len() == 1 && current.data().get("ca.crt") == Some(root_ca));
    if is_current && is_described {
        return None;
    }
    let made = || ConfigMap::new().with_metadata(ObjectMeta::new().with_name(NAME).with_namespace(namespace));
    let mut wanted = current.map_or_else(made, ConfigMapView::to_owned);
    wanted.set_data([("ca.crt", root_ca)]);
    if !is_described {
        wanted.edit_metadata(|metadata| metadata.insert_annotations(DESCRIPTION_KEY, DESCRIPTION));
    }
    Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;

    #[test]
    fn tampering_is_undone_and_the_rest_left_alone() {
        let made = plan_config_map("default", "PEM", None).expect("one is made");
        assert_eq!(plan_config_map("default", "PEM", Some(made.view())), None);
        let mut tampered = made.clone();
        tampered.insert_data("more", "x");
        tampered.edit_metadata(|metadata| metadata.insert_labels("mine", "yes"));
        let mended = plan_config_map("default", "PEM", Some(tampered.view())).expect("it is mended");
        assert_eq!(mended.view().data(), made.view().data());
        assert_eq!(mended.view().metadata().labels(), tampered.view().metadata().labels());
        assert!(plan_config_map("default", "NEW PEM", Some(made.view())).is_some());
    }
}
