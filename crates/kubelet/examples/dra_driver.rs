//! A DRA driver for the tests, as a program of its own: it speaks dra.v1, the health service and plugin
//! registration over unix sockets, and writes each call to a file.
//!
//! `dra_driver <name> <registration socket> <dra socket> <file of calls>`

use ferry_kubelet::csi::proto::{Empty, PluginInfo, RegistrationStatus};
use ferry_kubelet::dra::proto;
use ferry_kubelet::unix_grpc::serve::{Reply, serve};
use futures_util::StreamExt;
use futures_util::stream;
use prost::Message;
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use tokio::net::UnixListener;
use tonic::Status;

struct TestDriver {
    name: String,
    endpoint: String,
    calls: Mutex<std::fs::File>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, registration, endpoint, calls] = arguments.as_slice() else {
        eprintln!("four arguments are needed");
        std::process::exit(64);
    };
    let calls = std::fs::OpenOptions::new().create(true).append(true).open(calls).expect("the file of calls");
    let driver = Arc::new(TestDriver { name: name.clone(), endpoint: endpoint.clone(), calls: Mutex::new(calls) });
    for socket in [endpoint, registration] {
        let _ = std::fs::remove_file(socket);
        let listener = UnixListener::bind(socket).expect("the socket is free");
        let driver = driver.clone();
        tokio::spawn(serve(listener, move |path, message| std::future::ready(driver.answer(&path, &message))));
    }
    std::future::pending::<()>().await;
}

fn read<M: Message + Default>(message: &[u8]) -> Result<M, Status> {
    M::decode(message).map_err(|error| Status::internal(error.to_string()))
}

impl TestDriver {
    fn answer(&self, path: &str, message: &[u8]) -> Result<Reply, Status> {
        let method = path.rsplit('/').next().unwrap_or_default();
        match method {
            "GetInfo" => Ok(Reply::of(&PluginInfo {
                kind: "DRAPlugin".into(),
                name: self.name.clone(),
                endpoint: self.endpoint.clone(),
                supported_versions: vec!["v1.DRAPlugin".into(), "v1beta1.DRAPlugin".into()],
            })),
            "NotifyRegistrationStatus" => {
                let status: RegistrationStatus = read(message)?;
                self.note(method, &format!("{} {}", status.plugin_registered, status.error));
                Ok(Reply::of(&Empty {}))
            }
            "NodePrepareResources" => {
                let request: proto::ClaimsRequest = read(message)?;
                let prepared = |claim: proto::Claim| {
                    self.note(method, &claim.name);
                    let device = proto::Device {
                        request_names: vec!["r".into()],
                        pool_name: "pool".into(),
                        device_name: "dev".into(),
                        cdi_device_ids: vec![format!("vendor.test/dra={}", claim.name)],
                        share_id: None,
                    };
                    (claim.uid, proto::PreparedClaim { devices: vec![device], error: String::new() })
                };
                let claims: HashMap<_, _> = request.claims.into_iter().map(prepared).collect();
                Ok(Reply::of(&proto::PrepareResponse { claims }))
            }
            "NodeUnprepareResources" => {
                let request: proto::ClaimsRequest = read(message)?;
                let unprepared = |claim: proto::Claim| {
                    self.note(method, &claim.name);
                    (claim.uid, proto::UnpreparedClaim::default())
                };
                let claims: HashMap<_, _> = request.claims.into_iter().map(unprepared).collect();
                Ok(Reply::of(&proto::UnprepareResponse { claims }))
            }
            "NodeWatchResources" => {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_secs());
                let health = proto::DeviceHealth {
                    device: Some(proto::DeviceIdentifier { pool_name: "pool".into(), device_name: "dev".into() }),
                    health: proto::UNHEALTHY,
                    last_updated_time: now as i64,
                    health_check_timeout_seconds: 3600,
                    message: "too warm".into(),
                };
                let report = proto::WatchResponse { devices: vec![health] }.encode_to_vec();
                Ok(Reply::Many(stream::iter([report]).chain(stream::pending()).boxed()))
            }
            other => Err(Status::unimplemented(format!("{other} is not part of the test driver"))),
        }
    }

    fn note(&self, method: &str, what: &str) {
        if let Ok(mut calls) = self.calls.lock() {
            let _ = writeln!(calls, "{method} {what}");
        }
    }
}
