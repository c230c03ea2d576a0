//! What is written between quotes, made into text or bytes. Only the parser calls this.

/// The contents of a quoted literal (with its quotes and `r` prefix, without the `b`).
/// Bytes are returned for both kinds; of a string they are valid UTF-8.
pub(crate) fn unquote(literal: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    const UNABLE: &str = "unable to unescape string";
    let raw = literal.starts_with(['r', 'R']);
    let quoted = if raw { &literal[1..] } else { literal };
    let width = if quoted.len() >= 6 && (quoted.starts_with("'''") || quoted.starts_with("\"\"\"")) { 3 } else { 1 };
    let body = quoted.get(width..quoted.len().saturating_sub(width)).ok_or(UNABLE)?;
    // The grammar reads a carriage return as a line feed.
    let normalized = body.replace("\r\n", "\n").replace('\r', "\n");
    if raw || !normalized.contains('\\') {
        return Ok(normalized.into_bytes());
    }
    let mut out = Vec::with_capacity(normalized.len());
    let mut rest = normalized.as_str();
    while let Some(character) = rest.chars().next() {
        if character != '\\' {
            out.extend_from_slice(&rest.as_bytes()[..character.len_utf8()]);
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let escape = rest[1..].chars().next().ok_or("unable to unescape string, found '\\' as last character")?;
        rest = &rest[1 + escape.len_utf8()..];
        let plain = match escape {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '`' | '?' => escape as u8,
            'x' | 'X' | 'u' | 'U' => {
                let digits = match escape {
                    'x' | 'X' => 2,
                    _ if is_bytes => return Err(UNABLE),
                    'u' => 4,
                    _ => 8,
                };
                let hex = rest.get(..digits).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())).ok_or(UNABLE)?;
                rest = &rest[digits..];
                push_code(&mut out, u32::from_str_radix(hex, 16).map_err(|_| UNABLE)?, is_bytes)?;
                continue;
            }
            '0'..='3' => {
                const OCTAL: &str = "unable to unescape octal sequence in string";
                let digits = rest.get(..2).filter(|d| d.bytes().all(|b| (b'0'..=b'7').contains(&b))).ok_or(OCTAL)?;
                let low = u32::from_str_radix(digits, 8).map_err(|_| OCTAL)?;
                rest = &rest[2..];
                push_code(&mut out, (escape as u32 - '0' as u32) * 64 + low, is_bytes)?;
                continue;
            }
            _ => return Err(UNABLE),
        };
        out.push(plain);
    }
    Ok(out)
}

fn push_code(out: &mut Vec<u8>, code: u32, is_bytes: bool) -> Result<(), &'static str> {
    if is_bytes {
        // Two hexadecimal or three octal digits never exceed 255.
        out.push(code as u8);
        return Ok(());
    }
    let character = char::from_u32(code).ok_or("invalid unicode code point")?;
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(())
}
