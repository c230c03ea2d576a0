//! Gives every namespace its `default` ServiceAccount; pods that name none run as it.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_client::{Informer, Informers, ListParams};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

const NAME: &str = "default";

pub struct ServiceAccountController;

#[async_trait]
impl Controller for ServiceAccountController {
    fn name(&self) -> &'static str {
        "service-account-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![
            Watch::itself(informers.of::<Namespace>()),
            Watch::new(accounts(informers), |event, enqueue| {
                enqueue.add(Key::new("", event.object().metadata.namespace.clone().unwrap_or_default()));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let namespace = ctx.informers.of::<Namespace>().get("", &key.name);
        if !namespace.is_some_and(|namespace| is_active(&namespace))
            || accounts(&ctx.informers).get(&key.name, NAME).is_some()
        {
            return Ok(Action::Done);
        }
        let account = ServiceAccount {
            metadata: ObjectMeta {
                name: Some(NAME.to_owned()),
                namespace: Some(key.name.clone()),
                ..Default::default()
            },
            ..Default::default()
        };
        match ctx.client.create(&key.name, &account).await {
            // The cache lags, or the namespace has just gone.
            Err(error) if error.is_already_exists() || error.is_not_found() => {}
            other => drop(other.during("create the default service account of", key)?),
        }
        Ok(Action::Done)
    }
}

/// Only the accounts of that one name are of interest, and kept in memory.
fn accounts(informers: &Informers) -> Informer<ServiceAccount> {
    informers.with(ListParams { field_selector: Some(format!("metadata.name={NAME}")), ..Default::default() })
}

/// New objects can only be made in a namespace that is not on its way out.
pub fn is_active(namespace: &Namespace) -> bool {
    let phase = namespace.status.as_ref().and_then(|status| status.phase.as_deref());
    namespace.metadata.deletion_timestamp.is_none() && phase != Some("Terminating")
}
