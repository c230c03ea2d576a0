//! Durable puts per second with 1, 16 and 256 writers, and how long one takes. Run with
//! `cargo run --release -p ferry-store --example put_rate [directory] [seconds]`; the directory
//! decides which disk is measured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use ferry_store::sqlite::SqliteStore;
use ferry_store::{Commit, Expect, Op, Store};

/// About what a small Pod takes.
const VALUE_BYTES: usize = 1024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let parent = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let seconds: u64 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("{:>8} {:>12} {:>10} {:>10}", "writers", "puts/s", "p50 ms", "p99 ms");
    for writers in [1, 16, 256] {
        let directory = tempfile::tempdir_in(&parent)?;
        let store = Arc::new(SqliteStore::open(directory.path())?);
        let started = Instant::now();
        let end = started + Duration::from_secs(seconds);
        let tasks: Vec<_> = (0..writers).map(|writer| runtime.spawn(write(Arc::clone(&store), writer, end))).collect();
        let mut latencies = Vec::new();
        for task in tasks {
            latencies.extend(runtime.block_on(task)??);
        }
        let elapsed = started.elapsed().as_secs_f64();
        latencies.sort();
        let percentile = |share: f64| latencies[(latencies.len() as f64 * share) as usize].as_secs_f64() * 1e3;
        let rate = latencies.len() as f64 / elapsed;
        println!("{writers:>8} {rate:>12.0} {:>10.2} {:>10.2}", percentile(0.5), percentile(0.99));
    }
    Ok(())
}

/// Creates keys in an order that is not theirs, as names of objects come.
async fn write(store: Arc<SqliteStore>, writer: u64, end: Instant) -> Result<Vec<Duration>, ferry_store::Error> {
    let mut latencies = Vec::new();
    let mut scramble = writer.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    while Instant::now() < end {
        scramble = scramble.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = format!("/registry/configmaps/default/{scramble:016x}-{writer}");
        let op = Op::Put(Bytes::from(vec![b'v'; VALUE_BYTES]));
        let started = Instant::now();
        store.commit(Commit { key, expect: Expect::Any, op }).await?;
        latencies.push(started.elapsed());
    }
    Ok(latencies)
}
