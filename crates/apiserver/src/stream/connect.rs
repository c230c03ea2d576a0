//! What admission sees of a connection: its options, as an object of the kind that the
//! subresource takes (`PodExecOptions`, `ServiceProxyOptions`…). Called before anything is
//! connected to.

use crate::admission::Operation;
use crate::query::Query;
use crate::registry::{IfAbsent, Part, Target};
use crate::request_info::RequestInfo;
use crate::verbs::{Call, options::WriteOptions};
use ferry_api::status::Status;
use serde_json::{Map, Value};
use std::sync::Arc;

pub(super) async fn admit(call: &Call) -> Result<(), Status> {
    let subresource = call.info.subresource.as_str();
    let kind = call.row.subresource(subresource).map_or_else(|| call.row.gvk(), |found| found.kind.clone());
    let mut options = render_options(&kind.kind, &kind.api_version(), &call.info, &call.query)?;
    let mut caller = call.caller(&WriteOptions::default(), "CreateOptions");
    // A connection has no options besides those that are its object.
    caller.options = Arc::default();
    let target = Target {
        row: &call.row,
        namespace: call.namespace(),
        name: &call.info.name,
        part: Part::Other(subresource),
        absent: IfAbsent::AsKind,
    };
    call.server.registry.admit(Operation::Connect, &target, &mut options, &caller).await
}

/// The options in a request's query and path; what is false or empty is left out.
fn render_options(kind: &str, api_version: &str, info: &RequestInfo, query: &Query) -> Result<Value, Status> {
    let mut options = Map::new();
    options.insert("kind".into(), kind.into());
    options.insert("apiVersion".into(), api_version.into());
    match info.subresource.as_str() {
        "exec" | "attach" => {
            for key in ["stdin", "stdout", "stderr", "tty"] {
                if query.flag(key) {
                    options.insert(key.into(), true.into());
                }
            }
            if let Some(container) = query.text("container") {
                options.insert("container".into(), container.into());
            }
            if info.subresource == "exec" {
                let command: Vec<Value> = query.all("command").map(Value::from).collect();
                options.insert("command".into(), command.into());
            }
        }
        "portforward" => {
            // One by one or as a list, as some clients send them.
            let ports = query.all("ports").flat_map(|text| text.split(','));
            let ports: Vec<u16> =
                ports.map(|text| text.parse().map_err(|_| bad_port(text))).collect::<Result<_, Status>>()?;
            if !ports.is_empty() {
                options.insert("ports".into(), ports.into());
            }
        }
        _ => {
            let path = super::location::backend_path(info);
            if !path.is_empty() {
                options.insert("path".into(), path.into());
            }
        }
    }
    Ok(options.into())
}

fn bad_port(text: &str) -> Status {
    let why = if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        "value out of range"
    } else {
        "invalid syntax"
    };
    Status::bad_request(format!("cannot convert to []int32: strconv.ParseUint: parsing {text:?}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_options_of_a_connection_are_an_object() {
        let check = |url: &str, kind: &str, expected: Value| {
            let (path, query) = url.split_once('?').unwrap_or((url, ""));
            let query = Query::parse(query);
            let info = crate::request_info::resolve(&http::Method::GET, path, &query);
            assert_eq!(render_options(kind, "v1", &info, &query).expect("readable"), expected, "{url}");
        };
        let pod = "/api/v1/namespaces/a/pods/p";
        check(
            &format!("{pod}/exec?command=ls&command=-l&stdin=1&tty=false&container=c"),
            "PodExecOptions",
            json!({"kind": "PodExecOptions", "apiVersion": "v1", "stdin": true, "container": "c", "command": ["ls", "-l"]}),
        );
        check(
            &format!("{pod}/portforward?ports=80&ports=81"),
            "PodPortForwardOptions",
            json!({"kind": "PodPortForwardOptions", "apiVersion": "v1", "ports": [80, 81]}),
        );
        check(
            &format!("{pod}/portforward?ports=80,81&ports=443"),
            "PodPortForwardOptions",
            json!({"kind": "PodPortForwardOptions", "apiVersion": "v1", "ports": [80, 81, 443]}),
        );
        check(
            &format!("{pod}/proxy/a/b/"),
            "PodProxyOptions",
            json!({"kind": "PodProxyOptions", "apiVersion": "v1", "path": "/a/b/"}),
        );
        check(&format!("{pod}/proxy"), "PodProxyOptions", json!({"kind": "PodProxyOptions", "apiVersion": "v1"}));
    }

    #[test]
    fn ports_that_are_none_are_refused() {
        for (ports, why) in [("x", "invalid syntax"), ("80,", "invalid syntax"), ("65536", "value out of range")] {
            let query = Query::parse(&format!("ports={ports}"));
            let path = "/api/v1/namespaces/a/pods/p/portforward";
            let info = crate::request_info::resolve(&http::Method::GET, path, &query);
            let refused = render_options("PodPortForwardOptions", "v1", &info, &query).expect_err("refused");
            assert!(refused.code == 400 && refused.message.ends_with(why), "{}", refused.message);
        }
    }
}
