//! Client certificates: chain, validity and purpose are judged against the authorities,
//! then CN becomes the user and O the groups. A certificate once judged good is
//! remembered by its digest, so that a connection's later requests cost one hash.

use super::user::{CREDENTIAL_ID, UserInfo};
use ferry_pki::Facts;
use jiff::Timestamp;
use parking_lot::Mutex;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// How many certificates are remembered; more than a cluster has clients at once.
const REMEMBERED: usize = 1024;
/// After this long a certificate is judged anew.
const TRUSTED_FOR: jiff::SignedDuration = jiff::SignedDuration::from_secs(300);

/// One set of authorities and what they vouched for lately.
pub(super) struct CertificateAuthenticator {
    authorities_pem: String,
    verifier: Arc<dyn ClientCertVerifier>,
    /// By the SHA-256 of the leaf.
    remembered: Mutex<HashMap<[u8; 32], Remembered>>,
}

struct Remembered {
    known: Known,
    until: Timestamp,
}

/// A client that an authority vouches for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub user: Arc<UserInfo>,
    /// When the certificate ends.
    pub not_after: Timestamp,
}

impl CertificateAuthenticator {
    pub(super) fn new(ca_pem: &str) -> Result<Self, ferry_pki::Error> {
        let authorities = ferry_pki::certificate::parse_chain("the client authority", ca_pem)?;
        let verifier = ferry_pki::tls::client_verifier(&authorities)?;
        Ok(Self { authorities_pem: ca_pem.to_owned(), verifier, remembered: Mutex::default() })
    }

    pub(super) fn authorities_pem(&self) -> &str {
        &self.authorities_pem
    }

    /// The user that the certificate names. `None` if it names nobody; an error if no
    /// authority vouches for it.
    pub(super) fn authenticate(&self, chain: &[Vec<u8>], now: Timestamp) -> Result<Option<Known>, String> {
        let Some((leaf, intermediates)) = chain.split_first() else { return Ok(None) };
        let digest = sha256(leaf);
        if let Some(remembered) = self.remembered.lock().get(&digest)
            && now < remembered.until
        {
            return Ok(Some(remembered.known.clone()));
        }
        let intermediates: Vec<CertificateDer<'_>> =
            intermediates.iter().map(|der| CertificateDer::from(der.as_slice())).collect();
        let seconds = u64::try_from(now.as_second()).map_err(|_| "the clock is before 1970".to_owned())?;
        self.verifier
            .verify_client_cert(
                &CertificateDer::from(leaf.as_slice()),
                &intermediates,
                UnixTime::since_unix_epoch(Duration::from_secs(seconds)),
            )
            .map_err(|e| e.to_string())?;
        let facts = Facts::of(leaf)?;
        if facts.common_name.is_empty() {
            return Ok(None);
        }
        let mut user = UserInfo { name: facts.common_name, groups: facts.organizations, ..UserInfo::default() };
        user.extra.insert(CREDENTIAL_ID.into(), vec![format!("X509SHA256={}", hex(&digest))]);
        user.add_authenticated();
        let known = Known { user: Arc::new(user), not_after: facts.not_after };
        let until = now.saturating_add(TRUSTED_FOR).map_or(facts.not_after, |later| later.min(facts.not_after));
        let mut remembered = self.remembered.lock();
        if remembered.len() >= REMEMBERED {
            remembered.clear();
        }
        remembered.insert(digest, Remembered { known: known.clone(), until });
        Ok(Some(known))
    }
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    out.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref());
    out
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_pki::{Authority, ClientSubject, ServingNames};

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).expect("in range")
    }

    fn chain(pem: &str) -> Vec<Vec<u8>> {
        ferry_pki::certificate::parse_chain("x", pem).expect("a chain").iter().map(|der| der.to_vec()).collect()
    }

    #[test]
    fn only_own_clients_with_valid_certificates_are_known() {
        let ours = Authority::generate("ours", now()).expect("an authority");
        let other = Authority::generate("ours", now()).expect("an authority");
        let authenticator = CertificateAuthenticator::new(ours.certificate_pem()).expect("set up");
        let alice = ClientSubject::new("alice", Some("dev"));
        let good = chain(&ours.issue_client(&alice, now()).expect("issued").certificate_pem);

        let user = authenticator.authenticate(&good, now()).expect("vouched for").expect("named").user;
        assert_eq!(
            (user.name.as_str(), user.groups.as_slice()),
            ("alice", &["dev".into(), "system:authenticated".into()][..])
        );
        assert!(user.extra[CREDENTIAL_ID][0].starts_with("X509SHA256="));
        let again = authenticator.authenticate(&good, now()).expect("vouched for").expect("named").user;
        assert!(Arc::ptr_eq(&user, &again), "the second time it is remembered");

        let day = jiff::SignedDuration::from_hours(24);
        let later = now() + 366 * day;
        assert!(authenticator.authenticate(&good, later).is_err(), "expired, though remembered");

        let cases = [
            ("another authority of the same name", other.issue_client(&alice, now())),
            (
                "not for clients",
                ours.issue_serving(&ServingNames { common_name: "alice".into(), ..Default::default() }, now()),
            ),
            ("expired", ours.issue_client_for(&alice, now() - 2 * day, Duration::from_secs(3600))),
            ("not valid yet", ours.issue_client(&alice, now() + day)),
        ];
        for (what, issued) in cases {
            let bad = chain(&issued.expect("issued").certificate_pem);
            assert!(authenticator.authenticate(&bad, now()).is_err(), "{what}");
        }
        let nobody = chain(&ours.issue_client(&ClientSubject::new("", None), now()).expect("issued").certificate_pem);
        assert_eq!(authenticator.authenticate(&nobody, now()), Ok(None));
        assert_eq!(authenticator.authenticate(&[], now()), Ok(None));
        assert!(authenticator.authenticate(&[vec![1, 2, 3]], now()).is_err());
    }
}
