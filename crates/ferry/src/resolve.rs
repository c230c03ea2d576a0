//! The one path by which a cluster's directory is known, whatever the user typed. The flags
//! of `Place` are read through it, and `cluster.rs` compares by it.
//!
//! The mount table and containerd's processes name resolved paths only. A directory that is
//! reached through a link, or from the working directory, would be found in neither.

use clap::builder::{PathBufValueParser, TypedValueParser};
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows in one path.
const MAX_LINKS: usize = 40;

/// The absolute path without links. The directory need not exist yet; the part of it that
/// does decides.
pub fn resolve(directory: &Path) -> io::Result<PathBuf> {
    resolve_within(directory, MAX_LINKS)
}

/// A path on the command line, resolved.
pub fn parser() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|directory: PathBuf| resolve(&directory))
}

fn resolve_within(directory: &Path, links_left: usize) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(directory)?;
    for ancestor in absolute.ancestors() {
        let resolved = match std::fs::canonicalize(ancestor) {
            Ok(resolved) => resolved,
            Err(error) if error.kind() == io::ErrorKind::NotFound => match std::fs::read_link(ancestor) {
                // A link to a directory that is yet to be made, or was removed by `uninstall`.
                Ok(target) if links_left > 0 => {
                    let beside = ancestor.parent().unwrap_or(Path::new("/"));
                    resolve_within(&beside.join(target), links_left - 1)?
                }
                Ok(_) => return Err(io::Error::other("too many links")),
                Err(_) => continue,
            },
            Err(error) => return Err(error),
        };
        let missing = absolute.strip_prefix(ancestor).map_err(io::Error::other)?;
        if missing.components().any(|part| part == Component::ParentDir) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "'..' follows a directory that does not exist"));
        }
        return Ok(resolved.join(missing).components().collect());
    }
    Err(io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_resolved_also_where_nothing_is_yet() {
        let place = tempfile::tempdir().expect("a directory");
        let real = std::fs::canonicalize(place.path()).expect("there").join("real");
        std::fs::create_dir(&real).expect("made");
        let at = |name: &str| place.path().join(name);
        symlink("real", at("link")).expect("linked");
        symlink("real/later", at("dangling")).expect("linked");
        symlink("round", at("round")).expect("linked");
        assert_eq!(resolve(&at("link")).expect("resolved"), real);
        assert_eq!(resolve(&at("link/data/x")).expect("resolved"), real.join("data/x"));
        assert_eq!(resolve(&at("dangling/x")).expect("resolved"), real.join("later/x"));
        assert_eq!(resolve(&at("link/../real/x")).expect("resolved"), real.join("x"));
        for wrong in ["absent/../x", "round"] {
            assert!(resolve(&at(wrong)).is_err(), "{wrong}");
        }
        let here = std::env::current_dir().expect("somewhere");
        assert_eq!(resolve(Path::new("no-such-directory/x")).expect("resolved"), here.join("no-such-directory/x"));
    }
    #[test]
    fn flags_that_lead_through_a_link_name_the_real_directories() {
        use clap::Parser;
        let place = tempfile::tempdir().expect("a directory");
        let real = std::fs::canonicalize(place.path()).expect("there").join("real");
        std::fs::create_dir(&real).expect("made");
        symlink(&real, place.path().join("link")).expect("linked");
        let (data, run) = (place.path().join("link/data"), place.path().join("link"));
        let words =
            ["ferry".as_ref(), "status".as_ref(), "--data-dir".as_ref(), data.as_os_str(), "--run-dir".as_ref()];
        let parsed = crate::Cli::try_parse_from(words.into_iter().chain([run.as_os_str()])).expect("parsed");
        let crate::Verb::Status(place) = parsed.verb else { panic!("another verb") };
        assert_eq!((place.data_dir, place.run_dir), (real.join("data"), Some(real)));
    }
}
