//! The ciphers of upstream's local providers (storage/value/encrypt/aes and secretbox), byte
//! for byte, so that data written there opens here and the other way round. What is
//! sealed here is what stands behind the prefix that names provider and key.

use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipher, BlockDecryptMut, BlockEncryptMut, InnerIvInit};
use crypto_secretbox::XSalsa20Poly1305;
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

/// Why a value does not open, in upstream's words.
const TOO_SHORT: &str = "the stored data was shorter than the required size";
const NOT_AUTHENTIC: &str = "cipher: message authentication failed";
const NOT_WHOLE_BLOCKS: &str = "the stored data is not a multiple of the block size";
const BAD_PADDING: &str = "invalid padding on input";
const NO_RANDOMNESS: &str = "unable to read sufficient random bytes";

const BLOCK: usize = 16;
const SECRETBOX_NONCE: usize = 24;
const SECRETBOX_TAG: usize = 16;

pub(super) enum Cipher {
    Gcm(Gcm),
    Cbc(Cbc),
    Secretbox(Box<XSalsa20Poly1305>),
}

impl Cipher {
    /// `key` is the associated data where the cipher has any: the place in the store.
    pub(super) fn seal(&self, key: &str, plain: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Gcm(gcm) => gcm.seal(key, plain),
            Self::Cbc(cbc) => cbc.seal(plain),
            Self::Secretbox(secretbox) => {
                let nonce: [u8; SECRETBOX_NONCE] = random()?;
                let sealed = secretbox.encrypt((&nonce).into(), plain).map_err(|e| e.to_string())?;
                Ok([&nonce[..], &sealed].concat())
            }
        }
    }

    pub(super) fn open(&self, key: &str, sealed: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Gcm(gcm) => gcm.open(key, sealed),
            Self::Cbc(cbc) => cbc.open(sealed),
            Self::Secretbox(secretbox) => {
                let (nonce, sealed) = sealed.split_first_chunk::<SECRETBOX_NONCE>().ok_or(TOO_SHORT)?;
                if sealed.len() < SECRETBOX_TAG {
                    return Err(TOO_SHORT.into());
                }
                // Upstream's sentence for a box that does not open, however odd.
                secretbox
                    .decrypt(nonce.into(), sealed)
                    .map_err(|_| "output array was not large enough for encryption".into())
            }
        }
    }

    /// `None` for a key that is not 32 bytes long.
    pub(super) fn secretbox(key: &[u8]) -> Option<Self> {
        XSalsa20Poly1305::new_from_slice(key).ok().map(|secretbox| Self::Secretbox(Box::new(secretbox)))
    }
}

/// AES-GCM with a random nonce before the sealed bytes. *ring* has no AES-192.
pub(super) enum Gcm {
    Ring(Box<LessSafeKey>),
    Aes192(Box<aes_gcm::AesGcm<Aes192, U12>>),
}

impl Gcm {
    /// `None` for a key that is not 16, 24 or 32 bytes long.
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            32 => &AES_256_GCM,
            _ => return aes_gcm::AesGcm::new_from_slice(key).ok().map(|gcm| Self::Aes192(Box::new(gcm))),
        };
        UnboundKey::new(algorithm, key).ok().map(|key| Self::Ring(Box::new(LessSafeKey::new(key))))
    }

    pub(super) fn seal(&self, key: &str, plain: &[u8]) -> Result<Vec<u8>, String> {
        let nonce: [u8; NONCE_LEN] = random()?;
        let mut out = Vec::with_capacity(NONCE_LEN + plain.len() + BLOCK);
        out.extend_from_slice(&nonce);
        match self {
            Self::Ring(aes) => {
                out.extend_from_slice(plain);
                let (nonce, aad) = (Nonce::assume_unique_for_key(nonce), Aad::from(key.as_bytes()));
                let tag = aes
                    .seal_in_place_separate_tag(nonce, aad, &mut out[NONCE_LEN..])
                    .map_err(|_| "the value is too long to be sealed")?;
                out.extend_from_slice(tag.as_ref());
            }
            Self::Aes192(aes) => {
                let payload = Payload { msg: plain, aad: key.as_bytes() };
                out.extend(aes.encrypt((&nonce).into(), payload).map_err(|e| e.to_string())?);
            }
        }
        Ok(out)
    }

    pub(super) fn open(&self, key: &str, sealed: &[u8]) -> Result<Vec<u8>, String> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(TOO_SHORT)?;
        match self {
            Self::Ring(aes) => {
                let mut buffer = sealed.to_vec();
                let (nonce, aad) = (Nonce::assume_unique_for_key(*nonce), Aad::from(key.as_bytes()));
                let plain = aes.open_in_place(nonce, aad, &mut buffer).map_err(|_| NOT_AUTHENTIC)?.len();
                buffer.truncate(plain);
                Ok(buffer)
            }
            Self::Aes192(aes) => {
                let payload = Payload { msg: sealed, aad: key.as_bytes() };
                aes.decrypt(nonce.into(), payload).map_err(|_| NOT_AUTHENTIC.into())
            }
        }
    }
}

/// AES-CBC with PKCS #7 padding, behind its random first block. It proves nothing: a value
/// that was tampered with may open to nonsense, which then fails to decode.
pub(super) enum Cbc {
    Aes128(Box<Aes128>),
    Aes192(Box<Aes192>),
    Aes256(Box<Aes256>),
}

impl Cbc {
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Aes128::new_from_slice(key).ok().map(|aes| Self::Aes128(Box::new(aes))),
            24 => Aes192::new_from_slice(key).ok().map(|aes| Self::Aes192(Box::new(aes))),
            _ => Aes256::new_from_slice(key).ok().map(|aes| Self::Aes256(Box::new(aes))),
        }
    }

    fn seal(&self, plain: &[u8]) -> Result<Vec<u8>, String> {
        let iv: [u8; BLOCK] = random()?;
        let sealed = match self {
            Self::Aes128(aes) => seal_blocks(&**aes, &iv, plain),
            Self::Aes192(aes) => seal_blocks(&**aes, &iv, plain),
            Self::Aes256(aes) => seal_blocks(&**aes, &iv, plain),
        };
        Ok([&iv[..], &sealed].concat())
    }

    fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, String> {
        let (iv, blocks) = sealed.split_first_chunk::<BLOCK>().ok_or(TOO_SHORT)?;
        if blocks.len() % BLOCK != 0 {
            return Err(NOT_WHOLE_BLOCKS.into());
        }
        let plain = match self {
            Self::Aes128(aes) => open_blocks(&**aes, iv, blocks),
            Self::Aes192(aes) => open_blocks(&**aes, iv, blocks),
            Self::Aes256(aes) => open_blocks(&**aes, iv, blocks),
        };
        plain.ok_or_else(|| BAD_PADDING.into())
    }
}

fn seal_blocks<A>(aes: &A, iv: &[u8; BLOCK], plain: &[u8]) -> Vec<u8>
where
    A: Clone + BlockCipher + BlockEncryptMut,
    cbc::Encryptor<A>: InnerIvInit<Inner = A> + BlockEncryptMut,
{
    let mode = cbc::Encryptor::<A>::inner_iv_slice_init(aes.clone(), iv).expect("an AES block is 16 bytes long");
    mode.encrypt_padded_vec_mut::<Pkcs7>(plain)
}

fn open_blocks<A>(aes: &A, iv: &[u8; BLOCK], blocks: &[u8]) -> Option<Vec<u8>>
where
    A: Clone + BlockCipher + BlockDecryptMut,
    cbc::Decryptor<A>: InnerIvInit<Inner = A> + BlockDecryptMut,
{
    let mode = cbc::Decryptor::<A>::inner_iv_slice_init(aes.clone(), iv).expect("an AES block is 16 bytes long");
    mode.decrypt_padded_vec_mut::<Pkcs7>(blocks).ok()
}

/// Bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| NO_RANDOMNESS)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
    }

    #[test]
    fn every_cipher_opens_what_it_sealed_and_nothing_else() {
        for size in [16, 24, 32] {
            let key = vec![7; size];
            for cipher in [
                Some(Cipher::Gcm(Gcm::new(&key).expect("a key"))),
                Some(Cipher::Cbc(Cbc::new(&key).expect("a key"))),
                Cipher::secretbox(&key),
            ]
            .into_iter()
            .flatten()
            {
                for plain in [&b""[..], b"{}", &[b'x'; 16], &[b'y'; 1000]] {
                    let sealed = cipher.seal("/registry/secrets/a/b", plain).expect("sealed");
                    assert_eq!(cipher.open("/registry/secrets/a/b", &sealed).as_deref(), Ok(plain));
                    assert_ne!(sealed, cipher.seal("/registry/secrets/a/b", plain).expect("sealed"), "no nonce twice");
                    for end in [0, 3, 11, 12, 23, 24, sealed.len() - 1] {
                        assert!(cipher.open("/registry/secrets/a/b", &sealed[..end.min(sealed.len() - 1)]).is_err());
                    }
                    if !matches!(cipher, Cipher::Cbc(_)) {
                        let mut tampered = sealed.clone();
                        *tampered.last_mut().expect("bytes") ^= 1;
                        assert!(cipher.open("/registry/secrets/a/b", &tampered).is_err());
                    }
                }
            }
        }
        let gcm = Gcm::new(&[1; 32]).expect("a key");
        let sealed = gcm.seal("/registry/secrets/a/b", b"{}").expect("sealed");
        assert_eq!(gcm.open("/registry/secrets/a/c", &sealed), Err(NOT_AUTHENTIC.into()));
        assert!(Gcm::new(&[1; 20]).is_none() && Cbc::new(&[1; 20]).is_none() && Cipher::secretbox(&[1; 16]).is_none());
    }

    #[test]
    fn forms_are_those_of_others() {
        // NaCl's own example: crypto_secretbox of its paper, nonce and box joined.
        let key = bytes("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389");
        let sealed = bytes(concat!(
            "69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37",
            "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a",
            "c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae",
            "90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74",
            "e355a5"
        ));
        let plain = Cipher::secretbox(&key).expect("a key").open("", &sealed).expect("opens");
        assert!(plain.starts_with(&bytes("be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffc")));
        // NIST SP 800-38A, F.2.1 CBC-AES128, with a block of padding.
        let key = bytes("2b7e151628aed2a6abf7158809cf4f3c");
        let Some(Cbc::Aes128(aes)) = Cbc::new(&key) else { panic!("a 128-bit key") };
        let iv: [u8; 16] = bytes("000102030405060708090a0b0c0d0e0f").try_into().expect("a block");
        let sealed = seal_blocks(&*aes, &iv, &bytes("6bc1bee22e409f96e93d7e117393172a"));
        assert_eq!(sealed[..16], bytes("7649abac8119b246cee98e9b12e9197d"));
        // McGrew and Viega, test case 13: AES-256-GCM of nothing under zeros.
        let gcm = Gcm::new(&[0; 32]).expect("a key");
        let sealed = [vec![0; 12], bytes("530f8afbc74536b9a963b4f1c4cb738b")].concat();
        assert_eq!(gcm.open("", &sealed).as_deref(), Ok(&[][..]));
        // The same, test case 7: AES-192-GCM.
        let gcm = Gcm::new(&[0; 24]).expect("a key");
        let sealed = [vec![0; 12], bytes("cd33b28ac773f74ba00ed1f312572435")].concat();
        assert_eq!(gcm.open("", &sealed).as_deref(), Ok(&[][..]));
    }
}
