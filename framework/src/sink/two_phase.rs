//! [`TwoPhaseSink`]: a sink that shows what it wrote when the checkpoint that holds it is published.

use super::{Effect, Handle, Sink};
use crate::component::{Component, Context, Result};
use crate::event::{Event, Storable};
use crate::id::CheckpointId;

/// A sink that commits along checkpoints: nobody sees what it writes before a checkpoint holds it, and
/// then it is seen once, whatever fails.
///
/// ```text
/// instance    write  write  prepare(7)  write  prepare(8)  write ...
///                               |                  |
///                           handle a           handle b     into the checkpoint
///                               |                  |
/// committer                  commit(a)          commit(b)   when it is published
/// ```
///
/// Each method has its moment:
///
/// * [`prepare`](Self::prepare) makes durable what was written since the last one, and keeps it invisible.
///   It is called of the instance, at each checkpoint, after [`flush`](Self::flush). What it returns is
///   kept in the checkpoint. If that one is given up and the job goes on, the handle comes into the next.
/// * [`commit`](Self::commit) makes visible what a handle names. It is called when the checkpoint is
///   published, of a clone of the prototype that was never set up, on the committer's thread: beside the
///   instances, which go on writing. It is called in the order of the checkpoints; for handles of all
///   instances, also where there are now fewer; and after a restart of the process for all that are not
///   known to be committed. So it is called again for what it has committed, and does nothing then.
/// * [`discard`](Self::discard) removes what a handle names that is never committed, since its events come
///   again. It is called of that clone, too.
/// * [`clean_up`](Self::clean_up) removes what was prepared and is in no checkpoint. It is called of a clone
///   of the prototype before any instance is set up, when all that the restored checkpoint holds is
///   committed: what is then left of this component is of no use. What other components wrote stays.
///
/// In a job without checkpoints ([`Context::is_checkpointed`] tells) there is one time to commit: when the
/// job comes to its end or is drained. `prepare` is then called of the instance with
/// [`CheckpointId::END`], and `commit` right after it, of the instance too. A job that is stopped, is
/// killed or fails, and an instance that is built anew after a panic, commit nothing of what was written.
///
/// Each of them is a [`Sink`], so this is where the engine finds its methods; both have methods of the same
/// names, so a call is written `TwoPhaseSink::flush(self)`.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use streamwork::prelude::*;
/// use streamwork::{CheckpointId, TwoPhaseSink};
///
/// /// What others see, and what they do not see yet.
/// #[derive(Default)]
/// struct Ledger {
///     drafts: Vec<(String, Vec<u64>)>,
///     entries: Vec<u64>,
/// }
///
/// /// Enters numbers, a checkpoint's at once.
/// #[derive(Component, Clone, Default)]
/// struct Enter {
///     open: Vec<u64>,
///     place: String,
///     ledger: Arc<Mutex<Ledger>>,
/// }
///
/// impl TwoPhaseSink for Enter {
///     type In = u64;
///     type Handle = String;
///
///     fn setup(&mut self, ctx: &Context) -> Result<()> {
///         self.place = ctx.instance().to_string();
///         Ok(())
///     }
///
///     fn write(&mut self, n: u64) -> Result<()> {
///         self.open.push(n);
///         Ok(())
///     }
///
///     fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<String>> {
///         if self.open.is_empty() {
///             return Ok(None);
///         }
///         let name = format!("{} at {checkpoint}", self.place);
///         let draft = (name.clone(), std::mem::take(&mut self.open));
///         self.ledger.lock().map_err(|_| "the ledger is broken")?.drafts.push(draft);
///         Ok(Some(name))
///     }
///
///     fn commit(&mut self, name: String) -> Result<()> {
///         let mut ledger = self.ledger.lock().map_err(|_| "the ledger is broken")?;
///         // It is gone if it was committed before.
///         if let Some(at) = ledger.drafts.iter().position(|(draft, _)| *draft == name) {
///             let (_, numbers) = ledger.drafts.remove(at);
///             ledger.entries.extend(numbers);
///         }
///         Ok(())
///     }
///
///     fn clean_up(&mut self, _owner: &str, _component: &str) -> Result<()> {
///         self.ledger.lock().map_err(|_| "the ledger is broken")?.drafts.clear();
///         Ok(())
///     }
/// }
///
/// let enter = Enter::default();
/// let job = Job::new("numbers");
/// job.source(FromIter::new(1..=3_u64)).sink(enter.clone());
/// Engine::new().run(job)?;
/// assert_eq!(enter.ledger.lock().unwrap().entries, [1, 2, 3]);
/// # Ok::<(), Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no sink that commits",
    note = "implement `TwoPhaseSink` for it"
)]
pub trait TwoPhaseSink: Component {
    /// What it takes in.
    type In: Event;

    /// By what it commits what it has prepared. It is kept in the checkpoint, so it says where something
    /// is, and holds no more. A later version of the program must be able to read it.
    type Handle: Storable;

    /// As [`Sink::setup`]. What an attempt of this instance before had written and not prepared is to be
    /// given up by now; what it had prepared is not: it may be in a checkpoint.
    ///
    /// # Errors
    /// As [`Sink::setup`].
    fn setup(&mut self, ctx: &Context) -> Result<()> {
        let _ = ctx;
        Ok(())
    }

    /// As [`Sink::write`]. Nobody may see the event yet.
    ///
    /// # Errors
    /// As [`Sink::write`].
    fn write(&mut self, event: Self::In) -> Result<()>;

    /// As [`Sink::flush`]. It makes nothing visible.
    ///
    /// # Errors
    /// As [`Sink::flush`].
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Makes durable what was written since the last call, and keeps it invisible. When it has returned, the
    /// loss of power must not take it away. `None` if nothing was written: there is nothing to commit then.
    ///
    /// A number is not given twice in the life of a job's data directory, but another directory of the
    /// same job, or one that is begun afresh, gives the same numbers; and [`CheckpointId::END`] is given
    /// in every run. So what is to be unique is not made of it alone.
    ///
    /// # Errors
    /// The checkpoint fails, and the job goes back to the one before. Without checkpoints, the job fails.
    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Self::Handle>>;

    /// Makes visible what `handle` names, all of it or nothing, and durably. Does nothing if that was done
    /// before.
    ///
    /// # Errors
    /// It is tried again, with growing pauses; not if it is marked [`Fatal`](crate::Fatal), since that
    /// says that it can never succeed. What is gone, and was not committed, is an error of that kind.
    fn commit(&mut self, handle: Self::Handle) -> Result<()>;

    /// As [`Sink::discard`]: removes what `handle` names. By default nothing is removed.
    ///
    /// # Errors
    /// It is logged, and nothing else is done about it.
    fn discard(&mut self, handle: Self::Handle) -> Result<()> {
        let _ = handle;
        Ok(())
    }

    /// Removes what earlier attempts of the component named `component`, of the job whose
    /// [`Context::owner`] is `owner`, have written or prepared, and nothing else. By default nothing is
    /// removed.
    ///
    /// # Errors
    /// The job does not start.
    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()> {
        let _ = (owner, component);
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<S: TwoPhaseSink> Sink for S {
    type In = S::In;

    const EFFECT: Effect = Effect::Committing;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        TwoPhaseSink::setup(self, ctx)
    }

    #[inline]
    fn write(&mut self, event: Self::In) -> Result<()> {
        TwoPhaseSink::write(self, event)
    }

    fn flush(&mut self) -> Result<()> {
        TwoPhaseSink::flush(self)
    }

    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Handle>> {
        let prepared = TwoPhaseSink::prepare(self, checkpoint)?;
        prepared.as_ref().map(Handle::new).transpose()
    }

    fn commit(&mut self, handle: Handle) -> Result<()> {
        TwoPhaseSink::commit(self, handle.get()?)
    }

    fn discard(&mut self, handle: Handle) -> Result<()> {
        TwoPhaseSink::discard(self, handle.get()?)
    }

    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()> {
        TwoPhaseSink::clean_up(self, owner, component)
    }
}
