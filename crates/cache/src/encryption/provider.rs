//! One entry of a `providers` list: what stands before the bytes it sealed, and how it
//! seals and opens them (upstream's storage/value/transformer.go and
//! server/options/encryptionconfig/config.go).

use super::cipher::{Cbc, Cipher, Gcm};
use super::config::{Key, ProviderConfiguration};
use super::kms::Kms;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;
use std::sync::Arc;

/// What begins with this was sealed by somebody.
const SEALED: &[u8] = b"k8s:enc:";

pub enum Provider {
    Keyed(Keyed),
    Kms(Arc<Kms>),
    Identity,
}

/// Local keys by name; the first one seals.
pub struct Keyed {
    prefix: &'static str,
    keys: Vec<(String, Cipher)>,
    no_key: &'static str,
}

impl Provider {
    /// From a configuration that was validated; `kms` makes the client of a KMS.
    pub fn new(
        config: &ProviderConfiguration,
        kms: &mut dyn FnMut(&super::config::KmsConfiguration) -> Result<Arc<Kms>, String>,
    ) -> Result<Self, String> {
        const NO_AES: &str = "no matching key was found for the provided AES transformer";
        const NO_SECRETBOX: &str = "no matching key was found for the provided Secretbox transformer";
        if let Some(aes) = &config.aesgcm {
            return keyed("k8s:enc:aesgcm:v1:", &aes.keys, NO_AES, |key| Gcm::new(key).map(Cipher::Gcm));
        }
        if let Some(aes) = &config.aescbc {
            return keyed("k8s:enc:aescbc:v1:", &aes.keys, NO_AES, |key| Cbc::new(key).map(Cipher::Cbc));
        }
        if let Some(secretbox) = &config.secretbox {
            return keyed("k8s:enc:secretbox:v1:", &secretbox.keys, NO_SECRETBOX, Cipher::secretbox);
        }
        if let Some(config) = &config.kms {
            return kms(config).map(Self::Kms);
        }
        Ok(Self::Identity)
    }

    /// AES-GCM with keys that are not from a file.
    pub fn aes_gcm<'a>(keys: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Self, String> {
        let keys = keys.into_iter().map(|(name, bytes)| {
            let gcm = Gcm::new(bytes).ok_or_else(|| format!("the key {name:?} must be 16, 24 or 32 bytes long"))?;
            Ok((format!("{name}:"), Cipher::Gcm(gcm)))
        });
        let no_key = "no matching key was found for the provided AES transformer";
        Ok(Self::Keyed(Keyed { prefix: "k8s:enc:aesgcm:v1:", keys: keys.collect::<Result<_, String>>()?, no_key }))
    }

    pub fn seal(&self, key: &str, plain: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Identity => Ok(plain.to_vec()),
            Self::Kms(kms) => kms.seal(key, plain),
            Self::Keyed(keyed) => {
                let (name, cipher) = keyed.keys.first().ok_or(keyed.no_key)?;
                Ok([keyed.prefix.as_bytes(), name.as_bytes(), &cipher.seal(key, plain)?].concat())
            }
        }
    }

    /// `None` where the bytes are not of this provider.
    fn open<'a>(&self, key: &str, sealed: &'a [u8]) -> Option<Result<Cow<'a, [u8]>, String>> {
        match self {
            Self::Identity => (!sealed.starts_with(SEALED)).then_some(Ok(Cow::Borrowed(sealed))),
            Self::Kms(kms) => {
                let object = sealed.strip_prefix(kms.prefix().as_bytes())?;
                Some(kms.open(key, object).map(Cow::Owned))
            }
            Self::Keyed(keyed) => {
                let rest = sealed.strip_prefix(keyed.prefix.as_bytes())?;
                let mut mistakes = Vec::new();
                for (name, cipher) in &keyed.keys {
                    let Some(sealed) = rest.strip_prefix(name.as_bytes()) else { continue };
                    match cipher.open(key, sealed) {
                        Ok(plain) => return Some(Ok(Cow::Owned(plain))),
                        Err(why) => mistakes.push(why),
                    }
                }
                Some(Err(reduce(mistakes).unwrap_or_else(|| keyed.no_key.to_owned())))
            }
        }
    }

    /// Whether sealing now would leave the same provider, key and key id in front.
    fn is_current(&self, sealed: &[u8]) -> bool {
        match self {
            Self::Identity => !sealed.starts_with(SEALED),
            Self::Kms(kms) => sealed.strip_prefix(kms.prefix().as_bytes()).is_some_and(|object| kms.is_current(object)),
            Self::Keyed(keyed) => keyed.keys.first().is_some_and(|(name, _)| {
                sealed.strip_prefix(keyed.prefix.as_bytes()).is_some_and(|rest| rest.starts_with(name.as_bytes()))
            }),
        }
    }

    pub fn kms(&self) -> Option<&Arc<Kms>> {
        match self {
            Self::Kms(kms) => Some(kms),
            _ => None,
        }
    }
}

fn keyed(
    prefix: &'static str,
    keys: &[Key],
    no_key: &'static str,
    cipher: impl Fn(&[u8]) -> Option<Cipher>,
) -> Result<Provider, String> {
    let keys = keys.iter().map(|key| {
        let bytes = STANDARD
            .decode(&key.secret)
            .map_err(|_| format!("could not obtain secret for named key {}: illegal base64 data", key.name))?;
        let cipher = cipher(&bytes)
            .ok_or_else(|| format!("error while creating cipher for named key {}: key size", key.name))?;
        Ok((format!("{}:", key.name), cipher))
    });
    Ok(Provider::Keyed(Keyed { prefix, keys: keys.collect::<Result<_, String>>()?, no_key }))
}

/// Opens with the first provider that can. One that fails does not keep the others from
/// trying: two may share a prefix while keys are rotated.
pub fn open<'a, 'p>(
    providers: impl Iterator<Item = &'p Provider>,
    key: &str,
    sealed: &'a [u8],
) -> Result<Cow<'a, [u8]>, String> {
    let mut mistakes = Vec::new();
    for provider in providers {
        match provider.open(key, sealed) {
            Some(Ok(plain)) => return Ok(plain),
            Some(Err(why)) => mistakes.push(why),
            None => {}
        }
    }
    Err(reduce(mistakes).unwrap_or_else(|| "no matching prefix found".into()))
}

/// Whether the first provider would seal anew what is stored (upstream's stale reads).
pub fn is_stale<'p>(mut providers: impl Iterator<Item = &'p Provider>, sealed: &[u8]) -> bool {
    providers.next().is_some_and(|first| !first.is_current(sealed))
}

/// For kinds that no rule is about: stored as they are, and nothing sealed is taken for data.
pub fn open_unsealed(sealed: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if sealed.starts_with(SEALED) {
        return Err("identity transformer tried to read encrypted data".into());
    }
    Ok(Cow::Borrowed(sealed))
}

/// Which provider and key sealed a value, without what they sealed: `k8s:enc:aesgcm:v1:key1`.
pub fn is_sealed(value: &[u8]) -> bool {
    value.starts_with(SEALED)
}

/// `k8s:enc:aesgcm:v1:key1:`: what stands before the sealed bytes.
pub fn prefix(sealed: &[u8]) -> String {
    let colons = sealed.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(place, _)| place);
    let end = colons.take(5).last().map_or(0, |place| place + 1);
    String::from_utf8_lossy(&sealed[..end]).into_owned()
}

pub fn sealed_by(sealed: &[u8]) -> String {
    let Some(rest) = sealed.strip_prefix(SEALED) else { return "identity".into() };
    let mut parts = rest.splitn(4, |byte| *byte == b':').map(String::from_utf8_lossy);
    let mut next = || parts.next().unwrap_or_default();
    let (provider, version, name) = (next(), next(), next());
    let mut text = format!("k8s:enc:{provider}:{version}:{name}");
    if provider == "kms"
        && let Some(key_id) = rest.splitn(4, |byte| *byte == b':').nth(3).and_then(super::kms::key_id)
    {
        text.push_str(&format!(" with key {key_id}"));
    }
    text
}

/// Upstream's aggregate: each sentence once, several in brackets.
fn reduce(mut mistakes: Vec<String>) -> Option<String> {
    let mut seen = std::collections::BTreeSet::new();
    mistakes.retain(|text| seen.insert(text.clone()));
    match mistakes.len() {
        0 => None,
        1 => mistakes.pop(),
        _ => Some(format!("[{}]", mistakes.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gcm(name: &str, fill: u8) -> Provider {
        Provider::aes_gcm([(name, &[fill; 32][..])]).expect("32 bytes")
    }

    #[test]
    fn the_first_seals_and_all_open() {
        let old = gcm("one", 1);
        let sealed = old.seal("k", b"{}").expect("sealed");
        assert!(sealed.starts_with(b"k8s:enc:aesgcm:v1:one:"));
        assert_eq!(sealed_by(&sealed), "k8s:enc:aesgcm:v1:one");
        let list = [gcm("two", 2), old, Provider::Identity];
        assert_eq!(open(list.iter(), "k", &sealed).as_deref(), Ok(&b"{}"[..]));
        assert_eq!(open(list.iter(), "k", b"{\"plain\":1}").as_deref(), Ok(&b"{\"plain\":1}"[..]));
        assert!(is_stale(list.iter(), &sealed) && is_stale(list.iter(), b"{}"));
        let new = list[0].seal("k", b"{}").expect("sealed");
        assert!(!is_stale(list.iter(), &new));
        // Away from encryption: plain text first, and what is sealed still opens.
        let back = [Provider::Identity, gcm("two", 2)];
        assert_eq!(open(back.iter(), "k", &new).as_deref(), Ok(&b"{}"[..]));
        assert!(is_stale(back.iter(), &new) && !is_stale(back.iter(), b"{}"));
    }

    #[test]
    fn what_does_not_open_says_why() {
        let list = [gcm("one", 1)];
        let sealed = gcm("one", 9).seal("k", b"{}").expect("sealed");
        assert_eq!(open(list.iter(), "k", &sealed), Err("cipher: message authentication failed".into()));
        let lost = gcm("lost", 1).seal("k", b"{}").expect("sealed");
        assert_eq!(
            open(list.iter(), "k", &lost),
            Err("no matching key was found for the provided AES transformer".into())
        );
        assert_eq!(open(list.iter(), "k", b"{}"), Err("no matching prefix found".into()));
        assert_eq!(open_unsealed(&sealed), Err("identity transformer tried to read encrypted data".into()));
        assert_eq!(sealed_by(b"{}"), "identity");
        // A value under another key of the store is not that key's.
        let swapped = list[0].seal("/registry/secrets/a/b", b"{}").expect("sealed");
        assert!(open(list.iter(), "/registry/secrets/a/c", &swapped).is_err());
    }
}
