//! Pieces of every verb that writes: dry runs, the field manager, and the line that says what
//! was done.

use crate::builder::Target;
use crate::error::Result;
use crate::print::{OutputFlags, Printer};
use crate::session::Session;
use clap::{Args, ValueEnum};
use ferry_client::Request;
use serde_json::Value;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    #[default]
    None,
    Client,
    Server,
}

/// The flags of every verb that writes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WriteFlags {
    /// Must be "none", "server", or "client"
    #[arg(long, value_enum, default_value = "none", num_args = 0..=1, require_equals = true, default_missing_value = "client")]
    pub dry_run: DryRun,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// The flag of verbs whose writes are owned by a manager.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ManagerFlag {
    /// Name of the manager used to track field ownership
    #[arg(long)]
    pub field_manager: Option<String>,
}

impl ManagerFlag {
    /// The manager of a verb without the flag: `kubectl-create`, as upstream names them.
    pub(crate) fn name(&self, verb: &str) -> String {
        self.field_manager.clone().unwrap_or_else(|| format!("kubectl-{verb}"))
    }
}

impl WriteFlags {
    pub(crate) fn query(&self, field_manager: Option<&str>) -> Vec<(String, String)> {
        let mut query = Vec::new();
        query.extend(field_manager.map(|name| ("fieldManager".to_owned(), name.to_owned())));
        if self.dry_run == DryRun::Server {
            query.push(("dryRun".into(), "All".into()));
        }
        query
    }

    pub(crate) fn is_client(&self) -> bool {
        self.dry_run == DryRun::Client
    }

    /// Makes the printer of the verb's results.
    pub(crate) fn printer(&self) -> Result<ResultPrinter> {
        let format = self.output.format()?;
        let printer = format.map(|format| Printer::new(format, &self.output));
        Ok(ResultPrinter { printer, dry_run: self.dry_run })
    }
}

/// Prints what a verb did to each object: a sentence, or the object with `-o`.
#[derive(Debug)]
pub(crate) struct ResultPrinter {
    printer: Option<Printer>,
    dry_run: DryRun,
}

impl ResultPrinter {
    /// `deployment.apps/web created`
    pub(crate) fn print(&mut self, session: &Session, target: &Target, object: &Value, operation: &str) -> Result<()> {
        let text = match &mut self.printer {
            Some(printer) => printer.render(object)?,
            None => {
                let name = object.pointer("/metadata/name").and_then(Value::as_str).or(target.name.as_deref());
                let kind = target.resource.singular_with_group();
                format!("{kind}/{} {operation}{}\n", name.unwrap_or_default(), self.suffix())
            }
        };
        session.print(&text)
    }

    fn suffix(&self) -> &'static str {
        match self.dry_run {
            DryRun::None => "",
            DryRun::Client => " (dry run)",
            DryRun::Server => " (server dry run)",
        }
    }
}

/// POST of a new object.
pub(crate) async fn create(
    session: &Session,
    target: &Target,
    object: &Value,
    query: Vec<(String, String)>,
) -> Result<Value> {
    let path = target.resource.path().url(&target.namespace, None, None);
    session
        .json(Request { method: http::Method::POST, path, query, body: Some(body(object)), ..Default::default() })
        .await
}

/// The media types of patches.
pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

pub(crate) async fn patch(
    session: &Session,
    target: &Target,
    subresource: Option<&str>,
    content_type: &'static str,
    patch: &Value,
    query: Vec<(String, String)>,
) -> Result<Value> {
    let path = match subresource {
        Some(subresource) => target.subresource_url(subresource),
        None => target.url(),
    };
    let request = Request {
        method: http::Method::PATCH,
        path,
        query,
        body: Some(body(patch)),
        content_type: Some(content_type),
        ..Default::default()
    };
    session.json(request).await
}

pub(crate) async fn get(session: &Session, target: &Target) -> Result<Value> {
    session.json(Request { path: target.url(), ..Default::default() }).await
}

fn body(object: &Value) -> Vec<u8> {
    object.to_string().into_bytes()
}

/// The annotation by which client-side apply knows what it applied last.
pub(crate) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The object with its own text in the annotation, as `apply` and `--save-config` write it.
pub(crate) fn with_last_applied(object: &Value) -> Value {
    let mut bare = object.clone();
    if let Some(annotations) = bare.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    // Upstream writes an empty map where there were no annotations.
    if let Some(metadata) = bare.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("annotations").or_insert_with(|| serde_json::json!({}));
    }
    let text = crate::print::json::render_compact(&bare) + "\n";
    bare["metadata"]["annotations"][LAST_APPLIED] = text.into();
    bare
}

/// All but the last error are printed; the last is the command's. Verbs go on after an error
/// of one object.
#[derive(Default)]
pub(crate) struct Errors(Option<crate::error::CliError>);

impl Errors {
    pub(crate) fn add(&mut self, session: &Session, error: crate::error::CliError) {
        if let Some(earlier) = self.0.replace(error) {
            session.note(&earlier.render());
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
