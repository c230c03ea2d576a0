//! Removes bootstrap tokens whose time is over.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::security::bootstrap_token::{Remaining, is_token, remaining, tokens};
use async_trait::async_trait;
use ferry_api::view::core::v1::Secret;
use ferry_client::{DeleteParams, Informers};
use std::time::Duration;

pub(crate) struct TokenCleanerController;

#[async_trait]
impl Controller for TokenCleanerController {
    fn name(&self) -> &'static str {
        "token-cleaner-controller"
    }

    fn identity(&self) -> &'static str {
        "token-cleaner"
    }

    fn workers(&self) -> usize {
        1
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::itself(tokens(informers))]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let secret = tokens(&ctx.informers).get(&key.namespace, &key.name);
        let Some(secret) = secret.filter(|secret| is_token(secret.view())) else { return Ok(Action::Done) };
        match remaining(secret.view(), ctx.now()) {
            Remaining::Endless => Ok(Action::Done),
            Remaining::For(left) => Ok(Action::RequeueAfter(Duration::try_from(left).unwrap_or(Duration::ZERO))),
            Remaining::Expired => {
                let params = DeleteParams { uid: Some(secret.uid().to_owned()), ..Default::default() };
                match ctx.client.api::<Secret>(&key.namespace).delete(&key.name, &params).await {
                    // It is gone already, or another of that name has come.
                    Err(error) if error.is_not_found() || error.is_conflict() => {}
                    other => other.during("remove the expired token", key)?,
                }
                Ok(Action::Done)
            }
        }
    }
}
