//! What is stored when a KMS seals: a data key that only the KMS can open, and the value
//! sealed with a key derived from it (storage/value/encrypt/envelope/kmsv2/envelope.go and
//! encrypt/aes/aes_extended_nonce.go upstream). Pure: nothing here calls the KMS.

use super::api::EncryptedObject;
use crate::encryption::cipher::{Gcm, random};
use prost::Message;
use ring::hkdf::{HKDF_SHA256, Prk};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// How many random bytes choose the key of one value.
const INFO: usize = 32;
const SEED: usize = 32;

const KEY_ID_MAX: usize = 1024;
const DEK_SOURCE_MAX: usize = 1024;
const ANNOTATIONS_MAX: usize = 32 * 1024;

/// The plain text of `encryptedDEKSource`, by its type.
pub(super) enum Dek {
    /// Older servers sealed with the key itself; it only opens here.
    Key(Gcm),
    /// Each value gets a key of its own: HKDF-Expand(seed, 32 random bytes).
    Seed(Prk),
}

impl Dek {
    pub(super) const KEY: i32 = 0;
    pub(super) const SEED: i32 = 1;

    pub(super) fn new(kind: i32, bytes: &[u8]) -> Result<Self, String> {
        match kind {
            Self::SEED if bytes.len() < SEED => {
                Err(format!("invalid seed length {} used for key generation", bytes.len()))
            }
            Self::SEED => Ok(Self::Seed(Prk::new_less_safe(HKDF_SHA256, bytes))),
            _ => Gcm::new(bytes).map(Self::Key).ok_or_else(|| format!("crypto/aes: invalid key size {}", bytes.len())),
        }
    }

    /// A new seed, and its bytes for the KMS to seal.
    pub(super) fn generate() -> Result<(Self, Vec<u8>), String> {
        let bytes: [u8; SEED] = random()?;
        Ok((Self::new(Self::SEED, &bytes)?, bytes.to_vec()))
    }

    pub(super) fn seal(&self, key: &str, plain: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Key(gcm) => gcm.seal(key, plain),
            Self::Seed(seed) => {
                let info: [u8; INFO] = random()?;
                Ok([&info[..], &derive(seed, &info)?.seal(key, plain)?].concat())
            }
        }
    }

    pub(super) fn open(&self, key: &str, sealed: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Key(gcm) => gcm.open(key, sealed),
            Self::Seed(seed) => {
                let (info, sealed) =
                    sealed.split_first_chunk::<INFO>().ok_or("the stored data was shorter than the required size")?;
                derive(seed, info)?.open(key, sealed)
            }
        }
    }
}

fn derive(seed: &Prk, info: &[u8; INFO]) -> Result<Gcm, String> {
    let mut key = [0; 32];
    let failed = |_| "failed to KDF expand seed with info";
    seed.expand(&[info], HKDF_SHA256).map_err(failed)?.fill(&mut key).map_err(failed)?;
    Ok(Gcm::new(&key).expect("32 bytes are an AES-256 key"))
}

impl EncryptedObject {
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let object =
            Self::decode(bytes).map_err(|error| format!("proto: cannot parse the encrypted object: {error}"))?;
        object.validate()?;
        Ok(object)
    }

    /// What upstream asks of the stored object and of a plugin's answer that becomes one.
    pub fn validate(&self) -> Result<(), String> {
        if ![Dek::KEY, Dek::SEED].contains(&self.encrypted_dek_source_type) {
            return Err(format!("unknown encryptedDEKSourceType: {}", self.encrypted_dek_source_type));
        }
        if self.encrypted_data.is_empty() {
            return Err("encrypted data is empty".into());
        }
        let source = match self.encrypted_dek_source.len() {
            0 => Err("encrypted DEK source is empty".to_owned()),
            n if n > DEK_SOURCE_MAX => {
                Err(format!("encrypted DEK source is {n} bytes, which exceeds the max size of {DEK_SOURCE_MAX}"))
            }
            _ => Ok(()),
        };
        source.map_err(|why| format!("failed to validate encrypted DEK source: {why}"))?;
        validate_key_id(&self.key_id).map_err(|why| format!("failed to validate key id: {why}"))?;
        validate_annotations(&self.annotations).map_err(|why| format!("failed to validate annotations: {why}"))
    }

    /// What tells one data key from another, as short as a hash.
    pub fn dek_id(&self) -> DekId {
        let mut hash = Sha256::new();
        hash.update(self.encrypted_dek_source_type.to_be_bytes());
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        part(&self.encrypted_dek_source);
        part(self.key_id.as_bytes());
        for (name, value) in &self.annotations {
            part(name.as_bytes());
            part(value);
        }
        hash.finalize().into()
    }
}

pub(super) type DekId = [u8; 32];

pub(super) fn validate_key_id(key_id: &str) -> Result<(), String> {
    match key_id.len() {
        0 => Err("keyID is empty".into()),
        n if n > KEY_ID_MAX => Err(format!("keyID is {n} bytes, which exceeds the max size of {KEY_ID_MAX}")),
        _ => Ok(()),
    }
}

fn validate_annotations(annotations: &BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    let size: usize = annotations.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > ANNOTATIONS_MAX {
        return Err(format!("total size of annotations is {size}, which exceeds the max size of {ANNOTATIONS_MAX}"));
    }
    let is_domain = |name: &str| name.contains('.') && ferry_resources::names::is_dns1123_subdomain(name).is_empty();
    match annotations.keys().find(|name| !is_domain(name)) {
        Some(name) => Err(format!(
            "annotations: Invalid value: {name:?}: should be a domain with at least two segments separated by dots"
        )),
        None => Ok(()),
    }
}

/// Key ids are told by their hash, as upstream tells them.
pub(super) fn hash(key_id: &str) -> String {
    if key_id.is_empty() {
        return String::new();
    }
    let digest = Sha256::digest(key_id.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_its_own_key_and_its_own_place() {
        let (dek, bytes) = Dek::generate().expect("random bytes");
        let sealed = dek.seal("/registry/secrets/a/b", b"{}").expect("sealed");
        assert_eq!(sealed.len(), INFO + 12 + 2 + 16);
        let again = Dek::new(Dek::SEED, &bytes).expect("a seed");
        assert_eq!(again.open("/registry/secrets/a/b", &sealed).as_deref(), Ok(&b"{}"[..]));
        assert!(again.open("/registry/secrets/a/c", &sealed).is_err());
        assert!(again.open("/registry/secrets/a/b", &sealed[..20]).is_err());
        assert!(Dek::new(Dek::SEED, &bytes[..16]).is_err());
    }

    #[test]
    fn keys_are_derived_as_rfc_5869_says() {
        // Its first test case, from the pseudo-random key on; the output begins with these bytes.
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex")).collect()
        };
        let prk = hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
        let seed = Prk::new_less_safe(HKDF_SHA256, &prk);
        let mut out = [0; 32];
        seed.expand(&[&hex("f0f1f2f3f4f5f6f7f8f9")], HKDF_SHA256).expect("short").fill(&mut out).expect("32 bytes");
        assert_eq!(out[..], hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"));
    }

    #[test]
    fn what_a_plugin_may_not_answer_is_refused() {
        let good = EncryptedObject {
            encrypted_data: vec![1],
            key_id: "1".into(),
            encrypted_dek_source: vec![1],
            annotations: BTreeMap::from([("a.example.com".into(), vec![1])]),
            encrypted_dek_source_type: Dek::SEED,
        };
        assert_eq!(good.validate(), Ok(()));
        assert_eq!(EncryptedObject::parse(&good.encode_to_vec()).as_ref(), Ok(&good));
        let check = |change: fn(&mut EncryptedObject), why: &str| {
            let mut object = good.clone();
            change(&mut object);
            assert_eq!(object.validate(), Err(why.to_owned()));
            assert_ne!(object.dek_id(), good.dek_id());
        };
        check(|o| o.key_id.clear(), "failed to validate key id: keyID is empty");
        check(
            |o| o.encrypted_dek_source = vec![0; 1025],
            "failed to validate encrypted DEK source: encrypted DEK source is 1025 bytes, which exceeds the max size of 1024",
        );
        check(|o| o.encrypted_dek_source_type = 2, "unknown encryptedDEKSourceType: 2");
        check(
            |o| o.annotations = BTreeMap::from([("plain".into(), vec![])]),
            "failed to validate annotations: annotations: Invalid value: \"plain\": should be a domain with at least two segments separated by dots",
        );
        assert!(EncryptedObject::parse(b"\xff\xff\xff").is_err());
    }
}
