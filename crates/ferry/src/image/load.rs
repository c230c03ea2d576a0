//! `ferry image load`: from an archive, or from docker or podman on this machine. Layers that
//! containerd has are not copied again.

use super::archive::{ArchivedImage, ImageArchive, read};
use super::{connect, render_size};
use crate::Place;
use crate::cluster::Cluster;
use crate::progress::say;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use ferry_kubelet::cri::Runtime;
use ferry_kubelet::cri::grpc::GrpcRuntime;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The kubelet's side of containerd learns of an image by an event.
const SEEN_WITHIN: Duration = Duration::from_secs(20);

/// Bring images into the cluster without a registry: from an archive of docker, podman or OCI,
/// from the standard input (-), or from docker or podman on this machine
#[derive(Args)]
pub struct LoadArgs {
    #[command(flatten)]
    place: Place,
    /// Archives, or - for the standard input; with --from, names of images
    #[arg(required = true, value_name = "FILE|IMAGE")]
    sources: Vec<String>,
    /// Take the images from an engine of this machine
    #[arg(long, value_enum)]
    from: Option<Engine>,
    /// The name of an image that has none in its archive
    #[arg(long, value_name = "IMAGE")]
    name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    Docker,
    Podman,
}

impl Engine {
    fn program(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

pub async fn run(args: LoadArgs) -> Result<()> {
    let (cluster, runtime) = connect(&args.place).await?;
    if args.name.is_some() && args.sources.len() > 1 {
        bail!("--name is for one image");
    }
    let mut files = Vec::new();
    match args.from {
        Some(engine) => files.push(save(engine, &args.sources)?),
        None => {
            for source in &args.sources {
                files.push(open(source)?);
            }
        }
    }
    for mut file in files {
        let archive = read(&mut file, args.name.as_deref())?;
        load(&cluster, &runtime, &archive, file).await?;
    }
    Ok(())
}

/// The archive as a file that can be read at any place.
fn open(source: &str) -> Result<File> {
    if source == "-" {
        return spool(&mut std::io::stdin().lock()).context("cannot read the standard input");
    }
    let path = Path::new(source);
    if !path.exists() && ferry_kubelet::image::name::parse(source).is_ok() {
        bail!("there is no file {source}; `ferry image load --from docker {source}` takes an image of docker's");
    }
    File::open(path).with_context(|| format!("cannot read {source}"))
}

/// In a file without a name, which is gone when the last who reads it is.
fn spool(from: &mut dyn Read) -> Result<File> {
    let mut file = tempfile::tempfile().context("cannot make a temporary file")?;
    std::io::copy(from, &mut file)?;
    Ok(file)
}

fn save(engine: Engine, images: &[String]) -> Result<File> {
    let program = engine.program();
    let mut command = Command::new(program);
    command.arg("save");
    if engine == Engine::Podman {
        command.args(["--format", "docker-archive"]);
        if images.len() > 1 {
            command.arg("--multi-image-archive");
        }
    }
    // A name is never taken for a flag.
    let mut child = command
        .arg("--")
        .args(images)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    say(&format!("reading {} from {program}", images.join(", ")));
    let spooled = child.stdout.take().context("it has no output")?;
    let file = spool(&mut { spooled })?;
    let output = child.wait_with_output().with_context(|| format!("{program} was lost"))?;
    if !output.status.success() {
        bail!("{program} save: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(file)
}

async fn load(cluster: &Cluster, runtime: &GrpcRuntime, archive: &ImageArchive, file: File) -> Result<()> {
    let ctr = crate::preflight::find_program("ctr").context("ctr is not installed: apt-get install -y containerd")?;
    let present = present_blobs(cluster, &ctr)?;
    let missing = archive.plan_copy(&present);
    for image in &archive.images {
        say(&format!("{}: {}", image.names.join(", "), describe(image, archive, &missing)));
    }
    import(cluster, &ctr, archive, &missing, file)?;
    for name in archive.images.iter().flat_map(|image| &image.names) {
        let deadline = Instant::now() + SEEN_WITHIN;
        while runtime.image_status(name).await?.is_none() {
            if Instant::now() > deadline {
                bail!("{name} was imported, and the runtime does not list it");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        say(&format!("loaded {name}"));
    }
    Ok(())
}

/// `5 layers, 4 already there, 1 to copy (1.2 MB)`.
fn describe(image: &ArchivedImage, archive: &ImageArchive, missing: &BTreeSet<String>) -> String {
    let copied: Vec<&String> = image.layers.iter().filter(|digest| missing.contains(*digest)).collect();
    let bytes = copied.iter().filter_map(|digest| archive.blobs.get(*digest)).map(super::archive::Blob::size).sum();
    let count = image.layers.len();
    let layers = if count == 1 { "layer" } else { "layers" };
    format!(
        "{count} {layers}, {} already there, {} to copy ({})",
        count - copied.len(),
        copied.len(),
        render_size(bytes)
    )
}

fn ctr_command(cluster: &Cluster, ctr: &Path) -> Command {
    let mut command = Command::new(ctr);
    command.arg("--address").arg(cluster.runtime_socket()).args(["--namespace", "k8s.io"]);
    command
}

fn present_blobs(cluster: &Cluster, ctr: &Path) -> Result<BTreeSet<String>> {
    let output = ctr_command(cluster, ctr).args(["content", "ls", "-q"]).output().context("cannot start ctr")?;
    if !output.status.success() {
        bail!("cannot list the content of containerd: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim().to_owned()).collect())
}

/// Blobs are named by their digests, and containerd refuses one that is not what its name says.
fn import(
    cluster: &Cluster,
    ctr: &PathBuf,
    archive: &ImageArchive,
    missing: &BTreeSet<String>,
    mut file: File,
) -> Result<()> {
    let mut child = ctr_command(cluster, ctr)
        .args(["images", "import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start ctr")?;
    let stdin = child.stdin.take().context("ctr takes no input")?;
    let layers: BTreeSet<&String> = archive.images.iter().flat_map(|image| &image.layers).collect();
    let total = missing.iter().filter(|digest| layers.contains(digest)).count();
    let mut done = 0;
    let written = archive.write(&mut file, missing, std::io::BufWriter::new(stdin), |digest, size| {
        if layers.contains(&digest.to_owned()) {
            done += 1;
            let short = digest.get(..19).unwrap_or(digest);
            say(&format!("  copied layer {done} of {total}: {short} ({})", render_size(size)));
        }
    });
    let output = child.wait_with_output().context("ctr was lost")?;
    if !output.status.success() {
        bail!("cannot import the images: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    written.context("cannot pass the images to ctr")
}
