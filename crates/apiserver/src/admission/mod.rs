//! What is let in, and in what shape: plugins that change or refuse a write after it is
//! authorized and before it is stored. The registry calls [`Admission::mutate`] before
//! validation and [`Admission::validate`] after it, for every create, update and delete.
//!
//! To add a plugin: write `plugins/<plugin>.rs` and add its line to `all.rs`.

pub mod all;
pub mod cel;
mod config_file;
pub mod matching;
pub(crate) mod plugins;
pub mod policy;
pub mod reinvocation;
mod webhook;
mod wiring;

#[cfg(test)]
mod testing;

pub use plugins::pods::pod_security;
pub use wiring::{PluginConfig, Wiring};

use crate::authn::UserInfo;
use crate::metrics::Metrics;
use crate::metrics::admission::{Plugins, Step};
use crate::registry::{Caller, RequestNotes, Warnings};
use async_trait::async_trait;
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use reinvocation::Reinvocation;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl Operation {
    /// As messages and webhooks have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

/// One write, as plugins see it.
pub struct AdmissionRequest<'a> {
    pub operation: Operation,
    pub row: Arc<Row>,
    pub namespace: String,
    /// Empty on create with generateName.
    pub name: String,
    /// `""`, `status`, `token`…; the object is then what that subresource takes.
    pub subresource: String,
    /// The object to be; `None` on delete.
    pub object: Option<&'a mut Value>,
    /// The object that is; `None` on create.
    pub old_object: Option<&'a Value>,
    pub user: Arc<UserInfo>,
    pub dry_run: bool,
    sent_options: Arc<Value>,
    pub warnings: Warnings,
    pub notes: RequestNotes,
    /// What plugins remember between the two rounds of mutation.
    pub reinvocation: Reinvocation,
}

impl<'a> AdmissionRequest<'a> {
    /// A write of nothing yet; the caller puts the objects in.
    pub fn new(
        operation: Operation,
        row: &Arc<Row>,
        namespace: &str,
        name: &str,
        subresource: &str,
        caller: &Caller,
    ) -> Self {
        Self {
            operation,
            row: row.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: subresource.to_owned(),
            object: None,
            old_object: None,
            user: caller.user.clone(),
            dry_run: caller.dry_run,
            sent_options: caller.options.clone(),
            warnings: caller.warnings.clone(),
            notes: caller.notes.clone(),
            reinvocation: Reinvocation::default(),
        }
    }

    /// The options as admission shows them: a patch is an update, or a create, to those
    /// who look at the object (upstream's patchToUpdateOptions).
    pub fn options(&self) -> Value {
        let mut options = Value::clone(&self.sent_options);
        let kind = match self.operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete | Operation::Connect => return options,
        };
        if let Value::Object(map) = &mut options
            && map.contains_key("kind")
        {
            map.insert("kind".into(), kind.into());
            map.remove("force");
        }
        options
    }

    /// The kind of the object: the row's, or what the subresource takes (`Scale`).
    pub fn kind(&self) -> GroupVersionKind {
        matching::kind_of(&self.row, &self.subresource)
    }

    /// The namespace as admission shows it: a Namespace is in itself.
    pub fn namespace_attribute(&self) -> &str {
        if self.namespace.is_empty() && self.is_for("", "namespaces") { &self.name } else { &self.namespace }
    }
    /// Whether the write is about this resource.
    pub fn is_for(&self, group: &str, plural: &str) -> bool {
        self.row.group == group && self.row.plural == plural
    }

    /// Whether a pod itself is created or changed.
    fn is_pod_write(&self) -> bool {
        matches!(self.operation, Operation::Create | Operation::Update)
            && self.is_for("", "pods")
            && self.subresource.is_empty()
    }

    /// The object to be, if it is this resource itself and not a subresource of it.
    fn object_of(&mut self, group: &str, plural: &str) -> Option<&mut Value> {
        if self.is_for(group, plural) && self.subresource.is_empty() { self.object.as_deref_mut() } else { None }
    }

    /// 403 with a plugin's reason, about the object as far as it has a name yet.
    pub fn forbidden(&self, why: &str) -> Status {
        let mut name = self.name.as_str();
        if name.is_empty() {
            let object = self.object.as_deref();
            name = object.map(Meta::name).filter(|name| !name.is_empty()).unwrap_or_else(|| {
                let base = object.map(|object| object.meta_str("generateName")).unwrap_or_default();
                if base.is_empty() { "Unknown" } else { base }
            });
        }
        Status::forbidden(&self.row.group_resource(), name, why)
    }
}

/// One rule of what is let in. Both methods may be called several times for one write,
/// since an update that meets a conflict is tried again on the newer object; so they
/// depend on nothing but the request and the objects in memory, and a mutation of what is
/// already mutated changes nothing.
#[async_trait]
pub trait Plugin: Send + Sync + 'static {
    /// Upstream's name, under which people turn it off.
    fn name(&self) -> &'static str;

    /// Whether the plugin wants to see the write at all; cheap, called first.
    fn handles(&self, request: &AdmissionRequest<'_>) -> bool;

    /// May change `request.object` or refuse. Called in the order of `all.rs`, before
    /// defaulting and validation.
    async fn mutate(&self, _request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        Ok(())
    }

    /// May refuse. Called when nothing changes the object any more.
    async fn validate(&self, _request: &AdmissionRequest<'_>) -> Result<(), Status> {
        Ok(())
    }
}

/// The plugins that are on, in their order.
pub struct Admission {
    plugins: Vec<Box<dyn Plugin>>,
    metrics: Arc<Metrics>,
    figures: Plugins,
}

impl Admission {
    /// The error says what is wrong with the configuration of plugins.
    pub fn new(wiring: &Wiring) -> Result<Self, String> {
        let mut plugins = all::all(wiring);
        let names: Vec<&str> = plugins.iter().map(|plugin| plugin.name()).collect();
        wiring.config.check(&names)?;
        plugins.retain(|plugin| wiring.config.is_on(plugin.name()));
        Ok(Self { figures: Plugins::new(plugins.len()), plugins, metrics: wiring.metrics.clone() })
    }

    pub async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let began = Instant::now();
        let mut outcome = self.mutate_once(request).await;
        if outcome.is_ok() && request.reinvocation.begin_second() {
            outcome = self.mutate_once(request).await;
        }
        self.metrics.admission.step(Step::Admit, request.operation, outcome.is_err(), began.elapsed());
        outcome
    }

    async fn mutate_once(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let mut began = Instant::now();
        for (place, plugin) in self.plugins.iter().enumerate() {
            if plugin.handles(request) {
                let outcome = plugin.mutate(request).await;
                let took = lap(&mut began);
                self.count((place, plugin.name()), Step::Admit, request.operation, &outcome, took);
                outcome?;
            }
        }
        Ok(())
    }

    pub async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let began = Instant::now();
        let outcome = self.validate_all(request).await;
        self.metrics.admission.step(Step::Validate, request.operation, outcome.is_err(), began.elapsed());
        outcome
    }

    async fn validate_all(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let mut began = Instant::now();
        for (place, plugin) in self.plugins.iter().enumerate() {
            if plugin.handles(request) {
                let outcome = plugin.validate(request).await;
                let took = lap(&mut began);
                self.count((place, plugin.name()), Step::Validate, request.operation, &outcome, took);
                outcome?;
            }
        }
        Ok(())
    }

    fn count(
        &self,
        plugin: (usize, &str),
        step: Step,
        operation: Operation,
        outcome: &Result<(), Status>,
        took: Duration,
    ) {
        self.figures.observe(&self.metrics.admission, plugin, step, operation, outcome.is_err(), took);
    }
}

/// The time since `began`, which is now from here on: one plugin begins where the one before
/// it ends, and a write passes so many that reading the clock twice for each is seen.
fn lap(began: &mut Instant) -> Duration {
    let now = Instant::now();
    now - std::mem::replace(began, now)
}
