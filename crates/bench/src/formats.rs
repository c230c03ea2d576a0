//! A LIST of pods in every wire format that clients use: JSON (curl), protobuf (client-go),
//! a Table (`kubectl get`) and metadata alone (garbage collectors).

use crate::beside;
use crate::cluster::Cluster;
use crate::crowd;
use crate::load::{self, Connect, Connection};
use crate::report::{Better, Report};
use crate::upstream::{self, Parts};
use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};

const PATH: &str = "/api/v1/namespaces/default/pods";

/// How often each format is read; the best counts.
const READS: usize = 7;

pub struct WireFormat {
    pub name: &'static str,
    pub accept: &'static str,
    /// Milliseconds for 1,000 pods.
    pub goal: f64,
}

pub const FORMATS: &[WireFormat] = &[
    WireFormat { name: "JSON", accept: "application/json", goal: 9.0 },
    WireFormat { name: "protobuf", accept: "application/vnd.kubernetes.protobuf", goal: 4.0 },
    WireFormat { name: "Table", accept: "application/json;as=Table;v=v1;g=meta.k8s.io", goal: 6.0 },
    WireFormat {
        name: "PartialObjectMetadata",
        accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        goal: 3.0,
    },
    WireFormat {
        name: "PartialObjectMetadata in protobuf",
        accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        goal: 3.0,
    },
];

/// How many GETs of a node each figure is made of, over so many connections.
const GETS: usize = 40_000;
const GET_CONNECTIONS: usize = 32;

pub async fn measure(cluster: &Cluster, upstream: Option<&Path>, report: &mut Report) -> Result<()> {
    crowd::pods(cluster).await?;
    let mut connection = cluster.connect().await?;
    let mut figures = Vec::new();
    for format in FORMATS {
        let mut took = 0.0;
        let read = async {
            took = fastest_list(&mut connection, format).await?;
            Ok(())
        };
        let grown = cluster.growth(read).await?;
        figures.push((took, grown));
    }
    let theirs = upstream::figure(upstream, Parts::Server, async |upstream| {
        crowd::pods(upstream).await?;
        let (mut connection, mut theirs) = (upstream.connect().await?, Vec::new());
        for format in FORMATS {
            theirs.push(fastest_list(&mut connection, format).await?);
        }
        Ok(theirs)
    })
    .await?;
    for (n, (format, (took, grown))) in FORMATS.iter().zip(figures).enumerate() {
        let their = theirs.as_ref().map(|theirs| theirs[n]);
        let what = format!("LIST as {}, for each 1,000 pods", format.name);
        report.add(&what, "ms", took, their, Some(format.goal), Better::Lower);
        report.add("  growth of RSS by it", "MB", grown, None, Some(64.0), Better::Lower);
    }
    connection.post("/api/v1/nodes", &beside::node()).await?;
    for (name, accept) in [("JSON", load::JSON), ("protobuf", "application/vnd.kubernetes.protobuf")] {
        let before = cluster.processor_time()?;
        let rate = load::spread(cluster, GET_CONNECTIONS, GETS, move |connection: &mut Connection, _| {
            Box::pin(async move { connection.get_as(beside::NODE, accept).await.map(drop) })
        })
        .await?;
        let used = (cluster.processor_time()? - before).as_secs_f64() * 1e6 / GETS as f64;
        let what = format!("GET one Node as {name}, {GET_CONNECTIONS} connections");
        report.add(&what, "/s", rate, None, Some(40_000.0), Better::Higher);
        report.add("  processor time of each", "us", used, None, None, Better::Lower);
    }
    Ok(())
}

/// The milliseconds of the fastest of some LISTs, for 1,000 pods.
async fn fastest_list(connection: &mut Connection, format: &WireFormat) -> Result<f64> {
    let mut best = Duration::MAX;
    for _ in 0..READS {
        let start = Instant::now();
        connection.get_as(PATH, format.accept).await?;
        best = best.min(start.elapsed());
    }
    Ok(best.as_secs_f64() * 1e3 * 1_000.0 / crowd::PODS as f64)
}
