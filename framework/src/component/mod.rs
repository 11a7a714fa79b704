//! What sources, operators and sinks share: a name, a default parallelism, described state, and the
//! [`Context`] that an instance is set up with.

mod mark;

pub use crate::state::{Rescale, StateField};
pub use mark::{Fatal, Malformed};
pub(crate) use mark::{causes, with_causes};

use crate::channel::ChannelInfo;
use crate::id::InstanceId;
use crate::shape::{Difference, Shape};
use crate::state::{self, FieldReader, FieldWriter, Reading, State, StateError};
use crate::time::Clock;
use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Any error of user code.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// What user code returns: `?` turns any error into it.
pub type Result<T, E = BoxError> = std::result::Result<T, E>;

/// What the engine has to know of a component beside its logic. `#[derive(Component)]` writes it:
///
/// ```
/// use streamwork::Component;
///
/// /// Counts.
/// #[derive(Component, Clone, Default)]
/// #[component(name = "vehicle-counter", parallelism = 2)]
/// struct VehicleCounter {
///     #[state]
///     seen: u64,
/// }
///
/// let counter = VehicleCounter::default();
/// assert_eq!(counter.name(), "vehicle-counter");
/// assert_eq!(counter.parallelism(), 2);
/// assert_eq!(VehicleCounter::STATE[0].name, "seen");
/// assert_eq!(counter.save(), (0,));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no component",
    note = "add `#[derive(Component)]` to the struct"
)]
pub trait Component: Send + 'static {
    /// A copy of the fields marked `#[state]`. The engine takes it of a source after each `next`, and of
    /// operators and sinks at each checkpoint.
    type Saved: Clone + State;

    /// The fields marked `#[state]`; [`StateField`] says what the mark does.
    const STATE: &'static [StateField] = &[];

    /// Whether the component blocks its thread (`#[component(blocking)]`): each of its instances
    /// then gets a thread of its own.
    const BLOCKING: bool = false;

    /// The channels that it may emit into, beside its stream (`#[component(channels = [..])]`); only
    /// these can be subscribed to.
    const CHANNELS: &'static [ChannelInfo] = &[];

    /// The name that it has in a job where no other is given.
    fn name(&self) -> &str;

    /// The number of instances that it has where no other is given.
    fn parallelism(&self) -> usize {
        1
    }

    /// Copies the state out.
    fn save(&self) -> Self::Saved;

    /// Puts a state back.
    fn load(&mut self, saved: Self::Saved);

    /// Whether what is saved is written and read by the names of the fields in [`STATE`](Self::STATE), as
    /// the derive does it. A component around another passes this on, with `STATE`, `encode` and `decode`.
    #[doc(hidden)]
    const BY_FIELD: bool = false;

    /// Writes what was saved.
    #[doc(hidden)]
    fn encode(saved: &Self::Saved, fields: &mut FieldWriter) -> Result<(), StateError> {
        fields.put_whole(saved)
    }

    /// Reads what was written, for one instance of now.
    #[doc(hidden)]
    fn decode(fields: &FieldReader<'_>) -> Result<Self::Saved, StateError> {
        fields.whole()
    }

    /// What is saved is made of.
    #[doc(hidden)]
    #[must_use]
    fn state_shape() -> Shape {
        if Self::BY_FIELD { state::shape_of(Self::STATE) } else { Self::Saved::shape() }
    }

    /// Whether it can be read from what has this shape. Asked before anything is read.
    #[doc(hidden)]
    fn compare_state(old: &Shape) -> Result<(), Vec<Difference>> {
        let is_stateless = Self::STATE.is_empty() && Self::Saved::shape() == Shape::Nothing;
        if Self::BY_FIELD || is_stateless {
            state::compare(old, Self::STATE)
        } else {
            Reading::<Self::Saved>::of(old).map(drop)
        }
    }
}

/// What becomes of an event that user code returns an error for. Set it with `.on_error(..)` on a stage
/// or on a closure's step.
///
/// Without a word on it, and without checkpoints, an operator's event is skipped and the state of its key stays as
/// the failed call left it. Where `Skip` or `DeadLetter` is asked for, the state and the timers of the key are put
/// back as they were before the event, for which a copy is made for each event: encoded, as for a checkpoint, so
/// that fields which serde skips begin anew. What the component itself holds is never put back that way.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("strict");
/// let parsed = job
///     .source(FromIter::new(["1", "x"]))
///     .try_map(|text| Ok(text.parse::<u64>()?))
///     .on_error(OnError::Fail);
/// parsed.sink(Collect::new());
/// let error = Engine::new().run(job).unwrap_err();
/// assert!(error.to_string().contains("try_map#1 after from-iter"), "{error}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnError {
    /// The event is left out, counted as failed and logged, and the job goes on. With checkpoints, when it was
    /// tried three times, each time with the state of the last checkpoint; closures on edges are not tried
    /// again.
    #[default]
    Skip,
    /// The job fails with it. With checkpoints, when the event was tried three times.
    Fail,
    /// As [`Skip`](Self::Skip), and what failed goes to the stage's `dead_letters()`. [`DeadLetter`] has an
    /// example.
    ///
    /// [`DeadLetter`]: crate::DeadLetter
    DeadLetter,
}

/// Where an instance stands: handed to `setup` before its first event.
///
/// ```
/// use streamwork::prelude::*;
///
/// /// Says where it stands.
/// #[derive(Component, Clone, Default)]
/// struct Greeter {
///     place: String,
/// }
///
/// impl Operator for Greeter {
///     type In = u64;
///     type Out = String;
///
///     fn setup(&mut self, ctx: &Context) -> Result<()> {
///         assert_eq!(ctx.instance().index, ctx.index());
///         assert_eq!(ctx.split().count, ctx.parallelism());
///         assert!(ctx.clock().now() <= ctx.clock().now());
///         self.place = format!("{} in {}", ctx.instance(), ctx.job());
///         Ok(())
///     }
///
///     fn apply(&mut self, n: u64, out: &mut Emitter<String>) -> Result<()> {
///         out.emit(format!("{n} at {}", self.place));
///         Ok(())
///     }
/// }
///
/// let got = Collect::new();
/// let job = Job::new("greetings");
/// job.source(FromIter::new([7_u64])).apply(Greeter::default()).sink(got.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.take(), ["7 at greeter[0] in greetings"]);
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) job: Arc<str>,
    pub(crate) instance: InstanceId,
    pub(crate) parallelism: usize,
    pub(crate) split: Split,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) checkpointed: bool,
    pub(crate) owner: Arc<str>,
}

impl Context {
    /// The job's name.
    #[must_use]
    pub fn job(&self) -> &str {
        &self.job
    }

    /// What tells that which this job leaves outside from that which others do, also jobs of the same name:
    /// the job's name, with what is unique to its data directory if it has one.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Which instance this is.
    #[must_use]
    pub fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// This instance's number, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.instance.index
    }

    /// How many instances the component has.
    #[must_use]
    pub fn parallelism(&self) -> usize {
        self.parallelism
    }

    /// The split that a source is to read. For operators and sinks it equals the instance.
    #[must_use]
    pub fn split(&self) -> Split {
        self.split
    }

    /// Whether the job is being drained: for a source that [drains itself](crate::Source::DRAINS), which
    /// has an example.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// Whether the job takes checkpoints. If it does not, a sink has nothing to wait for before it shows
    /// what it wrote.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("plain");
    /// let seen = Collect::new();
    /// let read = seen.clone();
    /// job.source(FromIter::new([1_u64])).sink(IntoSink::new(move |ctx: &Context| {
    ///     assert!(!ctx.is_checkpointed());
    ///     let mut seen = read.clone();
    ///     Box::pin(futures::sink::unfold((), move |(), n: u64| {
    ///         std::future::ready(seen.write(n))
    ///     }))
    /// }));
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(seen.take(), [1]);
    /// ```
    #[must_use]
    pub fn is_checkpointed(&self) -> bool {
        self.checkpointed
    }

    /// The clock to ask for the time and to sleep by.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}

/// The part of a source that has a position of its own: number `index` of `count`.
///
/// ```
/// use streamwork::Split;
///
/// let split = Split { index: 1, count: 4 };
/// let files: Vec<u32> = (0..8).skip(split.index).step_by(split.count).collect();
/// assert_eq!(files, [1, 5]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    /// Which split, from 0.
    pub index: usize,
    /// How many splits the source has in all.
    pub count: usize,
}
