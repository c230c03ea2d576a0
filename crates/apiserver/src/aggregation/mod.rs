//! API servers beside this one: APIServices say which group versions are answered
//! elsewhere, and this server passes requests for those on, under the front proxy's
//! certificate and with the caller's name in headers (kube-aggregator upstream).
//!
//! ```text
//! register.rs      an APIService for each group version of our own
//! index.rs         the APIServices as they are now        <- chain.rs asks it
//! backend.rs       requests to a backend                  <- chain.rs passes on
//! availability.rs  whether a backend answers, as a condition
//! documents.rs     what a backend says of itself          <- discovery.rs, openapi.rs
//! openapi.rs       its OpenAPI beside ours
//! authentication.rs  what backends must know to trust us
//! ```

mod authentication;
mod availability;
pub(crate) mod backend;
pub(crate) mod documents;
pub(crate) mod index;
pub(crate) mod openapi;
pub(crate) mod priority;
mod register;

use crate::ServerState;
use crate::metrics::Counters;
use crate::outgoing::Dial;
use crate::registry::lookup::ObjectLookup;
use documents::Documents;
use ferry_pki::LiveIdentity;
use index::Index;
use std::sync::Arc;

/// What requests need to know of the other servers.
pub(crate) struct Aggregator {
    pub index: Index,
    pub documents: Documents,
    pub counters: Counters,
    dial: Arc<dyn Dial>,
    identity: Option<Arc<LiveIdentity>>,
    lookup: Arc<dyn ObjectLookup>,
}

impl Aggregator {
    /// Follows the APIServices from now on.
    pub(crate) fn new(
        lookup: Arc<dyn ObjectLookup>,
        dial: Arc<dyn Dial>,
        identity: Option<Arc<LiveIdentity>>,
    ) -> Arc<Self> {
        let aggregator = Arc::new(Self {
            index: Index::default(),
            documents: Documents::default(),
            counters: Counters::default(),
            dial,
            identity,
            lookup,
        });
        // The lookup lives as long as the observer; it must not keep itself alive.
        let follower = Arc::downgrade(&aggregator);
        aggregator.lookup.subscribe(
            "apiregistration.k8s.io",
            "apiservices",
            Box::new(move |change| {
                if let Some(aggregator) = follower.upgrade() {
                    aggregator.index.apply(change);
                }
            }),
        );
        aggregator
    }
}

/// Makes what every cluster has and starts what keeps it true. Ends with the server.
pub(crate) async fn start(server: &Arc<ServerState>) {
    authentication::start(server).await;
    register::start(server).await;
    availability::start(server);
}
