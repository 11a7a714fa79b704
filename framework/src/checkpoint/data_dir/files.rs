//! Files that are there as a whole or not at all, also after a loss of power.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Writes a file under a hidden name and renames it: whoever reads it finds what was there before, or all
/// of `text`.
pub(super) fn replace(directory: &Path, name: &str, text: &str) -> io::Result<()> {
    let draft = directory.join(format!(".{name}.tmp"));
    let mut file = File::create(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    drop(file);
    fs::rename(&draft, directory.join(name))?;
    sync_directory(directory)
}

/// What is in a file; `None` if there is none.
pub(super) fn read(directory: &Path, name: &str) -> io::Result<Option<Vec<u8>>> {
    match fs::read(directory.join(name)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes durable which names a directory has.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    // Elsewhere a directory is no file that could be opened.
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
