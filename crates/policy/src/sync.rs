//! The loop: changes come in from the informers, [`State`] computes whose rules they touch, and
//! the difference goes to the kernel. Called by [`crate::run`].

use std::sync::Arc;

use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::{Namespace, Pod};
use ferry_api::view::networking::v1::NetworkPolicy;
use ferry_client::{Event, Informers};
use ferry_nftables::{LiveTable, Nft};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::Config;
use crate::group::GroupId;
use crate::render;
use crate::state::{Changes, State};

/// Whose rules they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// What happens to pods that are not known.
    Unknown,
    Group(GroupId),
    PortName(Arc<str>),
    Policy(Arc<ObjectKey>),
    Stack(u64),
    Pod(Arc<ObjectKey>),
}

pub(crate) async fn run(
    informers: &Informers,
    config: &Config,
    nft: &dyn Nft,
    ready: watch::Sender<bool>,
    shutdown: CancellationToken,
) {
    let (pods, policies) = (informers.of::<Pod>(), informers.of::<NetworkPolicy>());
    let namespaces = informers.of::<Namespace>();
    tokio::select! {
        () = async { pods.synced().await; policies.synced().await; namespaces.synced().await } => {}
        () = shutdown.cancelled() => return,
    }
    let mut events = Events {
        pods: pods.subscribe(),
        policies: policies.subscribe(),
        namespaces: namespaces.subscribe(),
        changes: Changes::default(),
    };
    let mut state = State::new(config, pods, policies, namespaces);
    let mut table = LiveTable::new(nft, render::render_frame(config));
    loop {
        events.note_all();
        // What waits meanwhile is looked at once, however often it has changed.
        if !table.is_waiting() && !events.changes.is_empty() {
            for (owner, rules) in state.update(std::mem::take(&mut events.changes)) {
                table.replace(&owner, rules);
            }
        }
        if table.is_due() {
            table.sync().await;
            if table.is_complete() {
                ready.send_replace(true);
            }
            continue;
        }
        table.remove_stale().await;
        tokio::select! {
            going_on = events.wait() => if !going_on {
                return;
            },
            () = table.woken() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

struct Events {
    pods: mpsc::UnboundedReceiver<Event<Pod>>,
    policies: mpsc::UnboundedReceiver<Event<NetworkPolicy>>,
    namespaces: mpsc::UnboundedReceiver<Event<Namespace>>,
    changes: Changes,
}

impl Events {
    fn note_all(&mut self) {
        while let Ok(event) = self.namespaces.try_recv() {
            self.changes.namespaces.insert(event.object().name().to_owned());
        }
        while let Ok(event) = self.policies.try_recv() {
            self.changes.policies.insert(ObjectKey::of(event.object().meta()));
        }
        while let Ok(event) = self.pods.try_recv() {
            self.changes.pods.insert(ObjectKey::of(event.object().meta()));
        }
    }

    /// Waits for the next event; returns false when there will be none.
    async fn wait(&mut self) -> bool {
        tokio::select! {
            event = self.namespaces.recv() => match event {
                Some(event) => self.changes.namespaces.insert(event.object().name().to_owned()),
                None => return false,
            },
            event = self.policies.recv() => match event {
                Some(event) => self.changes.policies.insert(ObjectKey::of(event.object().meta())),
                None => return false,
            },
            event = self.pods.recv() => match event {
                Some(event) => self.changes.pods.insert(ObjectKey::of(event.object().meta())),
                None => return false,
            },
        };
        true
    }
}
