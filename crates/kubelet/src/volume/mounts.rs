//! The mount table: what is mounted below a directory, and unmounting it. Used where pods
//! end, and by ferry when a cluster is taken down.

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The mount points strictly below a directory, in the order they were mounted. The
/// directory must be a canonical path, because those of the table are.
pub fn below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut points = points()?;
    points.retain(|point| point.starts_with(directory) && point != directory);
    Ok(points)
}

/// Whether something is mounted on this very path, which must be canonical.
pub fn is_mount_point(path: &Path) -> io::Result<bool> {
    Ok(points()?.iter().any(|point| point == path))
}

/// Unmounts everything strictly below a directory, the innermost first, because a mount
/// with another one inside is busy. The directory may be reached through links, or be gone.
pub fn unmount_below(directory: &Path) -> io::Result<()> {
    let mut points = match std::fs::canonicalize(directory) {
        Ok(canonical) => below(&canonical)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    // A bind mount of a shared directory would pass the end of each mount inside it on to
    // the original, and with it take away the host's own disks.
    for point in &points {
        let _ = mount(None::<&str>, point, None::<&str>, MsFlags::MS_PRIVATE, None::<&str>);
    }
    points.reverse();
    points.sort_by_key(|point| std::cmp::Reverse(point.as_os_str().len()));
    for point in points {
        // Lazily: a process that still holds a file open must not keep the pod from going.
        match umount2(&point, MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW) {
            Ok(()) | Err(Errno::EINVAL | Errno::ENOENT) => {}
            Err(error) => {
                let why = format!("cannot unmount {}: {}", point.display(), error.desc());
                return Err(io::Error::new(io::Error::from(error).kind(), why));
            }
        }
    }
    Ok(())
}

/// The table of the calling thread, which may have a mount namespace of its own.
fn points() -> io::Result<Vec<PathBuf>> {
    Ok(parse(&std::fs::read("/proc/thread-self/mountinfo")?))
}

/// The fifth field of each line is the mount point. It need not be UTF-8.
fn parse(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    let fields = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    fields.map(|field| PathBuf::from(OsString::from_vec(unescape(field)))).collect()
}

/// Blanks, newlines and backslashes are written in octal, as `\040`.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *byte == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(code) => {
                out.push(code);
                rest = &after[3..];
            }
            None => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_unescaped_and_in_order() {
        let table = b"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / /run/a\\040b rw - tmpfs t rw\n\
            3 2 0:3 / /run/a\\040b/c\\134 rw - proc p rw\n4 2 0:3 / /run/\xff rw - proc p rw\n";
        let last = PathBuf::from(OsString::from_vec(b"/run/\xff".to_vec()));
        let expected = ["/", "/run/a b", "/run/a b/c\\"].map(PathBuf::from).into_iter().chain([last]);
        assert_eq!(parse(table), expected.collect::<Vec<_>>());
    }
}
