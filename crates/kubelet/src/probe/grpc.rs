//! gRPC probes: `grpc.health.v1.Health/Check`.
//!
//! The request has one string and the answer one number, so both are written by hand
//! over an ordinary HTTP/2 connection instead of carrying generated types.

use super::Answer;
use super::tcp::dial_error;
use bytes::{BufMut, Bytes, BytesMut};
use ferry_api::rules::duration;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::time::Duration;
use tokio::net::TcpStream;

const SERVING: u64 = 1;

pub(super) async fn probe(host: &str, port: u16, service: &str, timeout: Duration) -> Answer {
    let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let stream = match tokio::time::timeout(timeout, TcpStream::connect((host, port))).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            return Answer::Failure(format!(
                "error: failed to connect service at {address:?}: dial tcp {address}: {}",
                dial_error(&error)
            ));
        }
        Err(_) => {
            return Answer::Failure(format!(
                "timeout: failed to connect service {address:?} within {}: context deadline exceeded",
                duration::format(timeout)
            ));
        }
    };
    match tokio::time::timeout(timeout, check(stream, &address, service)).await {
        Ok(Ok(SERVING)) => Answer::Success,
        Ok(Ok(status)) => {
            let name = match status {
                0 => "UNKNOWN",
                2 => "NOT_SERVING",
                3 => "SERVICE_UNKNOWN",
                _ => "UNRECOGNIZED",
            };
            Answer::Failure(format!("service unhealthy (responded with {name:?})"))
        }
        Ok(Err(why)) => Answer::Failure(why),
        Err(_) => Answer::Failure(format!("timeout: health rpc did not complete within {}", duration::format(timeout))),
    }
}

async fn check(stream: TcpStream, address: &str, service: &str) -> Result<u64, String> {
    let failed = |error: &dyn std::fmt::Display| format!("error: health rpc probe failed: {error}");
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .map_err(|error| failed(&error))?;
    let driver = tokio::spawn(async move { drop(connection.await) });
    let request = http::Request::post(format!("http://{address}/grpc.health.v1.Health/Check"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("user-agent", "kube-probe/1.36")
        .body(Full::new(encode(service)))
        .map_err(|error| failed(&error))?;
    let answer = async {
        let response = sender.send_request(request).await.map_err(|error| failed(&error))?;
        let headers = response.headers().clone();
        let collected = response.into_body().collect().await.map_err(|error| failed(&error))?;
        // A refusal without a body puts the status into the headers.
        let trailers = collected.trailers().cloned().unwrap_or(headers);
        let text = |name: &str| trailers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_string();
        match text("grpc-status").as_str() {
            "0" | "" => Ok(decode(&collected.to_bytes())),
            "12" => Err(format!(
                "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): {}",
                text("grpc-message")
            )),
            code => Err(failed(&format!("rpc error: code = {code} desc = {}", text("grpc-message")))),
        }
    }
    .await;
    driver.abort();
    answer
}

/// A gRPC frame around `HealthCheckRequest { service }`.
fn encode(service: &str) -> Bytes {
    let mut message = BytesMut::new();
    if !service.is_empty() {
        message.put_u8(0x0a);
        let mut length = service.len();
        while length >= 0x80 {
            message.put_u8(length as u8 | 0x80);
            length >>= 7;
        }
        message.put_u8(length as u8);
        message.put_slice(service.as_bytes());
    }
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(message.len() as u32);
    frame.put_slice(&message);
    frame.freeze()
}

/// The status of a `HealthCheckResponse`, which is its only field.
fn decode(frame: &[u8]) -> u64 {
    match frame.get(5..) {
        Some([0x08, status, ..]) => u64::from(*status),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames() {
        assert_eq!(encode("").as_ref(), [0, 0, 0, 0, 0]);
        assert_eq!(encode("ab").as_ref(), [0, 0, 0, 0, 4, 0x0a, 2, b'a', b'b']);
        assert_eq!(decode(&[0, 0, 0, 0, 2, 8, 1]), SERVING);
        assert_eq!(decode(&[]), 0);
    }
}
