//! Files that are published when the checkpoint is that holds them.
//!
//! What is prepared is a draft, whole and durable, and [`Prepared`] says how it is to be called. To commit
//! it takes two steps, and the process may die before, between and after them:
//!
//! ```text
//! draft            prepared: the draft gets its second name, which is made durable
//! draft, target    the first name is removed
//! target           committed
//! ```
//!
//! So what is found says what is left to do. Both names are used once, so what has one of them is what was
//! prepared; its length and checksum are compared all the same, and what differs is not touched.

use super::draft::remove_if_there;
use super::error::PublicationError;
use super::link::{means_no_hard_links, sync_directory};
use super::names::Names;
use crate::component::{Fatal, Result};
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// A draft that is to be published: the names of both files in their directory, and what they hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sink) struct Prepared {
    pub(in crate::sink) draft: String,
    pub(in crate::sink) target: String,
    pub(in crate::sink) bytes: u64,
    /// CRC-32.
    pub(in crate::sink) checksum: u32,
}

/// What is found where a file should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// What was prepared.
    Whole,
    /// Something else.
    Other,
}

impl Prepared {
    /// Publishes the draft, unless it is published already.
    ///
    /// # Errors
    /// A [`Fatal`] one if there is nothing to publish, or its name is taken.
    pub(super) fn commit(
        &self,
        directory: &Path,
        hard_link: impl Fn(&Path, &Path) -> io::Result<()>,
    ) -> Result<()> {
        use Found::{Nothing, Other, Whole};
        let (draft, target) = (directory.join(&self.draft), directory.join(&self.target));
        match (self.find(&draft)?, self.find(&target)?) {
            (Whole, Nothing) => {
                give_name(&draft, &target, hard_link).map_err(|source| {
                    PublicationError::Publish { hidden: draft.clone(), source }
                })?;
            }
            (_, Whole) => {}
            (_, Other) => return Err(Fatal::new(PublicationError::Taken { draft, target }).into()),
            (Other, Nothing) => return Err(Fatal::new(PublicationError::Damaged { draft }).into()),
            (Nothing, Nothing) => {
                return Err(Fatal::new(PublicationError::Vanished { draft, target }).into());
            }
        }
        // Before the draft is gone: the file has a name whenever the power is lost. Who found the target
        // does not know whether that was done.
        sync_directory(directory)
            .map_err(|source| PublicationError::Publish { hidden: draft.clone(), source })?;
        Ok(remove_if_there(&draft)?)
    }

    fn find(&self, path: &Path) -> Result<Found> {
        let read = || {
            let mut file = match File::open(path) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
                Err(error) => return Err(error),
            };
            if file.metadata()?.len() != self.bytes {
                return Ok(Found::Other);
            }
            let is_same = checksum(&mut file)? == self.checksum;
            Ok(if is_same { Found::Whole } else { Found::Other })
        };
        Ok(read().map_err(|source| PublicationError::Read { path: path.to_owned(), source })?)
    }
}

fn checksum(file: &mut File) -> io::Result<u32> {
    let (mut hasher, mut block) = (Hasher::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(n) => hasher.update(&block[..n]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Makes a file be called `to`, which was free a moment ago. With hard links it may be called `from`, too,
/// and nothing is overwritten; without them a name that is used once is trusted to be free still.
fn give_name(
    from: &Path,
    to: &Path,
    hard_link: impl Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    match hard_link(from, to) {
        Err(error) if means_no_hard_links(&error) => fs::rename(from, to),
        other => other,
    }
}

/// Removes the drafts with such names, but for those that are being written.
pub(super) fn clean_up(directory: &Path, names: &Names) -> Result<()> {
    let cannot_read = |source| PublicationError::Read { path: directory.to_owned(), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // No instance was ever set up. Where something else is in the way, that is said by the one that is.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(error) => return Err(cannot_read(error).into()),
    };
    for entry in entries {
        let entry = entry.map_err(cannot_read)?;
        if names.is_draft(entry.file_name().as_ref()) && !is_being_written(&entry.path()) {
            remove_if_there(&entry.path())?;
        }
    }
    Ok(())
}

fn is_being_written(draft: &Path) -> bool {
    File::open(draft).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests;
