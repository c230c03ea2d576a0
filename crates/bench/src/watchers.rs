//! Many watchers of one namespace while it is written to: each must see every write, all
//! in the same order.

use crate::cluster::Cluster;
use crate::load::{self, Connection};
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::time::Instant;

const PATH: &str = "/api/v1/namespaces/watched/configmaps";

/// Events delivered per second, over all watchers, from the first write to the last event.
pub async fn deliver(cluster: &Cluster, watchers: usize, writes: usize) -> Result<f64> {
    let mut connection = cluster.connect().await?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "watched"}});
    connection.post("/api/v1/namespaces", &namespace).await?;
    let list: Value = serde_json::from_slice(&connection.get(PATH).await?)?;
    let from = list["metadata"]["resourceVersion"].as_str().context("a list has a version")?.to_owned();
    // The root certificates that a controller puts into every namespace are not ours.
    let selector = "labelSelector=bench%3Dwatched";
    let mut tasks = Vec::with_capacity(watchers);
    for _ in 0..watchers {
        let mut connection = cluster.connect().await?;
        let body = connection.stream(&format!("{PATH}?watch=1&resourceVersion={from}&{selector}")).await?;
        tasks.push(tokio::spawn(follow(connection, body, writes)));
    }
    let start = Instant::now();
    load::spread(cluster, 64, writes, |connection: &mut Connection, n| {
        let metadata = json!({"name": format!("w-{n}"), "labels": {"bench": "watched"}});
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        Box::pin(async move { connection.post(PATH, &body).await.map(drop) })
    })
    .await?;
    let mut first = None;
    for task in tasks {
        let seen = task.await.context("a watcher was lost")??;
        ensure!(*first.get_or_insert(seen) == seen, "two watchers saw the writes in different orders");
    }
    Ok((watchers * writes) as f64 / start.elapsed().as_secs_f64())
}

/// Reads until every write was seen, and gives a digest of their order.
async fn follow(_connection: Connection, mut body: hyper::body::Incoming, writes: usize) -> Result<u64> {
    let (mut digest, mut last, mut seen) = (0xcbf2_9ce4_8422_2325_u64, 0, 0);
    let mut rest: Vec<u8> = Vec::new();
    while seen < writes {
        let frame = body.frame().await.context("the watch ended early")??;
        let Ok(data) = frame.into_data() else { continue };
        rest.extend_from_slice(&data);
        let mut begin = 0;
        while let Some(length) = rest[begin..].iter().position(|byte| *byte == b'\n') {
            let revision = revision_of(&rest[begin..begin + length])?;
            ensure!(revision > last, "revision {revision} came after {last}");
            last = revision;
            digest = (digest ^ revision).wrapping_mul(0x0100_0000_01b3);
            seen += 1;
            begin += length + 1;
        }
        rest.drain(..begin);
    }
    Ok(digest)
}

fn revision_of(event: &[u8]) -> Result<u64> {
    const KEY: &[u8] = br#""resourceVersion":""#;
    let at = event.windows(KEY.len()).position(|window| window == KEY).context("an event without a version")?;
    let digits: Vec<u8> = event[at + KEY.len()..].iter().copied().take_while(u8::is_ascii_digit).collect();
    Ok(String::from_utf8(digits)?.parse()?)
}

impl Connection {
    /// The body of an answer that does not end.
    pub async fn stream(&mut self, path: &str) -> Result<hyper::body::Incoming> {
        let response = self.answer("GET", path, Bytes::new(), crate::load::JSON).await?;
        ensure!(response.status().is_success(), "GET {path}: {}", response.status());
        Ok(response.into_body())
    }
}
