//! Field names of Kubernetes as CEL identifiers: `a-b` is `a__dash__b`, `namespace` is
//! `__namespace__`. After upstream's apiserver/pkg/cel/escaping.go. Schemas declare
//! escaped names; typed objects look them up unescaped.

use std::borrow::Cow;

/// Words that CEL keeps for itself and for the languages around it.
pub(crate) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Words that are literals and operators: the lexer never takes them for names.
const KEYWORDS: [&str; 4] = ["true", "false", "null", "in"];

/// Whether a word cannot be a name. After a dot a reserved word can: a field of this name
/// is reached both escaped and as it is.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || KEYWORDS.contains(&name)
}

/// Whether a name can be that of a variable: letters, digits and underscores, no digit
/// first, and none of the language's own words.
pub fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.as_bytes()[0].is_ascii_digit()
        && name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
        && !is_reserved(name)
}

/// The identifier under which a field is reached; none if its name has other characters.
pub fn escape(name: &str) -> Option<Cow<'_, str>> {
    if name.is_empty() || name.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    if is_reserved(name) {
        return Some(Cow::Owned(format!("__{name}__")));
    }
    if !name.contains("__") && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Some(Cow::Borrowed(name));
    }
    let mut escaped = String::with_capacity(name.len() + 16);
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        if rest.starts_with("__") {
            escaped.push_str("__underscores__");
            rest = &rest[2..];
            continue;
        }
        match character {
            '.' => escaped.push_str("__dot__"),
            '-' => escaped.push_str("__dash__"),
            '/' => escaped.push_str("__slash__"),
            plain if plain.is_ascii_alphanumeric() || plain == '_' => escaped.push(plain),
            _ => return None,
        }
        rest = &rest[character.len_utf8()..];
    }
    Some(Cow::Owned(escaped))
}

/// The field behind an identifier; none if an escape in it is not one.
pub fn unescape(identifier: &str) -> Option<Cow<'_, str>> {
    if !identifier.contains("__") {
        return Some(Cow::Borrowed(identifier));
    }
    let mut name = String::with_capacity(identifier.len());
    let mut rest = identifier;
    while let Some(start) = rest.find("__") {
        let word = &rest[start + 2..];
        // A word ends at the next underscore, of which there must be two.
        let length = word.find('_').filter(|length| *length > 0 && word[*length..].starts_with("__"));
        let Some(length) = length else {
            // Not an escape: take the first underscore as it is and look on.
            name.push_str(&rest[..start + 1]);
            rest = &rest[start + 1..];
            continue;
        };
        name.push_str(&rest[..start]);
        match &word[..length] {
            "underscores" => name.push_str("__"),
            "dot" => name.push('.'),
            "dash" => name.push('-'),
            "slash" => name.push('/'),
            keyword if is_reserved(keyword) && keyword.len() + 4 == identifier.len() => name.push_str(keyword),
            _ => return None,
        }
        rest = &word[length + 2..];
    }
    name.push_str(rest);
    Some(Cow::Owned(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_plain_names() {
        for (name, expected) in [("a", true), ("_a1", true), ("1a", false), ("", false), ("if", false), ("a-b", false)]
        {
            assert_eq!(is_identifier(name), expected, "{name}");
        }
    }

    #[test]
    fn names_survive_the_round_trip() {
        for (name, escaped) in [
            ("replicas", "replicas"),
            ("namespace", "__namespace__"),
            ("a.b", "a__dot__b"),
            ("a-b", "a__dash__b"),
            ("a/b", "a__slash__b"),
            ("a__b", "a__underscores__b"),
            ("kubernetes.io/arch-x", "kubernetes__dot__io__slash__arch__dash__x"),
            ("_a_", "_a_"),
            ("in", "__in__"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped), "{name}");
            assert_eq!(unescape(escaped).as_deref(), Some(name), "{escaped}");
        }
        for refused in ["", "1a", "a b", "ä", "a$"] {
            assert_eq!(escape(refused), None, "{refused}");
        }
        for refused in ["__illegal__", "a__namespace__"] {
            assert_eq!(unescape(refused), None, "{refused}");
        }
    }
}
