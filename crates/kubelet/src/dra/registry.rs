//! The DRA drivers of this node: which are registered, how their devices are, and what becomes of
//! their ResourceSlices when they are gone (upstream: pkg/kubelet/cm/dra/plugin, healthinfo.go).

use super::driver::{Driver, Service, choose_service};
use super::proto::{HEALTHY, UNHEALTHY, WatchResponse};
use super::resources::ReportedHealth;
use crate::context::Context;
use ferry_api::view::resource::v1::ResourceSlice;
use ferry_client::{DeleteParams, ListParams};
use ferry_devices::plugin::Health;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tonic::Code;

/// ResourceSlices of a driver that is gone are kept this long (upstream's defaultWipingDelay).
const WIPING_DELAY: Duration = Duration::from_secs(30);
/// A stream of health that has ended is opened again after this.
const HEALTH_RETRY: Duration = Duration::from_secs(5);
/// Upstream's DefaultHealthTimeout.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(30);
/// Upstream's ResourceHealthMessageMaxLength.
const MAX_MESSAGE: usize = 1024;
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(300);

/// A device of a driver: pool and name.
type DeviceKey = (String, String);

#[derive(Default)]
pub struct Registry {
    drivers: Mutex<HashMap<String, Vec<Registered>>>,
    health: Mutex<HashMap<String, BTreeMap<DeviceKey, ReportedHealth>>>,
}

struct Registered {
    /// The registrar's socket, by which the driver goes again.
    socket: PathBuf,
    driver: Driver,
    tasks: Vec<AbortHandle>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Registry {
    /// The newest driver of that name.
    pub(super) fn get(&self, name: &str) -> Result<Driver, String> {
        if name.is_empty() {
            return Err("DRA driver name is empty".into());
        }
        let drivers = self.drivers.lock();
        let newest = drivers.get(name).and_then(|own| own.last());
        newest.map(|own| own.driver.clone()).ok_or_else(|| format!("DRA driver {name} is not registered"))
    }

    fn is_registered(&self, name: &str) -> bool {
        self.drivers.lock().get(name).is_some_and(|own| !own.is_empty())
    }

    pub(super) fn health(&self, driver: &str, pool: &str, device: &str, now: SystemTime) -> (Health, Option<String>) {
        let all = self.health.lock();
        let own = all.get(driver).and_then(|own| own.get(&(pool.to_owned(), device.to_owned())));
        match own.filter(|own| now <= own.valid_until) {
            Some(own) => (own.health, own.message.clone()),
            None => (Health::Unknown, None),
        }
    }

    /// Takes over a report and returns the devices whose health is another now.
    fn report(&self, driver: &str, response: WatchResponse) -> Vec<DeviceKey> {
        let mut all = self.health.lock();
        let known = all.entry(driver.to_owned()).or_default();
        let mut changed = Vec::new();
        for reported in response.devices {
            let device = reported.device.clone().unwrap_or_default();
            let key = (device.pool_name, device.device_name);
            let new = read_health(&reported);
            let is_same = known.get(&key).is_some_and(|old| (old.health, &old.message) == (new.health, &new.message));
            known.insert(key.clone(), new);
            if !is_same {
                changed.push(key);
            }
        }
        changed
    }

    /// Nothing is known of the driver's devices any more.
    fn clear(&self, driver: &str) -> Vec<DeviceKey> {
        self.health.lock().remove(driver).unwrap_or_default().into_keys().collect()
    }
}

fn read_health(reported: &super::proto::DeviceHealth) -> ReportedHealth {
    let seconds = u64::try_from(reported.health_check_timeout_seconds).ok().filter(|seconds| *seconds > 0);
    let timeout = seconds.map_or(HEALTH_TIMEOUT, Duration::from_secs);
    let updated = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(reported.last_updated_time).unwrap_or(0));
    let mut message = reported.message.clone();
    if message.len() > MAX_MESSAGE {
        let mut end = MAX_MESSAGE - 3;
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
        message.push_str("...");
    }
    ReportedHealth {
        health: match reported.health {
            HEALTHY => Health::Healthy,
            UNHEALTHY => Health::Unhealthy,
            _ => Health::Unknown,
        },
        message: Some(message).filter(|message| !message.is_empty()),
        valid_until: updated + timeout,
    }
}

/// A registrar has brought a driver.
pub fn install(
    context: &Arc<Context>,
    name: &str,
    socket: PathBuf,
    endpoint: PathBuf,
    versions: &[String],
) -> Result<(), String> {
    let service: Service = choose_service(name, &endpoint.to_string_lossy(), versions)?;
    let driver = Driver::new(endpoint.clone(), service);
    let watch = tokio::spawn(follow_health(context.clone(), name.to_owned(), driver.clone()));
    let monitor = tokio::spawn(monitor(context.clone(), name.to_owned(), endpoint));
    let tasks = vec![watch.abort_handle(), monitor.abort_handle()];
    let mut drivers = context.dra.registry.drivers.lock();
    let own = drivers.entry(name.to_owned()).or_default();
    own.retain(|known| known.socket != socket);
    own.push(Registered { socket, driver, tasks });
    Ok(())
}

/// The registrar's socket is gone, and with it the driver behind it.
pub fn uninstall(context: &Arc<Context>, name: &str, socket: &std::path::Path) {
    {
        let mut drivers = context.dra.registry.drivers.lock();
        if let Some(own) = drivers.get_mut(name) {
            own.retain(|known| known.socket != socket);
        }
    }
    notify(context, name, context.dra.registry.clear(name));
    let (context, name) = (context.clone(), name.to_owned());
    tokio::spawn(async move {
        tokio::time::sleep(WIPING_DELAY).await;
        if !context.dra.registry.is_registered(&name) {
            wipe_slices(&context, Some(&name)).await;
        }
    });
}

fn notify(context: &Context, driver: &str, devices: Vec<DeviceKey>) {
    let users: BTreeSet<String> =
        devices.iter().flat_map(|(pool, device)| context.dra.users(driver, pool, device)).collect();
    users.iter().for_each(|uid| context.wakers.wake(uid));
}

/// Follows the health of a driver's devices, where it reports any, until the driver is gone.
async fn follow_health(context: Arc<Context>, name: String, driver: Driver) {
    loop {
        match driver.watch_health().await {
            Err(error) if error.code() == Code::Unimplemented => return,
            Err(error) => tracing::debug!(driver = %name, %error, "no stream of health"),
            Ok(mut reports) => {
                loop {
                    match reports.message().await {
                        Ok(Some(report)) => notify(&context, &name, context.dra.registry.report(&name, report)),
                        Ok(None) => break,
                        Err(error) if error.code() == Code::Unimplemented => return,
                        Err(_) => break,
                    }
                }
                notify(&context, &name, context.dra.registry.clear(&name));
            }
        }
        tokio::time::sleep(HEALTH_RETRY).await;
    }
}

/// Finds out that a driver has died without its sockets being removed: the connection that is held
/// to it ends, and no new one can be made for as long as its slices are kept.
async fn monitor(context: Arc<Context>, name: String, endpoint: PathBuf) {
    let mut is_lost = false;
    loop {
        match UnixStream::connect(&endpoint).await {
            Ok(mut stream) => {
                is_lost = false;
                let mut byte = [0; 64];
                // What a server says first is nothing of ours.
                while matches!(stream.read(&mut byte).await, Ok(1..)) {}
                // A server closes a connection that stays silent; a dead one refuses the next.
                tokio::time::sleep(FIRST_RETRY).await;
            }
            Err(_) if is_lost => {
                wipe_slices(&context, Some(&name)).await;
                return;
            }
            Err(_) => {
                is_lost = true;
                tokio::time::sleep(WIPING_DELAY).await;
            }
        }
    }
}

/// Removes the slices of all drivers when the kubelet starts: those that run publish them anew.
pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), crate::Error> {
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = async {
            context.node.synced().await;
            wipe_slices(&context, None).await;
            shutdown.cancelled().await;
        } => {}
    }
    Ok(())
}

/// Deletes the node's ResourceSlices, of one driver or of all; tried until it succeeds.
async fn wipe_slices(context: &Context, driver: Option<&str>) {
    let mut pause = FIRST_RETRY;
    loop {
        match try_wipe(context, driver).await {
            Ok(()) => return,
            Err(error) => tracing::debug!(%error, "cannot delete the ResourceSlices of a driver that is gone"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LAST_RETRY);
    }
}

async fn try_wipe(context: &Context, driver: Option<&str>) -> Result<(), ferry_client::Error> {
    let mut selector = format!("spec.nodeName={}", context.config.node_name);
    if let Some(driver) = driver {
        selector.push_str(&format!(",spec.driver={driver}"));
    }
    let slices = context.client.api::<ResourceSlice>("");
    let found = slices.list(&ListParams { field_selector: Some(selector), ..Default::default() }).await?;
    for slice in found.items {
        let params = DeleteParams { uid: Some(slice.uid().to_owned()), ..Default::default() };
        match slices.delete(slice.name(), &params).await {
            Err(error) if !error.is_not_found() && !error.is_conflict() => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::proto::{DeviceHealth, DeviceIdentifier};
    use super::*;

    fn report(health: i32, message: &str, at: i64) -> WatchResponse {
        let device = DeviceIdentifier { pool_name: "p".into(), device_name: "d".into() };
        let own = DeviceHealth {
            device: Some(device),
            health,
            last_updated_time: at,
            health_check_timeout_seconds: 0,
            message: message.into(),
        };
        WatchResponse { devices: vec![own] }
    }

    #[test]
    fn health_is_known_until_it_is_out_of_date() {
        let registry = Registry::default();
        let at = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        assert_eq!(registry.report("x", report(HEALTHY, "", 100)).len(), 1);
        assert!(registry.report("x", report(HEALTHY, "", 110)).is_empty(), "no news");
        assert_eq!(registry.health("x", "p", "d", at(140)), (Health::Healthy, None));
        assert_eq!(registry.health("x", "p", "d", at(141)), (Health::Unknown, None));
        assert_eq!(registry.report("x", report(UNHEALTHY, "hot", 120)).len(), 1);
        assert_eq!(registry.health("x", "p", "d", at(140)), (Health::Unhealthy, Some("hot".into())));
        assert_eq!(registry.clear("x").len(), 1);
        assert_eq!(registry.health("x", "p", "d", at(140)), (Health::Unknown, None));
    }

    #[test]
    fn long_messages_are_cut() {
        let registry = Registry::default();
        registry.report("x", report(UNHEALTHY, &"é".repeat(700), 100));
        let (_, message) = registry.health("x", "p", "d", SystemTime::UNIX_EPOCH + Duration::from_secs(100));
        let message = message.expect("a message");
        assert!(message.len() <= MAX_MESSAGE && message.ends_with("..."), "{}", message.len());
    }

    #[test]
    fn a_driver_that_is_not_there_is_named() {
        let registry = Registry::default();
        assert_eq!(registry.get("d.test").err().as_deref(), Some("DRA driver d.test is not registered"));
        assert_eq!(registry.get("").err().as_deref(), Some("DRA driver name is empty"));
    }
}
