//! Names for objects that ask for one with metadata.generateName.

use rand::seq::IndexedRandom;

/// No vowels and no look-alikes, so that no name reads as a word or is misread
/// (upstream's util/rand alphabet; tools match on it).
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A generated name is never longer than a label, whatever the kind would allow.
const MAX_NAME: usize = 63;
const RANDOM: usize = 5;

/// The name is tried this often before AlreadyExists is reported.
pub(super) const ATTEMPTS: usize = 8;

pub(super) fn generate_name(base: &str) -> String {
    let mut end = base.len().min(MAX_NAME - RANDOM);
    while !base.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = base[..end].to_owned();
    let mut random = rand::rng();
    name.extend((0..RANDOM).filter_map(|_| ALPHABET.choose(&mut random).map(|&byte| byte as char)));
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_characters_are_appended_within_the_limit() {
        let name = generate_name("web-");
        assert!(name.starts_with("web-") && name.len() == 9, "{name}");
        assert!(name[4..].bytes().all(|b| ALPHABET.contains(&b)));
        assert_eq!(generate_name(&"a".repeat(100)).len(), 63);
    }
}
