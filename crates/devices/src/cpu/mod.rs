//! Exclusive CPUs of containers: the static policy of the CPU manager
//! (upstream: pkg/kubelet/cm/cpumanager/policy_static.go). A container of a Guaranteed pod that
//! requests whole CPUs has them alone; all others share the rest.

mod checkpoint;
mod hints;
mod take;
mod topology;

pub use take::take_cpus;
pub use topology::{CpuInfo, CpuTopology};

use crate::CpuSet;
use std::collections::BTreeMap;

/// The options of the static policy that are acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// full-pcpus-only: a container gets all threads of its cores, or is rejected.
    pub full_cores_only: bool,
    /// strict-cpu-reservation: nobody runs on the reserved CPUs.
    pub strict_reservation: bool,
    /// distribute-cpus-across-cores: one thread of each core first.
    pub spread_over_cores: bool,
}

impl Options {
    /// Of cpuManagerPolicyOptions; the error is upstream's sentence where there is one.
    pub fn parse(options: &BTreeMap<String, String>) -> Result<Self, String> {
        let mut out = Self::default();
        for (name, value) in options {
            let flag = match name.as_str() {
                "full-pcpus-only" => &mut out.full_cores_only,
                "strict-cpu-reservation" => &mut out.strict_reservation,
                "distribute-cpus-across-cores" => &mut out.spread_over_cores,
                "distribute-cpus-across-numa" | "align-by-socket" | "prefer-align-cpus-by-uncorecache" => {
                    return Err(format!("CPU Manager policy option {name:?} is not supported by this kubelet"));
                }
                _ => return Err(format!("unsupported cpumanager option: {name:?} ({value})")),
            };
            *flag = match value.as_str() {
                "1" | "t" | "T" | "TRUE" | "true" | "True" => true,
                "0" | "f" | "F" | "FALSE" | "false" | "False" => false,
                _ => {
                    return Err(format!(
                        "bad value for option {name:?}: strconv.ParseBool: parsing {value:?}: invalid syntax"
                    ));
                }
            };
        }
        if out.full_cores_only && out.spread_over_cores {
            return Err(
                "static policy options full-pcpus-only and distribute-cpus-across-cores can not be used at the same time"
                    .into(),
            );
        }
        Ok(out)
    }
}

/// A container that gets no CPUs, with the reason of its pod's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuError {
    /// Not a whole number of cores.
    Alignment(String),
    Other(String),
}

/// Which CPUs containers have alone, and which are shared.
#[derive(Clone, Debug)]
pub struct CpuManager {
    topology: CpuTopology,
    options: Options,
    reserved: CpuSet,
    shared: CpuSet,
    /// By pod uid, then by container.
    assignments: BTreeMap<String, BTreeMap<String, CpuSet>>,
}

impl CpuManager {
    /// `reserved` are the CPUs of reservedSystemCPUs, or as many as `reserved_milli` fills.
    pub fn new(
        topology: CpuTopology,
        options: Options,
        reserved: &CpuSet,
        reserved_milli: u64,
    ) -> Result<Self, String> {
        let count = usize::try_from(reserved_milli.div_ceil(1000)).unwrap_or(usize::MAX);
        let reserved = match reserved.is_empty() {
            false => reserved.clone(),
            true if count == 0 => {
                return Err(
                    "the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero".into()
                );
            }
            true => take_cpus(&topology, &topology.cpus(), count, false).ok_or_else(|| {
                format!(
                    "unable to reserve the required amount of CPUs (size of {} did not equal {count})",
                    topology.cpus()
                )
            })?,
        };
        let all = topology.cpus();
        if !reserved.is_subset(&all) {
            return Err(format!("unable to reserve CPUs {reserved}: this machine has {all}"));
        }
        let shared = if options.strict_reservation { all.difference(&reserved) } else { all };
        Ok(Self { topology, options, reserved, shared, assignments: BTreeMap::new() })
    }

    /// The CPUs of everyone without some of their own.
    pub fn shared(&self) -> &CpuSet {
        &self.shared
    }

    /// The CPUs that containers may have alone.
    pub fn allocatable(&self) -> CpuSet {
        self.topology.cpus().difference(&self.reserved)
    }

    pub fn of_container(&self, uid: &str, container: &str) -> Option<&CpuSet> {
        self.assignments.get(uid)?.get(container)
    }

    pub fn has_pod(&self, uid: &str) -> bool {
        self.assignments.contains_key(uid)
    }

    /// The CPUs that the container runs on.
    pub fn cpus_of(&self, uid: &str, container: &str) -> &CpuSet {
        self.of_container(uid, container).unwrap_or(&self.shared)
    }

    /// Gives the container `count` CPUs of its own. `reusable` are those of init containers that have
    /// ended by then, `affinity` the NUMA nodes that the topology manager has chosen.
    pub fn allocate(
        &mut self,
        uid: &str,
        container: &str,
        count: usize,
        reusable: &CpuSet,
        affinity: Option<&CpuSet>,
    ) -> Result<(), CpuError> {
        if count == 0 || self.of_container(uid, container).is_some() {
            return Ok(());
        }
        self.check_cores(count)?;
        let available = self.shared.difference(&self.reserved).union(reusable);
        let mut taken = CpuSet::new();
        // As many as there are of the chosen nodes, then anywhere.
        if let Some(nodes) = affinity {
            let aligned = available.intersection(&self.topology.cpus_of_nodes(nodes));
            let most = aligned.len().min(count);
            taken = take_cpus(&self.topology, &aligned, most, self.options.spread_over_cores).unwrap_or_default();
        }
        let missing = count - taken.len();
        if missing > 0 {
            let rest = available.difference(&taken);
            let more = take_cpus(&self.topology, &rest, missing, self.options.spread_over_cores);
            let more = more.ok_or_else(|| {
                let has = rest.len();
                CpuError::Other(format!(
                    "not enough cpus available to satisfy request: requested={missing}, available={has}"
                ))
            })?;
            taken = taken.union(&more);
        }
        self.shared = self.shared.difference(&taken);
        self.assignments.entry(uid.to_owned()).or_default().insert(container.to_owned(), taken);
        Ok(())
    }

    fn check_cores(&self, count: usize) -> Result<(), CpuError> {
        let threads = self.topology.threads_per_core();
        if !self.options.full_cores_only {
            return Ok(());
        }
        if threads > 0 && !count.is_multiple_of(threads) {
            return Err(CpuError::Alignment(format!(
                "SMT Alignment Error: requested {count} cpus not multiple cpus per core = {threads}"
            )));
        }
        // Cores of which a CPU is reserved are given to nobody.
        let reserved = self.topology.cpus_of_cores_with(&self.reserved);
        let available = self.shared.difference(&reserved).len();
        if count > available {
            return Err(CpuError::Alignment(format!(
                "SMT Alignment Error: not enough free physical CPUs: available physical CPUs = {available}, requested CPUs = {count}, CPUs per core = {threads}"
            )));
        }
        Ok(())
    }

    /// Returns whether the shared CPUs have become more.
    pub fn release(&mut self, uid: &str) -> bool {
        let Some(own) = self.assignments.remove(uid) else { return false };
        for cpus in own.values() {
            // Regular containers may have those of init containers.
            let in_use = self.assignments.values().flat_map(BTreeMap::values);
            let in_use = in_use.fold(CpuSet::new(), |all, cpus| all.union(cpus));
            self.shared = self.shared.union(&cpus.difference(&in_use));
        }
        true
    }

    /// Frees the CPUs of pods that are not among these.
    pub fn retain_pods(&mut self, is_active: impl Fn(&str) -> bool) -> bool {
        let gone: Vec<String> = self.assignments.keys().filter(|uid| !is_active(uid)).cloned().collect();
        for uid in &gone {
            self.release(uid);
        }
        !gone.is_empty()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two sockets, each a NUMA node with two cores of two threads: core 0 has CPUs 0 and 4.
    pub(crate) fn machine() -> CpuTopology {
        let info = |cpu: usize| CpuInfo { core: cpu % 4, socket: cpu % 4 / 2, numa_node: cpu % 4 / 2 };
        CpuTopology::new((0..8).map(|cpu| (cpu, info(cpu))))
    }

    pub(crate) fn set(text: &str) -> CpuSet {
        text.parse().expect("a list")
    }

    fn manager(options: Options) -> CpuManager {
        CpuManager::new(machine(), options, &CpuSet::new(), 500).expect("a reservation")
    }

    #[test]
    fn exclusive_cpus_leave_the_shared_ones() {
        let mut own = manager(Options::default());
        assert_eq!((own.reserved.to_string(), own.shared().to_string()), ("0".into(), "0-7".into()));
        own.allocate("p", "c", 2, &CpuSet::new(), None).expect("a core");
        assert_eq!((own.cpus_of("p", "c").to_string(), own.shared().to_string()), ("1,5".into(), "0,2-4,6-7".into()));
        assert_eq!(own.cpus_of("p", "other"), own.shared());
        let error = own.allocate("q", "c", 6, &CpuSet::new(), None).expect_err("too many");
        let sentence = "not enough cpus available to satisfy request: requested=6, available=5";
        assert_eq!(error, CpuError::Other(sentence.into()));
        assert!(own.release("p"));
        assert_eq!(own.shared().to_string(), "0-7");
        assert!(!own.release("p"));
    }

    #[test]
    fn the_chosen_nodes_come_first() {
        let mut own = manager(Options::default());
        own.allocate("p", "c", 2, &CpuSet::new(), Some(&set("1"))).expect("aligned");
        assert_eq!(own.cpus_of("p", "c").to_string(), "2,6");
        own.allocate("q", "c", 4, &CpuSet::new(), Some(&set("1"))).expect("two of them");
        assert!(set("3,7").is_subset(own.cpus_of("q", "c")));
    }

    #[test]
    fn cpus_of_ended_init_containers_are_used_again() {
        let mut own = manager(Options::default());
        own.allocate("p", "init", 6, &CpuSet::new(), None).expect("free");
        let reusable = own.cpus_of("p", "init").clone();
        own.allocate("p", "c", 6, &reusable, None).expect("again");
        assert!(own.release("p"));
        assert_eq!(own.shared().to_string(), "0-7");
    }

    #[test]
    fn options_change_what_is_given() {
        let options = |names: &[&str]| {
            Options::parse(&names.iter().map(|name| ((*name).to_owned(), "true".to_owned())).collect())
        };
        let mut full = manager(options(&["full-pcpus-only"]).expect("good"));
        let error = full.allocate("p", "c", 1, &CpuSet::new(), None).expect_err("half a core");
        let sentence = "SMT Alignment Error: requested 1 cpus not multiple cpus per core = 2";
        assert_eq!(error, CpuError::Alignment(sentence.into()));
        let error = full.allocate("p", "c", 8, &CpuSet::new(), None).expect_err("core 0 is reserved");
        assert!(matches!(error, CpuError::Alignment(why) if why.contains("available physical CPUs = 6")));
        assert_eq!(manager(options(&["strict-cpu-reservation"]).expect("good")).shared().to_string(), "1-7");
        let mut spread = manager(options(&["distribute-cpus-across-cores"]).expect("good"));
        spread.allocate("p", "c", 3, &CpuSet::new(), None).expect("free");
        assert_eq!(spread.cpus_of("p", "c").to_string(), "1-2,4", "each on a core of its own");
        assert!(options(&["full-pcpus-only", "distribute-cpus-across-cores"]).is_err());
        assert!(options(&["align-by-socket"]).expect_err("refused").contains("not supported by this kubelet"));
        assert!(options(&["no-such"]).expect_err("unknown").contains("unsupported cpumanager option"));
    }

    #[test]
    fn something_must_be_reserved() {
        let none = CpuManager::new(machine(), Options::default(), &CpuSet::new(), 0).expect_err("nothing");
        assert_eq!(none, "the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero");
        let own = CpuManager::new(machine(), Options::default(), &set("3,7"), 0).expect("named");
        assert_eq!(own.allocatable().to_string(), "0-2,4-6");
    }
}
