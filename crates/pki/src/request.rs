//! Keys and requests for certificates of a machine that has no authority: what a node that
//! joined asks the cluster's signers for.

use crate::Error;
use crate::authority;
use rcgen::{CertificateParams, DnType, SanType};
use std::net::IpAddr;

/// The names that a certificate is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedNames {
    pub common_name: String,
    pub organization: String,
    pub dns_names: Vec<String>,
    pub ips: Vec<IpAddr>,
}

/// A new private key in PEM.
pub fn generate_key(what: &str) -> Result<String, Error> {
    Ok(authority::generate_key(what)?.serialize_pem())
}

/// A PEM block CERTIFICATE REQUEST for the names, signed with the key.
pub fn render_request(names: &RequestedNames, key_pem: &str) -> Result<String, Error> {
    let failed = |source| Error::Issue { what: format!("a request of {}", names.common_name), source };
    let key = authority::parse_key(&names.common_name, key_pem)?;
    parameters(names)?.serialize_request(&key).and_then(|request| request.pem()).map_err(failed)
}

fn parameters(names: &RequestedNames) -> Result<CertificateParams, Error> {
    let failed = |source| Error::Issue { what: format!("a request of {}", names.common_name), source };
    let mut parameters = CertificateParams::new(names.dns_names.clone()).map_err(failed)?;
    parameters.subject_alt_names.extend(names.ips.iter().map(|ip| SanType::IpAddress(*ip)));
    // `new` gives a name of its own.
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(DnType::OrganizationName, &names.organization);
    parameters.distinguished_name.push(DnType::CommonName, &names.common_name);
    Ok(parameters)
}
