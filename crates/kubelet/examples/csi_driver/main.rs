//! A CSI driver for the tests, as a program of its own: its volumes are directories, mounted by
//! bind mounts. It speaks CSI v1 and plugin registration over unix sockets, and writes each call to
//! a file. What its controller service has created it guards as a real one would: such a volume is
//! staged only where it is published, published only where it is staged, and neither detached nor
//! deleted while it is in use.
//!
//! `csi_driver <name> <registration socket> <csi socket> <directory of volumes> <file of calls>`

mod controller;

use bytes::{BufMut, Bytes, BytesMut};
use ferry_kubelet::csi::proto::{self, Empty};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use prost::Message;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::net::UnixListener;

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
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let driver = driver.clone();
                let service = hyper::service::service_fn(move |request| answer(driver.clone(), request));
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
            }
        });
    }
    std::future::pending::<()>().await;
}

type Frames = StreamBody<futures_util::stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>>;

/// One unary gRPC call: a message with five bytes before it, and a status in the trailers.
async fn answer(
    driver: Arc<TestDriver>,
    request: http::Request<Incoming>,
) -> Result<http::Response<Frames>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let message = body.get(5..).unwrap_or_default();
    let (status, text, reply) = match driver.call(&path, message) {
        Ok(reply) => ("0", String::new(), reply),
        Err(why) => ("13", why, Vec::new()),
    };
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(reply.len() as u32);
    frame.put_slice(&reply);
    let mut trailers = http::HeaderMap::new();
    trailers.insert("grpc-status", http::HeaderValue::from_static(status));
    if let Ok(text) = http::HeaderValue::from_str(&text) {
        trailers.insert("grpc-message", text);
    }
    let frames = vec![Ok(Frame::data(frame.freeze())), Ok(Frame::trailers(trailers))];
    let body = StreamBody::new(futures_util::stream::iter(frames));
    let response = http::Response::builder().header("content-type", "application/grpc").body(body);
    Ok(response.expect("a response of constants"))
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
                let capabilities = [proto::STAGE_UNSTAGE_VOLUME, proto::EXPAND_VOLUME, proto::GET_VOLUME_STATS];
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
                if let Some(state) = self.state(&request.volume_id)
                    && request.publish_context.get("node") != state.node.as_ref()
                {
                    return Err(format!("{} is published on {:?}", request.volume_id, state.node));
                }
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
            "NodeGetVolumeStats" => {
                let request: proto::GetVolumeStats = read(message)?;
                if !is_mounted(Path::new(&request.volume_path)) {
                    return Err(format!("nothing is mounted on {}", request.volume_path));
                }
                let total = self.state(&request.volume_id).map_or(1 << 30, |state| state.size);
                let used = std::fs::read_dir(&request.volume_path).into_iter().flatten().flatten();
                let used = used.filter_map(|entry| entry.metadata().ok()).map(|found| found.len() as i64).sum();
                let amounts = |unit, total, used| proto::VolumeUsage { available: total - used, total, used, unit };
                let usage = vec![amounts(proto::BYTES, total, used), amounts(proto::INODES, 100, 3)];
                return Ok(proto::VolumeStats { usage }.encode_to_vec());
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
            other => return self.control(other, message),
        }
        Ok(Empty {}.encode_to_vec())
    }

    /// The controller service.
    fn control(&self, method: &str, message: &[u8]) -> Result<Vec<u8>, String> {
        match method {
            "CreateVolume" => {
                let request: controller::CreateVolume = read(message)?;
                let size = request.capacity_range.unwrap_or_default().required_bytes;
                // Asked twice, it is the same volume.
                let id = format!("vol-{}", request.name);
                if self.state(&id).is_none() {
                    self.note(method, &format!("{id} {size}"));
                    self.directory(&id)?;
                    self.keep(&id, &VolumeState { size, node: None })?;
                }
                let volume_context = HashMap::from([("made-for".to_owned(), request.name)]);
                let volume = controller::Volume { capacity_bytes: size, volume_id: id, volume_context };
                return Ok(controller::CreatedVolume { volume: Some(volume) }.encode_to_vec());
            }
            "DeleteVolume" => {
                let request: controller::DeleteVolume = read(message)?;
                let Some(state) = self.state(&request.volume_id) else { return Ok(Vec::new()) };
                if let Some(node) = state.node {
                    return Err(format!("{} is published on {node}", request.volume_id));
                }
                self.note(method, &request.volume_id);
                let _ = std::fs::remove_dir_all(self.volumes.join(&request.volume_id));
                let _ = std::fs::remove_file(self.state_file(&request.volume_id));
            }
            "ControllerPublishVolume" => {
                let request: controller::PublishOnNode = read(message)?;
                let id = &request.volume_id;
                let mut state = self.state(id).ok_or_else(|| format!("{id} does not exist"))?;
                if state.node.as_ref().is_some_and(|node| *node != request.node_id) {
                    return Err(format!("{id} is published on another node"));
                }
                if state.node.is_none() {
                    self.note(method, &format!("{id} {}", request.node_id));
                    state.node = Some(request.node_id.clone());
                    self.keep(id, &state)?;
                }
                let publish_context = HashMap::from([("node".to_owned(), request.node_id)]);
                return Ok(controller::PublishedOnNode { publish_context }.encode_to_vec());
            }
            "ControllerUnpublishVolume" => {
                let request: controller::PublishOnNode = read(message)?;
                let id = &request.volume_id;
                let Some(mut state) = self.state(id).filter(|state| state.node.is_some()) else {
                    return Ok(Vec::new());
                };
                // On one machine the driver can see what a real one could not: a mount that is left.
                let data = self.directory(id)?;
                let root = std::fs::canonicalize(data).map_err(|error| error.to_string())?;
                if mount_roots().iter().any(|mounted| root.ends_with(mounted.trim_start_matches('/'))) {
                    self.note("Violation", &format!("{id} is detached while it is mounted"));
                    return Err(format!("{id} is mounted"));
                }
                self.note(method, &format!("{id} {}", request.node_id));
                state.node = None;
                self.keep(id, &state)?;
            }
            "ControllerExpandVolume" => {
                let request: controller::ExpandVolume = read(message)?;
                let id = &request.volume_id;
                let mut state = self.state(id).ok_or_else(|| format!("{id} does not exist"))?;
                state.size = request.capacity_range.unwrap_or_default().required_bytes;
                self.note(method, &format!("{id} {}", state.size));
                self.keep(id, &state)?;
                let grown = controller::ExpandedVolume { capacity_bytes: state.size, node_expansion_required: true };
                return Ok(grown.encode_to_vec());
            }
            other => return Err(format!("{other} is not part of the test driver")),
        }
        Ok(Vec::new())
    }

    fn state_file(&self, volume: &str) -> PathBuf {
        self.volumes.join(format!("{volume}.state"))
    }

    /// Nothing for volumes that the controller service has not created.
    fn state(&self, volume: &str) -> Option<VolumeState> {
        let text = std::fs::read_to_string(self.state_file(volume)).ok()?;
        let (size, node) = text.split_once(' ')?;
        Some(VolumeState { size: size.parse().ok()?, node: Some(node.to_owned()).filter(|node| !node.is_empty()) })
    }

    fn keep(&self, volume: &str, state: &VolumeState) -> Result<(), String> {
        let text = format!("{} {}", state.size, state.node.as_deref().unwrap_or_default());
        std::fs::write(self.state_file(volume), text).map_err(|error| error.to_string())
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

/// A volume of the controller service.
struct VolumeState {
    size: i64,
    /// The node that it is published on.
    node: Option<String>,
}

/// The fourth field of the mount table: the directory of its file system that each mount shows.
fn mount_roots() -> Vec<String> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let roots = table.lines().filter_map(|line| line.split(' ').nth(3));
    roots.filter(|root| *root != "/").map(str::to_owned).collect()
}

fn is_mounted(target: &Path) -> bool {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    table.lines().any(|line| line.split(' ').nth(4) == target.to_str())
}

fn bind(source: &Path, target: &Path, read_only: bool) -> Result<(), String> {
    if is_mounted(target) {
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
