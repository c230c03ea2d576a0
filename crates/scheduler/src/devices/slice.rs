//! ResourceSlices as the allocator reads them: parsed once a version, because a search compares
//! every request with every device of a node.

use super::selector::Selector;
use ferry_api::quantity::Quantity;
use ferry_api::rules::node_selector::matches_node_selector;
use ferry_api::view::core::v1::{NodeSelectorView, NodeView};
use ferry_api::view::resource::v1::{CounterView, DeviceAttributeView, DeviceCapacityView, DeviceView, ResourceSlice};
use ferry_client::SharedObject;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A pool of one driver; pools are searched in this order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolId {
    pub driver: Arc<str>,
    pub name: Arc<str>,
}

impl std::fmt::Display for PoolId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.driver, self.name)
    }
}

/// `driver/pool/device`; no driver and no device has a slash in its name. It carries its hash,
/// because a search asks for the use of thousands of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceKey {
    hash: u64,
    text: Arc<str>,
}

impl DeviceKey {
    pub fn new(driver: &str, pool: &str, device: &str) -> Self {
        let text: Arc<str> = format!("{driver}/{pool}/{device}").into();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self { hash: hasher.finish(), text }
    }
}

impl std::fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Hash for DeviceKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Passes on the hash that a key carries.
#[derive(Default)]
pub struct CarriedHash(u64);

impl Hasher for CarriedHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Amounts by name, of capacity or of counters.
pub type Amounts = BTreeMap<Box<str>, Quantity>;

/// The nodes that devices can be reached from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Node(Box<str>),
    AllNodes,
    /// The selector stands in the slice or the device.
    Selector,
    /// Nothing that this version knows.
    Unknown,
}

impl Reach {
    fn of(node: Option<&str>, all_nodes: Option<bool>, selector: Option<NodeSelectorView<'_>>) -> Self {
        match node.filter(|node| !node.is_empty()) {
            Some(node) => Self::Node(node.into()),
            None if all_nodes == Some(true) => Self::AllNodes,
            None if selector.is_some() => Self::Selector,
            None => Self::Unknown,
        }
    }

    fn includes(&self, selector: Option<NodeSelectorView<'_>>, node: NodeView<'_>) -> bool {
        match self {
            Self::Node(name) => **name == *node.metadata().name(),
            Self::AllNodes => true,
            Self::Selector => selector.is_some_and(|selector| matches_node_selector(selector, node)),
            Self::Unknown => false,
        }
    }
}

/// The value of an attribute. Lists (DRAListTypeAttributes) are not compared with anything.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    Int(i64),
    Bool(bool),
    Text(Box<str>),
    Version(Box<str>),
    Unknown,
}

impl Attribute {
    fn of(attribute: DeviceAttributeView<'_>) -> Self {
        if let Some(text) = attribute.string() {
            Self::Text(text.into())
        } else if let Some(number) = attribute.int() {
            Self::Int(number)
        } else if let Some(flag) = attribute.bool() {
            Self::Bool(flag)
        } else if let Some(version) = attribute.version() {
            Self::Version(version.into())
        } else {
            Self::Unknown
        }
    }

    /// Values of a type that is not known equal nothing.
    pub fn equals(&self, other: &Self) -> bool {
        *self != Self::Unknown && self == other
    }
}

/// The steps in which a capacity can be requested.
#[derive(Clone, Debug)]
pub struct RequestPolicy {
    pub default: Option<Quantity>,
    pub valid_values: Vec<Quantity>,
    pub range: Option<ValidRange>,
}

#[derive(Clone, Debug)]
pub struct ValidRange {
    pub min: Option<Quantity>,
    pub max: Option<Quantity>,
    pub step: Option<Quantity>,
}

#[derive(Clone, Debug)]
pub struct Capacity {
    pub value: Quantity,
    pub policy: Option<RequestPolicy>,
}

impl Capacity {
    pub fn of(capacity: DeviceCapacityView<'_>) -> Self {
        let policy = capacity.request_policy().map(|policy| RequestPolicy {
            default: policy.default(),
            valid_values: policy.valid_values().iter().collect(),
            range: policy.valid_range().map(|range| ValidRange {
                min: range.min(),
                max: range.max(),
                step: range.step(),
            }),
        });
        Self { value: capacity.value_().unwrap_or_default(), policy }
    }
}

/// The amounts that a device takes of the counters that its pool shares.
#[derive(Clone, Debug)]
pub struct CounterUse {
    pub set: Box<str>,
    pub counters: Amounts,
}

fn counters<'a>(counters: impl IntoIterator<Item = (&'a str, CounterView<'a>)>) -> Amounts {
    counters.into_iter().map(|(name, counter)| (name.into(), counter.value_().unwrap_or_default())).collect()
}

#[derive(Debug)]
pub struct Device {
    pub key: DeviceKey,
    pub name: Box<str>,
    /// Its position in the slice.
    position: usize,
    reach: Reach,
    attributes: BTreeMap<Box<str>, Attribute>,
    pub capacity: BTreeMap<Box<str>, Capacity>,
    /// Has a capacity that is requested in steps.
    pub has_policies: bool,
    pub counters: Vec<CounterUse>,
    pub is_tainted: bool,
    pub allows_multiple: bool,
    pub binds_to_node: bool,
    pub has_binding_conditions: bool,
    /// The selectors that were asked about this device, and their answers.
    answers: Mutex<Vec<(u32, bool)>>,
}

/// Answers that one device remembers.
const MAX_ANSWERS: usize = 32;

#[derive(Debug)]
pub struct Slice {
    pub object: SharedObject<ResourceSlice>,
    pub name: Box<str>,
    pub pool: PoolId,
    pub generation: i64,
    /// The number of slices that make the pool complete.
    pub slices_of_pool: i64,
    pub reach: Reach,
    pub is_per_device: bool,
    /// The counters that the pool's devices share, by the name of their set.
    pub counter_sets: Vec<(Box<str>, Amounts)>,
    pub devices: Vec<Device>,
}

impl Slice {
    pub fn of(object: SharedObject<ResourceSlice>) -> Self {
        let spec = object.view().spec();
        let pool = PoolId { driver: spec.driver().into(), name: spec.pool().name().into() };
        let device = |(position, device): (usize, DeviceView<'_>)| Device {
            key: DeviceKey::new(spec.driver(), spec.pool().name(), device.name()),
            name: device.name().into(),
            position,
            reach: Reach::of(device.node_name(), device.all_nodes(), device.node_selector()),
            attributes: device.attributes().iter().map(|(name, own)| (name.into(), Attribute::of(own))).collect(),
            capacity: device.capacity().iter().map(|(name, own)| (name.into(), Capacity::of(own))).collect(),
            has_policies: device.capacity().values().any(|own| own.request_policy().is_some()),
            counters: device
                .consumes_counters()
                .iter()
                .map(|own| CounterUse { set: own.counter_set().into(), counters: counters(own.counters()) })
                .collect(),
            is_tainted: !device.taints().is_empty(),
            allows_multiple: device.allow_multiple_allocations() == Some(true),
            binds_to_node: device.binds_to_node() == Some(true),
            has_binding_conditions: !device.binding_conditions().is_empty(),
            answers: Mutex::default(),
        };
        Self {
            name: object.name().into(),
            generation: spec.pool().generation(),
            slices_of_pool: spec.pool().resource_slice_count(),
            reach: Reach::of(spec.node_name(), spec.all_nodes(), spec.node_selector()),
            is_per_device: spec.per_device_node_selection() == Some(true),
            counter_sets: spec
                .shared_counters()
                .iter()
                .map(|set| (set.name().into(), counters(set.counters())))
                .collect(),
            devices: spec.devices().iter().enumerate().map(device).collect(),
            pool,
            object,
        }
    }

    /// The node that the slice belongs to, if it is for that node alone.
    pub fn node_name(&self) -> Option<&str> {
        match &self.reach {
            Reach::Node(node) if self.counter_sets.is_empty() => Some(node),
            _ => None,
        }
    }

    /// Whether labels of nodes decide who reaches the devices.
    pub fn depends_on_labels(&self) -> bool {
        self.reach == Reach::Selector
            || self.is_per_device && self.devices.iter().any(|device| device.reach == Reach::Selector)
    }

    /// Whether the node needs the slice. One with shared counters is needed by all who use the
    /// pool.
    pub fn is_relevant_to(&self, node: NodeView<'_>) -> bool {
        if !self.counter_sets.is_empty() {
            return true;
        }
        match self.reach {
            Reach::Unknown => self.is_per_device && self.devices.iter().any(|device| self.is_reached(device, node)),
            _ => self.reach.includes(self.object.view().spec().node_selector(), node),
        }
    }

    /// Whether the node reaches the device, where that is decided by device.
    pub fn is_reached(&self, device: &Device, node: NodeView<'_>) -> bool {
        !self.is_per_device || device.reach.includes(self.view(device).node_selector(), node)
    }

    pub fn view(&self, device: &Device) -> DeviceView<'_> {
        self.object.view().spec().devices().get(device.position).unwrap_or_default()
    }

    /// Whether the device matches the selector. Each question is answered once a version of the
    /// slice, unless the answer is an error.
    pub fn matches(&self, device: &Device, selector: &Selector) -> Result<bool, String> {
        let mut answers = device.answers.lock();
        if let Some((_, answer)) = answers.iter().find(|(id, _)| *id == selector.id) {
            return Ok(*answer);
        }
        let answer = selector.matches(&self.pool.driver, self.view(device))?;
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.push((selector.id, answer));
        Ok(answer)
    }
}

impl Device {
    /// The attribute of a fully qualified name. A device may leave out the domain where it is
    /// its driver's.
    pub fn attribute(&self, driver: &str, name: &str) -> Option<&Attribute> {
        self.attributes.get(name).or_else(|| {
            let (domain, id) = name.split_once('/')?;
            (domain == driver).then(|| self.attributes.get(id))?
        })
    }
}
