//! Variables from a file in a volume (`fileKeyRef`): the files that a container's environment names,
//! read below their volume through no link, and their format, a strict part of the shell's.
//!
//! Upstream: pkg/kubelet/util/env/env_util.go.

use super::ConfigError;
use crate::volume::Mounted;
use crate::volume::beneath::{Dir, components};
use ferry_api::view::core::v1::{ContainerView, FileKeySelectorView};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A file of variables that is larger than this is no such file.
const MAX_BYTES: u64 = 1 << 20;

/// The text of each file by the volume and the path, or the reason why it cannot be read.
pub type EnvFiles = HashMap<(String, String), Result<String, String>>;

/// The files that the container's environment names. Blocking.
pub fn read_all(container: ContainerView<'_>, mounted: &Mounted) -> EnvFiles {
    let sources = container.env().iter().filter_map(|variable| variable.value_from()?.file_key_ref());
    let read = |wanted: FileKeySelectorView<'_>| {
        let volume = mounted.volumes.get(wanted.volume_name());
        let text = match volume {
            Some(volume) => read_file(&volume.path, Path::new(wanted.path())).map_err(|error| error.to_string()),
            None => Err("the volume is not mounted".to_owned()),
        };
        ((wanted.volume_name().to_owned(), wanted.path().to_owned()), text)
    };
    sources.map(read).collect()
}

fn read_file(volume: &Path, path: &Path) -> io::Result<String> {
    let relative: PathBuf = components(path)?.iter().collect();
    let mut text = String::new();
    let file = Dir::open(volume)?.open_file(&relative)?;
    if file.take(MAX_BYTES + 1).read_to_string(&mut text)? as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("the file is larger than {MAX_BYTES} bytes")));
    }
    Ok(text)
}

/// The variable's value; nothing for an optional key that the file does not have. Pure.
pub fn value(wanted: FileKeySelectorView<'_>, files: &EnvFiles) -> Result<Option<String>, ConfigError> {
    let (volume, path, key) = (wanted.volume_name(), wanted.path(), wanted.key());
    let Some(read) = files.get(&(volume.to_owned(), path.to_owned())) else {
        return Err(ConfigError(format!("cannot find the volume {volume:?} referenced by FileKeyRef")));
    };
    let found = read.as_ref().map_err(String::clone).and_then(|text| find(text, key));
    match found {
        Err(why) => {
            tracing::debug!(%volume, %path, %why, "cannot read a file of variables");
            Err(ConfigError::new("couldn't parse env file"))
        }
        Ok(value) if !value.is_empty() => Ok(Some(value)),
        Ok(_) if wanted.optional() == Some(true) => Ok(None),
        Ok(_) => Err(ConfigError(format!("environment variable key {key:?} not found in file {path:?}"))),
    }
}

/// The value of the first assignment to the key; empty where there is none.
fn find(text: &str, key: &str) -> Result<String, String> {
    let wrong = |line: usize, why: &str| Err(format!("invalid environment variable format at line {line}: {why}"));
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    while let Some((number, line)) = lines.next() {
        let line = line.trim_start_matches([' ', '\t']);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { return wrong(number, "missing '='") };
        if name.trim_end_matches([' ', '\t']).is_empty() {
            return wrong(number, "empty variable name");
        }
        if name.ends_with([' ', '\t']) {
            return wrong(number, "whitespace before '=' is not allowed");
        }
        // As in a shell: a blank after the sign ends the value.
        if value.starts_with([' ', '\t']) {
            if name == key {
                return Ok(String::new());
            }
            continue;
        }
        let Some(mut rest) = value.strip_prefix('\'') else {
            return wrong(number, "value must be enclosed in single quotes");
        };
        let mut whole = String::new();
        let after = loop {
            if let Some((end, after)) = rest.split_once('\'') {
                whole.push_str(end);
                break after;
            }
            whole.push_str(rest);
            whole.push('\n');
            match lines.next() {
                Some((_, next)) => rest = next,
                None => return wrong(number, "unclosed single quote"),
            }
        };
        let after = after.trim_start_matches([' ', '\t']);
        if !after.is_empty() && !after.starts_with('#') {
            return wrong(number, "unexpected content after closing quote");
        }
        if name == key {
            return Ok(whole);
        }
    }
    Ok(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::MountedVolume;
    use serde_json::{Value, json};
    use std::os::unix::fs::symlink;

    #[test]
    fn values_stand_in_single_quotes() {
        let text = "# comment\n\n  A='1'\nB='two\nlines' # why\nC= 'x'\nA='again'\n";
        let check = |key: &str, expected: &str| assert_eq!(find(text, key).as_deref(), Ok(expected), "{key}");
        check("A", "1");
        check("B", "two\nlines");
        check("C", "");
        check("NONE", "");
        for wrong in ["A", "A=1", "A =''", "=''", "A='", "A='x' y"] {
            assert!(find(wrong, "Z").is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_are_read_below_their_volume_through_no_link() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let volume = place.path().join("v");
        std::fs::create_dir(&volume).expect("made");
        std::fs::write(place.path().join("host"), "A='host'").expect("written");
        std::fs::write(volume.join("own"), "A='own'").expect("written");
        symlink("../host", volume.join("link")).expect("linked");
        let mounted = Mounted {
            volumes: HashMap::from([("v".to_owned(), MountedVolume::directory(&volume, false))]),
            look_again: None,
        };
        let read = |source: Value| {
            let container = json!({ "env": [{ "name": "X", "valueFrom": { "fileKeyRef": source } }] });
            let files = read_all((&container).into(), &mounted);
            value((&source).into(), &files)
        };
        let own = |path: &str, key: &str| json!({ "volumeName": "v", "path": path, "key": key });
        assert_eq!(read(own("own", "A")), Ok(Some("own".to_owned())));
        for path in ["link", "../host", "none"] {
            assert_eq!(read(own(path, "A")), Err(ConfigError::new("couldn't parse env file")), "{path}");
        }
        let missing = Err(ConfigError::new("environment variable key \"B\" not found in file \"own\""));
        assert_eq!(read(own("own", "B")), missing);
        let mut optional = own("own", "B");
        optional["optional"] = true.into();
        assert_eq!(read(optional), Ok(None));
    }
}
