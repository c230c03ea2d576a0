//! Verbs about the server itself: `api-resources`, `api-versions`, `version`, `cluster-info`.

use crate::discovery::Resource;
use crate::error::Result;
use crate::print::columns::Columns;
use crate::print::{OutputFlags, Printer};
use crate::session::Session;
use clap::Args;
use ferry_client::Request;
use serde_json::{Value, json};

/// Print the supported API resources on the server
#[derive(Args, Debug)]
pub(crate) struct ApiResourcesArgs {
    /// Limit to resources in the specified API group
    #[arg(long)]
    api_group: Option<String>,
    /// If false, non-namespaced resources will be returned, otherwise returning namespaced resources by default
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    namespaced: Option<bool>,
    /// Limit to resources that support the specified verbs
    #[arg(long, value_delimiter = ',')]
    verbs: Vec<String>,
    /// Limit to resources that belong to the specified categories
    #[arg(long, value_delimiter = ',')]
    categories: Vec<String>,
    /// When using the default or custom-column output format, don't print headers
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    no_headers: bool,
    /// Sort by name or kind
    #[arg(long)]
    sort_by: Option<String>,
    /// Output format: wide or name
    #[arg(short, long)]
    output: Option<String>,
    /// Use cached list of resources if available
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    cached: bool,
}

pub(crate) async fn api_resources(args: ApiResourcesArgs, session: &Session) -> Result<()> {
    let is_wide = match args.output.as_deref() {
        None | Some("") => false,
        Some("wide") => true,
        Some("name") => false,
        Some(other) => return Err(format!("--output {other} is not available").into()),
    };
    let discovery = session.discovery().await?;
    let mut found: Vec<&Resource> = discovery
        .preferred()
        .into_iter()
        .filter(|r| !r.verbs.is_empty())
        .filter(|r| args.api_group.as_deref().is_none_or(|group| r.group == group))
        .filter(|r| args.namespaced.is_none_or(|wanted| r.is_namespaced == wanted))
        .filter(|r| args.verbs.iter().all(|verb| r.has_verb(verb)))
        .filter(|r| args.categories.iter().all(|category| r.categories.contains(category)))
        .collect();
    match args.sort_by.as_deref() {
        None => found.sort_by(|a, b| (&a.group, &a.plural).cmp(&(&b.group, &b.plural))),
        Some("name") => found.sort_by(|a, b| a.plural.cmp(&b.plural)),
        Some("kind") => found.sort_by(|a, b| a.kind.cmp(&b.kind)),
        Some(_) => return Err("--sort-by accepts only name or kind".into()),
    }
    if args.output.as_deref() == Some("name") {
        let lines: String = found.iter().map(|r| format!("{}\n", r.group_resource())).collect();
        return session.print(&lines);
    }
    let mut columns = Columns::default();
    if !args.no_headers {
        let mut headers = vec!["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"];
        headers.extend(is_wide.then_some(["VERBS", "CATEGORIES"]).into_iter().flatten());
        columns.row(headers);
    }
    for resource in found {
        let mut cells = vec![
            resource.plural.clone(),
            resource.short_names.join(","),
            resource.api_version(),
            resource.is_namespaced.to_string(),
            resource.kind.clone(),
        ];
        if is_wide {
            cells.push(resource.verbs.join(","));
            cells.push(resource.categories.join(","));
        }
        columns.row(cells);
    }
    session.print(&columns.take())
}

pub(crate) async fn api_versions(session: &Session) -> Result<()> {
    let mut versions = session.discovery().await?.group_versions.clone();
    versions.sort();
    session.print(&versions.into_iter().map(|version| version + "\n").collect::<String>())
}

/// Print the client and server version information
#[derive(Args, Debug)]
pub(crate) struct VersionArgs {
    /// If true, shows client version only (no server required)
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    client: bool,
    #[command(flatten)]
    output: OutputFlags,
}

pub(crate) async fn version(args: VersionArgs, session: &Session) -> Result<()> {
    const CLIENT: &str = concat!("v1.36.4+ferry-", env!("CARGO_PKG_VERSION"));
    let server = match args.client {
        true => None,
        false => Some(session.json(Request { path: "/version".into(), ..Default::default() }).await?),
    };
    match args.output.output.as_deref() {
        None | Some("") => {
            let mut text = format!("Client Version: {CLIENT}\n");
            if let Some(server) = &server {
                text += &format!("Server Version: {}\n", server["gitVersion"].as_str().unwrap_or_default());
            }
            session.print(&text)
        }
        Some("json" | "yaml") => {
            let mut object = json!({ "clientVersion": { "gitVersion": CLIENT, "major": "1", "minor": "36", "platform": "linux/amd64" } });
            if let Some(server) = server {
                object["serverVersion"] = server;
            }
            let format = args.output.format()?.ok_or("--output must be 'yaml' or 'json'")?;
            session.print(&Printer::new(format, &args.output).render(&object)?)
        }
        Some(_) => Err("--output must be 'yaml' or 'json'".into()),
    }
}

pub(crate) async fn cluster_info(session: &Session) -> Result<()> {
    let server = &session.connection()?.server;
    let mut text = format!("Kubernetes control plane is running at {server}\n");
    let services = session.discovery().await?.resolve("services")?.path().url("kube-system", None, None);
    let query = vec![("labelSelector".into(), "kubernetes.io/cluster-service=true".into())];
    let found = session.json(Request { path: services, query, ..Default::default() }).await?;
    for service in found["items"].as_array().into_iter().flatten() {
        let name = service.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        let shown = service
            .pointer("/metadata/labels")
            .and_then(|l| l.get("kubernetes.io/name"))
            .and_then(Value::as_str)
            .unwrap_or(name);
        let port = service.pointer("/spec/ports/0/name").and_then(Value::as_str).filter(|p| !p.is_empty());
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        text += &format!("{shown} is running at {server}/api/v1/namespaces/kube-system/services/{name}{port}/proxy\n");
    }
    session
        .print(&format!("{text}\nTo further debug and diagnose cluster problems, use 'kubectl cluster-info dump'.\n"))
}
