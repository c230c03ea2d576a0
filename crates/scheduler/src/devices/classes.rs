//! The device class that stands behind an extended resource: pods that ask for the resource get
//! devices of the class on nodes where no device plugin offers it.
//!
//! Upstream: dynamic-resource-allocation/deviceclass/extendedresourcecache.

use ferry_api::rules::resource_claim::DEVICE_CLASS_RESOURCE;
use ferry_api::rules::resource_name::is_extended;
use ferry_api::view::resource::v1::DeviceClass;
use ferry_client::{Event, SharedObject};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Whether devices can stand behind a resource of that name.
pub fn is_device_resource(name: &str) -> bool {
    is_extended(name) || name.starts_with(DEVICE_CLASS_RESOURCE)
}

#[derive(Default)]
pub struct ClassIndex {
    by_name: BTreeMap<String, SharedObject<DeviceClass>>,
    /// The names of the classes that declare a resource.
    by_resource: HashMap<String, Vec<String>>,
}

impl ClassIndex {
    pub fn observe(&mut self, event: &Event<DeviceClass>) {
        let (old, new) = event.versions();
        if let Some(old) = old {
            self.by_name.remove(old.name());
            if let Some(resource) = old.view().spec().extended_resource_name()
                && let Some(names) = self.by_resource.get_mut(resource)
            {
                names.retain(|name| name != old.name());
                if names.is_empty() {
                    self.by_resource.remove(resource);
                }
            }
        }
        if let Some(new) = new {
            self.by_name.insert(new.name().to_owned(), new.clone());
            if let Some(resource) = new.view().spec().extended_resource_name() {
                self.by_resource.entry(resource.to_owned()).or_default().push(new.name().to_owned());
            }
        }
    }

    pub fn get(&self, name: &str) -> Option<&SharedObject<DeviceClass>> {
        self.by_name.get(name)
    }

    /// The class behind an extended resource. Of several that declare it the newest counts, so
    /// that one class can take over from another, and then the one with the first name.
    pub fn behind(&self, resource: &str) -> Option<&SharedObject<DeviceClass>> {
        if let Some(class) = resource.strip_prefix(DEVICE_CLASS_RESOURCE) {
            return self.by_name.get(class);
        }
        let classes = self.by_resource.get(resource)?.iter().filter_map(|name| self.by_name.get(name));
        classes.min_by_key(|class| (Reverse(class.meta().creation_timestamp()), class.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_class_stands_behind_a_resource() {
        let class = |name: &str, created: &str| {
            SharedObject::<DeviceClass>::of(json!({
                "metadata": {"name": name, "creationTimestamp": created},
                "spec": {"extendedResourceName": "example.com/gpu"},
            }))
        };
        let mut classes = ClassIndex::default();
        assert!(classes.behind("example.com/gpu").is_none());
        let (old, new) = (class("b", "2026-01-01T00:00:00Z"), class("c", "2026-01-02T00:00:00Z"));
        for class in [&old, &new, &class("a", "2026-01-01T00:00:00Z")] {
            classes.observe(&Event::Added(class.clone()));
        }
        let behind =
            |classes: &ClassIndex, resource: &str| classes.behind(resource).map(|class| class.name().to_owned());
        assert_eq!(behind(&classes, "example.com/gpu").as_deref(), Some("c"));
        assert_eq!(behind(&classes, "deviceclass.resource.kubernetes.io/b").as_deref(), Some("b"));
        classes.observe(&Event::Deleted(new));
        assert_eq!(behind(&classes, "example.com/gpu").as_deref(), Some("a"));
        assert!(is_device_resource("example.com/gpu") && !is_device_resource("hugepages-2Mi"));
    }
}
