//! A file that is being written.

use super::error::PublicationError;
use super::link::sync_directory;
use crate::component::{Fatal, Result};
use crc32fast::Hasher;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) hidden: PathBuf,
    file: BufWriter<File>,
    /// Writing has failed, so the file may end in the middle of an event.
    pub(super) broken: bool,
    /// Of one that is to be committed: what it holds.
    content: Option<Content>,
    pub(super) unique: Uuid,
}

/// How long a file is, and its checksum so far.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) bytes: u64,
    pub(super) checksum: Hasher,
}

impl Draft {
    /// Makes the file that `name` calls by something that no other is called by.
    pub(super) fn create(directory: &Path, name: impl FnOnce(Uuid) -> String) -> Result<Self> {
        let unique = Uuid::now_v7();
        let hidden = directory.join(name(unique));
        match File::create_new(&hidden) {
            Ok(file) => {
                let file = BufWriter::with_capacity(64 * 1024, file);
                Ok(Self { hidden, file, broken: false, content: None, unique })
            }
            Err(source) => Err(Fatal::new(PublicationError::Write { path: hidden, source }).into()),
        }
    }

    /// One that is to be committed: as long as it is written nobody cleans it up.
    pub(super) fn for_a_commit(mut self) -> Self {
        // Where there are no locks it has none.
        drop(self.file.get_ref().try_lock());
        self.content = Some(Content::default());
        self
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.apply(|file| file.write_all(bytes))?;
        if let Some(content) = &mut self.content {
            content.bytes += bytes.len() as u64;
            content.checksum.update(bytes);
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        self.apply(Write::flush)
    }

    /// Writes out the rest; if `durable`, so that it outlives a loss of power.
    pub(super) fn finish(&mut self, durable: bool) -> Result<()> {
        self.apply(|file| {
            file.flush()?;
            if durable { file.get_ref().sync_all() } else { Ok(()) }
        })
    }

    /// As [`finish`](Self::finish), of one that is to be committed, with its name. Says what it holds.
    pub(super) fn seal(&mut self, directory: &Path) -> Result<Content> {
        if self.broken {
            let source = io::Error::other("a write before this has failed");
            return Err(Fatal::new(self.cannot_write(source)).into());
        }
        self.finish(true)?;
        sync_directory(directory).map_err(|source| Fatal::new(self.cannot_write(source)))?;
        Ok(self.content.take().unwrap_or_default())
    }

    /// Removes the file.
    pub(super) fn remove(self) -> Result<(), PublicationError> {
        let Self { hidden, file, .. } = self;
        // What is still in the buffer goes nowhere.
        drop(file.into_parts());
        remove_if_there(&hidden)
    }

    fn apply(&mut self, act: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
        act(&mut self.file).map_err(|source| {
            self.broken = true;
            Fatal::new(self.cannot_write(source)).into()
        })
    }

    fn cannot_write(&self, source: io::Error) -> PublicationError {
        PublicationError::Write { path: self.hidden.clone(), source }
    }
}

/// Removes a file. One that is gone already is no error.
pub(super) fn remove_if_there(path: &Path) -> Result<(), PublicationError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(PublicationError::Remove { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::test_support::TempDir;

    fn draft(dir: &TempDir) -> Draft {
        let mut draft = Draft::create(dir.path(), |_| ".draft".to_owned()).unwrap().for_a_commit();
        draft.write(b"a\n").unwrap();
        draft
    }

    #[test]
    fn what_is_sealed_is_in_the_file_while_it_is_open() {
        let dir = TempDir::new("sealed");
        let mut draft = draft(&dir);
        let content = draft.seal(dir.path()).unwrap();
        assert_eq!(dir.all(), [(".draft".to_owned(), "a\n".to_owned())]);
        assert_eq!((content.bytes, content.checksum.finalize()), (2, crc32fast::hash(b"a\n")));
    }

    #[test]
    fn what_could_not_be_written_is_never_sealed() {
        let dir = TempDir::new("broken");
        let mut draft = draft(&dir);
        draft.apply(|_| Err(ErrorKind::StorageFull.into())).unwrap_err();
        let error = draft.seal(dir.path()).unwrap_err();
        assert!(error.is::<Fatal>() && error.to_string().starts_with("cannot write"), "{error}");
    }

    #[test]
    fn what_is_removed_is_not_written_out_first() {
        let dir = TempDir::new("removed");
        let draft = draft(&dir);
        fs::hard_link(&draft.hidden, dir.file("other")).unwrap();
        draft.remove().unwrap();
        assert_eq!(dir.all(), [("other".to_owned(), String::new())]);
    }
}
