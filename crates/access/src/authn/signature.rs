//! The signatures of tokens, by ring, which is all the cryptography that ferry's TLS has as
//! well. jsonwebtoken reads and writes tokens and asks this for the rest. Which algorithms a
//! token may have is decided where it is read (`token.rs`, `jwt/keys.rs`); this knows those
//! and signs with the one that ferry's own tokens have.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::rand::SystemRandom;
use ring::signature::{self, EcdsaKeyPair, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey};

/// Makes jsonwebtoken use ring from now on. Called by everyone who makes a key for it, since
/// without this it has nothing to prove or sign a token with.
pub(super) fn use_ring() {
    static PROVIDER: CryptoProvider =
        CryptoProvider { signer_factory: signer, verifier_factory: verifier, key_utils: KeyUtils::new_unimplemented() };
    // Only the first call can succeed, and any later one finds the same provider.
    let _ = PROVIDER.install_default();
}

fn signer(algorithm: &Algorithm, key: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    match (algorithm, key.family()) {
        (Algorithm::ES256, AlgorithmFamily::Ec) => {
            let (curve, random) = (&signature::ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
            let pair = EcdsaKeyPair::from_pkcs8(curve, key.as_bytes(), &random);
            Ok(Box::new(Es256 { pair: pair.map_err(|_| ErrorKind::InvalidEcdsaKey)?, random }))
        }
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    let method = match algorithm {
        Algorithm::ES256 => Method::Ec(&signature::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Method::Ec(&signature::ECDSA_P384_SHA384_FIXED),
        Algorithm::RS256 => Method::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Method::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Method::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Method::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Method::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Method::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    };
    // A key of another family must not even be tried: what it holds means something else.
    match (&method, key.family()) {
        (Method::Ec(_), AlgorithmFamily::Ec) | (Method::Rsa(_), AlgorithmFamily::Rsa) => {
            Ok(Box::new(Public { algorithm: *algorithm, method, key: key.clone() }))
        }
        _ => Err(ErrorKind::InvalidKeyFormat.into()),
    }
}

struct Es256 {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

impl Signer<Vec<u8>> for Es256 {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        let signed = self.pair.sign(&self.random, message).map_err(|_| Error::new())?;
        Ok(signed.as_ref().to_vec())
    }
}

impl JwtSigner for Es256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::ES256
    }
}

enum Method {
    Ec(&'static signature::EcdsaVerificationAlgorithm),
    Rsa(&'static RsaParameters),
}

struct Public {
    algorithm: Algorithm,
    method: Method,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for Public {
    fn verify(&self, message: &[u8], signed: &Vec<u8>) -> std::result::Result<(), Error> {
        let proven = match (&self.method, self.key.kind()) {
            (Method::Ec(curve), DecodingKeyKind::SecretOrDer(point)) => {
                UnparsedPublicKey::new(*curve, point).verify(message, signed)
            }
            (Method::Rsa(parameters), DecodingKeyKind::SecretOrDer(der)) => {
                UnparsedPublicKey::new(*parameters, der).verify(message, signed)
            }
            (Method::Rsa(parameters), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signed)
            }
            (Method::Ec(_), DecodingKeyKind::RsaModulusExponent { .. }) => return Err(Error::new()),
        };
        proven.map_err(|_| Error::new())
    }
}

impl JwtVerifier for Public {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A secret that anyone knows, the public key, must not sign anything (CVE-2015-9235).
    #[test]
    fn what_is_no_signature_by_a_key_pair_is_not_known() {
        for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512, Algorithm::EdDSA] {
            assert!(verifier(&algorithm, &DecodingKey::from_secret(b"public")).is_err(), "{algorithm:?}");
            assert!(signer(&algorithm, &EncodingKey::from_secret(b"public")).is_err(), "{algorithm:?}");
        }
    }

    #[test]
    fn a_key_of_another_family_is_not_tried() {
        let rsa = DecodingKey::from_rsa_raw_components(&[0xff; 256], &[1, 0, 1]);
        let ec = DecodingKey::from_ec_der(&[4; 65]);
        assert!(verifier(&Algorithm::RS256, &rsa).is_ok() && verifier(&Algorithm::ES256, &ec).is_ok());
        assert!(verifier(&Algorithm::ES256, &rsa).is_err() && verifier(&Algorithm::RS256, &ec).is_err());
        for (algorithm, key) in [(Algorithm::RS256, &rsa), (Algorithm::ES256, &ec)] {
            let verifier = verifier(&algorithm, key).expect("of the family");
            assert!(verifier.verify(b"a", &vec![0; 64]).is_err(), "nonsense proves nothing");
        }
    }
}
