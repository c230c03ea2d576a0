//! The first words with a server: is it there, is it the one with the authority that the token
//! names, does its clock agree with this machine's? Every way in which this goes wrong has a
//! sentence of its own with the remedy.

use super::checks;
use anyhow::{Context, Result, anyhow, bail};
use ferry_pki::{AuthorityPin, PinnedAuthority};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, Error as TlsError};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const TIMEOUT: Duration = Duration::from_secs(10);
/// Certificates are valid from five minutes before they are made.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// `https://server:6443` in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    pub host: String,
    pub port: u16,
}

impl ServerUrl {
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || format!("{text:?} is not of the form https://server:6443");
        let rest = text.strip_prefix("https://").or_else(|| (!text.contains("://")).then_some(text));
        let rest = rest.with_context(wrong)?.trim_end_matches('/');
        let uri: http::uri::Authority = rest.parse().ok().with_context(wrong)?;
        let host = uri.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = match uri.port() {
            None => 6443,
            Some(port) => port.as_str().parse().ok().with_context(wrong)?,
        };
        if host.is_empty() || rest.contains('@') {
            bail!("{}", wrong());
        }
        Ok(Self { host, port })
    }

    pub fn render(&self) -> String {
        match self.host.contains(':') {
            true => format!("https://[{}]:{}", self.host, self.port),
            false => format!("https://{}:{}", self.host, self.port),
        }
    }
}

/// The server as it was found.
pub struct Discovered {
    pub ca_pem: String,
    /// The address that was connected to, and ours on the way there.
    pub server: SocketAddr,
    pub own: SocketAddr,
}

/// Connects, and takes the authority of which the token has the hash.
pub async fn discover(server: &ServerUrl, pin: AuthorityPin) -> Result<Discovered> {
    let stream = connect(server).await?;
    let (remote, own) = (stream.peer_addr()?, stream.local_addr()?);
    let pinned = PinnedAuthority::new(pin);
    let connector = TlsConnector::from(std::sync::Arc::new(pinned.client_config()?));
    let name = ServerName::try_from(server.host.clone()).context("the server's name")?;
    let Ok(shaken) = tokio::time::timeout(TIMEOUT, connector.connect(name, stream)).await else {
        // The server's certificates are the first large packet on the link.
        if let (IpAddr::V4(own), IpAddr::V4(remote)) = (own.ip(), remote.ip()) {
            checks::prove_link(own, remote).await?;
        }
        bail!("{} took the connection and then stayed silent; fix: check the port and the firewall", server.render());
    };
    if let Err(error) = shaken {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
        return Err(explain(server, tls, pin, pinned.other(), &error.to_string()));
    }
    let ca_pem = pinned.authority_pem().context("the server showed no authority")?;
    Ok(Discovered { ca_pem, server: remote, own })
}

async fn connect(server: &ServerUrl) -> Result<TcpStream> {
    let url = server.render();
    let connecting = TcpStream::connect((server.host.as_str(), server.port));
    match tokio::time::timeout(TIMEOUT, connecting).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => bail!(
            "nothing listens at {url}; fix: check the address and port (`ferry status` on the server), and that the server runs"
        ),
        Ok(Err(error)) => bail!("cannot connect to {url}: {error}; fix: check the address, the route and the firewall"),
        Err(_) => {
            bail!("{url} does not answer within {TIMEOUT:?}; fix: check the address, the route and the firewall")
        }
    }
}

fn explain(
    server: &ServerUrl,
    tls: Option<&TlsError>,
    pin: AuthorityPin,
    other: Option<AuthorityPin>,
    text: &str,
) -> anyhow::Error {
    let url = server.render();
    let clock = |side: &str| {
        anyhow!(
            "by this machine's clock ({}) the certificate of {url} is {side}; fix: set the clock, for instance with `timedatectl set-ntp true`, and join again",
            jiff::Timestamp::now().strftime("%F %T UTC")
        )
    };
    match tls {
        Some(TlsError::InvalidCertificate(error)) => match error {
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => clock("not valid yet"),
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => clock("no longer valid"),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => anyhow!(
                "the certificate of {url} does not name {}; fix: use an address of the server that `ferry status` there shows",
                server.host
            ),
            _ => match other {
                Some(other) => anyhow!(
                    "{url} is not the cluster of this token: its authority has the hash {other}, the token names {pin}; fix: check the address, or take a new token with `ferry token create` on that server"
                ),
                None => anyhow!(
                    "{url} does not show the authority with the hash {pin}; fix: check the address and the port"
                ),
            },
        },
        _ => anyhow!("{url} does not speak TLS as a Kubernetes API server does: {text}; fix: check the port"),
    }
}

/// Holds the server's Date against this machine's clock.
pub fn check_clock(date: Option<&str>, now: jiff::Timestamp) -> Result<()> {
    let Some(server) = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok()).map(|zoned| zoned.timestamp()) else {
        return Ok(());
    };
    let off = now.duration_since(server);
    if off.unsigned_abs() <= CLOCK_TOLERANCE {
        return Ok(());
    }
    let side = if off.is_negative() { "behind" } else { "ahead of" };
    let minutes = off.unsigned_abs().as_secs() / 60;
    bail!(
        "this machine's clock is {} h {} min {side} the server's; certificates and leases would not hold; fix: set the clock, for instance with `timedatectl set-ntp true`, and join again",
        minutes / 60,
        minutes % 60
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_its_url() {
        let parse = |text: &str| ServerUrl::parse(text).map(|server| server.render()).ok();
        assert_eq!(parse("https://192.0.2.1:6443").as_deref(), Some("https://192.0.2.1:6443"));
        assert_eq!(parse("https://master.example/").as_deref(), Some("https://master.example:6443"));
        assert_eq!(parse("192.0.2.1:7443").as_deref(), Some("https://192.0.2.1:7443"));
        assert_eq!(parse("https://[fd00::1]:6443").as_deref(), Some("https://[fd00::1]:6443"));
        for wrong in ["http://a", "", "https://", "https://a b", "https://a:99999", "https://u@a"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_clock_is_off_by_more_than_five_minutes_or_not() {
        let date = "Tue, 15 Jan 2030 10:00:00 GMT";
        let at = |text: &str| text.parse().expect("a time");
        assert!(check_clock(Some(date), at("2030-01-15T10:04:00Z")).is_ok());
        assert!(check_clock(None, at("2030-01-15T10:00:00Z")).is_ok());
        let behind = check_clock(Some(date), at("2030-01-14T10:00:00Z")).expect_err("a day").to_string();
        assert!(behind.contains("24 h 0 min behind the server's") && behind.contains("fix: "), "{behind}");
        let ahead = check_clock(Some(date), at("2030-01-15T10:06:00Z")).expect_err("six minutes").to_string();
        assert!(ahead.contains("0 h 6 min ahead of"), "{ahead}");
    }

    #[test]
    fn each_failure_of_the_handshake_has_its_remedy() {
        let server = ServerUrl::parse("https://192.0.2.1:6443").expect("a URL");
        let pin: AuthorityPin = "ab".repeat(32).parse().expect("a hash");
        let other = "cd".repeat(32).parse().ok();
        let explain = |error: TlsError, other| explain(&server, Some(&error), pin, other, "").to_string();
        let invalid = TlsError::InvalidCertificate;
        assert!(explain(invalid(CertificateError::NotValidYet), None).contains("set the clock"));
        assert!(explain(invalid(CertificateError::NotValidForName), None).contains("does not name 192.0.2.1"));
        let wrong = explain(invalid(CertificateError::UnknownIssuer), other);
        assert!(wrong.contains("not the cluster of this token") && wrong.contains("cdcdcd"), "{wrong}");
        assert!(explain(TlsError::NoCertificatesPresented, None).contains("check the port"));
    }
}
