//! Gives every namespace its `default` ServiceAccount; pods that name none run as it.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::view::core::v1::{Namespace, NamespaceView, ServiceAccount};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::{Informer, Informers, ListParams};

const NAME: &str = "default";

pub(crate) struct ServiceAccountController;

#[async_trait]
impl Controller for ServiceAccountController {
    fn name(&self) -> &'static str {
        "service-account-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![
            Watch::itself(informers.of::<Namespace>()),
            Watch::new(accounts(informers), |event, enqueue| {
                enqueue.add(Key::new("", event.object().namespace()));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let namespace = ctx.informers.of::<Namespace>().get("", &key.name);
        if !namespace.is_some_and(|namespace| is_active(namespace.view()))
            || accounts(&ctx.informers).get(&key.name, NAME).is_some()
        {
            return Ok(Action::Done);
        }
        let metadata = ObjectMeta::new().with_name(NAME).with_namespace(&key.name);
        let account = ServiceAccount::new().with_metadata(metadata);
        match ctx.client.api(&key.name).create(&account).await {
            // The cache lags, or the namespace has just gone.
            Err(error) if error.is_already_exists() || error.is_not_found() => {}
            other => drop(other.during("create the default service account of", key)?),
        }
        Ok(Action::Done)
    }
}

/// The accounts of that one name, which alone are kept in memory.
fn accounts(informers: &Informers) -> Informer<ServiceAccount> {
    informers.with(ListParams { field_selector: Some(format!("metadata.name={NAME}")), ..Default::default() })
}

/// New objects can only be made in a namespace that is not on its way out.
pub(crate) fn is_active(namespace: NamespaceView<'_>) -> bool {
    namespace.metadata().deletion_timestamp().is_none() && namespace.status().phase() != "Terminating"
}
