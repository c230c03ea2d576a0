//! `kubectl logs`: what containers have written, of one pod, of a workload's pod, or of all
//! that a selector chooses.

use crate::builder::{Info, Selectors, Target, list, targets};
use crate::error::{CliError, Result};
use crate::session::Session;
use bytes::BytesMut;
use clap::Args;
use ferry_client::Request;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http_body_util::BodyExt;
use serde_json::Value;

/// Print the logs for a container in a pod
#[derive(Args, Debug)]
pub(crate) struct LogsArgs {
    /// POD | TYPE/NAME [CONTAINER]
    pub args: Vec<String>,
    /// Print the logs of this container
    #[arg(short, long)]
    pub container: Option<String>,
    /// Specify if the logs should be streamed
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub follow: bool,
    /// If true, print the logs for the previous instance of the container in a pod if it exists
    #[arg(short, long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub previous: bool,
    /// Selector (label query) to filter on
    #[arg(short = 'l', long)]
    pub selector: Option<String>,
    /// Get all containers' logs in the pod(s)
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all_containers: bool,
    /// Get logs from all pod(s). Sets prefix to true
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub all_pods: bool,
    /// Prefix each log line with the log source (pod name and container name)
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub prefix: bool,
    /// Lines of recent log file to display. -1 shows all; with a selector 10
    #[arg(long, allow_negative_numbers = true)]
    pub tail: Option<i64>,
    /// Only return logs newer than a relative duration like 5s, 2m, or 3h
    #[arg(long)]
    pub since: Option<String>,
    /// Only return logs after a specific date (RFC3339)
    #[arg(long)]
    pub since_time: Option<String>,
    /// Include timestamps on each line in the log output
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub timestamps: bool,
    /// Maximum bytes of logs to return
    #[arg(long)]
    pub limit_bytes: Option<u64>,
    /// If watching / following pod logs, allow for any errors that occur to be non-fatal
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub ignore_errors: bool,
    /// Maximum number of concurrent logs to follow when using by a selector
    #[arg(long, default_value_t = 5)]
    pub max_log_requests: usize,
    /// Skip verifying the identity of the kubelet that logs are requested from
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true")]
    pub insecure_skip_tls_verify_backend: bool,
}

/// The container whose log `kubectl logs POD` prints, where the pod names it.
pub(crate) const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";

/// One log to be printed.
struct Source {
    url: String,
    /// `[pod/web/nginx] `, with `--prefix`.
    prefix: String,
}

pub(crate) async fn run(args: LogsArgs, session: &Session) -> Result<()> {
    let query = query(&args)?;
    let pods = pods(&args, session).await?;
    let is_many = args.selector.is_some() || args.all_pods;
    let mut sources = Vec::new();
    for pod in &pods {
        for container in containers(&args, session, &pod.object)? {
            let name = pod.name();
            let prefix =
                if args.prefix || args.all_pods { format!("[pod/{name}/{container}] ") } else { String::new() };
            let mut own = query.clone();
            own.push(("container".into(), container));
            let encoded = form_urlencoded::Serializer::new(String::new()).extend_pairs(&own).finish();
            sources.push(Source { url: format!("{}?{encoded}", pod.target.subresource_url("log")), prefix });
        }
    }
    if args.follow && sources.len() > 1 {
        if sources.len() > args.max_log_requests {
            return Err(format!(
                "you are attempting to follow {} log streams, but maximum allowed concurrency is {}, use --max-log-requests to increase the limit",
                sources.len(), args.max_log_requests
            )
            .into());
        }
        let mut all: FuturesUnordered<_> = sources.iter().map(|source| print(session, &args, source)).collect();
        while let Some(done) = all.next().await {
            done?;
        }
        return Ok(());
    }
    if is_many && pods.is_empty() {
        let namespace = session.namespace()?;
        session.note(&format!("No resources found in {namespace} namespace."));
    }
    for source in &sources {
        print(session, &args, source).await?;
    }
    Ok(())
}

fn query(args: &LogsArgs) -> Result<Vec<(String, String)>> {
    let mut query: Vec<(String, String)> = Vec::new();
    let mut add = |key: &str, value: String| query.push((key.to_owned(), value));
    if args.since.is_some() && args.since_time.is_some() {
        return Err("at most one of `sinceTime` or `sinceSeconds` may be specified".into());
    }
    if args.follow {
        add("follow", "true".into());
    }
    if args.previous {
        add("previous", "true".into());
    }
    if args.timestamps {
        add("timestamps", "true".into());
    }
    if args.insecure_skip_tls_verify_backend {
        add("insecureSkipTLSVerifyBackend", "true".into());
    }
    if let Some(since) = &args.since {
        let since = ferry_api::rules::duration::parse(since)
            .map_err(|error| format!("invalid argument \"{since}\" for \"--since\" flag: {error}"))?;
        let seconds = since.as_secs() + u64::from(since.subsec_nanos() > 0);
        add("sinceSeconds", seconds.to_string());
    }
    if let Some(time) = &args.since_time {
        time.parse::<jiff::Timestamp>().map_err(|error| format!("invalid --since-time {time:?}: {error}"))?;
        add("sinceTime", time.clone());
    }
    if let Some(bytes) = args.limit_bytes {
        add("limitBytes", bytes.to_string());
    }
    match args.tail {
        Some(lines) if lines < -1 => return Err("--tail must be greater than or equal to -1".into()),
        Some(-1) => {}
        Some(lines) => add("tailLines", lines.to_string()),
        None if args.selector.is_some() => add("tailLines", "10".into()),
        None => {}
    }
    Ok(query)
}

async fn pods(args: &LogsArgs, session: &Session) -> Result<Vec<Info>> {
    let namespace = session.namespace()?;
    let discovery = session.discovery().await?;
    let pods = Target { resource: discovery.resolve("pods")?.clone(), namespace: namespace.to_owned(), name: None };
    if let Some(selector) = &args.selector {
        if !args.args.is_empty() {
            return Err("only a selector (-l) or a POD name is allowed".into());
        }
        return list(session, &pods, &Selectors { labels: Some(selector.clone()), fields: None }).await;
    }
    let Some(first) = args.args.first() else {
        return Err(CliError::Usage {
            message: "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command".into(),
            command: "kubectl logs".into(),
        });
    };
    let target = match first.contains('/') {
        true => targets(discovery, std::slice::from_ref(first), namespace)?.remove(0),
        false => Target { name: Some(first.clone()), ..pods.clone() },
    };
    let object =
        session.json(Request { path: target.url(), ..Default::default() }).await.map_err(|error| match error {
            CliError::Api(status) if status.is_not_found() => {
                format!("error from server (NotFound): {} in namespace \"{namespace}\"", status.message).into()
            }
            other => other,
        })?;
    if target.resource.is("", "Pod") {
        return Ok(vec![Info { target, object, source: String::new() }]);
    }
    let Some(selector) = selector_of(&object) else {
        return Err(format!("cannot get the logs from {}: selector is empty", target.resource.group_resource()).into());
    };
    let mut found = list(session, &pods, &Selectors { labels: Some(selector), fields: None }).await?;
    if found.is_empty() {
        return Err(format!("no pods found for {}", target.printed_name()).into());
    }
    if !args.all_pods {
        // The pod that says most: running before pending, ready before not, started long ago.
        found.sort_by_key(|info| rank(&info.object));
        if found.len() > 1 {
            session.note(&format!("Found {} pods, using pod/{}", found.len(), found[0].name()));
        }
        found.truncate(1);
    }
    Ok(found)
}

fn rank(pod: &Value) -> (bool, u8, bool, String) {
    let text = |path: &str| pod.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let phase = match text("/status/phase") {
        "Running" => 2,
        "Unknown" => 1,
        _ => 0,
    };
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    let is_ready = conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True");
    (text("/spec/nodeName").is_empty(), 2 - phase, !is_ready, text("/metadata/creationTimestamp").to_owned())
}

/// The label selector of a workload or a Service, as text.
pub(crate) fn selector_of(object: &Value) -> Option<String> {
    let selector = object.pointer("/spec/selector")?;
    let labels = selector.get("matchLabels").or_else(|| selector.get("matchExpressions").is_none().then_some(selector));
    let mut terms: Vec<String> = labels
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    for term in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let key = term["key"].as_str()?;
        let values: Vec<&str> = term["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        terms.push(match term["operator"].as_str()? {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        });
    }
    (!terms.is_empty()).then(|| terms.join(","))
}

fn containers(args: &LogsArgs, session: &Session, pod: &Value) -> Result<Vec<String>> {
    let names = |list: &str| -> Vec<String> {
        let items = pod.pointer(&format!("/spec/{list}")).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(|c| Some(c["name"].as_str()?.to_owned())).collect()
    };
    if args.all_containers {
        return Ok([names("initContainers"), names("containers"), names("ephemeralContainers")].concat());
    }
    if let Some(name) = args.container.clone().or_else(|| args.args.get(1).cloned()) {
        return Ok(vec![name]);
    }
    let own = names("containers");
    let default = pod.pointer("/metadata/annotations").and_then(|a| a.get(DEFAULT_CONTAINER)).and_then(Value::as_str);
    if let Some(name) = default.filter(|name| own.iter().any(|own| own == name)) {
        return Ok(vec![name.to_owned()]);
    }
    let Some(first) = own.first() else { return Err("the pod has no containers".into()) };
    if own.len() > 1 {
        let all = [
            own.clone(),
            names("ephemeralContainers"),
            names("initContainers").into_iter().map(|n| format!("{n} (init)")).collect(),
        ]
        .concat();
        session.note(&format!("Defaulted container \"{first}\" out of: {}", all.join(", ")));
    }
    Ok(vec![first.clone()])
}

async fn print(session: &Session, args: &LogsArgs, source: &Source) -> Result<()> {
    let read = async {
        let response = session.send(Request { path: source.url.clone(), ..Default::default() }).await?;
        let mut body = response.into_body();
        let mut buffer = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| CliError::Plain(error.to_string()))?;
            let Ok(bytes) = frame.into_data() else { continue };
            if source.prefix.is_empty() {
                session.print_bytes(&bytes)?;
                continue;
            }
            buffer.extend_from_slice(&bytes);
            while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                let line = buffer.split_to(end + 1);
                session.print_bytes(&[source.prefix.as_bytes(), &line].concat())?;
            }
        }
        if !buffer.is_empty() {
            session.print_bytes(&[source.prefix.as_bytes(), &buffer].concat())?;
        }
        Ok(())
    };
    match read.await {
        Err(error @ (CliError::Api(_) | CliError::Plain(_))) if args.ignore_errors => {
            session.note(&error.render());
            Ok(())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_workloads_selector_is_written_as_text() {
        let service = json!({"spec": {"selector": {"app": "web"}}});
        assert_eq!(selector_of(&service).as_deref(), Some("app=web"));
        let deployment = json!({"spec": {"selector": {"matchLabels": {"a": "b"},
            "matchExpressions": [{"key": "c", "operator": "In", "values": ["x", "y"]}, {"key": "d", "operator": "Exists"}]}}});
        assert_eq!(selector_of(&deployment).as_deref(), Some("a=b,c in (x,y),d"));
        assert_eq!(selector_of(&json!({"spec": {}})), None);
    }
}
