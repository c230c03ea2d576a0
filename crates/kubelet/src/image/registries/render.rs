//! containerd's form of a registries file: a directory for each registry with a hosts.toml in it.
//! Credentials are not part of it; they go with each pull. Pure but for [`write`].

use super::file::{RegistriesFile, Tls, split_endpoint};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The texts of hosts.toml by the name of their directory.
pub fn render(file: &RegistriesFile) -> BTreeMap<String, String> {
    let with_tls = file.configs.iter().filter(|(_, config)| config.tls.is_some()).map(|(host, _)| host);
    let hosts: BTreeSet<&String> = file.mirrors.keys().chain(with_tls).collect();
    hosts.into_iter().map(|host| (directory_of(host), render_host(file, host))).collect()
}

/// containerd looks into `_default` where there is no directory for a registry.
fn directory_of(host: &str) -> String {
    if host == "*" { "_default".into() } else { host.into() }
}

fn render_host(file: &RegistriesFile, host: &str) -> String {
    let mut out = "# Written by ferry from registries.yaml; changes here are lost.\n".to_owned();
    let tls = |of: &str| file.configs.get(of).and_then(|config| config.tls.as_ref());
    if host != "*" {
        // Docker Hub is not where its name says.
        let server = if host == "docker.io" { "registry-1.docker.io" } else { host };
        out += &format!("server = {}\n", quoted(&format!("https://{server}")));
        out += &tls(host).map(render_tls).unwrap_or_default();
    }
    for endpoint in file.mirrors.get(host).into_iter().flat_map(|mirror| &mirror.endpoint) {
        let Ok((scheme, of, path)) = split_endpoint(endpoint) else { continue };
        // The way of the API begins at /v2 unless the path says where.
        let path = if path.is_empty() || path.ends_with("/v2") { path.to_owned() } else { format!("{path}/v2") };
        out += &format!("\n[host.{}]\n", quoted(&format!("{scheme}://{of}{path}")));
        out += "capabilities = [\"pull\", \"resolve\"]\n";
        if !path.is_empty() {
            out += "override_path = true\n";
        }
        out += &tls(of).map(render_tls).unwrap_or_default();
    }
    out
}

fn render_tls(tls: &Tls) -> String {
    let text = |path: &Path| quoted(&path.to_string_lossy());
    let mut out = String::new();
    if let Some(ca) = &tls.ca_file {
        out += &format!("ca = {}\n", text(ca));
    }
    if let (Some(certificate), Some(key)) = (&tls.cert_file, &tls.key_file) {
        out += &format!("client = [[{}, {}]]\n", text(certificate), text(key));
    }
    if tls.insecure_skip_verify {
        out += "skip_verify = true\n";
    }
    out
}

/// A basic string of TOML, whose escapes are those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Makes a directory hold exactly these. A pull that reads meanwhile finds each file whole.
pub fn write(directory: &Path, rendered: &BTreeMap<String, String>) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if !rendered.contains_key(&*entry.file_name().to_string_lossy()) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    for (host, text) in rendered {
        let (path, temporary) = (directory.join(host).join("hosts.toml"), directory.join(host).join("hosts.toml.new"));
        if std::fs::read_to_string(&path).is_ok_and(|found| found == *text) {
            continue;
        }
        std::fs::create_dir_all(directory.join(host))?;
        std::fs::write(&temporary, text)?;
        std::fs::rename(&temporary, &path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::registries::file::parse;

    #[test]
    fn mirrors_and_authorities_become_hosts_files() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(directory.path().join("ca.crt"), "x").expect("written");
        let text = "mirrors:
  docker.io:
    endpoint: [https://m.example:5000, http://127.0.0.1:5001/hub]
  '*':
    endpoint: [https://all.example]
configs:
  m.example:5000:
    tls: { ca_file: ca.crt }
  own.example:
    tls: { insecure_skip_verify: true }
  secret.example:
    auth: { username: u, password: p }
";
        let rendered = render(&parse(text, directory.path()).expect("a good file"));
        assert_eq!(rendered.keys().collect::<Vec<_>>(), ["_default", "docker.io", "m.example:5000", "own.example"]);
        let ca = directory.path().join("ca.crt");
        let expected = format!(
            "# Written by ferry from registries.yaml; changes here are lost.
server = \"https://registry-1.docker.io\"

[host.\"https://m.example:5000\"]
capabilities = [\"pull\", \"resolve\"]
ca = \"{}\"

[host.\"http://127.0.0.1:5001/hub/v2\"]
capabilities = [\"pull\", \"resolve\"]
override_path = true
",
            ca.display()
        );
        assert_eq!(rendered["docker.io"], expected);
        assert!(rendered["own.example"].ends_with("server = \"https://own.example\"\nskip_verify = true\n"));
        assert!(!rendered["_default"].contains("server"));
        assert!(!rendered.values().any(|text| text.contains("secret")));
    }

    #[test]
    fn a_registry_that_is_no_longer_in_the_file_goes() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let of = |names: &[&str]| names.iter().map(|name| (name.to_string(), format!("# {name}"))).collect();
        write(directory.path(), &of(&["a", "b"])).expect("written");
        write(directory.path(), &of(&["b", "c"])).expect("written");
        let mut names: Vec<String> = std::fs::read_dir(directory.path())
            .expect("listed")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["b", "c"]);
        assert_eq!(std::fs::read_to_string(directory.path().join("c/hosts.toml")).expect("read"), "# c");
    }
}
