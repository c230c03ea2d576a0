//! /statusz and /flagz: the kubelet's version, age, paths and settings, as text for people and as
//! objects of config.k8s.io (upstream: staging/src/k8s.io/apiserver/pkg/server/{statusz,flagz}).

use super::{Body, text};
use http::{HeaderMap, Response, StatusCode};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::fmt::Write;

const COMPONENT: &str = "kubelet";
const WARNING: &str = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility \
     guarantees and is for debugging purposes only.";
const VERSIONS: [&str; 2] = ["v1beta1", "v1alpha1"];

/// The form that the caller accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Object(&'static str),
}

/// The first form of the Accept header that there is. Pure.
fn choose(accept: &str, kind: &str) -> Option<Form> {
    if accept.trim().is_empty() {
        return Some(Form::Text);
    }
    accept.split(',').find_map(|clause| {
        let mut parts = clause.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let parameter = |name: &str| parameters.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        match media {
            "text/plain" | "text/*" | "*/*" => Some(Form::Text),
            "application/json" if parameter("as") == Some(kind) && parameter("g") == Some("config.k8s.io") => {
                VERSIONS.iter().find(|version| parameter("v") == Some(**version)).map(|version| Form::Object(version))
            }
            _ => None,
        }
    })
}

fn answer(
    headers: &HeaderMap,
    kind: &str,
    plain: impl FnOnce() -> String,
    fields: impl FnOnce() -> Value,
) -> Response<Body> {
    let accept = headers.get("accept").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some(form) = choose(accept, kind) else {
        let why = format!(
            "only the following media types are accepted: text/plain, application/json;as={kind};v=v1beta1;g=config.k8s.io"
        );
        return text(StatusCode::NOT_ACCEPTABLE, why);
    };
    let Form::Object(version) = form else { return text(StatusCode::OK, plain()) };
    let mut object = json!({ "kind": kind, "apiVersion": format!("config.k8s.io/{version}"),
        "metadata": { "name": COMPONENT } });
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields()) {
        object.extend(fields);
    }
    let mut response = super::routes::json(object.to_string());
    if version == "v1alpha1" {
        let path = kind.to_lowercase();
        let warning =
            format!("299 - \"This version of the {path} endpoint is deprecated. Please use a newer version.\"");
        if let Ok(value) = warning.parse() {
            response.headers_mut().insert("warning", value);
        }
    }
    response
}

pub(super) fn statusz(headers: &HeaderMap, version: &str, started: Timestamp, paths: &[&str]) -> Response<Body> {
    let up = Timestamp::now().duration_since(started).as_secs().max(0);
    let plain = || {
        let mut out = format!("\n{COMPONENT} statusz\n{WARNING}\n\n");
        let _ = writeln!(out, "Started: {}", started.strftime("%a %b %e %H:%M:%S UTC %Y"));
        let _ = writeln!(out, "Up: {} hr {:02} min {:02} sec", up / 3600, up / 60 % 60, up % 60);
        let _ = writeln!(out, "Binary version: {version}\n");
        let _ = writeln!(out, "Paths: {}", paths.join(" "));
        out
    };
    let fields = || {
        json!({ "startTime": started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(), "uptimeSeconds": up, "goVersion": "",
            "binaryVersion": version, "paths": paths })
    };
    answer(headers, "Statusz", plain, fields)
}

pub(super) fn flagz(headers: &HeaderMap, settings: &Map<String, Value>) -> Response<Body> {
    let show = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let plain = || {
        let mut out = format!("\n{COMPONENT} flagz\n{WARNING}\n\n");
        for (name, value) in settings {
            let _ = writeln!(out, "{name}={}", show(value));
        }
        out
    };
    let fields = || {
        let flags: Map<String, Value> =
            settings.iter().map(|(name, value)| (name.clone(), show(value).into())).collect();
        json!({ "flags": flags })
    };
    answer(headers, "Flagz", plain, fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_the_first_that_is_accepted() {
        let check = |accept: &str, expected| assert_eq!(choose(accept, "Statusz"), expected, "{accept}");
        check("", Some(Form::Text));
        check("*/*", Some(Form::Text));
        check("application/json;as=Statusz;v=v1beta1;g=config.k8s.io, */*", Some(Form::Object("v1beta1")));
        check("application/json; g=config.k8s.io; v=v1alpha1; as=Statusz", Some(Form::Object("v1alpha1")));
        for refused in ["application/json", "application/json;as=Flagz;v=v1beta1;g=config.k8s.io", "text/html"] {
            check(refused, None);
        }
    }
}
