//! Go's regular expressions in the dialect of the regex crate. The two are close; they
//! differ in that Go's `\d`, `\w`, `\s` and `\b` know ASCII only, that a brace which
//! counts nothing is a brace, that `[` inside a class is itself, and in `\Q..\E`.

/// The pattern, or what Go says is wrong with it where the regex crate would not.
pub(crate) fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut in_class = false;
    // Where the repetition starts that the last characters were, if they were one.
    let mut repetition: Option<usize> = None;
    // Whether there is something to repeat.
    let mut repeatable = false;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        if !in_class && let Some(length) = repetition_length(rest) {
            let start = pattern.len() - rest.len();
            if let Some(first) = repetition {
                let stacked = &pattern[first..start + length];
                return Err(format!("invalid nested repetition operator: `{stacked}`"));
            }
            if !repeatable {
                return Err(format!("missing argument to repetition operator: `{}`", &rest[..length]));
            }
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            repetition = Some(start);
            continue;
        }
        repetition = None;
        repeatable = in_class || !matches!(character, '(' | '|');
        rest = match character {
            // The flags of a group are no repetition.
            '(' if !in_class && after.starts_with('?') => {
                out.push_str("(?");
                &after[1..]
            }
            '\\' => escape(after, in_class, &mut out),
            '[' if in_class => class_bracket(after, &mut out),
            '[' => {
                in_class = true;
                open_class(after, &mut out)
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
                after
            }
            // Doubled, these are set operations to the regex crate.
            '&' | '~' | '-' if in_class && after.starts_with(character) => {
                out.push('\\');
                out.push(character);
                after
            }
            '{' if !in_class && !counts(after) => {
                out.push_str("\\{");
                after
            }
            other => {
                out.push(other);
                after
            }
        };
    }
    Ok(out)
}

/// The length of `*`, `+`, `?` or `{2,3}` at the start, with the `?` that makes it lazy.
fn repetition_length(text: &str) -> Option<usize> {
    let length = match text.as_bytes().first()? {
        b'*' | b'+' | b'?' => 1,
        b'{' if counts(&text[1..]) => text.find('}')? + 1,
        _ => return None,
    };
    Some(length + usize::from(text[length..].starts_with('?')))
}

/// A bracket, a caret, and a closing bracket right after them, which is a member.
fn open_class<'p>(mut after: &'p str, out: &mut String) -> &'p str {
    out.push('[');
    if let Some(rest) = after.strip_prefix('^') {
        out.push('^');
        after = rest;
    }
    if let Some(rest) = after.strip_prefix(']') {
        out.push_str("\\]");
        after = rest;
    }
    after
}

/// `[:alpha:]` is a class; any other bracket within one is a character.
fn class_bracket<'p>(after: &'p str, out: &mut String) -> &'p str {
    if after.starts_with(':')
        && let Some(end) = after.find(":]")
    {
        out.push('[');
        out.push_str(&after[..end + 2]);
        return &after[end + 2..];
    }
    out.push_str("\\[");
    after
}

fn counts(after: &str) -> bool {
    let Some((inside, _)) = after.split_once('}') else { return false };
    let (low, high) = inside.split_once(',').unwrap_or((inside, ""));
    !low.is_empty() && low.bytes().chain(high.bytes()).all(|b| b.is_ascii_digit())
}

fn escape<'p>(after: &'p str, in_class: bool, out: &mut String) -> &'p str {
    let Some(letter) = after.chars().next() else {
        out.push('\\');
        return after;
    };
    let rest = &after[letter.len_utf8()..];
    let replacement = match (letter, in_class) {
        ('d', true) => "0-9",
        ('w', true) => "0-9A-Za-z_",
        ('s', true) => "\\t\\n\\x0c\\r ",
        ('d', false) => "[0-9]",
        ('w', false) => "[0-9A-Za-z_]",
        ('s', false) => "[\\t\\n\\x0c\\r ]",
        ('D', _) => "[^0-9]",
        ('W', _) => "[^0-9A-Za-z_]",
        ('S', _) => "[^\\t\\n\\x0c\\r ]",
        ('b', false) => "(?-u:\\b)",
        ('B', false) => "(?-u:\\B)",
        ('Q', false) => {
            let (literal, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
            out.push_str(&regex::escape(literal));
            return rest;
        }
        _ => {
            out.push('\\');
            out.push(letter);
            return rest;
        }
    };
    out.push_str(replacement);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_go_mean_the_same() {
        for (pattern, text, matched) in [
            (r"^\d+$", "٣", false),
            (r"^\w+$", "é", false),
            (r"a{", "a{", true),
            (r"^{x}$", "{x}", true),
            (r"^a{2,3}$", "aa", true),
            (r"^[[a]+$", "[a[", true),
            (r"^[]a]+$", "]a", true),
            (r"^[[:alpha:]]+$", "abc", true),
            (r"^[a&&b]+$", "a&b", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"^[\w-]+$", "a-b", true),
            (r"^[^\d]+$", "abc", true),
            (r"\bfoo\b", "a foo b", true),
            (r"^(?:ab)+?(?i)C$", "ababc", true),
            (r"^\(*$", "((", true),
            (r"^\*+$", "**", true),
            (r"^(?P<x>a|b?)$", "a", true),
        ] {
            let compiled =
                regex::Regex::new(&translate(pattern).unwrap()).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(compiled.is_match(text), matched, "{pattern} on {text}");
        }
    }
}
