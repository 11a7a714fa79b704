//! Files of JSON, one value on each line.

use super::publication::Publication;
use super::{Effect, Handle, Sink};
use crate::component::{Component, Context, Result};
use crate::event::Event;
use crate::id::CheckpointId;
use serde::Serialize;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

/// Writes each event as JSON on a line of its own, into files that appear when they are finished. What
/// it writes, [`Ndjson`](crate::Ndjson) reads.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::prelude::*;
///
/// #[derive(Event, Clone, Serialize, Deserialize)]
/// struct Vehicle {
///     kind: String,
///     axles: u8,
/// }
///
/// let directory = std::env::temp_dir().join(format!("tolls-{}", std::process::id()));
/// let job = Job::new("tolls");
/// let car = Vehicle { kind: "car".into(), axles: 2 };
/// let truck = Vehicle { kind: "truck".into(), axles: 3 };
/// job.source(FromIter::new([car, truck]))
///     .sink(NdjsonFiles::in_dir(&directory))
///     .named("vehicles");
/// Engine::new().run(job)?;
/// let text = std::fs::read_to_string(directory.join("vehicles-0-0.ndjson"))?;
/// assert_eq!(text, "{\"kind\":\"car\",\"axles\":2}\n{\"kind\":\"truck\",\"axles\":3}\n");
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Files
/// Each instance writes a file of its own, from its first event on, under a hidden name that begins with a
/// dot and is used once. At the end of the job it is synced to the disk and renamed, at once and whole, to
/// `{component}-{instance}-{n}.ndjson`, where n is the first number from 0 that is free: no file is ever
/// overwritten. An instance without events leaves no file. What is in a component's name beside letters,
/// digits, `-`, `_` and dots (a `/`, a blank, a dot at the beginning) is written as `%2F` is; past 150 bytes
/// the name is cut.
///
/// That is done by hard links. On a file system without them (FAT, some that are shared over a network) an
/// empty file takes the name first and is then replaced by the whole one, so a reader may meet it empty for
/// a moment, and a process that is killed then leaves it so.
///
/// A job that is stopped or fails, and an instance that is built anew after a panic, publish what they have
/// written, as well as they can. What a killed process leaves stays hidden, and nobody touches it.
///
/// # Files of checkpoints
/// In a job that takes checkpoints an instance writes a file for each of them, unless it has no event for it;
/// under exactly-once each event is in the visible files once, whatever fails. The file is synced to the disk, and
/// appears, at once and whole, when the checkpoint is published. Its name is one that no other file ever
/// has: `{component}-{instance}-{checkpoint}-{unique}.ndjson`, as in
/// `vehicles-0-00000000000000000017-019c51e0b7c27d21a83c5fe0f1d6a2b4.ndjson`. The checkpoint has 20 digits,
/// so the files of an instance are sorted by it; the last part is a UUID without its hyphens. So runs that
/// begin afresh, and several jobs, can write into one directory.
///
/// Until then the file is hidden: `.{component}-{instance}-{owner}-{unique}.ndjson`, where the owner is 16
/// digits that stand for the names of job and component. A start removes the hidden files of its own
/// components that no checkpoint holds, and no others. So **two jobs of the same name that write by components
/// of the same name need two directories**: each would take the other's for its own.
///
/// Nothing is published when an instance is dropped: its events come again. Whoever reads the files may move
/// or remove them; one that is removed between the moment when it appears and the moment when that is noted
/// is missed after a crash in between, and the error names it.
///
/// # Gathering
/// Events are gathered in 64 KiB; whenever there is nothing more to read they are written to the file.
///
/// # Errors
/// An event that can't be written as JSON is lost alone, with nothing of it in the file. The job fails if the
/// directory is missing and can't be made, and if writing, syncing or renaming fails; the error names the
/// file, which then stays hidden. What a checkpoint holds and cannot be published is an error that names it:
/// if neither the hidden file nor the visible one is there, if another file has the name, or if the hidden
/// one is no longer what it was, by its length and checksum.
pub struct NdjsonFiles<T> {
    files: Publication,
    line: Vec<u8>,
    events: PhantomData<fn(T)>,
}

impl<T> NdjsonFiles<T> {
    /// A sink that writes files into a directory, which is made if it is missing.
    #[must_use]
    pub fn in_dir(path: impl AsRef<Path>) -> Self {
        let files = Publication::in_dir(path.as_ref(), "ndjson");
        Self { files, line: Vec::new(), events: PhantomData }
    }
}

impl<T: 'static> Component for NdjsonFiles<T> {
    type Saved = ();

    fn name(&self) -> &str {
        "ndjson-files"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T: Event + Serialize> Sink for NdjsonFiles<T> {
    type In = T;

    const EFFECT: Effect = Effect::Committing;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.files.setup(ctx)
    }

    fn write(&mut self, event: T) -> Result<()> {
        // Only what is whole goes to the file.
        self.line.clear();
        serde_json::to_writer(&mut self.line, &event)?;
        self.line.push(b'\n');
        self.files.write(&self.line)
    }

    fn flush(&mut self) -> Result<()> {
        self.files.flush()
    }

    fn finish(&mut self) -> Result<()> {
        self.files.finish()
    }

    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Handle>> {
        let prepared = self.files.prepare(checkpoint)?;
        prepared.as_ref().map(Handle::new).transpose()
    }

    fn commit(&mut self, handle: Handle) -> Result<()> {
        self.files.commit(&handle.get()?)
    }

    fn discard(&mut self, handle: Handle) -> Result<()> {
        self.files.discard(&handle.get()?)
    }

    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()> {
        self.files.clean_up(owner, component)
    }
}

/// A clone has the same directory and no file.
impl<T> Clone for NdjsonFiles<T> {
    fn clone(&self) -> Self {
        Self { files: self.files.clone(), line: Vec::new(), events: PhantomData }
    }
}

impl<T> fmt::Debug for NdjsonFiles<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NdjsonFiles").field("files", &self.files).finish_non_exhaustive()
    }
}
