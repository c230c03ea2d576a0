//! A LIST of pods in every wire format that clients use: JSON (curl), protobuf (client-go),
//! a Table (`kubectl get`) and metadata alone (garbage collectors).

use crate::beside;
use crate::cluster::Cluster;
use crate::crowd;
use crate::load::{self, Connection};
use crate::report::{Better, Report};
use anyhow::Result;
use std::time::{Duration, Instant};

const PATH: &str = "/api/v1/namespaces/default/pods";

/// How often each format is read; the best counts.
const READS: usize = 7;

pub struct WireFormat {
    pub name: &'static str,
    pub accept: &'static str,
    /// Milliseconds of upstream v1.36.4 with etcd 3.6.8 for 1,000 pods on two cores, and our goal.
    upstream: f64,
    pub goal: f64,
}

pub const FORMATS: &[WireFormat] = &[
    WireFormat { name: "JSON", accept: "application/json", upstream: 41.0, goal: 9.0 },
    WireFormat { name: "protobuf", accept: "application/vnd.kubernetes.protobuf", upstream: 21.0, goal: 4.0 },
    WireFormat { name: "Table", accept: "application/json;as=Table;v=v1;g=meta.k8s.io", upstream: 20.0, goal: 6.0 },
    WireFormat {
        name: "PartialObjectMetadata",
        accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        upstream: 13.0,
        goal: 3.0,
    },
    WireFormat {
        name: "PartialObjectMetadata in protobuf",
        accept: "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        upstream: 13.0,
        goal: 3.0,
    },
];

/// How many GETs of a node each figure is made of, over so many connections.
const GETS: usize = 40_000;
const GET_CONNECTIONS: usize = 32;

pub async fn measure(cluster: &Cluster, report: &mut Report) -> Result<()> {
    crowd::pods(cluster).await?;
    let mut connection = cluster.connect().await?;
    for WireFormat { name, accept, upstream, goal } in FORMATS {
        let mut best = Duration::MAX;
        let grown = cluster
            .growth(async {
                for _ in 0..READS {
                    let start = Instant::now();
                    connection.get_as(PATH, accept).await?;
                    best = best.min(start.elapsed());
                }
                Ok(())
            })
            .await?;
        let took = best.as_secs_f64() * 1e3 * 1_000.0 / crowd::PODS as f64;
        report.add(
            &format!("LIST as {name}, for each 1,000 pods"),
            "ms",
            took,
            Some(*upstream),
            Some(*goal),
            Better::Lower,
        );
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
