//! Container logs: finding the right file, and reading CRI's format out of it.
//!
//! A line of a log file is `time stream tag text`; the tag is `F` for a full line and
//! `P` for a part of one, whose rest follows in later lines.

use super::log_watch::FollowedLog;
use super::routes::Query;
use super::{Body, BoxError, text};
use crate::context::Context;
use crate::cri::v1;
use crate::log_line::LogLine;
use crate::pod;
use bytes::Bytes;
use ferry_api::view::core::v1::{ContainerStateTerminatedView, PodView};
use http::{Response, StatusCode};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use jiff::Timestamp;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, SeekFrom};
use tokio::sync::mpsc;

const CHUNK: usize = 64 * 1024;

#[derive(Clone, Debug, Default, PartialEq)]
struct Options {
    follow: bool,
    previous: bool,
    timestamps: bool,
    since: Option<Timestamp>,
    tail_lines: Option<u64>,
    limit_bytes: Option<u64>,
    /// `Stdout` or `Stderr` alone.
    stream: Option<&'static str>,
}

impl Options {
    fn parse(query: &Query, now: Timestamp) -> Result<Self, String> {
        let number = |name: &str| match query.one(name).filter(|text| !text.is_empty() && *text != "all") {
            Some(text) => text.parse::<u64>().map(Some).map_err(|_| "Invalid request.".to_string()),
            None => Ok(None),
        };
        let since = match (number("sinceSeconds")?, query.one("sinceTime")) {
            (Some(seconds), _) => {
                let ago = jiff::SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX / 2));
                Some(now.saturating_sub(ago).unwrap_or(Timestamp::MIN))
            }
            (None, Some(text)) => Some(text.parse().map_err(|_| "Unable to decode query.".to_string())?),
            (None, None) => None,
        };
        Ok(Self {
            follow: query.flag(&["follow"]),
            previous: query.flag(&["previous"]),
            timestamps: query.flag(&["timestamps"]),
            since,
            tail_lines: number("tailLines")?.or(number("tail")?),
            limit_bytes: number("limitBytes")?,
            stream: match query.one("stream") {
                Some("Stdout") => Some("stdout"),
                Some("Stderr") => Some("stderr"),
                _ => None,
            },
        })
    }
}

pub(super) async fn serve(context: Arc<Context>, pod: PodView<'_>, container: &str, query: &Query) -> Response<Body> {
    let options = match Options::parse(query, Timestamp::now()) {
        Ok(options) => options,
        Err(why) => return text(StatusCode::UNPROCESSABLE_ENTITY, format!("{{\"message\": {why:?}}}")),
    };
    if pod::find_container(pod, container).is_none() {
        return text(StatusCode::NOT_FOUND, format!("container {container:?} not found in pod {:?}", pod::name(pod)));
    }
    let id = match choose_container(pod, container, options.previous) {
        Ok(id) => id,
        Err(why) => return text(StatusCode::BAD_REQUEST, why),
    };
    let path = match context.runtime.container_status(&id).await {
        Ok(status) => PathBuf::from(status.log_path),
        Err(_) => {
            return text(StatusCode::BAD_REQUEST, format!("unable to retrieve container logs for containerd://{id}"));
        }
    };
    let (sender, receiver) = mpsc::channel::<Result<Frame<Bytes>, BoxError>>(8);
    tokio::spawn(async move {
        let reader = LogReader { context, id, path, options, sender, written: 0, line_open: false };
        if let Err(error) = reader.run().await {
            tracing::debug!(%error, "a log could not be read to its end");
        }
    });
    let body = StreamBody::new(tokio_stream::wrappers::ReceiverStream::new(receiver)).boxed_unsync();
    let mut response = Response::new(body);
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("text/plain"));
    response
}

/// Which instance of the container is meant, or why there is none to read from
/// (upstream: kubelet_pods.go validateContainerLogStatus).
fn choose_container(pod: PodView<'_>, container: &str, previous: bool) -> Result<String, String> {
    let named = format!("container {container:?} in pod {:?}", pod::name(pod));
    let status = pod.status();
    let statuses = status.container_statuses().iter().chain(status.init_container_statuses());
    let found = statuses.chain(status.ephemeral_container_statuses()).find(|status| status.name() == container);
    let Some(status) = found else { return Err(format!("{named} is not available")) };
    let (state, last) = (status.state(), status.last_state().terminated());
    let ended_id =
        |end: ContainerStateTerminatedView<'_>| Some(end.container_id().to_owned()).filter(|id| !id.is_empty());
    let last_id = last.and_then(ended_id);
    let id = if previous {
        last_id.ok_or_else(|| format!("previous terminated {named} not found"))?
    } else if state.running().is_some() {
        status.container_id().to_owned()
    } else if let Some(end) = state.terminated().or(last) {
        ended_id(end).or(last_id).ok_or_else(|| format!("{named} is terminated"))?
    } else {
        let why = match state.waiting().unwrap_or_default().reason() {
            "ErrImagePull" => "image can't be pulled",
            "ImagePullBackOff" => "trying and failing to pull image",
            other => other,
        };
        return Err(format!("{named} is waiting to start: {why}"));
    };
    Ok(id.split_once("://").map(|(_, id)| id.to_string()).unwrap_or(id))
}

struct LogReader {
    context: Arc<Context>,
    id: String,
    path: PathBuf,
    options: Options,
    sender: mpsc::Sender<Result<Frame<Bytes>, BoxError>>,
    written: u64,
    /// The last thing sent was a part of a line.
    line_open: bool,
}

/// Nobody listens any more, or enough has been said.
struct Enough;

impl LogReader {
    async fn run(mut self) -> std::io::Result<()> {
        let mut file = match self.open().await {
            Ok(file) => file,
            // A container that never wrote has no file, which is an empty log.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if let Some(lines) = self.options.tail_lines {
            let start = tail_start(&mut file, lines).await?;
            file.seek(SeekFrom::Start(start)).await?;
        }
        let mut pending = Vec::new();
        let mut chunk = vec![0; CHUNK];
        let mut last_look = false;
        // Before the first look, so that nothing comes between.
        let ended = self.options.follow.then(|| self.context.wakers.listen(&self.id));
        let mut followed = self.follow(&file)?;
        let mut position = file.stream_position().await?;
        loop {
            let count = file.read(&mut chunk).await?;
            if count > 0 {
                last_look = false;
                pending.extend_from_slice(&chunk[..count]);
                let before = pending.len();
                if self.send_lines(&mut pending).await.is_err() {
                    return Ok(());
                }
                position += (before - pending.len()) as u64;
                continue;
            }
            if !self.options.follow || last_look {
                self.context.served_logs.note(&self.id, position);
                return Ok(());
            }
            if self.is_rotated(&file).await {
                if let Ok(next) = self.open().await {
                    followed = self.follow(&next)?;
                    file = next;
                    pending.clear();
                    continue;
                }
            } else if !self.is_running().await {
                // What it wrote between the last read and its end is still to come.
                last_look = true;
                continue;
            }
            let (Some(followed), Some(ended)) = (&followed, &ended) else { return Ok(()) };
            tokio::select! {
                () = self.sender.closed() => return Ok(()),
                () = followed.changed() => {}
                () = ended.notified() => {}
            }
        }
    }

    fn follow(&self, file: &File) -> std::io::Result<Option<FollowedLog>> {
        self.options.follow.then(|| self.context.log_watch.follow(file)).transpose()
    }

    async fn open(&self) -> std::io::Result<File> {
        let (files, path) = (self.context.container_files(), self.path.clone());
        tokio::task::spawn_blocking(move || files.open_log(&path).map(File::from_std)).await?
    }

    async fn is_rotated(&self, file: &File) -> bool {
        let Ok(named) = self.open().await else { return false };
        let (Ok(open), Ok(named)) = (file.metadata().await, named.metadata().await) else {
            return false;
        };
        open.ino() != named.ino() || named.len() < open.len()
    }

    async fn is_running(&self) -> bool {
        match self.context.runtime.container_status(&self.id).await {
            Ok(status) => status.state == v1::ContainerState::ContainerRunning as i32,
            Err(error) => !error.is_not_found(),
        }
    }

    async fn send_lines(&mut self, pending: &mut Vec<u8>) -> Result<(), Enough> {
        let mut out = Vec::new();
        let mut done = 0;
        while let Some(length) = pending[done..].iter().position(|byte| *byte == b'\n') {
            let line = &pending[done..done + length];
            render_line(line, &self.options, &mut self.line_open, &mut out);
            done += length + 1;
        }
        pending.drain(..done);
        let mut full = false;
        if let Some(limit) = self.options.limit_bytes {
            let room = usize::try_from(limit - self.written.min(limit)).unwrap_or(usize::MAX);
            full = out.len() >= room;
            out.truncate(room);
        }
        self.written += out.len() as u64;
        if !out.is_empty() && self.sender.send(Ok(Frame::data(out.into()))).await.is_err() {
            return Err(Enough);
        }
        if full { Err(Enough) } else { Ok(()) }
    }
}

/// One line of the file as the reader wants it; a torn line is left out.
fn render_line(line: &[u8], options: &Options, line_open: &mut bool, out: &mut Vec<u8>) {
    let Some(line) = LogLine::parse(line) else { return };
    if options.stream.is_some_and(|wanted| wanted.as_bytes() != line.stream) {
        return;
    }
    if let Some(since) = options.since {
        let at = std::str::from_utf8(line.time).ok().and_then(|time| time.parse::<Timestamp>().ok());
        if at.is_none_or(|at| at < since) {
            return;
        }
    }
    if options.timestamps && !*line_open {
        out.extend_from_slice(line.time);
        out.push(b' ');
    }
    line.append_to(out);
    *line_open = line.is_partial;
}

/// Where the last `lines` lines of the file begin.
async fn tail_start(file: &mut File, lines: u64) -> std::io::Result<u64> {
    let length = file.metadata().await?.len();
    if lines == 0 {
        return Ok(length);
    }
    let mut end = length;
    let mut found = 0;
    let mut chunk = vec![0; CHUNK];
    while end > 0 {
        let start = end.saturating_sub(CHUNK as u64);
        let size = (end - start) as usize;
        file.seek(SeekFrom::Start(start)).await?;
        file.read_exact(&mut chunk[..size]).await?;
        for index in (0..size).rev() {
            let position = start + index as u64;
            // The newline that ends the file begins no line.
            if chunk[index] == b'\n' && position + 1 < length {
                found += 1;
                if found == lines {
                    return Ok(position + 1);
                }
            }
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::PodStatus;
    use serde_json::json;

    const LOG: &str = "2026-01-01T00:00:01.000000000Z stdout F one\n\
        2026-01-01T00:00:02.000000000Z stderr P tw\n\
        2026-01-01T00:00:02.500000000Z stderr F o\n\
        torn\n\
        2026-01-01T00:00:03.000000000Z stdout F three\n";

    fn render(options: &Options) -> String {
        let (mut out, mut open) = (Vec::new(), false);
        for line in LOG.lines() {
            render_line(line.as_bytes(), options, &mut open, &mut out);
        }
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn lines_are_joined_filtered_and_stamped() {
        assert_eq!(render(&Options::default()), "one\ntwo\nthree\n");
        let stamped = render(&Options { timestamps: true, ..Default::default() });
        assert!(stamped.contains("2026-01-01T00:00:02.000000000Z two\n"), "{stamped}");
        let since = "2026-01-01T00:00:03Z".parse().ok();
        assert_eq!(render(&Options { since, ..Default::default() }), "three\n");
        assert_eq!(render(&Options { stream: Some("stderr"), ..Default::default() }), "two\n");
    }

    #[tokio::test]
    async fn tails_begin_at_their_line() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("0.log");
        std::fs::write(&path, "a\nbb\nccc\n").expect("written");
        let mut file = File::open(&path).await.expect("opened");
        for (lines, expected) in [(0, 9), (1, 5), (2, 2), (3, 0), (9, 0)] {
            assert_eq!(tail_start(&mut file, lines).await.expect("read"), expected, "{lines}");
        }
    }

    #[test]
    fn options_are_read_and_refused() {
        let now = Timestamp::from_second(100).expect("a time");
        let parse = |text| Options::parse(&Query::parse(text), now);
        let options = parse("follow=true&tailLines=5&sinceSeconds=10&limitBytes=7&timestamps=1").expect("good");
        assert!(options.follow && options.timestamps);
        assert_eq!((options.tail_lines, options.limit_bytes), (Some(5), Some(7)));
        assert_eq!(options.since, Timestamp::from_second(90).ok());
        assert!(parse("tailLines=-1").is_err());
        assert!(parse("sinceTime=yesterday").is_err());
    }

    #[test]
    fn the_right_instance_is_read() {
        let with = |status| {
            let mut pod = pod(json!({ "containers": [{ "name": "a" }] }));
            pod.set_status(PodStatus::from(json!({ "containerStatuses": [status] })));
            pod
        };
        let status = |state, last| {
            json!({ "name": "a", "image": "", "imageID": "", "ready": false, "restartCount": 1,
            "containerID": "containerd://new", "state": state, "lastState": last })
        };
        let last = json!({ "terminated": { "exitCode": 1, "containerID": "containerd://old" } });
        let running = with(status(json!({ "running": {} }), last.clone()));
        assert_eq!(choose_container(running.view(), "a", false).as_deref(), Ok("new"));
        assert_eq!(choose_container(running.view(), "a", true).as_deref(), Ok("old"));
        let looping = with(status(json!({ "waiting": { "reason": "CrashLoopBackOff" } }), last));
        assert_eq!(choose_container(looping.view(), "a", false).as_deref(), Ok("old"));
        let waiting = with(status(json!({ "waiting": { "reason": "ImagePullBackOff" } }), json!({})));
        assert_eq!(
            choose_container(waiting.view(), "a", false),
            Err("container \"a\" in pod \"web\" is waiting to start: trying and failing to pull image".into())
        );
        assert_eq!(
            choose_container(waiting.view(), "a", true),
            Err("previous terminated container \"a\" in pod \"web\" not found".into())
        );
    }
}
