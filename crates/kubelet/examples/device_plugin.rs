//! A device plugin for the tests, as a program of its own: it speaks deviceplugin/v1beta1 over unix
//! sockets, and writes each call to a file. Each line of its input is its list of devices:
//! `d1=Healthy,d2=Unhealthy@1`, where the number behind `@` is the NUMA node.
//!
//! `device_plugin <resource> <directory of sockets> <file of calls>`

use ferry_kubelet::devices::proto;
use ferry_kubelet::unix_grpc;
use ferry_kubelet::unix_grpc::serve::{Reply, serve};
use futures_util::StreamExt;
use prost::Message;
use std::collections::HashMap;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio_stream::wrappers::WatchStream;
use tonic::Status;

struct TestPlugin {
    devices: watch::Receiver<Vec<proto::Device>>,
    calls: Mutex<std::fs::File>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [resource, directory, calls] = arguments.as_slice() else {
        eprintln!("three arguments are needed");
        std::process::exit(64);
    };
    let (sender, devices) = watch::channel(Vec::new());
    let mut first = String::new();
    let _ = std::io::stdin().read_line(&mut first);
    sender.send_replace(parse(&first));
    let calls = std::fs::OpenOptions::new().create(true).append(true).open(calls).expect("the file of calls");
    let plugin = Arc::new(TestPlugin { devices, calls: Mutex::new(calls) });
    let name = format!("{}.sock", resource.replace('/', "-"));
    let directory = PathBuf::from(directory);
    tokio::spawn(keep_registered(plugin.clone(), resource.clone(), directory, name));
    let input = tokio::task::spawn_blocking(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            sender.send_replace(parse(&line));
        }
    });
    let _ = input.await;
}

fn parse(line: &str) -> Vec<proto::Device> {
    let device = |text: &str| {
        let (id, rest) = text.split_once('=')?;
        let (health, node) = rest.split_once('@').map_or((rest, None), |(health, node)| (health, node.parse().ok()));
        let topology = node.map(|id| proto::TopologyInfo { nodes: vec![proto::NumaNode { id }] });
        Some(proto::Device { id: id.into(), health: health.into(), topology })
    };
    line.trim().split(',').filter_map(device).collect()
}

/// Serves and registers, anew whenever the kubelet has made its socket anew: it has then removed
/// those of plugins.
async fn keep_registered(plugin: Arc<TestPlugin>, resource: String, directory: PathBuf, name: String) {
    let kubelet = directory.join("kubelet.sock");
    let mut known = None;
    let mut server: Option<tokio::task::JoinHandle<()>> = None;
    loop {
        // An inode may be used again; the time of its change is another.
        let found = std::fs::metadata(&kubelet).ok().map(|found| (found.ino(), found.ctime(), found.ctime_nsec()));
        if found.is_some() && found != known {
            if let Some(server) = server.take() {
                server.abort();
            }
            let _ = std::fs::remove_file(directory.join(&name));
            let listener = UnixListener::bind(directory.join(&name)).expect("the socket is free");
            let plugin = plugin.clone();
            server = Some(tokio::spawn(serve(listener, move |path, message| {
                std::future::ready(plugin.answer(&path, &message))
            })));
            if register(&kubelet, &resource, &name).await.is_ok() {
                known = found;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn register(kubelet: &Path, resource: &str, name: &str) -> Result<(), Status> {
    let channel = unix_grpc::connect(kubelet.to_owned());
    let request = proto::RegisterRequest {
        version: proto::VERSION.into(),
        endpoint: name.into(),
        resource_name: resource.into(),
        options: None,
    };
    let path = "/v1beta1.Registration/Register";
    unix_grpc::call::<_, proto::Empty>(&channel, path, request, Duration::from_secs(5), None).await.map(drop)
}

fn read<M: Message + Default>(message: &[u8]) -> Result<M, Status> {
    M::decode(message).map_err(|error| Status::internal(error.to_string()))
}

impl TestPlugin {
    fn answer(&self, path: &str, message: &[u8]) -> Result<Reply, Status> {
        match path.rsplit('/').next().unwrap_or_default() {
            "GetDevicePluginOptions" => Ok(Reply::of(&proto::DevicePluginOptions {
                pre_start_required: true,
                get_preferred_allocation_available: true,
            })),
            "ListAndWatch" => {
                let lists = WatchStream::new(self.devices.clone());
                Ok(Reply::Many(lists.map(|devices| proto::ListAndWatchResponse { devices }.encode_to_vec()).boxed()))
            }
            "GetPreferredAllocation" => {
                let request: proto::PreferredAllocationRequest = read(message)?;
                // The last ones first, so that the preference shows.
                let prefer = |own: proto::ContainerPreferredAllocationRequest| {
                    let size = usize::try_from(own.allocation_size).unwrap_or(0);
                    let device_ids = own.available_device_ids.into_iter().rev().take(size).collect();
                    proto::ContainerPreferredAllocationResponse { device_ids }
                };
                let container_responses = request.container_requests.into_iter().map(prefer).collect();
                Ok(Reply::of(&proto::PreferredAllocationResponse { container_responses }))
            }
            "Allocate" => {
                let request: proto::AllocateRequest = read(message)?;
                let container_responses = request.container_requests.iter().map(|own| self.allocate(own)).collect();
                Ok(Reply::of(&proto::AllocateResponse { container_responses }))
            }
            "PreStartContainer" => {
                let request: proto::PreStartContainerRequest = read(message)?;
                self.note("PreStartContainer", &request.devices_ids);
                Ok(Reply::of(&proto::Empty {}))
            }
            other => Err(Status::unimplemented(format!("{other} is not part of the test plugin"))),
        }
    }

    fn allocate(&self, request: &proto::ContainerAllocateRequest) -> proto::ContainerAllocateResponse {
        self.note("Allocate", &request.devices_ids);
        let device = |id: &String| proto::DeviceSpec {
            container_path: format!("/dev/test-{id}"),
            host_path: "/dev/null".into(),
            permissions: "rw".into(),
        };
        proto::ContainerAllocateResponse {
            envs: HashMap::from([("TEST_DEVICES".to_owned(), request.devices_ids.join(","))]),
            devices: request.devices_ids.iter().map(device).collect(),
            ..Default::default()
        }
    }

    fn note(&self, method: &str, ids: &[String]) {
        if let Ok(mut calls) = self.calls.lock() {
            let _ = writeln!(calls, "{method} {}", ids.join(","));
        }
    }
}
