//! hostPath: is what the pod wants there, and of the kind it says.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

/// Checks by type, and makes what `…OrCreate` asks for.
pub(super) fn check(path: &str, kind: &str) -> Result<(), String> {
    let target = Path::new(path);
    let meta = std::fs::metadata(target).ok();
    let complain = |what: &str| Err(format!("hostPath type check failed: {path} is not {what}"));
    match kind {
        "" => Ok(()),
        "DirectoryOrCreate" => match meta {
            Some(meta) if meta.is_dir() => Ok(()),
            Some(_) => complain("a directory"),
            None => make(std::fs::create_dir_all(target), target, 0o755),
        },
        "FileOrCreate" => match meta {
            Some(meta) if meta.is_file() => Ok(()),
            Some(_) => complain("a file"),
            None => make(std::fs::File::create(target).map(drop), target, 0o644),
        },
        "Directory" if meta.as_ref().is_some_and(|m| m.is_dir()) => Ok(()),
        "Directory" => complain("a directory"),
        "File" if meta.as_ref().is_some_and(|m| m.is_file()) => Ok(()),
        "File" => complain("a file"),
        "Socket" if meta.as_ref().is_some_and(|m| m.file_type().is_socket()) => Ok(()),
        "Socket" => complain("a socket file"),
        "CharDevice" if meta.as_ref().is_some_and(|m| m.file_type().is_char_device()) => Ok(()),
        "CharDevice" => complain("a character device"),
        "BlockDevice" if meta.as_ref().is_some_and(|m| m.file_type().is_block_device()) => Ok(()),
        "BlockDevice" => complain("a block device"),
        other => Err(format!("{other} is an invalid volume type")),
    }
}

fn make(made: std::io::Result<()>, path: &Path, mode: u32) -> Result<(), String> {
    made.and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)))
        .map_err(|error| format!("cannot make {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_checked_and_made() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        assert_eq!(check(&at("no"), ""), Ok(()));
        assert!(check(&at("no"), "Directory").is_err_and(|why| why.ends_with("is not a directory")));
        assert_eq!(check(&at("d/e"), "DirectoryOrCreate"), Ok(()));
        assert_eq!(check(&at("d/e"), "Directory"), Ok(()));
        assert_eq!(check(&at("f"), "FileOrCreate"), Ok(()));
        assert_eq!(check(&at("f"), "File"), Ok(()));
        assert!(check(&at("f"), "Socket").is_err());
        assert!(check(&at("f"), "Wrong").is_err());
    }
}
