//! Every subresource that the server has a handler for, one line each. Its name, kind and verbs
//! are data of the row (`ferry_resources::Subresource`, from the facts); a test compares the two
//! lists, so that a subresource in discovery without a handler does not come about.

use super::{binding, containers, eviction, finalize, scale, token};
use crate::registry::Part;
use crate::stream;
use crate::transport::Body;
use crate::verbs::{self, Call};
use bytes::Bytes;
use ferry_api::status::Status;
use ferry_resources::Row;
use futures_util::future::BoxFuture;
use http::Response;

type Answer<'a> = BoxFuture<'a, Result<Response<Body>, Status>>;

#[derive(Clone, Copy)]
pub(super) enum Handler {
    /// Called with the whole body when the verb is one that the row lists.
    Body(for<'a> fn(&'a Call, Bytes) -> Answer<'a>),
    /// Called with the request as it came: the connection stays open or is passed on. It
    /// judges the verb itself, because a proxy takes any method.
    Connection(super::Connect),
}

/// The handler of one subresource of one kind, or of every kind that has it.
struct Registered {
    of: Of,
    name: &'static str,
    handler: Handler,
}

enum Of {
    /// Group and plural.
    Kind(&'static str, &'static str),
    AnyKind,
}

const PODS: Of = Of::Kind("", "pods");
const CONNECTION: Handler = Handler::Connection(|call, request| Box::pin(stream::serve(call, request)));

#[rustfmt::skip]
static ALL: &[Registered] = &[
    of(Of::AnyKind, "status", Handler::Body(|call, body| Box::pin(write(call, body, Part::Status)))),
    of(Of::AnyKind, "scale", Handler::Body(|call, body| Box::pin(scale::scale(call, body)))),
    of(PODS, "binding", Handler::Body(|call, body| Box::pin(binding::bind(call, body)))),
    of(PODS, "eviction", Handler::Body(|call, body| Box::pin(eviction::evict(call, body)))),
    of(PODS, "ephemeralcontainers", Handler::Body(|call, body| Box::pin(containers::serve(call, body)))),
    of(PODS, "resize", Handler::Body(|call, body| Box::pin(containers::serve(call, body)))),
    of(PODS, "log", CONNECTION),
    of(PODS, "exec", CONNECTION),
    of(PODS, "attach", CONNECTION),
    of(PODS, "portforward", CONNECTION),
    of(PODS, "proxy", CONNECTION),
    of(Of::Kind("", "services"), "proxy", CONNECTION),
    of(Of::Kind("", "nodes"), "proxy", CONNECTION),
    of(Of::Kind("", "serviceaccounts"), "token", Handler::Body(|call, body| Box::pin(token::issue(call, body)))),
    of(Of::Kind("", "namespaces"), "finalize", Handler::Body(|call, body| Box::pin(finalize::finalize(call, body)))),
    of(Of::Kind("certificates.k8s.io", "certificatesigningrequests"), "approval",
        Handler::Body(|call, body| Box::pin(write(call, body, Part::Other("approval"))))),
];

const fn of(of: Of, name: &'static str, handler: Handler) -> Registered {
    Registered { of, name, handler }
}

pub(super) fn handler_of(row: &Row, name: &str) -> Option<Handler> {
    let is_of = |of: &Of| match of {
        Of::Kind(group, plural) => row.plural == *plural && row.group == *group,
        Of::AnyKind => true,
    };
    ALL.iter().find(|registered| registered.name == name && is_of(&registered.of)).map(|registered| registered.handler)
}

/// A part of the object that has a door of its own.
async fn write(call: &Call, body: Bytes, part: Part<'_>) -> Result<Response<Body>, Status> {
    match call.info.verb.as_str() {
        "get" => verbs::get(call).await,
        "update" => verbs::update(call, body, part).await,
        _ => verbs::patch(call, body, part).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subresource_has_a_handler_and_every_handler_a_subresource() {
        let rows = ferry_resources::all();
        for row in rows {
            for subresource in &row.subresources {
                assert!(handler_of(row, &subresource.name).is_some(), "{}/{}", row.plural, subresource.name);
            }
        }
        for Registered { of, name, .. } in ALL {
            let has = |row: &Row| row.subresource(name).is_some();
            let found = match of {
                Of::Kind(group, plural) => {
                    rows.iter().any(|row| row.plural == *plural && row.group == *group && has(row))
                }
                Of::AnyKind => rows.iter().any(|row| has(row)),
            };
            assert!(found, "nothing has the subresource {name}");
        }
    }
}
