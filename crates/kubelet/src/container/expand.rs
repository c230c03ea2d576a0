//! `$(NAME)` in commands, arguments, environment values and sub-path expressions.

/// Replaces `$(NAME)` where `lookup` knows the name and leaves it standing where not;
/// `$$` is a dollar sign. The rules are upstream's third_party/forked/golang/expansion.
pub fn expand(input: &str, lookup: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(input.len());
    let mut rest = input;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('(') {
            match after.split_once(')') {
                Some((name, after)) => {
                    match lookup(name) {
                        Some(value) => out.push_str(&value),
                        None => {
                            out.push_str("$(");
                            out.push_str(name);
                            out.push(')');
                        }
                    }
                    rest = after;
                }
                None => {
                    out.push_str("$(");
                    rest = after;
                }
            }
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

/// The names in `input` that `lookup` does not know; sub-path expressions may have none.
pub fn unresolved(input: &str, lookup: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let missing = std::cell::RefCell::new(Vec::new());
    expand(input, |name| {
        let found = lookup(name);
        if found.is_none() {
            missing.borrow_mut().push(name.to_string());
        }
        found
    });
    missing.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expansion_follows_upstreams_table() {
        let lookup = |name: &str| match name {
            "A" => Some("x".to_string()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let check = |input, expected| assert_eq!(expand(input, lookup), expected, "{input}");
        check("$(A)", "x");
        check("___$(A)___", "___x___");
        check("$(EMPTY)", "");
        check("$(B)", "$(B)");
        check("$$(A)", "$(A)");
        check("$$$(A)", "$x");
        check("$A", "$A");
        check("$(A", "$(A");
        check("$", "$");
        check("a$", "a$");
        check("$()", "$()");
        check("$($(A)", "$($(A)");
    }
}
