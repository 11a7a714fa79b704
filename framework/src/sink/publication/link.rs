//! How a finished file gets the name by which it is seen.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Renames to the first of the names that is free. It is never one that another takes meanwhile.
/// `hard_link` is [`fs::hard_link`], or what a test has in its place.
pub(super) fn rename_to_first_free(
    from: &Path,
    name: impl Fn(u64) -> PathBuf,
    hard_link: impl Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    for n in 0.. {
        let to = name(n);
        // A rename would overwrite; a second name for the file is refused where there is a first.
        match hard_link(from, &to) {
            Ok(()) => return fs::remove_file(from),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) if means_no_hard_links(&error) => {
                if reserve_and_rename(from, &to)? {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a file system says so that has no hard links. Where it is a matter of permission after all, what
/// is tried then fails with the same.
pub(super) fn means_no_hard_links(error: &io::Error) -> bool {
    // `PermissionDenied` is also `EPERM`, which is what Linux says of FAT.
    use ErrorKind::{CrossesDevices, PermissionDenied, Unsupported};
    matches!(error.kind(), Unsupported | PermissionDenied | CrossesDevices)
}

/// Renames over an empty file of its own, which is seen until then. Says whether the name was free.
pub(super) fn reserve_and_rename(from: &Path, to: &Path) -> io::Result<bool> {
    match File::create_new(to) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error),
    }
    fs::rename(from, to).map(|()| true).inspect_err(|_| {
        // What went wrong first is what is told.
        drop(fs::remove_file(to));
    })
}

/// Makes the names in a directory outlive a loss of power, where directories can be opened.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// Makes a directory, if it is missing, with those that it is in; if `durable`, so that they outlive a loss
/// of power.
pub(super) fn make_directory(path: &Path, durable: bool) -> io::Result<()> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(path)?;
    for parent in missing.iter().filter_map(|made| made.parent()).filter(|_| durable) {
        let here = parent.as_os_str().is_empty();
        sync_directory(if here { Path::new(".") } else { parent })?;
    }
    Ok(())
}
