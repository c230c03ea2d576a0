//! Image references: are they well formed, and which tag do they mean.

/// The reference with `:latest` where it has neither tag nor digest; an error in the
/// words of upstream's parser otherwise.
pub fn with_default_tag(image: &str) -> Result<String, String> {
    let parts = parse(image).map_err(|why| format!("couldn't parse image name {image:?}: {why}"))?;
    Ok(if parts.tag.is_none() && parts.digest.is_none() { format!("{image}:latest") } else { image.to_string() })
}

#[derive(Debug, PartialEq)]
pub struct Parts<'a> {
    pub domain: &'a str,
    pub path: String,
    pub tag: Option<&'a str>,
    pub digest: Option<&'a str>,
}

const INVALID: &str = "invalid reference format";

/// `[domain/]path[:tag][@digest]`, with docker.io and library/ where they are left out.
pub fn parse(image: &str) -> Result<Parts<'_>, String> {
    if image.is_empty() {
        return Err(INVALID.into());
    }
    if image.len() == 64 && image.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()) {
        return Err(format!("invalid repository name ({image}), cannot specify 64-byte hexadecimal strings"));
    }
    let (rest, digest) = match image.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (image, None),
    };
    let (domain, remainder) = match rest.split_once('/') {
        Some((first, remainder))
            if first.contains(['.', ':']) || first == "localhost" || first.bytes().any(|b| b.is_ascii_uppercase()) =>
        {
            (first, remainder)
        }
        _ => ("docker.io", rest),
    };
    let (name, tag) = match remainder.rsplit_once(':') {
        Some((name, tag)) => (name, Some(tag)),
        None => (remainder, None),
    };
    let path = if domain == "docker.io" && !name.contains('/') { format!("library/{name}") } else { name.to_string() };
    if path.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(format!("{INVALID}: repository name ({path}) must be lowercase"));
    }
    let good = valid_domain(domain)
        && path.split('/').all(valid_component)
        && tag.is_none_or(valid_tag)
        && digest.is_none_or(valid_digest);
    if !good {
        return Err(INVALID.into());
    }
    Ok(Parts { domain, path, tag, digest })
}

fn valid_domain(domain: &str) -> bool {
    let (host, port) = match domain.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') && !port.contains(']') => (host, Some(port)),
        _ => (domain, None),
    };
    let good_host = (host.starts_with('[') && host.ends_with(']'))
        || host.split('.').all(|label| {
            !label.is_empty()
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        });
    good_host && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

/// Lower-case letters and digits, joined by one dot, one or two underscores, or dashes.
fn valid_component(component: &str) -> bool {
    let alphanumeric = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    alphanumeric(component.bytes().next())
        && alphanumeric(component.bytes().last())
        && component.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
        && component
            .split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            .all(|separator| matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|b| b == b'-'))
}

fn valid_tag(tag: &str) -> bool {
    (1..=128).contains(&tag.len())
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        && !tag.starts_with(['.', '-'])
}

fn valid_digest(digest: &str) -> bool {
    let Some((algorithm, hex)) = digest.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return hex.len() >= 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()),
    };
    hex.len() == length && hex.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_completed() {
        let check = |image: &str, expected: &str| assert_eq!(with_default_tag(image).as_deref(), Ok(expected));
        check("nginx", "nginx:latest");
        check("nginx:1", "nginx:1");
        check("localhost:5000/a/b", "localhost:5000/a/b:latest");
        check("ghcr.io/a__b/c-d.e:V1.2", "ghcr.io/a__b/c-d.e:V1.2");
        let digest = format!("a@sha256:{}", "0".repeat(64));
        check(&digest, &digest);
    }

    #[test]
    fn bad_names_are_explained() {
        let check = |image: &str, why: &str| {
            assert_eq!(with_default_tag(image), Err(format!("couldn't parse image name {image:?}: {why}")));
        };
        check("Nginx", "invalid reference format: repository name (library/Nginx) must be lowercase");
        check("nginx:", INVALID);
        check("a b", INVALID);
        check("-a", INVALID);
        check("a//b", INVALID);
        check("a@sha256:12", INVALID);
    }
}
