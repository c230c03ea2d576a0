//! ferry under systemd: the unit that `ferry up --systemd` prints, and the word to systemd
//! that the cluster is ready.

use crate::Place;
use crate::kubeconfig;
use anyhow::{Context, Result};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

/// The unit for the command line of this process.
pub fn unit(place: &Place) -> Result<String> {
    let program = std::env::current_exe().context("cannot tell where this program is")?;
    let directory = std::env::current_dir().context("cannot tell the working directory")?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(plan_arguments(&arguments, place, kubeconfig::path().as_deref()));
    Ok(render_unit(&words, &directory))
}

/// The flags that were given, and those that came from the environment, which systemd does
/// not pass on.
fn plan_arguments(given: &[String], place: &Place, kubeconfig: Option<&Path>) -> Vec<String> {
    let mut words: Vec<String> =
        given.iter().filter(|word| !["--systemd", "-d", "--detach"].contains(&word.as_str())).cloned().collect();
    let mut add = |flag: &str, value: Option<&Path>| {
        let is_given = given.iter().any(|word| word == flag || word.starts_with(&format!("{flag}=")));
        if let Some(value) = value.filter(|_| !is_given) {
            words.extend([flag.to_owned(), value.to_string_lossy().into_owned()]);
        }
    };
    add("--data-dir", Some(&place.data_dir));
    add("--run-dir", place.run_dir.as_deref());
    add("--kubeconfig", kubeconfig);
    words
}

fn render_unit(words: &[String], directory: &Path) -> String {
    let command: Vec<String> = words.iter().map(|word| quote(word)).collect();
    format!(
        "\
# Made by `ferry up --systemd`.
[Unit]
Description=ferry, a Kubernetes cluster in one process
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
ExecStart={command}
WorkingDirectory={directory}
# Stopping or restarting the unit ends ferry alone: containerd and the pods go on, and the
# next start takes them over. `ferry down` stops them too.
KillMode=process
Restart=on-failure
RestartSec=2
TimeoutStartSec=300
Delegate=yes
LimitNOFILE=1048576
TasksMax=infinity

[Install]
WantedBy=multi-user.target
",
        command = command.join(" "),
        directory = quote(&directory.to_string_lossy()),
    )
}

/// A word as systemd reads it: `%` and `$` begin something else there.
fn quote(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    if !escaped.is_empty() && escaped.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:%".contains(c)) {
        return escaped;
    }
    format!("\"{escaped}\"")
}

/// Reports to the systemd that started this process that the cluster is ready. Where none
/// did, or it does not listen, nobody waits for it.
pub fn report_ready() {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send(socket.as_encoded_bytes(), b"READY=1") {
        tracing::warn!(%error, "cannot report to systemd that the cluster is ready");
    }
}

fn send(socket: &[u8], message: &[u8]) -> std::io::Result<()> {
    let address = match socket.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(String::from_utf8_lossy(socket).as_ref())?,
    };
    UnixDatagram::unbound()?.send_to_addr(message, &address).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_unit_starts_this_command_and_leaves_the_pods_when_it_stops() {
        let place = Place { data_dir: "/srv/k8s".into(), run_dir: Some("/run/k8s".into()) };
        let given = words("up --systemd -d --port 7000 --data-dir=/srv/k8s");
        let planned = plan_arguments(&given, &place, Some(Path::new("/root/.kube/config")));
        assert_eq!(
            planned,
            words("up --port 7000 --data-dir=/srv/k8s --run-dir /run/k8s --kubeconfig /root/.kube/config")
        );
        let unit = render_unit(&[vec!["/usr/local/bin/ferry".to_owned()], planned].concat(), Path::new("/root"));
        for line in [
            "Type=notify",
            "ExecStart=/usr/local/bin/ferry up --port 7000 --data-dir=/srv/k8s --run-dir /run/k8s --kubeconfig /root/.kube/config",
            "WorkingDirectory=/root",
            "KillMode=process",
            "Restart=on-failure",
            "WantedBy=multi-user.target",
        ] {
            assert!(unit.lines().any(|have| have == line), "{line} in\n{unit}");
        }
        let sections: Vec<&str> = unit.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(sections, ["[Unit]", "[Service]", "[Install]"]);
    }

    #[test]
    fn words_reach_the_program_as_they_are() {
        for (word, expected) in [
            ("/a/b-c_d.e=1", "/a/b-c_d.e=1"),
            ("two words", "\"two words\""),
            ("50%", "50%%"),
            ("$HOME", "\"$$HOME\""),
            ("say \"x\\y\"", "\"say \\\"x\\\\y\\\"\""),
            ("", "\"\""),
        ] {
            assert_eq!(quote(word), expected);
        }
    }

    #[test]
    fn systemd_is_told_by_a_file_or_by_a_name() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("notify");
        let by_name = format!("ferry-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&by_name).expect("an address");
        for (listener, name) in [
            (UnixDatagram::bind(&path).expect("bound"), path.to_string_lossy().into_owned()),
            (UnixDatagram::bind_addr(&address).expect("bound"), format!("@{by_name}")),
        ] {
            send(name.as_bytes(), b"READY=1").expect("sent");
            let mut buffer = [0; 64];
            let length = listener.recv(&mut buffer).expect("received");
            assert_eq!(&buffer[..length], b"READY=1");
        }
        assert!(send(b"/nonexistent/notify", b"READY=1").is_err());
    }
}
