//! The lines of `ferry status` on objects that are stored and that nothing acts on yet.
//! One small list request for each kind of `ferry_api::unsupported`, made when a person asks.

use anyhow::{Context, Result};
use ferry_api::unsupported::{KINDS, UnsupportedKind};
use ferry_client::{Client, Request};
use serde_json::Value;

/// One line for each kind that has objects: `3 Ingress: no traffic is routed by it`.
pub async fn lines(client: &Client) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for kind in KINDS {
        let list: Value = client
            .decode(list_request(kind))
            .await
            .with_context(|| format!("cannot list the objects of kind {}", kind.kind))?;
        lines.extend(render_line(kind, &list));
    }
    Ok(lines)
}

/// Asks for one object; the number of the others comes with it.
fn list_request(kind: &UnsupportedKind) -> Request {
    let prefix = if kind.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", kind.group) };
    let query = vec![("limit".to_owned(), "1".to_owned())];
    Request { path: format!("{prefix}/{}/{}", kind.version, kind.resource), query, ..Default::default() }
}

fn render_line(kind: &UnsupportedKind, list: &Value) -> Option<String> {
    list["items"].as_array().filter(|items| !items.is_empty())?;
    let metadata = &list["metadata"];
    let count = match metadata["remainingItemCount"].as_u64() {
        Some(others) => format!("{}", others + 1),
        // Not every list counts what it leaves out.
        None if metadata["continue"].as_str().is_some_and(|token| !token.is_empty()) => "2 or more".to_owned(),
        None => "1".to_owned(),
    };
    Some(format!("{count} {}: nothing acts on it yet: {}", kind.kind, kind.effect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_with_objects_has_its_line() {
        let find = |name: &str| KINDS.iter().find(|kind| kind.kind == name).expect("a kind of the list");
        let ingress = find("Ingress");
        assert_eq!(list_request(ingress).path, "/apis/networking.k8s.io/v1/ingresses");
        assert_eq!(render_line(ingress, &json!({"metadata": {}, "items": []})), None);
        let three = json!({"metadata": {"continue": "t", "remainingItemCount": 2}, "items": [{}]});
        assert_eq!(
            render_line(ingress, &three).as_deref(),
            Some("3 Ingress: nothing acts on it yet: no traffic is routed by it")
        );
        let more = json!({"metadata": {"continue": "t"}, "items": [{}]});
        assert!(render_line(ingress, &more).is_some_and(|line| line.starts_with("2 or more Ingress: ")));
    }
}
