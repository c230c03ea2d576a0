//! PEM as Go reads it: the blocks of a text, whatever stands around them, each with
//! whether it carries headers.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

pub(super) struct Block {
    pub label: String,
    pub has_headers: bool,
    pub bytes: Vec<u8>,
}

/// Every well-formed block of a text, in order.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("-----BEGIN ") {
        let after = &rest[start + "-----BEGIN ".len()..];
        let Some((label, body)) = after.split_once("-----").filter(|(label, _)| !label.contains('\n')) else {
            rest = after;
            continue;
        };
        let end = format!("-----END {label}-----");
        let Some(close) = body.find(&end) else {
            rest = after;
            continue;
        };
        let lines: Vec<&str> = body[..close].lines().map(str::trim).collect();
        let has_headers = lines.iter().any(|line| line.contains(':'));
        let data: String = lines.iter().filter(|line| !line.contains(':')).copied().collect();
        if let Ok(bytes) = BASE64_STANDARD.decode(data) {
            blocks.push(Block { label: label.to_owned(), has_headers, bytes });
        }
        rest = &body[close + end.len()..];
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_in_any_text() {
        let text = "x\n-----BEGIN A-----\nK: v\n\nYWJj\n-----END A-----\ny\n-----BEGIN B-----\nYQ==\n-----END B-----\n-----BEGIN C-----";
        let found: Vec<_> = blocks(text).into_iter().map(|b| (b.label, b.has_headers, b.bytes)).collect();
        assert_eq!(found, [("A".to_owned(), true, b"abc".to_vec()), ("B".to_owned(), false, b"a".to_vec())]);
    }
}
