//! NamespaceAutoProvision: a namespace is made by whatever is first created in it. Off
//! unless asked for. It comes before NamespaceLifecycle, which would refuse the create.

use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use crate::registry::lookup::ObjectLookup;
use crate::registry::{Caller, Registry, Tracking};
use async_trait::async_trait;
use ferry_api::status::Status;
use serde_json::json;
use std::sync::{Arc, Weak};

pub(crate) struct NamespaceAutoProvision {
    lookup: Arc<dyn ObjectLookup>,
    registry: Weak<Registry>,
}

impl NamespaceAutoProvision {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        Self { lookup: wiring.lookup.clone(), registry: wiring.registry.clone() }
    }
}

#[async_trait]
impl Plugin for NamespaceAutoProvision {
    fn name(&self) -> &'static str {
        "NamespaceAutoProvision"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create && request.row.is_namespaced() && !request.dry_run
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let name = request.namespace.as_str();
        if self.lookup.get("", "namespaces", "", name).is_some() {
            return Ok(());
        }
        let stopping = || Status::service_unavailable("the server is stopping");
        let registry = self.registry.upgrade().ok_or_else(stopping)?;
        let row = registry.rows.find("", "v1", "namespaces").ok_or_else(Status::no_such_path)?;
        let mut namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        row.default(&mut namespace);
        match registry.create(&row, "", namespace, Tracking::Update, &Caller::server()).await {
            Err(status) if !status.is_already_exists() => Err(request.forbidden(&status.message)),
            _ => Ok(()),
        }
    }
}
