//! [`TempDir`]: for what is kept only as long as a program runs.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A directory among the temporary files, which is removed in the end. Whoever uses it makes it.
#[derive(Debug)]
pub struct TempDir(PathBuf);

impl TempDir {
    /// One that `name` and the number of the process tell from others.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("streamwork-{name}-{}", process::id()));
        // One may be left of a process with the same number that was killed.
        drop(fs::remove_dir_all(&path));
        Self(path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // It is one of temporary files: nothing is lost if it stays.
        drop(fs::remove_dir_all(&self.0));
    }
}
