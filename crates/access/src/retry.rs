//! Asking a hook again after a failure that may pass, with upstream's pauses
//! (apiserver/pkg/util/webhook DefaultRetryBackoff). Called by the webhooks of
//! authentication, authorization and image policy, whose questions change nothing.

use crate::webhook::Error;
use rand::Rng as _;
use serde_json::Value;
use std::time::Duration;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const FACTOR: f64 = 1.5;
const JITTER: f64 = 0.2;
const ATTEMPTS: usize = 5;

pub async fn with_backoff<F>(ask: impl FnMut() -> F) -> Result<Value, Error>
where
    F: Future<Output = Result<Value, Error>>,
{
    with_backoff_from(FIRST_PAUSE, ask).await
}

/// The same with another first pause.
pub async fn with_backoff_from<F>(first_pause: Duration, mut ask: impl FnMut() -> F) -> Result<Value, Error>
where
    F: Future<Output = Result<Value, Error>>,
{
    let mut pause = first_pause;
    for _ in 1..ATTEMPTS {
        match ask().await {
            Err(error) if error.is_retriable() => {
                let stretch = 1.0 + JITTER * rand::rng().random::<f64>();
                tokio::time::sleep(pause.mul_f64(stretch)).await;
                pause = pause.mul_f64(FACTOR);
            }
            settled => return settled,
        }
    }
    ask().await
}
