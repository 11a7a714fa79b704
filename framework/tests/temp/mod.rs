//! A directory of a test's own.

#![allow(dead_code, reason = "not every test needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory among those for temporary files, which is removed in the end.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new(test: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("streamwork-{test}-it-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Puts a file into it.
    pub(crate) fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        fs::write(self.0.join(name), bytes).unwrap();
        self
    }

    /// Puts a named pipe into it.
    #[cfg(unix)]
    pub(crate) fn with_fifo(self, name: &str) -> Self {
        assert!(
            std::process::Command::new("mkfifo").arg(self.0.join(name)).status().unwrap().success()
        );
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of all that is in it, sorted; hidden ones, too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = self.0.read_dir().unwrap();
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries.map(|e| name(e).into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
