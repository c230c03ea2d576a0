//! The command line: which verb, with which flags. Everything else is in the modules.

// A print macro panics where its reader is gone, and a panic ends a component.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod access;
mod addons;
mod agent;
mod allocator;
mod archive;
mod audit;
mod backup;
mod cluster;
mod cluster_registry;
mod containerd;
mod daemon;
mod debugging;
mod demo;
mod image;
mod images;
mod join;
mod kubeconfig;
mod kubelet_flags;
mod log;
mod logs;
mod namespaces;
mod network;
mod node;
mod nodes;
mod preflight;
mod process;
mod progress;
mod renewal;
mod resolve;
mod restore;
mod role;
mod rotating_file;
mod scheduling;
mod secret_key;
mod secrets;
mod server;
mod signing;
mod status;
mod supervise;
mod systemd;
mod teardown;
mod tokens;
mod unsupported;
mod up;

use clap::{Args, Parser, Subcommand};
use role::Role;
use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A whole Kubernetes cluster in one binary.
#[derive(Parser)]
#[command(name = "ferry", version, about, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Start a one-node cluster here, or bring back the one whose data is here
    Up(Box<up::UpArgs>),
    /// Start a control plane without a node, or bring back the one whose data is here
    Server(Box<up::UpArgs>),
    /// Make this machine a node of a cluster, or bring back the node whose data is here
    Join(Box<join::JoinArgs>),
    /// The tokens with which machines join
    #[command(subcommand)]
    Token(tokens::Verb),
    /// Empty or remove a node of the cluster
    #[command(subcommand)]
    Node(nodes::Verb),
    /// Say whether the cluster runs, and how it is
    Status(Place),
    /// Print what ferry and its containerd have logged
    Logs(logs::LogsArgs),
    /// Stop the cluster and its pods; the data stays for the next `ferry up`
    Down(Place),
    /// Stop the cluster and remove everything it made on this machine
    Uninstall(Place),
    /// How Secrets are sealed on disk, and with which key
    #[command(subcommand)]
    Secrets(secrets::Verb),
    /// Images without a registry: load, list and remove those of the cluster
    #[command(subcommand)]
    Image(image::Verb),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    /// Run three web servers behind a Service and ask them by name from another pod
    Demo(demo::DemoArgs),
    /// kubectl's verbs, with its flags: `ferry kubectl get pods`, or this binary linked as kubectl
    Kubectl,
}

/// Where a cluster lives, by paths without links. Two clusters on one machine differ in both.
#[derive(Args, Clone, Debug)]
pub struct Place {
    /// What must outlive a reboot: the store, certificates, images, volumes
    #[arg(long, value_name = "DIR", default_value = cluster::DEFAULT_DATA_DIR, env = "FERRY_DATA_DIR",
        value_parser = resolve::parser())]
    pub data_dir: PathBuf,
    /// What need not: sockets, process ids, mounts [default: what the cluster was made with, or /run/ferry]
    #[arg(long, value_name = "DIR", env = "FERRY_RUN_DIR", value_parser = resolve::parser())]
    pub run_dir: Option<PathBuf>,
}

/// The arguments of kubectl, where the binary is called `ferry kubectl …` or is linked as `kubectl`.
fn kubectl_arguments(mut all: impl Iterator<Item = OsString>) -> Option<Vec<OsString>> {
    let program = all.next()?;
    let is_linked = Path::new(&program).file_name().is_some_and(|name| name == "kubectl");
    if is_linked || all.next()? == "kubectl" { Some(all.collect()) } else { None }
}

fn main() -> ExitCode {
    if let Some(arguments) = kubectl_arguments(std::env::args_os()) {
        return ferry_cli::run(arguments);
    }
    let cli = Cli::parse();
    ferry_pki::tls::install_provider();
    // Before anything is opened: a thousand clients must not cost the store its files.
    if let Err(error) = ferry_listen::raise_descriptor_limit() {
        progress::complain(&format!("ferry: cannot raise the limit of open files: {error}"));
    }
    // Two workers are enough to keep a core busy with requests while another thread
    // waits on the disk; more would only cost memory on the machines ferry is for. Where
    // there is one core, a second worker would only take turns with the first.
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(2);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = match allocator::with_returned_memory(&mut builder).worker_threads(workers).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            progress::complain(&format!("ferry: cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(async {
        match cli.verb {
            Verb::Up(args) => {
                tokio::spawn(allocator::return_freed_memory(workers));
                // On a worker, because this thread sleeps from then on: the first read of a
                // large store would be in pages that nobody looks through again.
                tokio::spawn(up::run(*args, Role::ServerAndNode)).await?
            }
            Verb::Server(args) => {
                tokio::spawn(allocator::return_freed_memory(workers));
                tokio::spawn(up::run(*args, Role::Server)).await?
            }
            Verb::Join(args) => {
                tokio::spawn(allocator::return_freed_memory(workers));
                tokio::spawn(join::run(*args)).await?
            }
            Verb::Token(verb) => tokens::run(verb).await,
            Verb::Node(verb) => nodes::run(verb).await,
            Verb::Status(place) => status::run(&place).await,
            Verb::Logs(args) => logs::run(args).await,
            Verb::Down(place) => teardown::down(&place).await,
            Verb::Uninstall(place) => teardown::uninstall(&place).await,
            Verb::Secrets(verb) => secrets::run(verb).await,
            Verb::Image(verb) => image::run(verb).await,
            Verb::Backup(args) => backup::run(args).await,
            Verb::Restore(args) => restore::run(args).await,
            Verb::Demo(args) => demo::run(args).await,
            // `kubectl_arguments` has taken it before the flags were read.
            Verb::Kubectl => anyhow::bail!("`ferry kubectl` takes its flags behind it"),
        }
    });
    // A task stuck in a system call must not keep the process from ending.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            progress::complain(&format!("ferry: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
