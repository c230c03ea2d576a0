//! The devices in use: those of allocated claims, kept by the events of claims, and those of
//! allocations that were decided and are on their way to the API.
//!
//! An allocation in flight ends when the watch shows the version that was written, so that no
//! device is free between the two.

use super::slice::{Amounts, CarriedHash, DeviceKey};
use ferry_api::view::resource::v1::{ResourceClaim, ResourceClaimView};
use ferry_client::Event;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// One device of an allocation, other than by admin access, which takes nothing.
#[derive(Clone, Debug)]
pub struct Taken {
    pub device: DeviceKey,
    /// The amounts that it takes of a device that others may use too; `None` takes the whole.
    pub share: Option<Amounts>,
}

/// The use of one device by all claims together.
#[derive(Debug, Default)]
pub struct Usage {
    whole: u32,
    shares: u32,
    pub amounts: Amounts,
}

impl Usage {
    pub fn is_whole(&self) -> bool {
        self.whole > 0
    }

    pub fn is_shared(&self) -> bool {
        self.shares > 0
    }
}

struct KnownClaim {
    version: u64,
    is_allocated: bool,
    taken: Vec<Taken>,
}

struct InFlight {
    taken: Vec<Taken>,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Decided,
    /// A request is under way, whose outcome is not known.
    Writing,
    /// Written as this version, which the watch has not shown yet.
    Written(u64),
}

type Uid = Arc<str>;

#[derive(Default)]
pub struct Ledger {
    usage: HashMap<DeviceKey, Usage, BuildHasherDefault<CarriedHash>>,
    claims: HashMap<Uid, KnownClaim>,
    in_flight: HashMap<Uid, InFlight>,
    /// The last claims that are gone. One may go before its write is known to have succeeded.
    gone: VecDeque<Uid>,
    /// Raised with every change of the usage.
    revision: u64,
}

const REMEMBERED_GONE: usize = 256;

/// Versions are numbers.
pub fn version_number(version: &str) -> u64 {
    version.parse().unwrap_or(0)
}

/// The devices that an allocated claim takes.
fn taken_by(claim: ResourceClaimView<'_>) -> Vec<Taken> {
    let Some(allocation) = claim.status().allocation() else { return Vec::new() };
    let results = allocation.devices().results().iter().filter(|result| result.admin_access() != Some(true));
    let taken = results.map(|result| Taken {
        device: DeviceKey::new(result.driver(), result.pool(), result.device()),
        share: result
            .share_id()
            .map(|_| result.consumed_capacity().iter().map(|(name, amount)| (name.into(), amount)).collect()),
    });
    taken.collect()
}

impl Ledger {
    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn usage(&self, device: &DeviceKey) -> Option<&Usage> {
        self.usage.get(device)
    }

    pub fn is_used(&self, device: &DeviceKey) -> bool {
        self.usage.contains_key(device)
    }

    pub fn observe(&mut self, event: &Event<ResourceClaim>) {
        match event {
            Event::Added(claim) => self.set_claim(claim.uid(), claim.view()),
            Event::Updated { old, new } => {
                if old.uid() != new.uid() {
                    self.remove_claim(old.uid());
                }
                self.set_claim(new.uid(), new.view());
            }
            Event::Deleted(claim) => self.remove_claim(claim.uid()),
        }
    }

    fn set_claim(&mut self, uid: &str, claim: ResourceClaimView<'_>) {
        let version = version_number(claim.metadata().resource_version());
        let is_allocated = claim.status().allocation().is_some();
        match self.claims.get_mut(uid) {
            // An allocation does not change, it only comes and goes.
            Some(known) if known.is_allocated == is_allocated => known.version = version,
            _ => {
                let taken = taken_by(claim);
                self.count(&taken);
                let known = KnownClaim { version, is_allocated, taken };
                if let Some(before) = self.claims.insert(uid.into(), known) {
                    self.discount(&before.taken);
                }
            }
        }
        let is_shown = |flight: &InFlight| matches!(flight.progress, Progress::Written(written) if written <= version);
        if self.in_flight.get(uid).is_some_and(is_shown) {
            self.drop_in_flight(uid);
        }
    }

    fn remove_claim(&mut self, uid: &str) {
        if let Some((uid, known)) = self.claims.remove_entry(uid) {
            self.discount(&known.taken);
            if self.in_flight.get(&uid).is_some_and(|flight| matches!(flight.progress, Progress::Written(_))) {
                self.drop_in_flight(&uid);
            }
            if self.gone.len() >= REMEMBERED_GONE {
                self.gone.pop_front();
            }
            self.gone.push_back(uid);
        }
    }

    pub fn is_in_flight(&self, claim: &str) -> bool {
        self.in_flight.contains_key(claim)
    }

    /// Takes the devices of an allocation that was decided.
    pub fn reserve(&mut self, claim: &str, taken: Vec<Taken>) {
        self.drop_in_flight(claim);
        self.count(&taken);
        self.in_flight.insert(claim.into(), InFlight { taken, progress: Progress::Decided });
    }

    /// The allocation is being written from now on; `release` has no effect until it is known
    /// whether it was.
    pub fn begin_write(&mut self, claim: &str) {
        if let Some(flight) = self.in_flight.get_mut(claim) {
            flight.progress = Progress::Writing;
        }
    }

    /// The claim was created, and is known by its own uid from now on.
    pub fn rename(&mut self, before: &str, after: &str) {
        if let Some(flight) = self.in_flight.remove(before) {
            self.in_flight.insert(after.into(), flight);
        }
    }

    /// The allocation was written as this version, or was not.
    pub fn end_write(&mut self, claim: &str, written: Option<u64>) {
        let is_over = match (written, self.claims.get(claim)) {
            (None, _) => true,
            (Some(written), Some(known)) => known.version >= written,
            (Some(_), None) => self.gone.iter().any(|gone| **gone == *claim),
        };
        if is_over {
            self.drop_in_flight(claim);
        } else if let (Some(flight), Some(written)) = (self.in_flight.get_mut(claim), written) {
            flight.progress = Progress::Written(written);
        }
    }

    /// Gives the devices of an allocation back that nothing was written of.
    pub fn release(&mut self, claim: &str) {
        if self.in_flight.get(claim).is_some_and(|flight| flight.progress == Progress::Decided) {
            self.drop_in_flight(claim);
        }
    }

    fn drop_in_flight(&mut self, claim: &str) {
        if let Some(flight) = self.in_flight.remove(claim) {
            self.discount(&flight.taken);
        }
    }

    fn count(&mut self, taken: &[Taken]) {
        self.revision += u64::from(!taken.is_empty());
        for Taken { device, share } in taken {
            let usage = self.usage.entry(device.clone()).or_default();
            match share {
                None => usage.whole += 1,
                Some(amounts) => {
                    usage.shares += 1;
                    for (name, amount) in amounts {
                        let sum = usage.amounts.entry(name.clone()).or_default();
                        *sum = sum.add(amount);
                    }
                }
            }
        }
    }

    fn discount(&mut self, taken: &[Taken]) {
        self.revision += u64::from(!taken.is_empty());
        for Taken { device, share } in taken {
            let Some(usage) = self.usage.get_mut(device) else { continue };
            match share {
                None => usage.whole = usage.whole.saturating_sub(1),
                Some(amounts) => {
                    usage.shares = usage.shares.saturating_sub(1);
                    for (name, amount) in amounts {
                        if let Some(sum) = usage.amounts.get_mut(name) {
                            *sum = sum.sub(amount);
                        }
                    }
                }
            }
            if usage.whole == 0 && usage.shares == 0 {
                self.usage.remove(device);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_client::SharedObject;
    use serde_json::{Value, json};

    fn claim(version: u64, devices: Value) -> SharedObject<ResourceClaim> {
        let allocation = if devices.is_null() { Value::Null } else { json!({"devices": {"results": devices}}) };
        SharedObject::of(json!({
            "metadata": {"name": "c", "namespace": "n", "uid": "c", "resourceVersion": version.to_string()},
            "status": {"allocation": allocation},
        }))
    }

    fn key(device: &str) -> DeviceKey {
        DeviceKey::new("d", "p", device)
    }

    fn gpu() -> Value {
        json!([{"request": "r", "driver": "d", "pool": "p", "device": "gpu"}])
    }

    fn reserved() -> Vec<Taken> {
        vec![Taken { device: key("gpu"), share: None }]
    }

    #[test]
    fn a_device_is_never_free_between_the_decision_and_the_watch() {
        let mut ledger = Ledger::default();
        ledger.observe(&Event::Added(claim(1, Value::Null)));
        ledger.reserve("c", reserved());
        ledger.begin_write("c");
        ledger.release("c");
        assert!(ledger.is_used(&key("gpu")), "a request is under way");
        ledger.end_write("c", Some(3));
        ledger.observe(&Event::Updated { old: claim(1, Value::Null), new: claim(2, Value::Null) });
        assert!(ledger.is_in_flight("c") && ledger.is_used(&key("gpu")), "version 2 is from before the write");
        ledger.observe(&Event::Updated { old: claim(2, Value::Null), new: claim(3, gpu()) });
        assert!(!ledger.is_in_flight("c") && ledger.is_used(&key("gpu")));
        ledger.observe(&Event::Deleted(claim(3, gpu())));
        assert!(!ledger.is_used(&key("gpu")));
    }

    #[test]
    fn a_write_that_failed_or_was_overtaken_leaves_nothing_in_flight() {
        let mut ledger = Ledger::default();
        ledger.reserve("c", reserved());
        ledger.release("c");
        assert!(!ledger.is_used(&key("gpu")));
        ledger.reserve("c", reserved());
        ledger.begin_write("c");
        ledger.end_write("c", None);
        assert!(!ledger.is_used(&key("gpu")));

        ledger.reserve("c", reserved());
        ledger.begin_write("c");
        ledger.observe(&Event::Added(claim(4, gpu())));
        ledger.end_write("c", Some(4));
        assert!(!ledger.is_in_flight("c") && ledger.is_used(&key("gpu")), "the watch was faster");
        ledger.observe(&Event::Deleted(claim(4, gpu())));
        assert!(!ledger.is_used(&key("gpu")), "counted once");

        ledger.reserve("temporary", reserved());
        ledger.begin_write("temporary");
        ledger.rename("temporary", "new");
        ledger.end_write("new", Some(9));
        assert!(ledger.is_in_flight("new"), "a claim of our own is not known before the watch shows it");
    }

    #[test]
    fn shares_add_up_and_admin_access_takes_nothing() {
        let mut ledger = Ledger::default();
        let share = json!([
            {"driver": "d", "pool": "p", "device": "nic", "shareID": "s", "consumedCapacity": {"bandwidth": "2Gi"}},
            {"driver": "d", "pool": "p", "device": "gpu", "adminAccess": true},
        ]);
        ledger.observe(&Event::Added(claim(1, share.clone())));
        assert!(!ledger.is_used(&key("gpu")));
        let nic = ledger.usage(&key("nic")).expect("in use");
        assert!(!nic.is_whole() && nic.is_shared());
        assert_eq!(nic.amounts["bandwidth"].value(), 2 << 30);
        ledger.observe(&Event::Updated { old: claim(1, share), new: claim(2, Value::Null) });
        assert!(!ledger.is_used(&key("nic")));
    }
}
