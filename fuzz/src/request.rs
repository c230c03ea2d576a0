//! What a request asks for: its URL, and where a list goes on.

use ferry_apiserver::request_info::resolve;
use ferry_apiserver::{Query, continue_token};
use http::Method;

pub fn request_info(data: &[u8]) {
    let Ok(url) = std::str::from_utf8(data) else { return };
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let query = Query::parse(query);
    let slash_within = path.to_ascii_lowercase().contains("%2f");
    for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
        let info = resolve(&method, path, &query);
        if !info.is_resource {
            assert_eq!(info.verb, method.as_str().to_ascii_lowercase());
            assert!(info.resource.is_empty() && info.name.is_empty() && info.namespace.is_empty(), "{info:?}");
            continue;
        }
        // Only an encoded slash can come to stand within a part; the verbs refuse it there.
        for part in [&info.api_group, &info.api_version, &info.namespace, &info.resource, &info.subresource, &info.name]
        {
            assert!(slash_within || !part.contains('/'), "{part:?} of {url:?}");
        }
        let known = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy", ""];
        assert!(known.contains(&info.verb.as_str()), "{info:?}");
        assert_eq!(info.verb.is_empty(), method == Method::OPTIONS && !info.legacy_watch && info.verb != "proxy");
        if matches!(info.verb.as_str(), "deletecollection") {
            assert!(info.name.is_empty(), "{info:?}");
        }
        // A request without a part that authorization looks at must not pass for one with it.
        if !info.subresource.is_empty() {
            assert!(!info.name.is_empty() || path.contains("//"), "{info:?}");
        }
        assert_eq!(resolve(&method, path, &query), info);
    }
}

pub fn continue_token(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let prefix = "/registry/pods/default/";
    let Ok(token) = continue_token::decode(text, prefix) else { return };
    let inside = token.after.strip_prefix(prefix).expect("a token stays in its collection");
    assert!(!inside.split('/').any(|part| part.is_empty() || part == "." || part == ".."), "{inside:?}");
    assert_ne!(token.revision, 0);
    let again = continue_token::encode(&token.after, prefix, token.revision).expect("within the collection");
    assert_eq!(continue_token::decode(&again, prefix).expect("our own"), token);
    assert!(continue_token::encode(&token.after, "/registry/secrets/", token.revision).is_err());
}
