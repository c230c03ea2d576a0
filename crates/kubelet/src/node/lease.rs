//! The node's lease in kube-node-lease: its sign of life.

use ferry_client::{Client, Error};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta, OwnerReference};

const NAMESPACE: &str = "kube-node-lease";
/// Upstream's nodeLeaseDurationSeconds; four missed heartbeats.
const DURATION_SECONDS: i32 = 40;

#[derive(Default)]
pub(super) struct LeaseKeeper {
    lease: Option<Lease>,
}

impl LeaseKeeper {
    /// Renews the lease, or makes it. A conflict forgets what is held, so that the next
    /// beat reads it afresh.
    pub async fn renew(&mut self, client: &Client, node: &str, uid: Option<&str>) -> Result<(), Error> {
        let now = Some(MicroTime(Timestamp::now()));
        let renewed = match self.lease.take() {
            Some(mut lease) => {
                lease.spec.get_or_insert_default().renew_time = now;
                client.replace(NAMESPACE, &lease).await?
            }
            None => match client.get::<Lease>(NAMESPACE, node).await {
                Ok(mut lease) => {
                    let spec = lease.spec.get_or_insert_default();
                    spec.holder_identity = Some(node.into());
                    spec.lease_duration_seconds = Some(DURATION_SECONDS);
                    spec.renew_time = now;
                    client.replace(NAMESPACE, &lease).await?
                }
                Err(error) if error.is_not_found() => client.create(NAMESPACE, &render_lease(node, uid, now)).await?,
                Err(error) => return Err(error),
            },
        };
        self.lease = Some(renewed);
        Ok(())
    }
}

fn render_lease(node: &str, uid: Option<&str>, now: Option<MicroTime>) -> Lease {
    let owner = uid.map(|uid| OwnerReference {
        api_version: "v1".into(),
        kind: "Node".into(),
        name: node.into(),
        uid: uid.into(),
        ..Default::default()
    });
    Lease {
        metadata: ObjectMeta {
            name: Some(node.into()),
            namespace: Some(NAMESPACE.into()),
            owner_references: owner.map(|owner| vec![owner]),
            ..Default::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some(node.into()),
            lease_duration_seconds: Some(DURATION_SECONDS),
            renew_time: now,
            ..Default::default()
        }),
    }
}
