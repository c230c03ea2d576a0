//! The programs inside ferry's own container images, in one static binary with no
//! dependency but the standard library: `pause` holds a pod's namespaces, `web` answers
//! requests and says which pod answered, `fetch` asks. `build.rs` compiles this file and
//! the ferry binary carries it, so that a cluster needs no registry to show itself.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::process::ExitCode;
use std::time::Duration;

mod signals;

const USAGE: &str = "usage: applets pause
       applets web [--port N]          answer GET / with this pod's name, /healthz with ok
       applets fetch URL [COUNT]       ask COUNT times and count who answered
       applets sleep                   wait to be told to stop
       applets exit CODE [MESSAGE]     say MESSAGE and leave with CODE";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["pause"] => signals::hold_and_reap(),
        ["sleep"] => signals::hold_and_reap(),
        ["web"] => web(8080),
        ["web", "--port", port] => match port.parse() {
            Ok(port) => web(port),
            Err(_) => fail(&format!("--port: {port:?} is not a port number")),
        },
        ["fetch", url] => fetch(url, 1),
        ["fetch", url, count] => match count.parse() {
            Ok(count) => fetch(url, count),
            Err(_) => fail(&format!("COUNT: {count:?} is not a number")),
        },
        ["exit", code, message @ ..] => {
            println!("{}", message.join(" "));
            ExitCode::from(code.parse().unwrap_or(1))
        }
        _ => fail(USAGE),
    }
}

fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}

/// Serves until SIGTERM, one thread a connection.
fn web(port: u16) -> ExitCode {
    signals::exit_on_term();
    let listener = match TcpListener::bind(("0.0.0.0", port)) {
        Ok(listener) => listener,
        Err(error) => return fail(&format!("cannot listen on port {port}: {error}")),
    };
    let name = std::fs::read_to_string("/etc/hostname")
        .or_else(|_| std::fs::read_to_string("/proc/sys/kernel/hostname"))
        .unwrap_or_else(|_| "unknown".into());
    let name = name.trim().to_owned();
    println!("{name} listens on port {port}");
    for stream in listener.incoming().flatten() {
        let name = name.clone();
        // A connection that cannot get a thread is dropped; the next one may.
        let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || answer(stream, &name));
    }
    ExitCode::SUCCESS
}

fn answer(stream: TcpStream, name: &str) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    // A request line longer than this is nobody's honest request.
    if (&mut reader).take(8192).read_line(&mut line).is_err() {
        return;
    }
    let path = line.split_whitespace().nth(1).unwrap_or("/").to_owned();
    loop {
        let mut header = String::new();
        match (&mut reader).take(8192).read_line(&mut header) {
            Ok(n) if n > 2 => {}
            _ => break,
        }
    }
    let body = if path == "/healthz" { "ok\n".to_owned() } else { format!("{name}\n") };
    println!("GET {path}");
    let mut stream = reader.into_inner();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}

/// Asks `count` times, each over a new connection, and prints how often each body came.
fn fetch(url: &str, count: u32) -> ExitCode {
    let mut answers: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..count {
        match get(url) {
            Ok(body) => *answers.entry(body.trim().to_owned()).or_default() += 1,
            Err(error) => {
                eprintln!("{url}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    for (body, times) in answers {
        if count == 1 { println!("{body}") } else { println!("{times:4} x {body}") }
    }
    ExitCode::SUCCESS
}

fn get(url: &str) -> Result<String, String> {
    let rest = url.strip_prefix("http://").ok_or("only http:// URLs are understood")?;
    let (host, path) = match rest.split_once('/') {
        Some((host, path)) => (host, format!("/{path}")),
        None => (rest, "/".to_owned()),
    };
    let address = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    let target = address
        .to_socket_addrs()
        .map_err(|e| format!("cannot resolve {host}: {e}"))?
        .find(|a| a.is_ipv4())
        .ok_or_else(|| format!("{host} has no address"))?;
    let mut stream =
        TcpStream::connect_timeout(&target, Duration::from_secs(5)).map_err(|e| format!("cannot connect to {target}: {e}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).map_err(|e| e.to_string())?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").map_err(|e| e.to_string())?;
    let mut answer = String::new();
    stream.take(1 << 20).read_to_string(&mut answer).map_err(|e| e.to_string())?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the answer is not HTTP")?;
    if !head.starts_with("HTTP/1.1 200") {
        return Err(head.lines().next().unwrap_or_default().to_owned());
    }
    Ok(body.to_owned())
}
