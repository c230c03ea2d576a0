//! Which wire format and which shape an answer has, and which format a body is in
//! (apiserver/pkg/endpoints/handlers/negotiation upstream). Called by every verb.

use crate::query::Query;
use ferry_api::status::Status;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use std::borrow::Cow;

pub(crate) const JSON: &str = "application/json";
pub(crate) const YAML: &str = "application/yaml";
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// In the order in which upstream lists them in its refusals.
const MEDIA_TYPES: [&str; 3] = [JSON, YAML, PROTOBUF];
const STREAM_TYPES: [&str; 2] = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/// What client-go sends when it is told to speak protobuf.
const CLIENT_GO: &str = "application/vnd.kubernetes.protobuf,application/json";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Yaml,
    Protobuf,
}

impl Format {
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Yaml => YAML,
            Self::Protobuf => PROTOBUF,
        }
    }

    fn parse(media_type: &str) -> Option<Self> {
        match media_type {
            JSON => Some(Self::Json),
            YAML => Some(Self::Yaml),
            PROTOBUF => Some(Self::Protobuf),
            _ => None,
        }
    }
}

/// What the client wants to see of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// All of it.
    Object,
    /// Rows of cells, as `kubectl get` prints them.
    Table,
    /// Metadata only: PartialObjectMetadata or its list.
    Metadata,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub format: Format,
    pub shape: Shape,
    /// The version of meta.k8s.io in which a Table or PartialObjectMetadata is written.
    pub beta_meta: bool,
    pub pretty: bool,
}

impl Accepted {
    pub(crate) const JSON: Self = Self { format: Format::Json, shape: Shape::Object, beta_meta: false, pretty: false };

    /// `meta.k8s.io/v1`.
    pub(crate) fn meta_version(&self) -> &'static str {
        if self.beta_meta { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }
}

/// Where an answer is going to be used: not every shape and format fits everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// An object or a list of them.
    Object,
    /// An object that is only asked and answered, never listed: it has no columns.
    Review,
    /// A stream of watch events.
    Watch,
    /// Documents with no other shape: discovery, Status.
    Plain,
}

/// Picks what the Accept header asks for, best first.
pub(crate) fn output(headers: &HeaderMap, query: &Query, what: Use) -> Result<Accepted, Status> {
    let chosen = choose(&accept(headers), what)
        .ok_or_else(|| Status::not_acceptable(if what == Use::Watch { &STREAM_TYPES } else { &MEDIA_TYPES }))?;
    let pretty = chosen.pretty || wants_pretty(headers, query);
    Ok(Accepted { pretty: pretty && chosen.format == Format::Json && what != Use::Watch, ..chosen })
}

/// The format of a request's body.
pub(crate) fn input(headers: &HeaderMap) -> Result<Format, Status> {
    let content_type = headers.get(CONTENT_TYPE).map_or(Ok(JSON), |value| value.to_str()).unwrap_or("?");
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    let media_type = if media_type.is_empty() { JSON } else { media_type };
    let format = Format::parse(media_type).or_else(|| Format::parse(&media_type.to_ascii_lowercase()));
    format.ok_or_else(|| Status::unsupported_media_type(&MEDIA_TYPES))
}

/// What is accepted in all headers of the name together; nearly always there is one.
fn accept(headers: &HeaderMap) -> Cow<'_, str> {
    let mut values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let first = values.next().unwrap_or_default();
    match values.next() {
        None => first.into(),
        Some(second) => [first, second].into_iter().chain(values).collect::<Vec<_>>().join(",").into(),
    }
}

fn choose(accept: &str, what: Use) -> Option<Accepted> {
    // What nearly every client of JSON sends needs no reading.
    if matches!(accept.trim(), "" | JSON | "*/*") {
        return Some(Accepted::JSON);
    }
    if matches!(accept, PROTOBUF | CLIENT_GO) && what != Use::Plain {
        return Some(Accepted { format: Format::Protobuf, ..Accepted::JSON });
    }
    let mut clauses: Vec<Clause> = accept.split(',').filter_map(Clause::parse).collect();
    clauses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    clauses.iter().find_map(|clause| clause.accept(what))
}

struct Clause {
    media_type: String,
    quality: f32,
    parameters: Vec<(String, String)>,
}

impl Clause {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media_type = parts.next().filter(|t| !t.is_empty())?.to_ascii_lowercase();
        let mut clause = Self { media_type, quality: 1.0, parameters: Vec::new() };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().trim_matches('"').to_owned());
            if key == "q" {
                clause.quality = value.parse().unwrap_or(0.0);
            } else {
                clause.parameters.push((key, value));
            }
        }
        Some(clause)
    }

    fn get(&self, key: &str) -> &str {
        self.parameters.iter().find(|(k, _)| k == key).map_or("", |(_, v)| v)
    }

    fn accept(&self, what: Use) -> Option<Accepted> {
        let format = match self.media_type.as_str() {
            "*/*" | "application/*" => Format::Json,
            other => Format::parse(other)?,
        };
        let fits = match format {
            Format::Json => true,
            Format::Yaml => what != Use::Watch,
            Format::Protobuf => what != Use::Plain,
        };
        if !fits {
            return None;
        }
        if !matches!(self.get("stream"), "" | "watch") {
            return None;
        }
        let (group, version) = (self.get("g"), self.get("v"));
        let shape = match (self.get("as"), what) {
            ("", _) => Shape::Object,
            (_, Use::Plain) | ("Table", Use::Review) => return None,
            // A Table has no protobuf form.
            ("Table", _) if format != Format::Protobuf => Shape::Table,
            ("PartialObjectMetadata" | "PartialObjectMetadataList", _) => Shape::Metadata,
            _ => return None,
        };
        if shape != Shape::Object && (group != "meta.k8s.io" || !matches!(version, "v1" | "v1beta1")) {
            return None;
        }
        Some(Accepted { format, shape, beta_meta: version == "v1beta1", pretty: self.get("pretty") == "1" })
    }
}

/// People who read answers in a terminal get them indented.
fn wants_pretty(headers: &HeaderMap, query: &Query) -> bool {
    if let Some(value) = query.text("pretty") {
        return matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True");
    }
    let agent = headers.get(USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"].iter().any(|prefix| agent.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(accept: &str, what: Use) -> Option<(Format, Shape)> {
        choose(accept, what).map(|accepted| (accepted.format, accepted.shape))
    }

    #[test]
    fn the_first_clause_that_fits_wins() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(check(kubectl, Use::Object), Some((Format::Json, Shape::Table)));
        assert_eq!(check(kubectl, Use::Plain), Some((Format::Json, Shape::Object)));
        assert_eq!(check("application/json;as=Table;v=v1;g=meta.k8s.io", Use::Review), None);
        assert_eq!(check("", Use::Object), Some((Format::Json, Shape::Object)));
        assert_eq!(check("*/*", Use::Object), Some((Format::Json, Shape::Object)));
        assert_eq!(check("application/yaml", Use::Object), Some((Format::Yaml, Shape::Object)));
        assert_eq!(check("application/yaml", Use::Watch), None);
        assert_eq!(check("text/html", Use::Object), None);
        let client_go = "application/vnd.kubernetes.protobuf,application/json";
        assert_eq!(check(client_go, Use::Object), Some((Format::Protobuf, Shape::Object)));
        assert_eq!(check(client_go, Use::Plain), Some((Format::Json, Shape::Object)));
        assert_eq!(check("application/json;q=0.5,application/yaml", Use::Object), Some((Format::Yaml, Shape::Object)));
    }

    #[test]
    fn refusals_list_what_is_understood() {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, "text/html".parse().expect("a header"));
        let status = output(&headers, &Query::default(), Use::Object).expect_err("html is not served");
        assert_eq!(
            status.message,
            "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
        );
        headers.insert(CONTENT_TYPE, "text/plain".parse().expect("a header"));
        assert_eq!(
            input(&headers).expect_err("text is not an object").message,
            "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"
        );
    }
}
