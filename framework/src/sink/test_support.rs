//! What the tests of sinks have in common.

use crate::component::{Context, Split};
use crate::id::InstanceId;
use crate::time::ManualClock;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Of an instance of a job that takes checkpoints.
pub(super) fn checkpointed(job: &str, component: &str, index: usize) -> Context {
    Context {
        job: job.into(),
        instance: InstanceId::new(component, index),
        parallelism: index + 1,
        split: Split { index, count: index + 1 },
        clock: Arc::new(ManualClock::new()),
        draining: Arc::default(),
        checkpointed: true,
        owner: job.into(),
    }
}

/// A directory that is removed in the end.
pub(super) struct TempDir(PathBuf);

impl TempDir {
    pub(super) fn new(test: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("streamwork-sink-{test}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn with(self, name: &str) -> Self {
        fs::write(self.file(name), name).unwrap();
        self
    }

    /// The names of all that is in it, and what they hold, sorted.
    pub(super) fn all(&self) -> Vec<(String, String)> {
        let names = self.0.read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        let mut all: Vec<_> =
            names.map(|n| (n.clone(), fs::read_to_string(self.file(&n)).unwrap())).collect();
        all.sort();
        all
    }

    /// Only what can be seen.
    pub(super) fn visible(&self) -> Vec<(String, String)> {
        self.all().into_iter().filter(|(name, _)| !name.starts_with('.')).collect()
    }

    pub(super) fn hidden(&self) -> Vec<(String, String)> {
        self.all().into_iter().filter(|(name, _)| name.starts_with('.')).collect()
    }

    /// Has only these files in it: what a killed process leaves behind.
    pub(super) fn put_back(&self, files: &[(String, String)]) {
        for (name, _) in self.all() {
            fs::remove_file(self.file(&name)).unwrap();
        }
        for (name, text) in files {
            fs::write(self.file(name), text).unwrap();
        }
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}
