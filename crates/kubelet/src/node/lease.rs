//! The node's lease in kube-node-lease: its sign of life.

use ferry_api::view::coordination::v1::{Lease, LeaseSpec};
use ferry_api::view::meta::v1::{ObjectMeta, OwnerReference};
use ferry_client::{Client, Error, SharedObject};
use jiff::Timestamp;

const NAMESPACE: &str = "kube-node-lease";
pub(super) struct LeaseKeeper {
    lease: Option<SharedObject<Lease>>,
    /// nodeLeaseDurationSeconds; by default four missed heartbeats.
    duration_seconds: i32,
}

impl LeaseKeeper {
    pub fn new(duration_seconds: i32) -> Self {
        Self { lease: None, duration_seconds }
    }

    /// Renews the lease, or makes it. A conflict forgets what is held, so that the next
    /// beat reads it afresh.
    pub async fn renew(&mut self, client: &Client, node: &str, uid: Option<&str>) -> Result<(), Error> {
        let now = Timestamp::now();
        let leases = client.api::<Lease>(NAMESPACE);
        let renewed = match self.lease.take() {
            Some(held) => {
                let mut lease = held.to_owned();
                lease.edit_spec(|spec| spec.set_renew_time(now));
                leases.replace(&lease).await?
            }
            None => match leases.get(node).await {
                Ok(found) => {
                    let mut lease = found.to_owned();
                    lease.edit_spec(|spec| {
                        spec.set_holder_identity(node);
                        spec.set_lease_duration_seconds(self.duration_seconds);
                        spec.set_renew_time(now);
                    });
                    leases.replace(&lease).await?
                }
                Err(error) if error.is_not_found() => {
                    leases.create(&render_lease(node, uid, self.duration_seconds, now)).await?
                }
                Err(error) => return Err(error),
            },
        };
        self.lease = Some(renewed);
        Ok(())
    }
}

fn render_lease(node: &str, uid: Option<&str>, duration_seconds: i32, now: Timestamp) -> Lease {
    let owner =
        uid.map(|uid| OwnerReference::new().with_api_version("v1").with_kind("Node").with_name(node).with_uid(uid));
    let spec =
        LeaseSpec::new().with_holder_identity(node).with_lease_duration_seconds(duration_seconds).with_renew_time(now);
    Lease::new()
        .with_metadata(ObjectMeta::new().with_name(node).with_namespace(NAMESPACE).with_owner_references(owner))
        .with_spec(spec)
}
