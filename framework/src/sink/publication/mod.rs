//! Files that nobody sees before they are finished: how they are named, written and published.
//!
//! A file is written as `.{component}-{instance}-{unique}.{extension}`, and when it is finished it becomes
//! `{component}-{instance}-{n}.{extension}`, where n is the first number that is free, from 0. So who
//! lists the directory without hidden files sees only whole ones; none is ever overwritten; and what a
//! process leaves that was killed stays hidden, under a name that no other has.
//!
//! The file gets its second name as a hard link, which is refused where the name is taken. On a file system
//! without hard links an empty file takes the name first, and is renamed over: for that moment it is seen,
//! and a process that is killed then leaves it.
//!
//! Under checkpoints a file ends at each of them. It stays hidden until the checkpoint is published, and
//! then it gets a name that no other ever has: [`commit`] tells how, and [`names`] what it is called.

mod commit;
mod draft;
mod error;
mod link;
mod names;

pub(super) use commit::Prepared;

use super::not_set_up::NotSetUp;
use crate::component::{Context, Fatal, Result, with_causes};
use crate::id::CheckpointId;
use draft::Draft;
use error::PublicationError;
use link::{make_directory, rename_to_first_free, sync_directory};
use names::{Names, file_name};
use std::fs;
use std::path::{Path, PathBuf};

/// The files that one instance publishes in a directory, one after the other.
///
/// The file at hand is published when this is dropped, too; under checkpoints it is removed then. A clone
/// has the same directory, and is not set up.
#[derive(Debug)]
pub(super) struct Publication {
    directory: PathBuf,
    extension: &'static str,
    seat: Option<Seat>,
    draft: Option<Draft>,
}

/// Whose files they are.
#[derive(Debug)]
struct Seat {
    ctx: Context,
    /// What their names begin with.
    stem: String,
    /// What they are called, if they are to be committed.
    committed: Option<Names>,
}

impl Publication {
    pub(super) fn in_dir(directory: &Path, extension: &'static str) -> Self {
        // A path that is empty is where the process is.
        let here = directory.as_os_str().is_empty();
        let directory = if here { PathBuf::from(".") } else { directory.to_owned() };
        Self { directory, extension, seat: None, draft: None }
    }

    /// Makes the directory, if it is missing.
    pub(super) fn setup(&mut self, ctx: &Context) -> Result<()> {
        if self.is_committed() {
            self.abandon();
        }
        make_directory(&self.directory, ctx.is_checkpointed()).map_err(|source| {
            Fatal::new(PublicationError::Directory { path: self.directory.clone(), source })
        })?;
        let component = ctx.instance().component.as_str();
        let stem = format!("{}-{}", file_name(component), ctx.index());
        let names = Names::new(ctx.owner(), component, self.extension);
        let committed = ctx.is_checkpointed().then_some(names);
        self.seat = Some(Seat { ctx: ctx.clone(), stem, committed });
        Ok(())
    }

    /// Whether the next write begins a file.
    pub(super) fn is_at_start(&self) -> bool {
        self.draft.is_none()
    }

    /// Adds all of `bytes` to the file at hand, which is made if there is none. An error is fatal.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.draft.is_none() {
            self.draft = Some(self.create()?);
        }
        match &mut self.draft {
            Some(draft) => draft.write(bytes),
            None => Ok(()),
        }
    }

    fn create(&self) -> Result<Draft> {
        let Seat { ctx, stem, committed } =
            self.seat.as_ref().ok_or_else(|| Fatal::new(NotSetUp))?;
        let directory = &self.directory;
        match committed {
            Some(names) => Draft::create(directory, |unique| names.draft(ctx.index(), unique))
                .map(Draft::for_a_commit),
            None => {
                let name = |unique| format!(".{stem}-{unique}.{}", self.extension);
                Draft::create(directory, name)
            }
        }
    }

    /// Writes through what is buffered. An error is fatal.
    pub(super) fn flush(&mut self) -> Result<()> {
        match &mut self.draft {
            Some(draft) => draft.flush(),
            None => Ok(()),
        }
    }

    /// The end of the job: publishes the file at hand, so that it outlives a loss of power. Under
    /// checkpoints the last of them does.
    pub(super) fn finish(&mut self) -> Result<()> {
        if self.is_committed() { self.flush() } else { self.publish(true) }
    }

    /// Publishes the file at hand, if there is one; if `durable`, so that it outlives a loss of power. An
    /// error is fatal; the file stays hidden then.
    fn publish(&mut self, durable: bool) -> Result<()> {
        let (Some(mut draft), Some(seat)) = (self.draft.take(), &self.seat) else { return Ok(()) };
        draft.finish(durable)?;
        let (directory, stem, extension) = (&self.directory, &seat.stem, self.extension);
        let name = |n: u64| directory.join(format!("{stem}-{n}.{extension}"));
        rename_to_first_free(&draft.hidden, name, |from, to| fs::hard_link(from, to))
            .and_then(|()| if durable { sync_directory(directory) } else { Ok(()) })
            .map_err(|source| {
                Fatal::new(PublicationError::Publish { hidden: draft.hidden.clone(), source })
                    .into()
            })
    }

    /// Whether a checkpoint publishes its files.
    fn is_committed(&self) -> bool {
        self.seat.as_ref().is_some_and(|seat| seat.committed.is_some())
    }

    /// Ends the file at hand, if there is one, to be published by [`commit`](Self::commit). `None` also if
    /// there are no checkpoints. After an error nothing is left of it.
    pub(super) fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Prepared>> {
        let Some(Seat { ctx, committed: Some(names), .. }) = &self.seat else { return Ok(None) };
        let Some(draft) = &mut self.draft else { return Ok(None) };
        let (name, target) = (
            names.draft(ctx.index(), draft.unique),
            names.target(ctx.index(), checkpoint, draft.unique),
        );
        match draft.seal(&self.directory) {
            Ok(content) => {
                self.draft = None;
                let (bytes, checksum) = (content.bytes, content.checksum.finalize());
                Ok(Some(Prepared { draft: name, target, bytes, checksum }))
            }
            Err(error) => {
                self.abandon();
                Err(error)
            }
        }
    }

    /// Publishes what was prepared, by whomever. Does nothing if it is published already.
    pub(super) fn commit(&self, prepared: &Prepared) -> Result<()> {
        prepared.commit(&self.directory, |from, to| fs::hard_link(from, to))
    }

    /// Removes what was prepared and will never be committed.
    pub(super) fn discard(&self, prepared: &Prepared) -> Result<()> {
        Ok(draft::remove_if_there(&self.directory.join(&prepared.draft))?)
    }

    /// Removes what was prepared, or left while it was written, by this component of this owner.
    pub(super) fn clean_up(&self, owner: &str, component: &str) -> Result<()> {
        commit::clean_up(&self.directory, &Names::new(owner, component, self.extension))
    }

    /// Gives up the file at hand. One of no checkpoint is never committed, so it is removed; others are
    /// published, if they may be.
    fn abandon(&mut self) {
        let done = if self.is_committed() {
            self.draft.take().map_or(Ok(()), |draft| draft.remove().map_err(Into::into))
        } else if self.draft.as_ref().is_some_and(|draft| draft.broken) {
            Ok(())
        } else {
            // Without waiting for the disk: whoever stops a job gives it little time.
            self.publish(false)
        };
        if let (Err(error), Some(Seat { ctx, .. })) = (done, &self.seat) {
            let id = ctx.instance();
            tracing::warn!(
                job = ctx.job(),
                component = %id.component,
                instance = id.index,
                "{}",
                with_causes(&*error),
            );
        }
    }
}

impl Drop for Publication {
    /// A job that was stopped, or an instance that is built anew: what was written is of use, unless there
    /// is a checkpoint to go back to.
    fn drop(&mut self) {
        self.abandon();
    }
}

impl Clone for Publication {
    fn clone(&self) -> Self {
        Self::in_dir(&self.directory, self.extension)
    }
}

#[cfg(test)]
mod tests;
