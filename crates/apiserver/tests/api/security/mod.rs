//! The classes of attack that Kubernetes has had to learn from, each written once and run
//! twice: against ferry, where nothing may get through, and against a careless double that
//! has exactly the flaw, where everything must. A class whose double is not found out tests
//! nothing. Doubles live here, beside their attack; ferry has no switch that weakens it. Where
//! users may leave a guard out (a plugin that is off, an authorizer that allows all), a
//! server configured that way is the double.
//!
//! | class | CVE | file |
//! |---|---|---|
//! | a refused upgrade leaves the way to the backend open | 2018-1002105 | `upgrades.rs` |
//! | redirects of a kubelet are followed | 2020-8559 | `redirects.rs` |
//! | redirects of an aggregated server are followed or passed on | 2022-3172 | `redirects.rs` |
//! | redirects of a webhook are followed | 2020-8561 | `redirects.rs` |
//! | nodes lead the proxy to loopback and link-local addresses | 2022-3294 | `addresses.rs` |
//! | a name is judged by one address and connected to by another | 2020-8562 | `addresses.rs` |
//! | endpoints lead to addresses that are no pod's of the namespace | 2021-25740 | `addresses.rs` |
//! | `X-Remote-User` counts without the proxy's certificate | | `front_proxy.rs` |
//! | a request has two lengths | | `smuggling.rs` |
//! | aliases, nesting, size and copies cost more than they carry | 2019-11253, 2019-1002100 | `bodies.rs` |
//! | streams that are opened and reset at once | 2023-44487 | `rapid_reset.rs` |
//! | requests that are never sent whole hold every connection | | `half_sent.rs` |
//! | a namespaced URL reaches what is cluster-scoped | 2019-11247 | `prefixes.rs` |
//! | names lead out of their prefix of keys | 2022-3162 | `prefixes.rs` |
//! | webhooks see an old object that is not the stored one | 2021-25735 | `old_objects.rs` |
//! | policy on images overlooks containers | 2023-2727 | `pod_policy.rs` |
//! | policy on secrets overlooks containers and `envFrom` | 2023-2728, 2024-3177 | `pod_policy.rs` |
//! | a node changes its owners and taints, or reads what is not its own | 2025-5187 | `nodes.rs` |
//! | a node's mirror pods claim devices | 2025-4563 | `nodes.rs` |

mod addresses;
mod bodies;
mod front_proxy;
mod half_sent;
mod http2;
mod nodes;
mod old_objects;
mod pod_policy;
mod prefixes;
mod rapid_reset;
mod redirects;
mod smuggling;
mod upgrades;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The head of an HTTP/1 answer, in lower case; empty where the connection ends instead.
pub async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).to_ascii_lowercase()
}

/// The code in such a head; 0 where there is none.
pub fn code_of(head: &str) -> u16 {
    head.strip_prefix("http/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or_default()
}

/// What an attack came to: each attempt, by whether it got through.
#[derive(Debug, Default)]
pub struct Verdict {
    held: Vec<String>,
    breached: Vec<String>,
}

impl Verdict {
    pub fn tried(&mut self, attempt: impl Into<String>, got_through: bool) {
        let side = if got_through { &mut self.breached } else { &mut self.held };
        side.push(attempt.into());
    }

    /// Nothing got through, and something was tried.
    pub fn assert_held(&self) {
        assert!(self.breached.is_empty(), "got through: {:#?}", self.breached);
        assert!(!self.held.is_empty(), "nothing was tried");
    }

    /// Everything got through: there is no attempt that could not have failed against ferry.
    pub fn assert_breached(&self) {
        assert!(self.held.is_empty(), "not found out by: {:#?}", self.held);
        assert!(!self.breached.is_empty(), "nothing was tried");
    }
}
