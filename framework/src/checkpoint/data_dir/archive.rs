//! Moving aside what a data directory holds, so that a job can begin anew.
//!
//! Everything but the lock and earlier archives is renamed into `archive/.<n>`, which becomes
//! `archive/<n>` in the end. If that is interrupted, the next start finds the hidden directory and goes on:
//! a directory is never taken for what is half of it.

use super::files::sync_directory;
use super::{ARCHIVE, LOCK};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What is in the directory, without the lock and what was archived before.
pub(super) fn contents(directory: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if name != LOCK && name != ARCHIVE {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Goes on with what was interrupted, if anything was.
pub(super) fn finish(directory: &Path) -> io::Result<()> {
    match numbers(directory)? {
        (_, Some(begun)) => archive_as(directory, begun).map(drop),
        (_, None) => Ok(()),
    }
}

/// Moves everything aside; where to, or `None` if there was nothing.
pub(super) fn archive(directory: &Path) -> io::Result<Option<PathBuf>> {
    if contents(directory)?.is_empty() {
        return Ok(None);
    }
    let (used, begun) = numbers(directory)?;
    archive_as(directory, begun.unwrap_or(used + 1)).map(Some)
}

fn archive_as(directory: &Path, number: u64) -> io::Result<PathBuf> {
    let archive = directory.join(ARCHIVE);
    let (begun, done) = (archive.join(format!(".{number}")), archive.join(number.to_string()));
    fs::create_dir_all(&begun)?;
    sync_directory(&archive)?;
    sync_directory(directory)?;
    for name in contents(directory)? {
        fs::rename(directory.join(&name), begun.join(&name))?;
    }
    sync_directory(&begun)?;
    sync_directory(directory)?;
    fs::rename(&begun, &done)?;
    sync_directory(&archive)?;
    Ok(done)
}

/// The highest number that an archive has, and that of the one that was begun.
fn numbers(directory: &Path) -> io::Result<(u64, Option<u64>)> {
    let (mut used, mut begun) = (0, None);
    let entries = match fs::read_dir(directory.join(ARCHIVE)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((0, None)),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let name = entry?.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Ok(number) = name.parse() {
            used = used.max(number);
        } else if let Some(Ok(number)) = name.strip_prefix('.').map(str::parse) {
            begun = Some(number);
        }
    }
    Ok((used, begun))
}
