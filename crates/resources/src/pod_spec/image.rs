//! The tag of an image reference, by which the pull policy is defaulted
//! (distribution/reference's grammar; upstream's pkg/util/parsers).

use regex::Regex;
use std::sync::LazyLock;

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    let label = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
    let domain = format!(r"(?:{label}(?:\.{label})*|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?");
    let component = "[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*";
    let tag = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
    let digest = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
    Regex::new(&format!("^(?:{domain}/)?{component}(?:/{component})*(?::(?<tag>{tag}))?(?:@(?<digest>{digest}))?$"))
        .expect("a fixed expression")
});

/// `Always` for `:latest` and for no tag at all, else `IfNotPresent`, also for what is
/// no reference, since validation tells about that.
pub(crate) fn default_pull_policy(image: &str) -> &'static str {
    let anonymous = image.len() == 64 && image.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    match REFERENCE.captures(image) {
        Some(found) if !anonymous => match (found.name("tag"), found.name("digest")) {
            (None, None) => "Always",
            (Some(tag), _) if tag.as_str() == "latest" => "Always",
            _ => "IfNotPresent",
        },
        _ => "IfNotPresent",
    }
}

#[cfg(test)]
mod tests {
    use super::default_pull_policy;

    #[test]
    fn latest_is_always_pulled() {
        for image in ["nginx", "nginx:latest", "localhost:5000/a/b", "registry.example/pause:latest", "Host/nginx"] {
            assert_eq!(default_pull_policy(image), "Always", "{image}");
        }
        let digest = format!("nginx@sha256:{}", "a".repeat(64));
        let anonymous = "a".repeat(64);
        for image in ["nginx:1.27", "localhost:5000/web:v1", &digest, &anonymous, "", "Nginx", "a b"] {
            assert_eq!(default_pull_policy(image), "IfNotPresent", "{image}");
        }
    }
}
