//! What label keys and values may look like, with upstream's sentences
//! (apimachinery/pkg/api/validate/content). Selectors and metadata validation share it.

/// The mistakes in a label key (or annotation key, taint key: any qualified name).
pub fn label_key_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut parts = key.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => name,
        (Some(prefix), Some(name), None) => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                if prefix.len() > 253 {
                    errors.push("prefix part must be no more than 253 bytes".to_owned());
                }
                if !is_subdomain(prefix) {
                    errors.push(format!("prefix part {SUBDOMAIN}"));
                }
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_name(name) {
        errors.push(format!("name part {KEY}"));
    }
    errors
}

/// The mistakes in a label value. The empty value is valid.
pub fn label_value_errors(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 63 {
        errors.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_name(value) {
        errors.push(VALUE.to_owned());
    }
    errors
}

const KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and \
    must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
    validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
    and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_subdomain(name: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.split('.').all(|label| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(plain)
            && bytes.last().is_some_and(plain)
            && bytes.iter().all(|byte| plain(byte) || *byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_judged_as_upstream_judges_them() {
        for key in ["a", "a.b_c-D", "example.com/x", "kubernetes.io/metadata.name"] {
            assert_eq!(label_key_errors(key), Vec::<String>::new(), "{key}");
        }
        for key in ["", "-a", "a/", "/a", "a/b/c", "Ex.com/a", "a b", &"x".repeat(64)] {
            assert!(!label_key_errors(key).is_empty(), "{key}");
        }
        assert_eq!(
            label_key_errors("-a"),
            ["name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
              alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
              '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"]
        );
        assert!(label_value_errors("").is_empty() && label_value_errors("v1.2").is_empty());
        assert!(!label_value_errors("a/b").is_empty());
    }
}
