//! What stands between the registry and the disk: the bytes of some kinds are encrypted
//! before the store sees them and decrypted as they enter the cache.
//!
//! The form is upstream's AES-GCM provider's (storage/value/encrypt/aes): a prefix that
//! names the key, a 12-byte nonce, the sealed bytes. The storage key is the associated
//! data, so a value that is moved to another key in the database does not open there.

use bytes::Bytes;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use std::borrow::Cow;

#[derive(Debug, thiserror::Error)]
pub enum TransformError {
    #[error("the key {0:?} must be 32 bytes long")]
    KeyLength(String),
    #[error("no key of this cluster opens the value of {0:?}")]
    Unopenable(String),
    #[error("the value of {0:?} cannot be sealed")]
    Unsealable(String),
}

/// Turns the bytes of an object into what is written to disk, and back. `decode` must
/// accept what was written before the transformer was configured.
pub trait StorageTransformer: Send + Sync {
    fn encode(&self, key: &str, bytes: &[u8]) -> Result<Vec<u8>, TransformError>;
    fn decode<'a>(&self, key: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, TransformError>;
}

/// Which transformer a storage key goes through.
#[derive(Default)]
pub struct Transformers(Vec<(String, Box<dyn StorageTransformer>)>);

impl Transformers {
    /// Everything under `prefix` goes through `transformer`.
    pub fn with(mut self, prefix: &str, transformer: impl StorageTransformer + 'static) -> Self {
        self.0.push((prefix.to_owned(), Box::new(transformer)));
        self
    }

    fn of(&self, key: &str) -> Option<&dyn StorageTransformer> {
        self.0.iter().find(|(prefix, _)| key.starts_with(prefix.as_str())).map(|(_, transformer)| &**transformer)
    }

    pub fn encode(&self, key: &str, bytes: Bytes) -> Result<Bytes, TransformError> {
        match self.of(key) {
            Some(transformer) => transformer.encode(key, &bytes).map(Bytes::from),
            None => Ok(bytes),
        }
    }

    pub fn decode<'a>(&self, key: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, TransformError> {
        match self.of(key) {
            Some(transformer) => transformer.decode(key, bytes),
            None => Ok(Cow::Borrowed(bytes)),
        }
    }
}

/// One key for sealing and any number of older ones for opening.
pub struct AesGcm {
    keys: Vec<(Vec<u8>, LessSafeKey)>,
    random: SystemRandom,
}

impl AesGcm {
    /// The first key seals; all of them open. Each is a name and 32 bytes.
    pub fn new<'a>(keys: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Self, TransformError> {
        let keys = keys
            .into_iter()
            .map(|(name, bytes)| {
                let key = UnboundKey::new(&AES_256_GCM, bytes).map_err(|_| TransformError::KeyLength(name.into()))?;
                Ok((format!("k8s:enc:aesgcm:v1:{name}:").into_bytes(), LessSafeKey::new(key)))
            })
            .collect::<Result<_, TransformError>>()?;
        Ok(Self { keys, random: SystemRandom::new() })
    }
}

impl StorageTransformer for AesGcm {
    fn encode(&self, key: &str, bytes: &[u8]) -> Result<Vec<u8>, TransformError> {
        let failed = || TransformError::Unsealable(key.to_owned());
        let (prefix, seal) = self.keys.first().ok_or_else(failed)?;
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).map_err(|_| failed())?;
        let mut sealed = bytes.to_vec();
        seal.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(key.as_bytes()), &mut sealed)
            .map_err(|_| failed())?;
        Ok([prefix, &nonce[..], &sealed].concat())
    }

    fn decode<'a>(&self, key: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, TransformError> {
        // What was written in the clear, before encryption was turned on, is JSON.
        if bytes.first() == Some(&b'{') {
            return Ok(Cow::Borrowed(bytes));
        }
        for (prefix, open) in &self.keys {
            let Some((nonce, sealed)) =
                bytes.strip_prefix(prefix.as_slice()).and_then(|rest| rest.split_first_chunk::<NONCE_LEN>())
            else {
                continue;
            };
            let mut sealed = sealed.to_vec();
            let nonce = Nonce::assume_unique_for_key(*nonce);
            if let Ok(opened) = open.open_in_place(nonce, Aad::from(key.as_bytes()), &mut sealed) {
                return Ok(Cow::Owned(opened.to_vec()));
            }
        }
        Err(TransformError::Unopenable(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_only_under_its_own_key_in_the_store() {
        let aes = AesGcm::new([("one", &[7; 32][..])]).expect("32 bytes");
        let sealed = aes.encode("/registry/secrets/a/b", b"{\"x\":1}").expect("seals");
        assert!(sealed.starts_with(b"k8s:enc:aesgcm:v1:one:"));
        assert!(!sealed.windows(3).any(|w| w == b"\"x\""));
        assert_eq!(&*aes.decode("/registry/secrets/a/b", &sealed).expect("opens"), b"{\"x\":1}");
        assert!(aes.decode("/registry/secrets/a/c", &sealed).is_err());
    }

    #[test]
    fn keys_rotate_and_plain_values_stay_readable() {
        let old = AesGcm::new([("one", &[1; 32][..])]).expect("32 bytes");
        let sealed = old.encode("k", b"{}").expect("seals");
        let new = AesGcm::new([("two", &[2; 32][..]), ("one", &[1; 32][..])]).expect("32 bytes");
        assert_eq!(&*new.decode("k", &sealed).expect("opens"), b"{}");
        assert_eq!(&*new.decode("k", b"{\"plain\":true}").expect("opens"), b"{\"plain\":true}");
        assert!(AesGcm::new([("short", &[1; 16][..])]).is_err());
    }
}
