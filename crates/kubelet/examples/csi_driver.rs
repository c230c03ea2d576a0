//! A CSI driver for the tests, as a program of its own: its volumes are directories, mounted by
//! bind mounts. It speaks CSI v1 and plugin registration over unix sockets, and writes each call to
//! a file.
//!
//! `csi_driver <name> <registration socket> <csi socket> <directory of volumes> <file of calls>`

use ferry_kubelet::csi::proto::{self, Empty};
use ferry_kubelet::unix_grpc::serve::{Reply, serve};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use prost::Message;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::net::UnixListener;
use tonic::Status;

struct TestDriver {
    name: String,
    endpoint: String,
    volumes: PathBuf,
    calls: Mutex<std::fs::File>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, registration, endpoint, volumes, calls] = arguments.as_slice() else {
        eprintln!("five arguments are needed");
        std::process::exit(64);
    };
    let calls = std::fs::OpenOptions::new().create(true).append(true).open(calls).expect("the file of calls");
    let driver = Arc::new(TestDriver {
        name: name.clone(),
        endpoint: endpoint.clone(),
        volumes: volumes.into(),
        calls: Mutex::new(calls),
    });
    for socket in [endpoint, registration] {
        let _ = std::fs::remove_file(socket);
        let listener = UnixListener::bind(socket).expect("the socket is free");
        let driver = driver.clone();
        tokio::spawn(serve(listener, move |path, message| {
            let answer = driver.call(&path, &message).map(Reply::One).map_err(Status::internal);
            std::future::ready(answer)
        }));
    }
    std::future::pending::<()>().await;
}

fn read<M: Message + Default>(message: &[u8]) -> Result<M, String> {
    M::decode(message).map_err(|error| error.to_string())
}

impl TestDriver {
    fn call(&self, path: &str, message: &[u8]) -> Result<Vec<u8>, String> {
        let method = path.rsplit('/').next().unwrap_or_default();
        match method {
            "GetInfo" => {
                let info = proto::PluginInfo {
                    kind: "CSIPlugin".into(),
                    name: self.name.clone(),
                    endpoint: self.endpoint.clone(),
                    supported_versions: vec!["1.0.0".into()],
                };
                return Ok(info.encode_to_vec());
            }
            "NodeGetInfo" => {
                let segments = HashMap::from([("topology.test/zone".to_owned(), "a".to_owned())]);
                let info = proto::NodeInfo {
                    node_id: "test-node".into(),
                    max_volumes_per_node: 5,
                    accessible_topology: Some(proto::Topology { segments }),
                };
                return Ok(info.encode_to_vec());
            }
            "NodeGetCapabilities" => {
                let capabilities = [proto::STAGE_UNSTAGE_VOLUME, proto::EXPAND_VOLUME];
                let capabilities =
                    capabilities.map(|kind| proto::NodeCapability { rpc: Some(proto::RpcCapability { kind }) });
                return Ok(proto::Capabilities { capabilities: capabilities.into() }.encode_to_vec());
            }
            _ => {}
        }
        match method {
            "NotifyRegistrationStatus" => {
                let status: proto::RegistrationStatus = read(message)?;
                self.note(method, &format!("{} {}", status.plugin_registered, status.error));
            }
            "NodeStageVolume" => {
                let request: proto::StageVolume = read(message)?;
                self.note(method, &request.volume_id);
                let data = self.directory(&request.volume_id)?;
                bind(&data, Path::new(&request.staging_target_path), false)?;
            }
            "NodePublishVolume" => {
                let request: proto::PublishVolume = read(message)?;
                let mut context: Vec<_> =
                    request.volume_context.iter().map(|(key, value)| format!("{key}={value}")).collect();
                context.sort();
                self.note(method, &format!("{} {}", request.volume_id, context.join(",")));
                let source = match request.staging_target_path.as_str() {
                    "" => self.directory(&request.volume_id)?,
                    staging => PathBuf::from(staging),
                };
                let target = Path::new(&request.target_path);
                // Every block volume is the same endless device.
                let is_block = request.volume_capability.is_some_and(|capability| capability.block.is_some());
                let (source, made) = match is_block {
                    true => (PathBuf::from("/dev/zero"), std::fs::File::create(target).map(drop)),
                    false => (source, std::fs::create_dir_all(target)),
                };
                made.map_err(|error| error.to_string())?;
                bind(&source, target, request.readonly)?;
            }
            "NodeExpandVolume" => {
                let request: proto::ExpandVolume = read(message)?;
                let size = request.capacity_range.unwrap_or_default().required_bytes;
                self.note(method, &format!("{} {size}", request.volume_id));
            }
            "NodeUnpublishVolume" => {
                let request: proto::UnpublishVolume = read(message)?;
                self.note(method, &request.volume_id);
                unmount(Path::new(&request.target_path));
                let _ =
                    std::fs::remove_dir(&request.target_path).or_else(|_| std::fs::remove_file(&request.target_path));
            }
            "NodeUnstageVolume" => {
                let request: proto::UnstageVolume = read(message)?;
                self.note(method, &request.volume_id);
                unmount(Path::new(&request.staging_target_path));
            }
            other => return Err(format!("{other} is not part of the test driver")),
        }
        Ok(Empty {}.encode_to_vec())
    }

    fn directory(&self, volume: &str) -> Result<PathBuf, String> {
        let path = self.volumes.join(volume);
        std::fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(path)
    }

    fn note(&self, method: &str, what: &str) {
        if let Ok(mut calls) = self.calls.lock() {
            let _ = writeln!(calls, "{method} {what}");
        }
    }
}

fn bind(source: &Path, target: &Path, read_only: bool) -> Result<(), String> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    if table.lines().any(|line| line.split(' ').nth(4) == target.to_str()) {
        return Ok(());
    }
    let none = None::<&str>;
    mount(Some(source), target, none, MsFlags::MS_BIND, none).map_err(|error| error.to_string())?;
    if read_only {
        let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
        mount(none, target, none, flags, none).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn unmount(target: &Path) {
    while umount2(target, MntFlags::UMOUNT_NOFOLLOW).is_ok() {}
}
