//! /logs/: the machine's own log files below one directory, as upstream serves /var/log. With
//! `enableSystemLogQuery` a query may name a service or a file
//! (upstream: pkg/kubelet/kubelet_server_journal.go).

use super::routes::Query;
use super::{Body, text};
use crate::volume::beneath::Dir;
use http::{Response, StatusCode};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The most of one file that is sent.
const MAX_BYTES: u64 = 256 << 20;
/// Upstream's maxServices.
const MAX_SERVICES: usize = 4;

/// Where the logs are; fixed, as upstream's nodeLogDir.
pub(super) const DIRECTORY: &str = "/var/log";

/// The answer to `/logs/<path>` without a query.
pub(super) async fn browse(directory: &'static str, path: String) -> Response<Body> {
    let read = tokio::task::spawn_blocking(move || read_entry(Path::new(directory), Path::new(&path))).await;
    match read.map_err(io::Error::other).flatten() {
        Ok(Found::File(bytes)) => bytes_of(bytes),
        Ok(Found::Directory(names)) => {
            let mut page = text(StatusCode::OK, render_listing(&names));
            page.headers_mut().insert("content-type", http::HeaderValue::from_static("text/html; charset=utf-8"));
            page
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => text(StatusCode::NOT_FOUND, "404 page not found\n"),
        Err(error) => text(StatusCode::FORBIDDEN, format!("{error}\n")),
    }
}

/// The answer to a query of services or of one file.
pub(super) async fn answer_query(directory: &'static str, query: &Query) -> Response<Body> {
    let asked = match LogQuery::parse(query) {
        Ok(asked) => asked,
        Err(why) => return text(StatusCode::BAD_REQUEST, format!("{why}\n")),
    };
    let read = tokio::task::spawn_blocking(move || asked.read(Path::new(directory))).await;
    match read {
        Ok(Ok(bytes)) => bytes_of(bytes),
        Ok(Err(why)) => text(StatusCode::BAD_REQUEST, format!("{why}\n")),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

fn bytes_of(bytes: Vec<u8>) -> Response<Body> {
    text(StatusCode::OK, String::from_utf8_lossy(&bytes))
}

enum Found {
    File(Vec<u8>),
    /// Names, those of directories with a slash at the end.
    Directory(Vec<String>),
}

/// Below the directory and through no link, whatever the path says. Blocking.
fn read_entry(directory: &Path, path: &Path) -> io::Result<Found> {
    let relative: PathBuf = crate::volume::beneath::components(path)?.iter().collect();
    let root = Dir::open(directory)?;
    match root.descend(&relative) {
        Ok(found) => {
            let mut names = Vec::new();
            for entry in found.read()? {
                let entry = entry?;
                let mark = if entry.file_type()?.is_dir() { "/" } else { "" };
                names.push(format!("{}{mark}", entry.file_name().to_string_lossy()));
            }
            names.sort();
            Ok(Found::Directory(names))
        }
        Err(_) => {
            let file = root.open_file(&relative)?;
            let kind = file.metadata()?.file_type();
            if kind.is_fifo() || kind.is_socket() || !kind.is_file() {
                return Err(io::Error::other("not a regular file"));
            }
            let mut bytes = Vec::new();
            file.take(MAX_BYTES).read_to_end(&mut bytes)?;
            Ok(Found::File(bytes))
        }
    }
}

fn render_listing(names: &[String]) -> String {
    let escape =
        |name: &str| name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&#34;");
    let link = |name: &String| {
        let href = percent_encoding::utf8_percent_encode(name, percent_encoding::CONTROLS).to_string();
        format!("<a href=\"{}\">{}</a>\n", escape(&href), escape(name))
    };
    format!(
        "<!doctype html>\n<meta name=\"viewport\" content=\"width=device-width\">\n<pre>\n{}</pre>\n",
        names.iter().map(link).collect::<String>()
    )
}

/// A query, resolved to files: machines without a journal keep each service's log in one.
#[derive(Debug, PartialEq)]
struct LogQuery {
    services: Vec<String>,
    file: Option<String>,
    has_options: bool,
}

impl LogQuery {
    fn parse(query: &Query) -> Result<Self, String> {
        let (mut files, mut services) = (Vec::new(), Vec::new());
        for one in query.all("query") {
            match one {
                one if one.contains(['/', '\\']) => files.push(one.clone()),
                one if !one.trim().is_empty() => services.push(one.clone()),
                _ => {}
            }
        }
        if files.is_empty() && services.is_empty() {
            return Err(format!("query: Invalid value: {:?}: may not be empty", query.all("query")));
        }
        let is_safe =
            |name: &&String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte));
        if let Some(unsafe_name) = services.iter().find(|name| !is_safe(name)) {
            return Err(format!("query: Invalid value: {unsafe_name:?}: input contains unsupported characters"));
        }
        if services.len() > MAX_SERVICES {
            return Err(format!("query: Too many: {}: must have at most {MAX_SERVICES} items", services.len()));
        }
        let options = ["sinceTime", "untilTime", "tailLines", "boot", "pattern"];
        let has_options = options.iter().any(|name| query.one(name).is_some_and(|value| !value.is_empty()));
        match (files.len(), services.is_empty()) {
            (0, _) => Ok(Self { services, file: None, has_options }),
            (_, false) => {
                Err(format!("query: Invalid value: \"{files:?}, {services:?}\": cannot specify a file and service"))
            }
            (1, true) if has_options => {
                Err(format!("query: Invalid value: {files:?}: cannot specify file with options"))
            }
            (1, true) => Ok(Self { services, file: files.pop(), has_options }),
            _ => Err(format!("query: Invalid value: {files:?}: cannot specify more than one file")),
        }
    }

    /// Blocking.
    fn read(&self, directory: &Path) -> Result<Vec<u8>, String> {
        if let Some(file) = &self.file {
            let found = read_entry(directory, Path::new(file.trim_start_matches('/')));
            return match found.map_err(|error| format!("query: Invalid value: {:?}: {error}", [file]))? {
                Found::File(bytes) => Ok(bytes),
                Found::Directory(_) => Err(format!("query: Invalid value: {:?}: it is a directory", [file])),
            };
        }
        if self.has_options {
            let names = &self.services;
            let why = format!(
                "\noptions present and query resolved to log files for {names:?}\ntry without specifying options\n"
            );
            return Ok(why.into_bytes());
        }
        let mut out = Vec::new();
        for service in &self.services {
            let names = [service.clone(), format!("{service}.log"), format!("{service}/{service}.log")];
            let found = names.iter().find_map(|name| match read_entry(directory, Path::new(name)) {
                Ok(Found::File(bytes)) => Some(bytes),
                _ => None,
            });
            out.extend(found.unwrap_or_else(|| format!("\nlog not found for {service}\n").into_bytes()));
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_the_directory_is_read() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let logs = place.path().join("log");
        std::fs::create_dir_all(logs.join("sub")).expect("made");
        std::fs::write(place.path().join("secret"), "s").expect("written");
        std::fs::write(logs.join("sub/a.log"), "a").expect("written");
        symlink("../secret", logs.join("link")).expect("linked");
        symlink("..", logs.join("up")).expect("linked");
        let read = |path: &str| read_entry(&logs, Path::new(path));
        assert!(matches!(read("sub/a.log"), Ok(Found::File(bytes)) if bytes == b"a"));
        assert!(matches!(read(""), Ok(Found::Directory(names)) if names == ["link", "sub/", "up"]));
        for path in ["link", "up/secret", "../secret", "/etc/passwd", "sub/../../secret", "none"] {
            assert!(read(path).is_err(), "{path}");
        }
        assert_eq!(render_listing(&["<b>".to_owned()]).matches("&lt;b&gt;").count(), 2);
    }

    #[test]
    fn a_query_names_services_or_one_file() {
        let parse = |text: &str| LogQuery::parse(&Query::parse(text));
        assert_eq!(parse("query=kubelet").map(|query| query.services), Ok(vec!["kubelet".to_owned()]));
        assert_eq!(parse("query=/a.log").map(|query| query.file), Ok(Some("/a.log".to_owned())));
        let refused = [
            "query=",
            "query=%20%20",
            "query=a;b",
            "query=/a&query=b",
            "query=/a&query=/b",
            "query=/a&tailLines=1",
            "query=a&query=b&query=c&query=d&query=e",
        ];
        for text in refused {
            assert!(parse(text).is_err(), "{text}");
        }
        let place = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(place.path().join("kubelet.log"), "hello").expect("written");
        let read = |text: &str| parse(text).expect("good").read(place.path()).expect("read");
        assert_eq!(read("query=kubelet"), b"hello");
        assert_eq!(read("query=nobody"), b"\nlog not found for nobody\n");
        assert!(parse("query=/../x").expect("a file").read(place.path()).is_err());
    }
}
