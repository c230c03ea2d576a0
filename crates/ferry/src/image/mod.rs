//! `ferry image`: images come into the cluster's containerd without a registry, are listed, and go.

mod archive;
mod docker_archive;
mod list;
mod load;
mod oci_archive;
mod remove;

use crate::Place;
use crate::cluster::Cluster;
use crate::containerd;
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use ferry_kubelet::cri::grpc::GrpcRuntime;

#[derive(Subcommand)]
pub enum Verb {
    Load(load::LoadArgs),
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    Rm(remove::RemoveArgs),
}

pub async fn run(verb: Verb) -> Result<()> {
    match verb {
        Verb::Load(args) => load::run(args).await,
        Verb::List(args) => list::run(args).await,
        Verb::Rm(args) => remove::run(args).await,
    }
}

/// The cluster and the way to its containerd, which must run.
async fn connect(place: &Place) -> Result<(Cluster, GrpcRuntime)> {
    let Some(cluster) = Cluster::load(place)? else {
        bail!("there is no cluster in {}; `ferry up` makes one", place.data_dir.display());
    };
    if cluster.runtime_endpoint.is_none() && !containerd::answers(&cluster).await {
        bail!("the containerd of cluster {:?} does not run; `ferry up{}` starts it", cluster.name, cluster.flags());
    }
    let socket = cluster.runtime_socket();
    let runtime = GrpcRuntime::connect(&socket.to_string_lossy())
        .with_context(|| format!("cannot reach the runtime at {}", socket.display()))?;
    Ok((cluster, runtime))
}

/// Bytes as people read them, in steps of a thousand as registries and docker show them.
fn render_size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut units = ["B", "kB", "MB", "GB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if unit == "B" || value >= 99.95 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_or_three_digits() {
        for (bytes, text) in
            [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (123_456_789, "123 MB"), (2_000_000_000_000, "2000 GB")]
        {
            assert_eq!(render_size(bytes), text);
        }
    }
}
