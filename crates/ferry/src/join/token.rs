//! The token of `ferry join`: a bootstrap token, as kubeadm has them, and the hash of the
//! cluster's authority behind it, so that one word holds all that a machine needs.
//!
//! ```text
//! abcdef.0123456789abcdef.3b5f…64 hexadecimal digits…
//! └─ id    └─ secret        └─ SHA-256 of the authority's public key
//! ```

use anyhow::{Context, Result, bail};
use ferry_pki::AuthorityPin;
use rand::Rng;

/// The digits of bootstrap tokens.
const DIGITS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinToken {
    pub id: String,
    secret: String,
    pub pin: AuthorityPin,
}

impl JoinToken {
    pub fn generate(pin: AuthorityPin) -> Self {
        let mut random = rand::rng();
        let mut word =
            |length| (0..length).map(|_| char::from(DIGITS[random.random_range(0..DIGITS.len())])).collect::<String>();
        Self { id: word(6), secret: word(16), pin }
    }

    /// Reads a token; `hash` is the authority's for a token without one of its own.
    pub fn parse(text: &str, hash: Option<&str>) -> Result<Self> {
        let mut words = text.trim().splitn(3, '.');
        let (id, secret, own) = (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next());
        let plain = |word: &str, length| word.len() == length && word.bytes().all(|byte| DIGITS.contains(&byte));
        if !plain(id, 6) || !plain(secret, 16) {
            bail!(
                "--token: this is not of the form abcdef.0123456789abcdef.<hash>; `ferry token create` on the server prints one"
            );
        }
        let hash = match (hash, own) {
            (Some(hash), _) => hash,
            (None, Some(own)) => own,
            (None, None) => bail!(
                "--token: the token carries no hash of the cluster's authority; give it with --ca-cert-hash sha256:…, or take the whole line that `ferry token create` prints"
            ),
        };
        let pin = hash.parse().map_err(anyhow::Error::msg).context("the hash of the cluster's authority")?;
        Ok(Self { id: id.to_owned(), secret: secret.to_owned(), pin })
    }

    /// The part that the API server knows.
    pub fn bootstrap(&self) -> String {
        format!("{}.{}", self.id, self.secret)
    }

    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The whole word.
    pub fn render(&self) -> String {
        format!("{}.{}", self.bootstrap(), self.pin.hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_as_it_is_written() {
        let hex = "ab".repeat(32);
        let pin: AuthorityPin = hex.parse().expect("a hash");
        let token = JoinToken::generate(pin);
        assert_eq!(JoinToken::parse(&token.render(), None).expect("whole"), token);
        let apart = JoinToken::parse(&token.bootstrap(), Some(&format!("sha256:{hex}"))).expect("in two");
        assert_eq!(apart, token);
        assert!(JoinToken::generate(pin) != token);
    }

    #[test]
    fn a_mistake_is_named_and_the_secret_is_not() {
        let cases = [
            ("", None, "not of the form"),
            ("abcdef", None, "not of the form"),
            ("ABCDEF.0123456789abcdef", None, "not of the form"),
            ("abcdef.0123456789abcdef", None, "no hash"),
            ("abcdef.0123456789abcdef.00", None, "64 hexadecimal"),
            ("abcdef.0123456789abcdef", Some("sha256:xx"), "64 hexadecimal"),
        ];
        for (text, hash, why) in cases {
            let error = format!("{:#}", JoinToken::parse(text, hash).expect_err(text));
            assert!(error.contains(why) && !error.contains("0123456789abcdef.0"), "{error}");
        }
    }
}
