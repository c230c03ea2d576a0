//! What the tests on real parts share.
#![allow(dead_code)]

pub mod api;
pub mod caller;
pub mod machine;

use std::time::{Duration, Instant};

/// Waits for a condition, and says what it last saw when it does not come.
pub async fn eventually<T>(what: &str, limit: Duration, mut check: impl FnMut() -> Result<T, String>) -> T {
    let until = Instant::now() + limit;
    loop {
        match check() {
            Ok(value) => return value,
            Err(seen) if Instant::now() > until => panic!("{what} did not happen; last seen: {seen}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}
