//! `kubectl wait`: until a condition holds, a field has a value, or the object is gone.

use super::delete::{parse_timeout, wait_until_gone};
use crate::builder::files::FileFlags;
use crate::builder::{Choice, Info, Selectors, Target};
use crate::error::{CliError, Result};
use crate::jsonpath::JsonPath;
use crate::session::Session;
use crate::watch::Watch;
use clap::Args;
use serde_json::Value;
use std::time::Duration;

/// Wait for a specific condition on one or many resources
#[derive(Args, Debug)]
pub(crate) struct WaitArgs {
    /// TYPE NAME | TYPE/NAME …
    pub args: Vec<String>,
    #[command(flatten)]
    pub files: FileFlags,
    /// The condition to wait on: [create|delete|condition=NAME[=VALUE]|jsonpath='{PATH}'=VALUE]
    #[arg(long = "for", value_name = "CONDITION")]
    pub wanted: Option<String>,
    /// The length of time to wait before giving up. Zero means check once and don't wait, negative means wait for a week
    #[arg(long, default_value = "30s", allow_hyphen_values = true)]
    pub timeout: String,
    /// Selector (label query) to filter on
    #[arg(short = 'l', long)]
    pub selector: Option<String>,
    /// Selector (field query) to filter on
    #[arg(long)]
    pub field_selector: Option<String>,
    /// Select all resources in the namespace of the specified resource types
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all: bool,
    /// If present, list the requested object(s) across all namespaces
    #[arg(short = 'A', long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all_namespaces: bool,
}

/// The thing that is waited for.
#[derive(Debug)]
enum Wanted {
    Creation,
    Deletion,
    Condition {
        name: String,
        status: String,
    },
    /// Without a value the path only has to be there.
    Path {
        path: JsonPath,
        value: Option<String>,
    },
}

pub(crate) async fn run(args: WaitArgs, session: &Session) -> Result<()> {
    let Some(text) = args.wanted.as_deref().filter(|text| !text.is_empty()) else {
        return Err(format!("unrecognized condition: {:?}", args.wanted.as_deref().unwrap_or_default()).into());
    };
    let wanted = parse(text)?;
    let timeout = match args.timeout.strip_prefix('-') {
        Some(_) => None,
        None => Some(parse_timeout(&args.timeout)?.unwrap_or_default()),
    };
    let choice = Choice {
        args: args.args.clone(),
        files: args.files.clone(),
        selectors: Selectors { labels: args.selector.clone(), fields: args.field_selector.clone() },
        is_all: args.all,
        all_namespaces: args.all_namespaces,
    };
    if matches!(wanted, Wanted::Creation) {
        return wait_for_creation(session, &choice, timeout).await;
    }
    let mut targets: Vec<Target> = Vec::new();
    for target in choice.targets(session).await? {
        match target.name {
            Some(_) => targets.push(target),
            None => {
                let found: Vec<Info> = crate::builder::list(session, &target, &choice.selectors).await?;
                targets.extend(found.into_iter().map(|info| info.target));
            }
        }
    }
    if targets.is_empty() {
        return match wanted {
            Wanted::Deletion => Ok(()),
            _ => Err("no matching resources found".into()),
        };
    }
    // One time limit for all objects together.
    let deadline = timeout.map(|timeout| tokio::time::Instant::now() + timeout);
    for target in &targets {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(tokio::time::Instant::now()));
        match &wanted {
            Wanted::Deletion => {
                let object = match super::write::get(session, target).await {
                    Err(error) if error.is_not_found() => continue,
                    other => other?,
                };
                let uid = object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default().to_owned();
                // No time left is a limit of nothing, and not none.
                let left = left.map(|left| left.max(Duration::from_millis(1)));
                wait_until_gone(session, target, &uid, left).await?;
            }
            wanted => wait_for(session, target, wanted, left).await?,
        }
        session.print(&format!("{} condition met\n", target.printed_name()))?;
    }
    Ok(())
}

fn parse(text: &str) -> Result<Wanted> {
    if text.eq_ignore_ascii_case("delete") {
        return Ok(Wanted::Deletion);
    }
    if text.eq_ignore_ascii_case("create") {
        return Ok(Wanted::Creation);
    }
    if let Some(condition) = text.strip_prefix("condition=") {
        let (name, status) = condition.split_once('=').unwrap_or((condition, "true"));
        return Ok(Wanted::Condition { name: name.to_owned(), status: status.to_owned() });
    }
    if let Some(rest) = text.strip_prefix("jsonpath=") {
        let end = rest.rfind('}').map_or(rest.len(), |end| end + 1);
        let quoted = rest.strip_prefix('\'').is_some();
        let (path, value) = if quoted {
            rest.trim_start_matches('\'').split_once('\'').unwrap_or((rest, ""))
        } else {
            rest.split_at(match rest.find("}=") {
                Some(at) => at + 1,
                None => end,
            })
        };
        let value = value.strip_prefix('=');
        if value == Some("") {
            return Err("jsonpath wait has to have a value after equal sign".into());
        }
        let wrong = |error: String| CliError::Message(format!("jsonpath expression: {error}"));
        return Ok(Wanted::Path { path: JsonPath::relaxed(path).map_err(wrong)?, value: value.map(str::to_owned) });
    }
    Err(format!("unrecognized condition: {text:?}").into())
}

/// Whether the object is as wanted now.
fn holds(wanted: &Wanted, object: &Value) -> Result<bool> {
    match wanted {
        Wanted::Creation | Wanted::Deletion => Ok(false),
        Wanted::Condition { name, status } => {
            let generation = object.pointer("/metadata/generation").and_then(Value::as_i64);
            let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
            Ok(conditions.into_iter().flatten().any(|condition| {
                let text = |key: &str| condition[key].as_str().unwrap_or_default();
                let is_old = match (generation, condition["observedGeneration"].as_i64()) {
                    (Some(generation), Some(observed)) => observed < generation,
                    _ => false,
                };
                text("type").eq_ignore_ascii_case(name) && text("status").eq_ignore_ascii_case(status) && !is_old
            }))
        }
        Wanted::Path { path, value } => {
            let found = path.find(object).map_err(CliError::Message)?;
            match (&found[..], value) {
                ([], _) => Ok(false),
                (_, None) => Ok(true),
                ([only], Some(value)) => match only {
                    Value::Object(_) | Value::Array(_) => {
                        Err("jsonpath leads to a nested object or list which is not supported".into())
                    }
                    Value::String(text) => Ok(text.trim() == value.trim()),
                    other => Ok(crate::print::json::render_compact(other) == value.trim()),
                },
                _ => Err("given jsonpath expression matches more than one value".into()),
            }
        }
    }
}

async fn wait_for(session: &Session, target: &Target, wanted: &Wanted, timeout: Option<Duration>) -> Result<()> {
    let collection = Target { name: None, ..target.clone() };
    let name = target.name.as_deref().unwrap_or_default();
    let query = vec![("fieldSelector".to_owned(), format!("metadata.name={name}"))];
    let waited = async {
        loop {
            let object = super::write::get(session, target).await?;
            if holds(wanted, &object)? {
                return Ok(());
            }
            if timeout == Some(Duration::ZERO) {
                return Err(CliError::Message(format!(
                    "timed out waiting for the condition on {}/{name}",
                    target.resource.plural
                )));
            }
            let revision = object.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default();
            let mut watch = Watch::open(session, collection.url(), query.clone(), revision, None).await?;
            while let Some(event) = watch.next().await? {
                if event.event_type == "DELETED" {
                    // The condition is over; upstream waits for the object to come back.
                    continue;
                }
                if holds(wanted, &event.object)? {
                    return Ok(());
                }
            }
        }
    };
    match timeout.filter(|timeout| !timeout.is_zero()) {
        None => waited.await,
        Some(timeout) => tokio::time::timeout(timeout, waited).await.unwrap_or_else(|_| {
            Err(format!("timed out waiting for the condition on {}/{name}", target.resource.plural).into())
        }),
    }
}

async fn wait_for_creation(session: &Session, choice: &Choice, timeout: Option<Duration>) -> Result<()> {
    let waited = async {
        for target in choice.targets(session).await? {
            let collection = Target { name: None, ..target.clone() };
            let mut query = choice.selectors.query();
            if let Some(name) = &target.name {
                query.push(("fieldSelector".into(), format!("metadata.name={name}")));
            }
            // Without a revision the watch begins with what is there.
            let mut watch = Watch::open(session, collection.url(), query, "", None).await?;
            let created = loop {
                match watch.next().await? {
                    Some(event) if event.event_type == "ADDED" => break event.object,
                    Some(_) => {}
                    None => return Err(CliError::from("the server ended the watch")),
                }
            };
            let name = created.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
            session.print(&format!("{}/{name} condition met\n", target.resource.singular_with_group()))?;
        }
        Ok(())
    };
    match timeout {
        None => waited.await,
        Some(timeout) => tokio::time::timeout(timeout, waited)
            .await
            .unwrap_or_else(|_| Err("timed out waiting for the condition".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_and_paths_are_compared_with_the_object() {
        let object = json!({"metadata": {"generation": 2}, "status": {"phase": "Succeeded", "n": 3, "list": [1, 2],
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "True", "observedGeneration": 1}]}});
        for (text, expected) in [
            ("condition=Ready", Ok(true)),
            ("condition=ready=false", Ok(false)),
            ("condition=Old", Ok(false)),
            ("jsonpath={.status.phase}=Succeeded", Ok(true)),
            ("jsonpath='{.status.phase}'=Failed", Ok(false)),
            ("jsonpath={.status.n}=3", Ok(true)),
            ("jsonpath={.status.phase}", Ok(true)),
            ("jsonpath={.status.absent}", Ok(false)),
            (
                "jsonpath={.status.list}=1",
                Err("error: jsonpath leads to a nested object or list which is not supported"),
            ),
            ("jsonpath={.status.list[*]}=1", Err("error: given jsonpath expression matches more than one value")),
            ("nonsense", Err("error: unrecognized condition: \"nonsense\"")),
        ] {
            let held = parse(text).and_then(|wanted| holds(&wanted, &object)).map_err(|error| error.render());
            assert_eq!(held, expected.map_err(str::to_owned), "{text}");
        }
    }
}
