//! `kubectl get`: objects as tables that the server makes, or whole in another format.

use crate::builder::{Selectors, Target, files::FileFlags, infos_of_files, targets};
use crate::error::{CliError, Result};
use crate::jsonpath::JsonPath;
use crate::print::table::{TableOptions, TablePrinter};
use crate::print::{Format, OutputFlags, Printer, list_of};
use crate::session::Session;
use crate::watch::Watch;
use clap::Args;
use ferry_client::Request;
use serde_json::{Value, json};

/// Display one or many resources
#[derive(Args, Debug)]
pub(crate) struct GetArgs {
    /// TYPE[.VERSION][.GROUP] [NAME | -l label] | TYPE[.VERSION][.GROUP]/NAME …
    pub args: Vec<String>,
    #[command(flatten)]
    pub output: OutputFlags,
    #[command(flatten)]
    pub files: FileFlags,
    /// List the requested object(s) across all namespaces
    #[arg(short = 'A', long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all_namespaces: bool,
    /// Selector (label query) to filter on
    #[arg(short = 'l', long)]
    pub selector: Option<String>,
    /// Selector (field query) to filter on
    #[arg(long)]
    pub field_selector: Option<String>,
    /// After listing the requested object, watch for changes
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub watch: bool,
    /// Watch for changes to the requested object(s), without listing first
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub watch_only: bool,
    /// Output watch event objects when --watch or --watch-only is used
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub output_watch_events: bool,
    /// When using the default or custom-column output format, don't print headers
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub no_headers: bool,
    /// If present, list the resource type for the requested object(s)
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub show_kind: bool,
    /// When printing, show all labels as the last column
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub show_labels: bool,
    /// Labels that are presented as columns
    #[arg(short = 'L', long, value_delimiter = ',')]
    pub label_columns: Vec<String>,
    /// If non-empty, sort list types using this field specification
    #[arg(long)]
    pub sort_by: Option<String>,
    /// Return large lists in chunks rather than all at once. Pass 0 to disable
    #[arg(long, default_value_t = 500)]
    pub chunk_size: u32,
    /// If set to true, suppresses NotFound error for specific objects that do not exist
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub ignore_not_found: bool,
    /// Raw URI to request from the server
    #[arg(long)]
    pub raw: Option<String>,
    /// If specified, gets the subresource of the requested object
    #[arg(long)]
    pub subresource: Option<String>,
    /// If true, have the server return the appropriate table output
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub server_print: bool,
}

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

pub(crate) async fn run(args: GetArgs, session: &Session) -> Result<()> {
    if let Some(raw) = &args.raw {
        return print_raw(session, &args, raw).await;
    }
    if args.args.is_empty() && args.files.is_empty() {
        return Err(CliError::Usage {
            message: "Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).".into(),
            command: "kubectl get".into(),
        });
    }
    let is_across = args.all_namespaces;
    let namespace = if is_across { "" } else { session.namespace()? };
    let found = match args.files.is_empty() {
        true => targets(session.discovery().await?, &args.args, namespace)?,
        false => infos_of_files(session, &args.files).await?.into_iter().map(|info| info.target).collect(),
    };
    let selectors = Selectors { labels: args.selector.clone(), fields: args.field_selector.clone() };
    let is_named = found.iter().any(|target| target.name.is_some());
    if is_named && !selectors.is_empty() {
        return Err("name cannot be provided when a selector is specified".into());
    }
    if is_named && is_across && found.iter().any(|t| t.resource.is_namespaced) {
        return Err("a resource cannot be retrieved by name across all namespaces".into());
    }
    if args.watch || args.watch_only {
        return watch(session, &args, &selectors, &found).await;
    }
    match args.output.format()? {
        Some(format) => print_whole(session, &args, &selectors, &found, format).await,
        None => print_tables(session, &args, &selectors, &found).await,
    }
}

async fn print_raw(session: &Session, args: &GetArgs, raw: &str) -> Result<()> {
    if !args.args.is_empty() || args.selector.is_some() || args.output.output.is_some() {
        return Err("arguments may not be passed when --raw is specified".into());
    }
    let (path, query) = raw.split_once('?').map_or((raw, ""), |(path, query)| (path, query));
    let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let response = session.send(Request { path: path.into(), query, ..Default::default() }).await?;
    let mut body = response.into_body();
    while let Some(frame) = http_body_util::BodyExt::frame(&mut body).await {
        let frame = frame.map_err(|error| CliError::Plain(error.to_string()))?;
        if let Ok(bytes) = frame.into_data() {
            session.print_bytes(&bytes)?;
        }
    }
    Ok(())
}

fn url_of(args: &GetArgs, target: &Target) -> String {
    match &args.subresource {
        Some(subresource) => target.subresource_url(subresource),
        None => target.url(),
    }
}

/// The objects themselves, as one list where there are several.
async fn print_whole(
    session: &Session,
    args: &GetArgs,
    selectors: &Selectors,
    found: &[Target],
    format: Format,
) -> Result<()> {
    let format = match format {
        Format::CustomColumns(columns) if args.no_headers => Format::CustomColumns(columns.without_headers()),
        other => other,
    };
    let mut errors = Vec::new();
    let mut items = Vec::new();
    for target in found {
        match get_whole(session, args, selectors, target).await {
            Ok(read) => items.extend(read),
            Err(error) if args.ignore_not_found && error.is_not_found() => {}
            Err(error) => errors.push(error),
        }
    }
    if let Some(path) = &args.sort_by {
        sort(&mut items, path, |item| item)?;
    }
    let is_list = found.len() != 1 || found.iter().any(|target| target.name.is_none());
    let mut printer = Printer::new(format, &args.output);
    let text = match (is_list, printer.prints_lists_item_by_item()) {
        (false, _) => items.first().map(|item| printer.render(item)).transpose()?,
        (true, true) if items.is_empty() => None,
        // Nothing was found, and what was is said already.
        (true, _)
            if items.is_empty()
                && (!errors.is_empty() || (args.ignore_not_found && found.iter().all(|t| t.name.is_some()))) =>
        {
            None
        }
        (true, _) => Some(printer.render(&list_of(items))?),
    };
    if let Some(text) = text {
        session.print(&text)?;
    }
    finish(session, errors)
}

async fn get_whole(session: &Session, args: &GetArgs, selectors: &Selectors, target: &Target) -> Result<Vec<Value>> {
    if target.name.is_some() {
        let request = Request { path: url_of(args, target), ..Default::default() };
        return Ok(vec![session.json(request).await?]);
    }
    let infos = crate::builder::list(session, target, selectors).await?;
    Ok(infos.into_iter().map(|info| info.object).collect())
}

/// All but the last error are printed here; the last is the command's.
fn finish(session: &Session, mut errors: Vec<CliError>) -> Result<()> {
    let last = errors.pop();
    for error in errors {
        session.note(&error.render());
    }
    last.map_or(Ok(()), Err)
}

fn table_query(args: &GetArgs) -> Vec<(String, String)> {
    let includes = args.sort_by.is_some().then(|| ("includeObject".to_owned(), "Object".to_owned()));
    includes.into_iter().collect()
}

async fn print_tables(session: &Session, args: &GetArgs, selectors: &Selectors, found: &[Target]) -> Result<()> {
    // Neighbours of one resource make one table.
    let mut groups: Vec<Vec<&Target>> = Vec::new();
    for target in found {
        match groups.last_mut() {
            Some(group) if group[0].resource == target.resource => group.push(target),
            _ => groups.push(vec![target]),
        }
    }
    let mut errors = Vec::new();
    let mut has_printed = false;
    for group in &groups {
        let mut tables = Vec::new();
        for target in group {
            match get_tables(session, args, selectors, target).await {
                Ok(read) => tables.extend(read),
                Err(error) if args.ignore_not_found && error.is_not_found() => {}
                Err(error) => errors.push(error),
            }
        }
        let rows = |table: &Value| table["rows"].as_array().cloned().unwrap_or_default();
        let mut all: Vec<Value> = tables.iter().flat_map(rows).collect();
        if all.is_empty() {
            continue;
        }
        if let Some(path) = &args.sort_by {
            sort(&mut all, path, |row| &row["object"])?;
        }
        let resource = &group[0].resource;
        let with_kind = args.show_kind || groups.len() > 1;
        let options = table_options(args, with_kind.then(|| resource.singular_with_group()), resource.is_namespaced);
        let definitions = tables.first().map(|table| table["columnDefinitions"].clone()).unwrap_or_default();
        let text = TablePrinter::new(options).render(&json!({ "columnDefinitions": definitions, "rows": all }), None);
        if std::mem::replace(&mut has_printed, true) && !args.no_headers {
            session.print("\n")?;
        }
        session.print(&text)?;
    }
    if !has_printed && !args.ignore_not_found && errors.is_empty() {
        let is_namespaced = found.iter().any(|target| target.resource.is_namespaced);
        match is_namespaced && !args.all_namespaces {
            true => session.note(&format!("No resources found in {} namespace.", session.namespace()?)),
            false => session.note("No resources found"),
        }
    }
    finish(session, errors)
}

fn table_options(args: &GetArgs, kind: Option<String>, is_namespaced: bool) -> TableOptions {
    TableOptions {
        is_wide: args.output.is_wide(),
        has_no_headers: args.no_headers,
        with_namespace: args.all_namespaces && is_namespaced,
        kind,
        shows_labels: args.show_labels,
        label_columns: args.label_columns.clone(),
        with_event: false,
    }
}

/// The pages of a target as tables.
async fn get_tables(session: &Session, args: &GetArgs, selectors: &Selectors, target: &Target) -> Result<Vec<Value>> {
    let mut tables = Vec::new();
    let mut token = String::new();
    loop {
        let mut query = table_query(args);
        if target.name.is_none() {
            query.extend(selectors.query());
            if args.chunk_size > 0 {
                query.push(("limit".into(), args.chunk_size.to_string()));
            }
            if !token.is_empty() {
                query.push(("continue".into(), token));
            }
        }
        let request = Request { path: url_of(args, target), query, accept: Some(TABLE.into()), ..Default::default() };
        let table = session.json(request).await?;
        token = table.pointer("/metadata/continue").and_then(Value::as_str).unwrap_or_default().to_owned();
        tables.push(if table["kind"] == "Table" { table } else { plain_table(table) });
        if token.is_empty() {
            return Ok(tables);
        }
    }
}

/// Names and ages of objects whose server makes no tables.
fn plain_table(answer: Value) -> Value {
    let items = match answer.get("items").and_then(Value::as_array) {
        Some(items) => items.clone(),
        None => vec![answer],
    };
    let row = |item: &Value| {
        let text = |path: &str| item.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let age = crate::age::since(text("/metadata/creationTimestamp"));
        json!({ "cells": [text("/metadata/name"), age], "object": item })
    };
    let rows: Vec<Value> = items.iter().map(row).collect();
    json!({ "columnDefinitions": [{ "name": "Name" }, { "name": "Age" }], "rows": rows })
}

/// By the values of a path: numbers, times and text by their order, absent ones first.
fn sort(items: &mut [Value], path: &str, object: impl Fn(&Value) -> &Value) -> Result<()> {
    let wrong = |error: String| CliError::Message(error);
    let path = JsonPath::relaxed(path).map_err(wrong)?;
    let mut keyed: Vec<(Option<Value>, Value)> = Vec::with_capacity(items.len());
    for item in items.iter() {
        keyed.push((path.find(object(item)).map_err(wrong)?.into_iter().next(), item.clone()));
    }
    keyed.sort_by(|(a, _), (b, _)| match (a, b) {
        (None, None) => std::cmp::Ordering::Equal,
        (None, Some(_)) => std::cmp::Ordering::Less,
        (Some(_), None) => std::cmp::Ordering::Greater,
        (Some(a), Some(b)) => compare(a, b),
    });
    for (slot, (_, item)) in items.iter_mut().zip(keyed) {
        *slot = item;
    }
    Ok(())
}

fn compare(a: &Value, b: &Value) -> std::cmp::Ordering {
    if let (Value::String(a), Value::String(b)) = (a, b) {
        let quantity = |text: &str| ferry_api::quantity::Quantity::parse(text).ok().map(|q| q.as_f64());
        return match (quantity(a), quantity(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => natural_key(a).cmp(&natural_key(b)),
        };
    }
    crate::jsonpath::order(a, b).unwrap_or(std::cmp::Ordering::Equal)
}

/// Text in pieces, so that `web-10` stands behind `web-9`.
fn natural_key(text: &str) -> Vec<(String, u64)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits_at = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(digits_at);
        let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (digits, tail) = tail.split_at(end);
        pieces.push((word.to_owned(), digits.parse().unwrap_or_default()));
        rest = tail;
    }
    pieces
}

async fn watch(session: &Session, args: &GetArgs, selectors: &Selectors, found: &[Target]) -> Result<()> {
    let [target] = found else {
        return Err("you may only specify a single resource type".into());
    };
    let mut collection = target.clone();
    let mut query = selectors.query();
    if let Some(name) = collection.name.take() {
        query.push(("fieldSelector".into(), format!("metadata.name={name}")));
    }
    let mut format = args.output.format()?.map(|format| Printer::new(format, &args.output));
    let mut table = TablePrinter::new(TableOptions {
        with_event: args.output_watch_events,
        ..table_options(
            args,
            args.show_kind.then(|| target.resource.singular_with_group()),
            target.resource.is_namespaced,
        )
    });
    let accept = format.is_none().then_some(TABLE);
    let list = Request {
        path: collection.url(),
        query: query.clone(),
        accept: accept.map(str::to_owned),
        ..Default::default()
    };
    let listed = session.json(list).await?;
    let revision = listed.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !args.watch_only {
        match &mut format {
            None => {
                if listed["rows"].as_array().is_some_and(|rows| !rows.is_empty()) {
                    session.print(&table.render(&listed, Some("ADDED")))?;
                }
            }
            Some(printer) => {
                let (api_version, kind) = (target.resource.api_version(), &target.resource.kind);
                for item in listed["items"].as_array().into_iter().flatten() {
                    let mut item = item.clone();
                    item["apiVersion"] = api_version.clone().into();
                    item["kind"] = kind.clone().into();
                    session.print(&printer.render(&event_or_object(args, "ADDED", item))?)?;
                }
            }
        }
        if target.name.is_some() && listed["rows"].as_array().or(listed["items"].as_array()).is_some_and(Vec::is_empty)
        {
            // The one object that is watched must be there.
            session.json(Request { path: target.url(), ..Default::default() }).await?;
        }
    }
    let mut events = Watch::open(session, collection.url(), query, &revision, accept).await?;
    while let Some(event) = events.next().await? {
        match &mut format {
            _ if event.event_type == "BOOKMARK" => {}
            None => session.print(&table.render(&event.object, Some(&event.event_type)))?,
            Some(printer) => {
                session.print(&printer.render(&event_or_object(args, &event.event_type, event.object))?)?;
            }
        }
    }
    Ok(())
}

fn event_or_object(args: &GetArgs, event_type: &str, object: Value) -> Value {
    match args.output_watch_events {
        true => json!({ "type": event_type, "object": object }),
        false => object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_sorted_by_number_quantity_and_name() {
        let check = |values: &[Value], expected: &[&str]| {
            let mut items: Vec<Value> = values.iter().map(|v| json!({ "a": v })).collect();
            items.push(json!({}));
            sort(&mut items, ".a", |item| item).expect("sorted");
            let sorted: Vec<String> = items.iter().map(|item| item["a"].to_string()).collect();
            assert_eq!(sorted, expected);
        };
        check(&[json!(10), json!(9)], &["null", "9", "10"]);
        check(&[json!("1Gi"), json!("200Mi")], &["null", "\"200Mi\"", "\"1Gi\""]);
        check(&[json!("web-10"), json!("web-9")], &["null", "\"web-9\"", "\"web-10\""]);
    }
}
