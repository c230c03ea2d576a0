//! The search for devices on one node that serve all requests of all claims of a pod.
//!
//! Every request is compared with every device in order, and the first complete allocation is
//! taken: pools by driver and name, slices by name, devices as the driver lists them, so that
//! drivers can say by names and order which devices go first. Within one request the order of
//! its devices does not matter, and each set of devices is tried once.
//!
//! Upstream: dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go.

use super::capacity::{compute_consumed, has_room};
use super::ledger::{Ledger, Taken};
use super::pools::{CounterSets, NodePool, NodePools, PoolState, SliceIndex};
use super::request::{Alternative, ClaimRequests, ConstraintKind, Request};
use super::slice::{Amounts, Attribute, Device, Slice};
use ferry_api::quantity::Quantity;
use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::NodeView;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// Devices that one claim can hold.
const MAX_DEVICES: usize = 32;

/// The place of a device among the pools of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pool: usize,
    slice: usize,
    device: usize,
}

/// A device that was picked for a request.
#[derive(Clone, Debug)]
pub struct Pick {
    place: Place,
    pub claim: usize,
    pub request: usize,
    pub alternative: usize,
    /// The amounts that are taken of a device which allows multiple allocations.
    pub share: Option<Amounts>,
    takes_counters: bool,
}

/// The devices of a node that serve a pod.
#[derive(Clone, Debug)]
pub struct Allocation {
    pools: Arc<NodePools>,
    /// In the order of claims.
    pub picks: Vec<Pick>,
}

impl Allocation {
    pub fn device(&self, pick: &Pick) -> (&Slice, &Device) {
        at(&self.pools, pick.place)
    }

    pub fn picks_of(&self, claim: usize) -> impl Iterator<Item = &Pick> {
        self.picks.iter().filter(move |pick| pick.claim == claim)
    }

    /// The devices that a claim takes from others.
    pub fn taken_by(&self, claim: usize, claims: &[&ClaimRequests]) -> Vec<Taken> {
        let is_taking = |pick: &&Pick| !alternative(claims, pick).has_admin_access;
        let taken = |pick: &Pick| Taken { device: self.device(pick).1.key.clone(), share: pick.share.clone() };
        self.picks_of(claim).filter(is_taking).map(taken).collect()
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum SearchError {
    /// Something is wrong with a claim or a class, so that other nodes need not be tried.
    Fatal(String),
    /// Something is wrong with the pools of this node.
    Node(&'static str),
    TimedOut,
}

/// The reasons for which a search goes back or ends.
enum Stop {
    /// The claim would hold too many devices with what was picked before.
    TooMany,
    Error(SearchError),
}

/// Finds devices for all claims; `None` if there are not enough.
pub fn allocate(
    claims: &[&ClaimRequests],
    node: NodeView<'_>,
    pools: &Arc<NodePools>,
    slices: &mut SliceIndex,
    ledger: &Ledger,
    deadline: Option<Instant>,
) -> Result<Option<Allocation>, SearchError> {
    let mut search = Search {
        claims,
        node,
        pools,
        slices,
        ledger,
        deadline,
        steps: 0,
        values: claims.iter().map(|claim| vec![Vec::new(); claim.constraints.len()]).collect(),
        all: HashMap::new(),
        picks: Vec::new(),
    };
    search.prepare().map_err(SearchError::Fatal)?;
    match search.next(Wanted::default(), None, Place::default()) {
        Ok(true) => Ok(Some(Allocation { pools: pools.clone(), picks: search.picks })),
        Ok(false) | Err(Stop::TooMany) if has_invalid(pools) => {
            Err(SearchError::Node("invalid resource pools were encountered"))
        }
        Ok(false) | Err(Stop::TooMany) => Ok(None),
        Err(Stop::Error(error)) => Err(error),
    }
}

fn has_invalid(pools: &NodePools) -> bool {
    pools.pools.iter().any(|pool| pool.state == PoolState::Invalid)
}

fn at(pools: &NodePools, place: Place) -> (&Slice, &Device) {
    let slice = &pools.pools[place.pool].slices[place.slice];
    (slice, &slice.devices[place.device])
}

fn alternative<'a>(claims: &[&'a ClaimRequests], pick: &Pick) -> &'a Alternative {
    &claims[pick.claim].requests[pick.request].alternatives[pick.alternative]
}

/// The device that is looked for: the claim, the request, and how many the request has already.
#[derive(Clone, Copy, Default)]
struct Wanted {
    claim: usize,
    request: usize,
    count: usize,
}

struct Search<'a> {
    claims: &'a [&'a ClaimRequests],
    node: NodeView<'a>,
    pools: &'a Arc<NodePools>,
    slices: &'a mut SliceIndex,
    ledger: &'a Ledger,
    deadline: Option<Instant>,
    steps: u32,
    /// The attributes of the devices picked so far, by claim and constraint.
    values: Vec<Vec<Vec<&'a Attribute>>>,
    /// The devices of requests for all, by claim, request and alternative.
    all: HashMap<(usize, usize, usize), Vec<Place>>,
    picks: Vec<Pick>,
}

impl<'a> Search<'a> {
    /// Lists the devices of requests for all of them, and rejects claims that can never hold
    /// what they ask for.
    fn prepare(&mut self) -> Result<(), String> {
        let claims = self.claims;
        for (claim_index, claim) in claims.iter().enumerate() {
            let key = || ObjectKey::of(claim.claim.meta());
            let mut least = 0;
            for (request_index, request) in claim.requests.iter().enumerate() {
                let mut least_of_request = usize::MAX;
                for (index, own) in request.alternatives.iter().enumerate() {
                    let count = match own.count {
                        Some(count) => count,
                        None => {
                            let all = self.list_all(claim, own)?;
                            let count = all.len();
                            self.all.insert((claim_index, request_index, index), all);
                            count
                        }
                    };
                    least_of_request = least_of_request.min(count);
                }
                least += if request.alternatives.is_empty() { 0 } else { least_of_request };
            }
            if least > MAX_DEVICES {
                return Err(format!(
                    "claim {}: number of requested devices {least} exceeds the claim limit of {MAX_DEVICES}",
                    key()
                ));
            }
        }
        Ok(())
    }

    /// All devices that match the request. Not before every pool is whole is it known how many
    /// these are.
    fn list_all(&self, claim: &ClaimRequests, own: &Alternative) -> Result<Vec<Place>, String> {
        let mut out = Vec::new();
        for (pool_index, pool) in self.pools.pools.iter().enumerate() {
            let trouble = match pool.state {
                PoolState::Usable => None,
                PoolState::Incomplete => Some("being updated"),
                PoolState::Invalid => Some("invalid"),
            };
            if let Some(trouble) = trouble {
                let (key, name) = (ObjectKey::of(claim.claim.meta()), own.full_name.rsplit('/').next());
                return Err(format!(
                    "claim {key}, request {}: asks for all devices, but resource pool {} is currently {trouble}",
                    name.unwrap_or_default(),
                    pool.id
                ));
            }
            for (slice_index, slice) in pool.slices.iter().enumerate() {
                for (device_index, device) in slice.devices.iter().enumerate() {
                    let place = Place { pool: pool_index, slice: slice_index, device: device_index };
                    if self.is_selectable(claim, own, slice, device)? && self.has_room(own, place, device) {
                        out.push(place);
                    }
                }
            }
        }
        Ok(out)
    }

    fn is_selectable(
        &self,
        claim: &ClaimRequests,
        own: &Alternative,
        slice: &Slice,
        device: &Device,
    ) -> Result<bool, String> {
        for (selector, origin) in own.selectors(claim) {
            if !slice.matches(device, selector).map_err(|error| format!("{origin}: {error}"))? {
                return Ok(false);
            }
        }
        Ok(slice.is_reached(device, self.node))
    }

    /// Whether the capacity that is left is enough, with what was picked so far.
    fn has_room(&self, own: &Alternative, place: Place, device: &Device) -> bool {
        // The whole of a device that nobody shares is always there.
        let is_whole = !device.allows_multiple && !device.has_policies && !self.ledger.is_used(&device.key);
        if own.capacity.is_empty() && (is_whole || device.capacity.is_empty()) {
            return true;
        }
        let used = self.ledger.usage(&device.key);
        has_room(device, &own.capacity, |name| {
            let picked = self.picks.iter().filter(|pick| pick.place == place).filter_map(|pick| pick.share.as_ref());
            let amounts = picked.chain(used.map(|used| &used.amounts)).filter_map(|amounts| amounts.get(name));
            amounts.copied().reduce(|sum: Quantity, amount| sum.add(&amount))
        })
    }

    fn check_time(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        let is_late = |deadline: Instant| Instant::now() >= deadline;
        if self.steps.is_multiple_of(256) && self.deadline.is_some_and(is_late) {
            return Err(Stop::Error(SearchError::TimedOut));
        }
        Ok(())
    }

    /// Picks the next device and all after it. `chosen` is the alternative that is being tried,
    /// and `start` the first place to look at for it.
    fn next(&mut self, wanted: Wanted, chosen: Option<usize>, start: Place) -> Result<bool, Stop> {
        self.check_time()?;
        let claims = self.claims;
        let Some(&claim) = claims.get(wanted.claim) else { return Ok(true) };
        let Some(request) = claim.requests.get(wanted.request) else {
            let next = Wanted { claim: wanted.claim + 1, ..Wanted::default() };
            return match self.next(next, None, Place::default()) {
                // With other devices for this claim the next may ask for fewer.
                Err(Stop::TooMany) => Ok(false),
                result => result,
            };
        };
        let index = match chosen {
            Some(index) => index,
            None if request.is_list => return self.first_available(wanted, request),
            None => 0,
        };
        let Some(own) = request.alternatives.get(index) else { return Ok(false) };
        let all = if own.count.is_none() { self.all.get(&(wanted.claim, wanted.request, index)) } else { None };
        let needed = own.count.or(all.map(Vec::len)).unwrap_or(0);
        // A request for all devices is for one at least.
        if all.is_some() && needed == 0 {
            return Ok(false);
        }
        if wanted.count >= needed {
            let next = Wanted { request: wanted.request + 1, count: 0, ..wanted };
            return self.next(next, None, Place::default());
        }
        let held = self.picks.iter().filter(|pick| pick.claim == wanted.claim).count();
        if held + needed - wanted.count > MAX_DEVICES {
            return Err(Stop::TooMany);
        }
        let after = Wanted { count: wanted.count + 1, ..wanted };
        if let Some(place) = all.map(|all| all[wanted.count]) {
            return match self.pick(wanted, index, place) {
                Picked::No => Ok(false),
                Picked::AgainstConstraint => Err(Stop::Error(SearchError::Fatal(format!(
                    "claim {}, request {}: cannot add device {} because a claim constraint would not be satisfied",
                    ObjectKey::of(claim.claim.meta()),
                    own.full_name.rsplit('/').next().unwrap_or_default(),
                    at(self.pools, place).1.key
                )))),
                Picked::Yes => {
                    let result = self.next(after, Some(index), Place::default());
                    if !matches!(result, Ok(true)) {
                        self.put_back();
                    }
                    result
                }
            };
        }
        let pools: &'a Arc<NodePools> = self.pools;
        for (place, slice, device) in places(pools, start) {
            if self.is_in_use(own, wanted.claim, place, device) {
                continue;
            }
            let is_selectable = self.is_selectable(claim, own, slice, device);
            if !is_selectable.map_err(|error| Stop::Error(SearchError::Fatal(error)))? {
                continue;
            }
            if !matches!(self.pick(wanted, index, place), Picked::Yes) {
                continue;
            }
            let result = self.next(after, Some(index), Place { device: place.device + 1, ..place });
            if matches!(result, Ok(true)) {
                return result;
            }
            self.put_back();
            result?;
        }
        Ok(false)
    }

    /// The first alternative that leads to a complete allocation.
    fn first_available(&mut self, wanted: Wanted, request: &Request) -> Result<bool, Stop> {
        let mut are_all_too_many = true;
        for index in 0..request.alternatives.len() {
            match self.next(wanted, Some(index), Place::default()) {
                Ok(true) => return Ok(true),
                Ok(false) => are_all_too_many = false,
                Err(Stop::TooMany) => {}
                Err(error) => return Err(error),
            }
        }
        if are_all_too_many { Err(Stop::TooMany) } else { Ok(false) }
    }

    fn is_in_use(&self, own: &Alternative, claim: usize, place: Place, device: &Device) -> bool {
        let mut picked = self.picks.iter().filter(|pick| pick.place == place && pick.share.is_none());
        // Admin access is beside whoever uses the device; once a claim is enough.
        if own.has_admin_access {
            return picked.any(|pick| pick.claim == claim);
        }
        self.ledger.usage(&device.key).is_some_and(|usage| usage.is_whole()) || picked.next().is_some()
    }

    /// Picks a device that matches, if it is free, untainted and within all constraints.
    fn pick(&mut self, wanted: Wanted, alternative: usize, place: Place) -> Picked {
        let claim = self.claims[wanted.claim];
        let request = &claim.requests[wanted.request];
        let own = &request.alternatives[alternative];
        let pools: &'a Arc<NodePools> = self.pools;
        let (slice, device) = at(pools, place);
        if self.is_in_use(own, wanted.claim, place, device) {
            return Picked::No;
        }
        // The counters of a device that is shared are taken by the first who shares it.
        let is_shared = self.ledger.usage(&device.key).is_some_and(|usage| usage.is_shared())
            || self.picks.iter().any(|pick| pick.place == place && pick.share.is_some());
        let is_paid_for = device.allows_multiple && is_shared;
        let takes_counters = !device.counters.is_empty() && !is_paid_for;
        if takes_counters && !self.has_counters(&pools.pools[place.pool], place, device) {
            return Picked::No;
        }
        if device.is_tainted {
            let mut taints = slice.view(device).taints().iter();
            if taints.any(|taint| matches!(taint.effect(), "NoSchedule" | "NoExecute") && !own.tolerates(taint)) {
                return Picked::No;
            }
        }
        if !self.add_values(wanted, request, own, slice, device) {
            return Picked::AgainstConstraint;
        }
        if !self.has_room(own, place, device) {
            self.remove_values(wanted.claim, request, own);
            return Picked::No;
        }
        let share = device.allows_multiple.then(|| compute_consumed(device, &own.capacity));
        self.picks.push(Pick {
            place,
            claim: wanted.claim,
            request: wanted.request,
            alternative,
            share,
            takes_counters,
        });
        Picked::Yes
    }

    /// Takes the last pick back.
    fn put_back(&mut self) {
        if let Some(pick) = self.picks.pop() {
            let request = &self.claims[pick.claim].requests[pick.request];
            self.remove_values(pick.claim, request, &request.alternatives[pick.alternative]);
        }
    }

    /// Adds the device's attributes to the constraints that are about the request, or to none.
    /// Unlike upstream, a distinct attribute is compared with those of all devices, of the same
    /// request too.
    fn add_values(
        &mut self,
        wanted: Wanted,
        request: &Request,
        own: &Alternative,
        slice: &'a Slice,
        device: &'a Device,
    ) -> bool {
        let constraints = &self.claims[wanted.claim].constraints;
        let values = &mut self.values[wanted.claim];
        for (index, constraint) in constraints.iter().enumerate().filter(|(_, one)| one.is_about(request, own)) {
            let attribute = device.attribute(&slice.pool.driver, &constraint.attribute);
            let fits = attribute.is_some_and(|attribute| match (constraint.kind, values[index].as_slice()) {
                (_, []) => true,
                (ConstraintKind::Match, [first, ..]) => attribute.equals(first),
                (ConstraintKind::Distinct, others) => {
                    *attribute != Attribute::Unknown && !others.iter().any(|other| attribute.equals(other))
                }
            });
            match attribute.filter(|_| fits) {
                Some(attribute) => values[index].push(attribute),
                None => {
                    let added = constraints[..index].iter().enumerate().filter(|(_, one)| one.is_about(request, own));
                    added.for_each(|(index, _)| {
                        values[index].pop();
                    });
                    return false;
                }
            }
        }
        true
    }

    fn remove_values(&mut self, claim: usize, request: &Request, own: &Alternative) {
        let constraints = self.claims[claim].constraints.iter().enumerate();
        for (index, _) in constraints.filter(|(_, constraint)| constraint.is_about(request, own)) {
            self.values[claim][index].pop();
        }
    }

    /// Whether the pool has the counters for the device, with what was picked so far.
    fn has_counters(&mut self, pool: &NodePool, place: Place, device: &Device) -> bool {
        let available: Arc<CounterSets> = self.slices.available_counters(pool, self.ledger);
        let picked: Vec<&Device> = self
            .picks
            .iter()
            .filter(|pick| pick.takes_counters && pick.place.pool == place.pool)
            .map(|pick| at(self.pools, pick.place).1)
            .chain([device])
            .collect();
        let taken = |set: &str, counter: &str| {
            let uses = picked.iter().flat_map(|device| &device.counters).filter(|own| &*own.set == set);
            uses.filter_map(|own| own.counters.get(counter)).fold(Quantity::ZERO, |sum, amount| sum.add(amount))
        };
        available.iter().all(|(set, counters)| counters.iter().all(|(name, left)| taken(set, name) <= *left))
    }
}

enum Picked {
    Yes,
    No,
    AgainstConstraint,
}

/// The devices of usable pools, from a place on.
fn places(pools: &NodePools, start: Place) -> impl Iterator<Item = (Place, &Slice, &Device)> {
    let usable = pools.pools.iter().enumerate().skip(start.pool).filter(|(_, pool)| pool.state == PoolState::Usable);
    let slices = usable.flat_map(move |(pool_index, pool)| {
        let first = if pool_index == start.pool { start.slice } else { 0 };
        pool.slices.iter().enumerate().skip(first).map(move |(index, slice)| (pool_index, index, slice))
    });
    slices.flat_map(move |(pool, slice_index, slice)| {
        let first = if (pool, slice_index) == (start.pool, start.slice) { start.device } else { 0 };
        slice
            .devices
            .iter()
            .enumerate()
            .skip(first)
            .map(move |(index, device)| (Place { pool, slice: slice_index, device: index }, &**slice, device))
    })
}
