//! What is counted of sealing and opening objects (apiserver/pkg/storage/value upstream).

use crate::encryption::Kind;
use ferry_api::gvk::GroupResource;
use ferry_metrics::family::{Counter, Family, Histogram};
use std::time::Duration;

/// From five microseconds to 84 seconds, each twice the one before.
static DURATIONS: [f64; 25] = [
    5e-6, 1e-5, 2e-5, 4e-5, 8e-5, 1.6e-4, 3.2e-4, 6.4e-4, 1.28e-3, 2.56e-3, 5.12e-3, 0.01024, 0.02048, 0.04096,
    0.08192, 0.16384, 0.32768, 0.65536, 1.31072, 2.62144, 5.24288, 10.48576, 20.97152, 41.94304, 83.88608,
];

/// Which way a value goes.
#[derive(Clone, Copy)]
pub enum Way {
    ToStorage,
    FromStorage,
}

pub struct EncryptionFigures {
    operations: Family<Counter>,
    durations: Family<Histogram>,
}

impl Default for EncryptionFigures {
    fn default() -> Self {
        Self {
            operations: Family::new(
                "apiserver_storage_transformation_operations_total",
                "Objects sealed and opened.",
                &["resource", "transformation_type", "transformer_prefix", "status"],
                Counter::default,
            ),
            durations: Family::new(
                "apiserver_storage_transformation_duration_seconds",
                "How long it took to seal or to open an object.",
                &["transformation_type", "transformer_prefix"],
                || Histogram::new(&DURATIONS),
            ),
        }
    }
}

impl EncryptionFigures {
    /// `prefix` names the provider and its key, as it stands before the sealed bytes.
    pub fn transformed(&self, kind: Kind<'_>, way: Way, prefix: &str, failed: bool, took: Duration) {
        let way = match way {
            Way::ToStorage => "to_storage",
            Way::FromStorage => "from_storage",
        };
        let resource = GroupResource::new(kind.group.to_owned(), kind.resource.to_owned()).to_string();
        let status = if failed { "Unknown" } else { "OK" };
        self.operations.of(&[&resource, way, prefix, status]).count();
        if !failed {
            self.durations.of(&[way, prefix]).observe_time(took);
        }
    }

    /// A custom resource is served no more; `resource` is `widgets.example.com`.
    pub fn forget(&self, resource: &str) {
        self.operations.forget(&[("resource", resource)]);
    }

    pub fn render(&self, out: &mut String) {
        self.operations.render(out);
        self.durations.render(out);
    }
}
