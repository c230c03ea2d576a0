//! Keeps the cluster's certificates current while it runs: they are made anew when a third
//! of their life is left and when the machine gets an address that they do not name, and
//! taken up by the next connection. Nothing is restarted.
//!
//! What this covers is every certificate below the cluster's `pki` directory, the
//! kubelet's serving certificate among them. The kubelet of this process needs no client
//! certificate, so that it has none to ask for by a CertificateSigningRequest.

use crate::cluster::Cluster;
use crate::kubeconfig;
use ferry_pki::{Pki, PkiConfig};
use futures_util::StreamExt;
use rtnetlink::MulticastGroup;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The clock that timers go by stands still while a machine sleeps, so the real one is
/// looked at this often at least.
const LOOK_EVERY: Duration = Duration::from_secs(60 * 60);
/// Where an authority is about to end, what it issues is due at once; and where the disk
/// is full, nothing can be issued. Neither may keep a core busy.
const PAUSE: Duration = Duration::from_secs(60);

/// What the renewal goes by; a test has its own.
struct World {
    now: Box<dyn Fn() -> jiff::Timestamp + Send>,
    /// What certificates must name by now.
    names: Box<dyn Fn() -> PkiConfig + Send>,
    /// Called with what is there after a renewal and which files changed.
    renewed: Box<Renewed>,
}

type Renewed = dyn Fn(&Pki, &[String]) + Send;

/// Runs until `shutdown`.
pub async fn run(
    pki: Pki,
    cluster: Cluster,
    names: fn(&Cluster) -> PkiConfig,
    user_kubeconfig: Option<PathBuf>,
    shutdown: CancellationToken,
) {
    let addresses = match watch_addresses() {
        Ok(addresses) => addresses,
        Err(error) => {
            tracing::warn!(%error, "changes of this machine's addresses are only noticed by the hour");
            mpsc::channel(1).1
        }
    };
    let cluster = Arc::new(cluster);
    let for_names = cluster.clone();
    let world = World {
        now: Box::new(jiff::Timestamp::now),
        names: Box::new(move || names(&for_names)),
        renewed: Box::new(move |pki, changed| {
            tracing::info!(certificates = changed.join(", "), "renewed");
            if changed.iter().any(|stem| stem == "admin")
                && let Err(error) =
                    kubeconfig::write(&cluster, pki, user_kubeconfig.as_deref(), kubeconfig::Selection::Keep)
            {
                tracing::error!(error = format!("{error:#}"), "cannot write the renewed kubeconfig");
            }
        }),
    };
    keep_current(pki, world, addresses, shutdown).await;
}

/// One look at every event: the shutdown, a change of addresses, or time.
async fn keep_current(mut pki: Pki, world: World, mut addresses: mpsc::Receiver<()>, shutdown: CancellationToken) {
    let mut wait = compute_wait(&pki, (world.now)());
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
            Some(()) = addresses.recv() => {}
        }
        let (names, now, current) = ((world.names)(), (world.now)(), pki.clone());
        // A renewal waits on the disk.
        let renewed = tokio::task::spawn_blocking(move || current.renew(&names, now)).await;
        match renewed {
            Ok(Ok((fresh, changed))) => {
                pki = fresh;
                if !changed.is_empty() {
                    (world.renewed)(&pki, &changed);
                }
                wait = compute_wait(&pki, now);
            }
            Ok(Err(error)) => {
                tracing::error!(%error, "cannot renew the certificates, and will try again");
                wait = PAUSE;
            }
            Err(error) => {
                tracing::error!(%error, "a renewal of the certificates was lost, and will be tried again");
                wait = PAUSE;
            }
        }
    }
}

fn compute_wait(pki: &Pki, now: jiff::Timestamp) -> Duration {
    let left = Duration::try_from(pki.next_renewal().duration_since(now)).unwrap_or_default();
    left.clamp(PAUSE, LOOK_EVERY)
}

/// Says when this machine has gained or lost an address. One word is enough for many
/// changes, since what counts is read afterwards.
pub fn watch_addresses() -> std::io::Result<mpsc::Receiver<()>> {
    let (connection, handle, mut messages) =
        rtnetlink::new_multicast_connection(&[MulticastGroup::Ipv4Ifaddr, MulticastGroup::Ipv6Ifaddr])?;
    let (told, changes) = mpsc::channel(1);
    tokio::spawn(connection);
    tokio::spawn(async move {
        // The handle keeps the connection open.
        let _handle = handle;
        while messages.next().await.is_some() {
            match told.try_send(()) {
                Ok(()) | Err(mpsc::error::TrySendError::Full(())) => {}
                Err(mpsc::error::TrySendError::Closed(())) => return,
            }
        }
    });
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_pki::Facts;
    use jiff::Timestamp;
    use std::net::IpAddr;
    use std::sync::Mutex;

    struct Test {
        pki: Pki,
        clock: Arc<Mutex<Timestamp>>,
        addresses: Arc<Mutex<Vec<IpAddr>>>,
        told: mpsc::Sender<()>,
        renewed: mpsc::UnboundedReceiver<Vec<String>>,
        _dir: tempfile::TempDir,
    }

    fn start(issued_days_ago: u64) -> Test {
        let dir = tempfile::tempdir().expect("a directory");
        let now = Timestamp::now();
        let clock = Arc::new(Mutex::new(now));
        let addresses = Arc::new(Mutex::new(vec!["192.0.2.1".parse().expect("an address")]));
        let names = |ips: &[IpAddr]| PkiConfig {
            advertise_ips: ips.to_vec(),
            node_names: vec!["n".to_owned()],
            ..Default::default()
        };
        let issued = now - Duration::from_secs(issued_days_ago * 86_400);
        let config = names(&addresses.lock().expect("held"));
        let pki = ferry_pki::ensure_at(dir.path(), &config, issued).expect("key material");
        let (told, changes) = mpsc::channel(1);
        let (tell, renewed) = mpsc::unbounded_channel();
        let (for_world, for_names) = (clock.clone(), addresses.clone());
        let world = World {
            now: Box::new(move || *for_world.lock().expect("held")),
            names: Box::new(move || names(&for_names.lock().expect("held"))),
            renewed: Box::new(move |_, changed| drop(tell.send(changed.to_vec()))),
        };
        tokio::spawn(keep_current(pki.clone(), world, changes, CancellationToken::new()));
        Test { pki, clock, addresses, told, renewed, _dir: dir }
    }

    impl Test {
        fn serving(&self) -> Facts {
            Facts::of_pem("apiserver", &self.pki.apiserver.identity().certificate_pem).expect("readable")
        }

        /// What the kubelet's server shows: `server.rs` hands it this identity.
        fn kubelet_serving(&self) -> Facts {
            Facts::of_pem("kubelet", &self.pki.nodes["n"].serving.identity().certificate_pem).expect("readable")
        }

        /// What stands in a file below `pki`.
        fn on_disk(&self, stem: &str) -> Facts {
            let path = self.pki.dir.join(format!("{stem}.crt"));
            Facts::of_pem(stem, &std::fs::read_to_string(path).expect("there")).expect("readable")
        }
    }

    #[tokio::test]
    async fn a_new_address_is_named_at_once() {
        let mut test = start(0);
        let before = test.serving();
        let new: IpAddr = "192.0.2.2".parse().expect("an address");
        test.addresses.lock().expect("held").push(new);
        test.told.send(()).await.expect("told");
        let changed = vec!["apiserver".to_owned(), "kubelet-serving-n".to_owned()];
        assert_eq!(test.renewed.recv().await, Some(changed));
        assert!(!before.ips.contains(&new) && test.serving().ips.contains(&new));
        assert!(test.kubelet_serving().ips.contains(&new));
    }

    #[tokio::test(start_paused = true)]
    async fn both_certificates_of_the_kubelet_are_renewed() {
        let mut test = start(200);
        let (serving, client) = (test.kubelet_serving(), test.on_disk("kubelet-n"));
        *test.clock.lock().expect("held") = test.pki.next_renewal();
        let changed = test.renewed.recv().await.expect("renewed");
        for stem in ["kubelet-n", "kubelet-serving-n"] {
            assert!(changed.contains(&stem.to_owned()), "{changed:?}");
        }
        assert!(test.kubelet_serving().not_after > serving.not_after, "those who hold it have the new one");
        assert_eq!(test.on_disk("kubelet-serving-n"), test.kubelet_serving());
        let renewed = test.on_disk("kubelet-n");
        assert!(renewed.not_after > client.not_after && renewed.public_key == client.public_key);
        assert_eq!(renewed.common_name, "system:node:n");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_due_is_renewed_when_its_time_comes() {
        let mut test = start(200);
        let before = test.serving();
        assert!(compute_wait(&test.pki, *test.clock.lock().expect("held")) == LOOK_EVERY);
        // Nothing is due yet, however long one waits by the timers' clock.
        tokio::time::sleep(Duration::from_secs(86_400)).await;
        assert!(test.renewed.try_recv().is_err());
        *test.clock.lock().expect("held") = test.pki.next_renewal();
        let changed = test.renewed.recv().await.expect("renewed");
        assert!(changed.contains(&"apiserver".to_owned()) && changed.contains(&"admin".to_owned()), "{changed:?}");
        assert!(test.serving().not_after > before.not_after);
        assert_eq!(test.serving().public_key, before.public_key);
    }

    #[tokio::test]
    async fn the_wait_is_neither_endless_nor_nothing() {
        let test = start(0);
        let due = test.pki.next_renewal();
        assert_eq!(compute_wait(&test.pki, due), PAUSE);
        assert_eq!(compute_wait(&test.pki, due - Duration::from_secs(600)), Duration::from_secs(600));
        assert_eq!(compute_wait(&test.pki, due - Duration::from_secs(86_400)), LOOK_EVERY);
        assert_eq!(compute_wait(&test.pki, due + Duration::from_secs(86_400)), PAUSE);
    }
}
