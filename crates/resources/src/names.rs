//! The rules that names follow, with upstream's sentences
//! (apimachinery/pkg/util/validation and api/validate/content). Each function gives one
//! sentence a broken rule and nothing for a good name. The characters are checked by hand
//! because these run on every label of every write; the regular expressions are quoted
//! only because clients are shown them.

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED_PART: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/// RFC 1123 subdomain: what most names are. A `prefix` (generateName) may end in a dash.
pub fn dns1123_subdomain(name: &str, prefix: bool) -> Vec<String> {
    is_dns1123_subdomain(&unmasked(name, prefix))
}

/// RFC 1123 label: namespaces, services.
pub fn dns1123_label(name: &str, prefix: bool) -> Vec<String> {
    is_dns1123_label(&unmasked(name, prefix))
}

/// RFC 1035 label: begins with a letter.
pub fn dns1035_label(name: &str, prefix: bool) -> Vec<String> {
    let name = unmasked(name, prefix);
    let mut errors = Vec::new();
    if name.len() > 63 {
        errors.push(max_characters(63));
    }
    if !(is_label(&name) && name.starts_with(|c: char| c.is_ascii_lowercase())) {
        errors.push(regex(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    errors
}

/// A name that can stand in a URL: RBAC's kinds take anything else.
pub fn path_segment(name: &str, prefix: bool) -> Vec<String> {
    if !prefix && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"].iter().filter(|bad| name.contains(**bad)).map(|bad| format!("may not contain '{bad}'")).collect()
}

pub fn is_dns1123_subdomain(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 253 {
        errors.push(max_characters(253));
    }
    if !is_subdomain(value) {
        errors.push(subdomain_sentence());
    }
    errors
}

pub fn is_dns1123_label(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 63 {
        errors.push(max_characters(63));
    }
    if !is_label(value) {
        errors.push(if is_subdomain(value) {
            "must not contain dots".to_owned()
        } else {
            regex(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
                LABEL,
                &["my-name", "123-abc"],
            )
        });
    }
    errors
}

/// A subdomain whose labels may hold underscores: DNS search paths.
pub fn is_dns1123_subdomain_with_underscore(value: &str) -> Vec<String> {
    let label = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
    let mut errors = Vec::new();
    if value.len() > 253 {
        errors.push(max_characters(253));
    }
    let good = value.split('.').all(|part| {
        let part = part.strip_prefix('_').unwrap_or(part);
        begins_and_ends_with(part, is_lower_alphanumeric)
            && part.bytes().all(|b| is_lower_alphanumeric(b) || b == b'-' || b == b'_')
    });
    if !good {
        errors.push(regex(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
            &format!("{label}(\\.{label})*"),
            &["example.com"],
        ));
    }
    errors
}

/// The key of a label or annotation, a condition's type, a finalizer: `prefix/name`.
pub fn is_qualified_name(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let sentence = || {
        regex(
            "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            QUALIFIED_PART,
            &["MyName", "my.name", "123-abc"],
        )
    };
    let mut parts = value.split('/');
    let (first, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let name = match (second, third) {
        (None, _) => first,
        (Some(name), None) => {
            if first.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                if first.len() > 253 {
                    errors.push(format!("prefix part {}", max_bytes(253)));
                }
                if !is_subdomain(first) {
                    errors.push(format!("prefix part {}", subdomain_sentence()));
                }
            }
            name
        }
        (Some(_), Some(_)) => {
            errors.push(format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                sentence()
            ));
            return errors;
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push(format!("name part {}", max_bytes(63)));
    }
    if !is_qualified_part(name) {
        errors.push(format!("name part {}", sentence()));
    }
    errors
}

pub fn is_label_value(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 63 {
        errors.push(max_bytes(63));
    }
    if !value.is_empty() && !is_qualified_part(value) {
        errors.push(regex(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            &format!("({QUALIFIED_PART})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    errors
}

/// The key of a ConfigMap's or Secret's data.
pub fn is_config_map_key(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 253 {
        errors.push(max_characters(253));
    }
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
    if value.is_empty() || !value.bytes().all(good) {
        errors.push(regex(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            "[-._a-zA-Z0-9]+",
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    match value {
        "." => errors.push("must not be '.'".to_owned()),
        ".." => errors.push("must not be '..'".to_owned()),
        value if value.starts_with("..") => errors.push("must not start with '..'".to_owned()),
        _ => {}
    }
    errors
}

/// The name of an environment variable: any printable ASCII but `=`.
pub fn is_env_var_name(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.is_empty() {
        errors.push("environment variable name must be non-empty".to_owned());
    }
    if value.bytes().any(|b| !(b == b' ' || b.is_ascii_graphic()) || b == b'=') {
        errors.push(
            "a valid environment variable name must consist only of printable ASCII characters other than '='"
                .to_owned(),
        );
    }
    errors
}

/// The name of a port: up to 15 lower-case letters, digits and hyphens, one letter at least.
pub fn is_port_name(port: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if port.len() > 15 {
        errors.push(max_characters(15));
    }
    if port.is_empty() || !port.bytes().all(|b| is_lower_alphanumeric(b) || b == b'-') {
        errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !port.bytes().any(|b| b.is_ascii_lowercase()) {
        errors.push("must contain at least one letter (a-z)".to_owned());
    }
    if port.contains("--") {
        errors.push("must not contain consecutive hyphens".to_owned());
    }
    if port.starts_with('-') || port.ends_with('-') {
        errors.push("must not begin or end with a hyphen".to_owned());
    }
    errors
}

pub fn is_http_header_name(value: &str) -> Vec<String> {
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Vec::new();
    }
    vec![regex(
        "a valid HTTP header must consist of alphanumeric characters or '-'",
        "[-A-Za-z0-9]+",
        &["X-Header-Name"],
    )]
}

pub fn is_percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    vec![regex("a valid percent string must be a numeric string followed by an ending '%'", "[0-9]+%", &["1%", "93%"])]
}

/// The reason of a condition: words in CamelCase, joined by `,`, `:` or `_`.
pub fn is_condition_reason(value: &str) -> Vec<String> {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b',' | b':');
    let last = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let bytes = value.as_bytes();
    let good = match (bytes.first(), bytes.last()) {
        (Some(b), Some(&end)) => b.is_ascii_alphabetic() && bytes.iter().all(|&b| inner(b)) && last(end),
        _ => false,
    };
    if good {
        return Vec::new();
    }
    vec![regex(
        "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
        "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
        &["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"],
    )]
}

/// What follows the domain in a path such as `example.com/what`.
pub fn is_http_path(value: &str) -> Vec<String> {
    let good = |b: u8| b.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&b);
    if !value.is_empty() && value.bytes().all(good) {
        return Vec::new();
    }
    vec![regex("Invalid path", "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+", &[])]
}

/// `must be between 1 and 65535, inclusive`.
pub fn inclusive_range(low: i64, high: i64) -> String {
    format!("must be between {low} and {high}, inclusive")
}

/// Replaces the last two characters of a generateName that ends in a dash, as upstream
/// does before it checks the whole: the suffix to come makes the dash an inner one.
fn unmasked(name: &str, prefix: bool) -> std::borrow::Cow<'_, str> {
    if prefix && name.len() > 1 && name.ends_with('-') {
        let mut end = name.len() - 2;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        format!("{}a", &name[..end]).into()
    } else {
        name.into()
    }
}

fn max_characters(length: usize) -> String {
    format!("must be no more than {length} characters")
}

fn max_bytes(length: usize) -> String {
    format!("must be no more than {length} bytes")
}

fn subdomain_sentence() -> String {
    regex(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        &format!("{LABEL}(\\.{LABEL})*"),
        &["example.com"],
    )
}

/// The sentence for a value that does not match an expression.
pub fn regex(message: &str, pattern: &str, examples: &[&str]) -> String {
    if examples.is_empty() {
        return format!("{message} (regex used for validation is '{pattern}')");
    }
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{message} (e.g. {}regex used for validation is '{pattern}')", examples.join(" or "))
}

fn is_lower_alphanumeric(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn begins_and_ends_with(text: &str, good: fn(u8) -> bool) -> bool {
    match (text.as_bytes().first(), text.as_bytes().last()) {
        (Some(&first), Some(&last)) => good(first) && good(last),
        _ => false,
    }
}

fn is_label(text: &str) -> bool {
    begins_and_ends_with(text, is_lower_alphanumeric) && text.bytes().all(|b| is_lower_alphanumeric(b) || b == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_qualified_part(text: &str) -> bool {
    begins_and_ends_with(text, |b| b.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn good_names_break_no_rule() {
        for name in ["a", "0", "a-b", "a.b-c.d", &"a".repeat(253)] {
            assert_eq!(dns1123_subdomain(name, false), Vec::<String>::new(), "{name}");
        }
        for name in ["a", "example.com/a", "kubernetes.io/a_b.C", "A"] {
            assert_eq!(is_qualified_name(name), Vec::<String>::new(), "{name}");
        }
        assert!(dns1123_subdomain("web-", true).is_empty());
        assert!(path_segment("system:node", false).is_empty());
        assert!(is_label_value("").is_empty());
    }

    #[test]
    fn bad_names_are_told_in_upstreams_words() {
        assert_eq!(
            dns1123_subdomain("Web", false),
            [
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ]
        );
        assert_eq!(is_dns1123_label("a.b"), ["must not contain dots"]);
        assert_eq!(is_dns1123_label(&"a".repeat(64)), ["must be no more than 63 characters"]);
        assert_eq!(
            is_label_value("a b"),
            [
                "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            ]
        );
        assert_eq!(is_qualified_name("/a"), ["prefix part must be non-empty"]);
        assert_eq!(path_segment("..", false), ["may not be '..'"]);
        assert_eq!(path_segment("a/b%", false), ["may not contain '/'", "may not contain '%'"]);
        assert_eq!(
            is_port_name("--"),
            [
                "must contain at least one letter (a-z)",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ]
        );
    }

    proptest! {
        /// The checks by hand accept exactly what the quoted expressions accept.
        #[test]
        fn checks_agree_with_the_expressions(text in "[-a-zA-Z0-9_.]{0,12}") {
            let matches = |pattern: &str| regex::Regex::new(&format!("^(?:{pattern})$")).expect("a fixed pattern").is_match(&text);
            prop_assert_eq!(is_label(&text), matches(LABEL));
            prop_assert_eq!(is_subdomain(&text), matches(&format!("{LABEL}(\\.{LABEL})*")));
            prop_assert_eq!(is_qualified_part(&text), matches(QUALIFIED_PART));
            prop_assert_eq!(is_config_map_key(&text).is_empty(), matches("[-._a-zA-Z0-9]+") && text != "." && !text.starts_with(".."));
        }

        #[test]
        fn no_name_panics(text in "\\PC{0,20}", prefix: bool) {
            dns1123_subdomain(&text, prefix);
            dns1035_label(&text, prefix);
            is_qualified_name(&text);
            is_port_name(&text);
        }
    }
}
