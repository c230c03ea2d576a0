//! One way to run a plugin in a test.

use super::{AdmissionRequest, Operation, Plugin};
use crate::authn::UserInfo;
use crate::registry::Caller;
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::reset::{Generation, ResetFields};
use ferry_resources::{Row, Scope, Strategy, WriteRules};
use serde_json::Value;
use std::sync::Arc;

struct NoRules;
impl Strategy for NoRules {}

/// A row with the names alone.
pub(super) fn row(group: &'static str, kind: &'static str, plural: &'static str, scope: Scope) -> Arc<Row> {
    Arc::new(Row {
        group: group.into(),
        version: "v1".into(),
        kind: kind.into(),
        list_kind: format!("{kind}List").into(),
        plural: plural.into(),
        singular: kind.to_lowercase().into(),
        short_names: vec![],
        categories: vec![],
        scope,
        verbs: vec![],
        subresources: vec![],
        columns: vec![],
        wiped: vec![],
        reset: ResetFields::default(),
        generation: Generation::default(),
        returns_deleted_object: false,
        writes: WriteRules::default(),
        selectable: vec![],
        stored_as: GroupVersionKind::new(group, "v1", kind),
        storage_prefix: format!("/registry/{plural}/").into(),
        schema: None,
        strategy: Arc::new(NoRules),
        custom: None,
    })
}

pub(super) fn pods() -> Arc<Row> {
    row("", "Pod", "pods", Scope::Namespaced)
}

/// What is written, by whom and through which door.
pub(super) struct Case<'a> {
    pub operation: Operation,
    pub row: Arc<Row>,
    pub subresource: &'a str,
    pub object: Option<Value>,
    pub old: Option<Value>,
    pub user: UserInfo,
}

impl Case<'_> {
    pub(super) fn create(row: Arc<Row>, object: Value) -> Self {
        let user = UserInfo::authenticated("tester", &[]);
        Self { operation: Operation::Create, row, subresource: "", object: Some(object), old: None, user }
    }

    /// Runs both phases and gives the object as the plugin left it.
    pub(super) async fn run(mut self, plugin: &dyn Plugin) -> Result<Value, Status> {
        let subject = self.object.as_ref().or(self.old.as_ref());
        let (namespace, name) = subject.map(|o| (o.namespace().to_owned(), o.name().to_owned())).unwrap_or_default();
        let caller = Caller::testing(self.user);
        let mut request =
            AdmissionRequest::new(self.operation, &self.row, &namespace, &name, self.subresource, &caller);
        request.object = self.object.as_mut();
        request.old_object = self.old.as_ref();
        if plugin.handles(&request) {
            plugin.mutate(&mut request).await?;
            plugin.validate(&request).await?;
        }
        Ok(self.object.unwrap_or(Value::Null))
    }
}
