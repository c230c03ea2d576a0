//! The `continue` of a list: where the next page begins, in upstream's form, so that tools
//! which look inside find what they expect. The list verb gives them out and takes them
//! back; a token cannot reach outside the collection that the URL names.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ferry_api::status::Status;
use serde::{Deserialize, Serialize};

/// Where a list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continue {
    /// Of the first page; negative where that is lost and the client goes on regardless.
    pub revision: i64,
    /// The key after which the next page begins.
    pub after: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Token {
    v: String,
    rv: i64,
    start: String,
}

/// The token for what comes after the key `last` of the collection below `prefix`.
pub fn encode(last: &str, prefix: &str, revision: i64) -> Result<String, Status> {
    let start = last
        .strip_prefix(prefix)
        .map(|rest| format!("{rest}\0"))
        .ok_or_else(|| Status::internal("unable to encode next field: the key and key prefix do not match"))?;
    let token = Token { v: "meta.k8s.io/v1".into(), rv: revision, start };
    Ok(URL_SAFE_NO_PAD.encode(serde_json::to_vec(&token).map_err(Status::internal)?))
}

/// Reads a token that a client sent for the collection below `prefix`.
pub fn decode(text: &str, prefix: &str) -> Result<Continue, Status> {
    let invalid = |why: &str| Status::bad_request(format!("invalid continue token: {why}"));
    let bytes = URL_SAFE_NO_PAD
        .decode(text.trim_end_matches('='))
        .map_err(|_| invalid("continue key is not valid: illegal base64 data"))?;
    let token: Token =
        serde_json::from_slice(&bytes).map_err(|e| invalid(&format!("continue key is not valid: {e}")))?;
    if token.v != "meta.k8s.io/v1" {
        return Err(invalid(&format!(
            "continue key is not valid: server does not recognize this encoded version {}",
            token.v
        )));
    }
    if token.rv == 0 {
        return Err(invalid(
            "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ));
    }
    if token.start.is_empty() {
        return Err(invalid("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"));
    }
    let start = token.start.trim_end_matches('\0');
    if start.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return Err(invalid(&format!("continue key is not valid: {start}")));
    }
    Ok(Continue { revision: token.rv, after: format!("{prefix}{start}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_upstreams_form_and_stay_in_their_collection() {
        let prefix = "/registry/pods/";
        let token = encode("/registry/pods/default/web", prefix, 42).expect("within");
        let inside = URL_SAFE_NO_PAD.decode(&token).expect("base64");
        assert_eq!(inside, br#"{"v":"meta.k8s.io/v1","rv":42,"start":"default/web\u0000"}"#);
        let decoded = decode(&token, prefix).expect("our own");
        assert_eq!(decoded, Continue { revision: 42, after: "/registry/pods/default/web".into() });
        let evil = URL_SAFE_NO_PAD.encode(r#"{"v":"meta.k8s.io/v1","rv":42,"start":"../secrets/a"}"#);
        assert!(decode(&evil, prefix).is_err());
        assert!(decode("garbage!", prefix).is_err());
    }
}
