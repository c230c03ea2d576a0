//! `ferry logs`: what ferry and its containerd have logged, and what they log from now on.
//! Logs of containers are `kubectl logs`'.

use crate::cluster::Cluster;
use crate::rotating_file::{MAX_FILES, numbered};
use crate::{Place, daemon};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Between two looks at a file that is followed.
const FOLLOW_EVERY: Duration = Duration::from_millis(200);

#[derive(Args)]
pub struct LogsArgs {
    #[command(flatten)]
    place: Place,
    /// Go on with what is logged from now on
    #[arg(short, long)]
    follow: bool,
    /// Only so many of the newest lines
    #[arg(long, value_name = "LINES")]
    tail: Option<usize>,
    /// Whose log
    #[arg(long, value_enum, default_value_t = Component::Ferry)]
    component: Component,
}

#[derive(Clone, Copy, ValueEnum)]
enum Component {
    Ferry,
    Containerd,
}

pub async fn run(args: LogsArgs) -> Result<()> {
    let Some(cluster) = Cluster::load(&args.place)? else {
        bail!("there is no cluster in {}; `ferry up` makes one", args.place.data_dir.display());
    };
    let path = match args.component {
        Component::Ferry => cluster.log_file(),
        Component::Containerd if cluster.runtime_endpoint.is_some() => {
            bail!("--component: ferry did not start this cluster's container runtime and has no log of it")
        }
        Component::Containerd => cluster.containerd_log_file(),
    };
    let (mut text, mut position) = read_all(&path)?;
    if let Some(lines) = args.tail {
        text = last_lines(&text, lines).to_vec();
    }
    if print(&text) == Reader::Gone || !args.follow {
        return Ok(());
    }
    loop {
        tokio::time::sleep(FOLLOW_EVERY).await;
        let (more, next) = read_more(&path, &position)?;
        position = next;
        if print(&more) == Reader::Gone {
            break;
        }
        if more.is_empty() && daemon::running_pid(&cluster)?.is_none() && !cluster.log_file().exists() {
            break;
        }
    }
    Ok(())
}

#[derive(PartialEq, Eq)]
enum Reader {
    There,
    Gone,
}

fn print(text: &[u8]) -> Reader {
    let mut out = std::io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => Reader::There,
        Err(_) => Reader::Gone,
    }
}

/// Up to where a file has been read. A rotated file has another inode, a cut one is shorter.
#[derive(Debug, Default, PartialEq, Eq)]
struct Position {
    inode: u64,
    offset: u64,
}

/// Everything that is kept, the oldest first.
fn read_all(path: &Path) -> Result<(Vec<u8>, Position)> {
    let mut text = Vec::new();
    for number in (1..MAX_FILES).rev() {
        text.extend(read_from(&numbered(path, number), &Position::default())?.0);
    }
    let (newest, position) = read_from(path, &Position::default())?;
    text.extend(newest);
    Ok((text, position))
}

/// The lines since then, the end of a file that was rotated meanwhile included.
fn read_more(path: &Path, from: &Position) -> Result<(Vec<u8>, Position)> {
    let (mut text, position) = read_from(path, from)?;
    if from.inode != 0 && position.inode != from.inode {
        let (mut rest, rotated) = read_from(&numbered(path, 1), from)?;
        if rotated.inode == from.inode {
            rest.append(&mut text);
            text = rest;
        }
    }
    Ok((text, position))
}

fn read_from(path: &Path, from: &Position) -> Result<(Vec<u8>, Position)> {
    let named = |path: &Path| format!("cannot read {}", path.display());
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), Position::default())),
        Err(error) => return Err(error).with_context(|| named(path)),
    };
    let meta = file.metadata().with_context(|| named(path))?;
    let goes_on = meta.ino() == from.inode && meta.len() >= from.offset;
    let offset = if goes_on { from.offset } else { 0 };
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(offset)).with_context(|| named(path))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).with_context(|| named(path))?;
    let position = Position { inode: meta.ino(), offset: offset + text.len() as u64 };
    Ok((text, position))
}

fn last_lines(text: &[u8], lines: usize) -> &[u8] {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let start = match lines {
        0 => text.len(),
        lines => {
            body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').nth(lines - 1).map_or(0, |(at, _)| at + 1)
        }
    };
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotating_file::{RotatingFile, cut_if_large};

    #[test]
    fn the_last_lines_are_whole_ones() {
        let text = b"a\nb\nc\n";
        let last = |lines| String::from_utf8_lossy(last_lines(text, lines)).into_owned();
        assert_eq!(
            (last(0), last(1), last(2), last(9)),
            ("".into(), "c\n".into(), "b\nc\n".into(), "a\nb\nc\n".into())
        );
        assert_eq!(last_lines(b"a\nb", 1), b"b");
        assert_eq!(last_lines(b"", 3), b"");
    }

    #[test]
    fn a_log_is_followed_across_rotations_and_cuts_without_a_line_twice() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("ferry.log");
        let mut log = RotatingFile::new(&path, 60, |_| {});
        let (mut seen, mut position) = read_all(&path).expect("read");
        for n in 0..20 {
            log.append(format!("line number {n:02}\n").as_bytes());
            let (more, next) = read_more(&path, &position).expect("read");
            seen.extend(more);
            position = next;
        }
        let expected: String = (0..20).map(|n| format!("line number {n:02}\n")).collect();
        assert_eq!(String::from_utf8_lossy(&seen), expected);
        let (all, _) = read_all(&path).expect("read");
        assert!(expected.ends_with(&*String::from_utf8_lossy(&all)) && all.len() > 60);

        assert!(cut_if_large(&path, 1).expect("cut"));
        let mut theirs = crate::rotating_file::open(&path).expect("opened");
        theirs.write_all(b"on\n").expect("written");
        assert_eq!(read_more(&path, &position).expect("read").0, b"on\n");
    }
}
