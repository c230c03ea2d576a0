//! `ferry secrets`: which key sealed how many objects on disk, and sealing all of them
//! anew with a new key. The running API server does the work (`/ferry/encryption`); here
//! are the key file and the order of the steps:
//!
//! ```text
//! 1  write the new key before the old one      from here on the new one seals, both open
//! 2  wait until the server has taken it over   and nothing sealed with the old is under way
//! 3  seal everything anew
//! 4  write the new key alone                   only when nothing needs the old one
//! ```
//!
//! A kill between any two leaves a file that opens everything, and the next `rotate` goes
//! on from step 2.

use crate::cluster::Cluster;
use crate::progress::say;
use crate::secret_key::{self, Ring};
use crate::status::admin_client;
use crate::{Place, daemon};
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use ferry_client::{Client, Request, read_body};
use http::Method;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const PATH: &str = ferry_apiserver::reseal::PATH;

/// How long the server may take to take over a file: it may have to wait for a KMS.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often sealing anew is tried while others write.
const ROUNDS: usize = 3;

#[derive(Subcommand)]
pub enum Verb {
    /// Say which key sealed how many objects on disk
    Status(Place),
    /// Seal everything on disk anew: with a new key, or with the first provider of --encryption-provider-config
    Rotate(Place),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Report {
    digest: String,
    settled: bool,
    kinds: Vec<KindReport>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KindReport {
    resource: String,
    sealed_by: BTreeMap<String, u64>,
    stale: u64,
    unreadable: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Page {
    read: u64,
    resealed: u64,
    r#continue: Option<String>,
}

pub async fn run(verb: Verb) -> Result<()> {
    match verb {
        Verb::Status(place) => status(&place).await,
        Verb::Rotate(place) => rotate(&place).await,
    }
}

async fn status(place: &Place) -> Result<()> {
    let (_, client) = running(place)?;
    let report: Report = ask(&client, Method::GET, &[]).await?;
    say(render(&report).trim_end());
    Ok(())
}

async fn rotate(place: &Place) -> Result<()> {
    let (cluster, client) = running(place)?;
    let lock = std::fs::File::create(cluster.run_dir.join("secrets.lock")).context("cannot make the lock file")?;
    if lock.try_lock().is_err() {
        bail!("another `ferry secrets rotate` is under way");
    }
    let file = secret_key::path(&cluster.data_dir);
    let ring = match &cluster.access.encryption_provider_config {
        Some(config) => {
            say(&format!("keys      those of {}, which stays as it is", config.display()));
            None
        }
        None => Some(begin(&file)?),
    };
    taken_over(&cluster, &client).await?;
    say("server    seals with the first key");

    let report = reseal_all(&client).await?;
    let unreadable: Vec<&String> = report.kinds.iter().flat_map(|kind| &kind.unreadable).collect();
    if !unreadable.is_empty() {
        unreadable.iter().for_each(|why| say(&format!("unread    {why}")));
        bail!("{} objects cannot be read; the old keys are kept", unreadable.len());
    }
    if report.kinds.iter().any(|kind| kind.stale > 0) {
        bail!("some objects are still sealed with an old key, which is kept; run it again");
    }
    if let Some(ring) = ring {
        ring.without_old_keys().write(&file)?;
        taken_over(&cluster, &client).await?;
        say("keys      the old one is gone");
    }
    say(render(&report).trim_end());
    Ok(())
}

/// The file with a new key in front, unless an earlier rotation has put it there.
fn begin(file: &std::path::Path) -> Result<Ring> {
    let ring = Ring::read(file)?;
    if ring.names().len() > 1 {
        say(&format!("keys      going on with {}, which an earlier rotation made", ring.names()[0]));
        return Ok(ring);
    }
    let ring = ring.with_new_key()?;
    ring.write(file)?;
    say(&format!("keys      {} is new, {} stays for reading", ring.names()[0], ring.names()[1]));
    Ok(ring)
}

/// Waits until the server uses the files as they are now, for all that it writes.
async fn taken_over(cluster: &Cluster, client: &Client) -> Result<()> {
    let mut texts = Vec::new();
    for file in cluster.access.encryption_files(&cluster.data_dir) {
        texts.push(std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?);
    }
    let wanted = ferry_apiserver::encryption::digest(texts.iter().map(String::as_str));
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let report: Report = ask(client, Method::GET, &[("brief", "true")]).await?;
        if report.digest == wanted && report.settled {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("the server has not taken over the keys within {PATIENCE:?}; its log says why")
}

/// Seals everything anew, and says what there is then.
async fn reseal_all(client: &Client) -> Result<Report> {
    let mut report = Report::default();
    for _ in 0..ROUNDS {
        let (mut read, mut resealed, mut after) = (0, 0, String::new());
        loop {
            let page: Page = ask(client, Method::POST, &[("continue", &after)]).await?;
            read += page.read;
            resealed += page.resealed;
            match page.r#continue {
                Some(last) => after = last,
                None => break,
            }
            say(&format!("sealed    {resealed} of {read} so far"));
        }
        say(&format!("sealed    {resealed} anew of {read}"));
        report = ask(client, Method::GET, &[]).await?;
        let stale: u64 = report.kinds.iter().map(|kind| kind.stale).sum();
        let unreadable: usize = report.kinds.iter().map(|kind| kind.unreadable.len()).sum();
        if stale == 0 || unreadable > 0 {
            break;
        }
    }
    Ok(report)
}

fn running(place: &Place) -> Result<(Cluster, Client)> {
    let cluster = daemon::running_cluster(place)?;
    let client = admin_client(&cluster)?;
    Ok((cluster, client))
}

async fn ask<T: for<'de> Deserialize<'de>>(client: &Client, method: Method, query: &[(&str, &str)]) -> Result<T> {
    let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let request = Request { method, path: PATH.into(), query, ..Default::default() };
    let answer = client.call(request).await.context("the API server does not say how objects are sealed")?;
    let body = read_body(answer.into_body()).await.map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(serde_json::from_slice(&body)?)
}

fn render(report: &Report) -> String {
    let mut out = String::new();
    for kind in &report.kinds {
        for (sealed_by, count) in &kind.sealed_by {
            out.push_str(&format!("{:<9} {count} sealed by {sealed_by}\n", kind.resource));
        }
        if kind.stale > 0 {
            out.push_str(&format!("{:<9} {} would be sealed otherwise now\n", kind.resource, kind.stale));
        }
        for why in &kind.unreadable {
            out.push_str(&format!("{:<9} {why}\n", kind.resource));
        }
    }
    if out.is_empty() {
        out.push_str("nothing is sealed\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_sealed_how_many() {
        let report: Report = serde_json::from_value(serde_json::json!({
            "digest": "d", "settled": true,
            "kinds": [{"resource": "secrets", "sealedBy": {"k8s:enc:aesgcm:v1:key1": 2, "k8s:enc:aesgcm:v1:key2": 1},
                       "stale": 2, "unreadable": ["unable to transform key \"/registry/secrets/a/b\": why"]}],
        }))
        .expect("a report");
        assert_eq!(
            render(&report),
            "secrets   2 sealed by k8s:enc:aesgcm:v1:key1\nsecrets   1 sealed by k8s:enc:aesgcm:v1:key2\nsecrets   2 would be sealed otherwise now\nsecrets   unable to transform key \"/registry/secrets/a/b\": why\n"
        );
        assert_eq!(render(&Report::default()), "nothing is sealed\n");
    }
}
