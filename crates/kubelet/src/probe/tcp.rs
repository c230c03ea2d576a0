//! TCP probes: does anything accept a connection?

use super::Answer;
use std::time::Duration;
use tokio::net::TcpStream;

pub(super) async fn probe(host: &str, port: u16, timeout: Duration) -> Answer {
    let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    match tokio::time::timeout(timeout, TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => Answer::Success,
        Ok(Err(error)) => Answer::Failure(format!("dial tcp {address}: {}", dial_error(&error))),
        Err(_) => Answer::Failure(format!("dial tcp {address}: i/o timeout")),
    }
}

/// A failed connection in the words of Go's net package, which events show.
pub(super) fn dial_error(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::ConnectionRefused => "connect: connection refused".into(),
        std::io::ErrorKind::HostUnreachable => "connect: no route to host".into(),
        std::io::ErrorKind::NetworkUnreachable => "connect: network is unreachable".into(),
        std::io::ErrorKind::ConnectionReset => "connect: connection reset by peer".into(),
        std::io::ErrorKind::TimedOut => "i/o timeout".into(),
        _ => error.to_string(),
    }
}
