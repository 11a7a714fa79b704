//! What sources, operators and sinks share: a name, a default parallelism, described state, and the
//! [`Context`] that an instance is set up with.

mod mark;

pub(crate) use mark::is_mark;
pub use mark::{Fatal, Malformed};

use crate::channel::ChannelInfo;
use crate::id::InstanceId;
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
    /// A copy of the fields marked `#[state]`. The engine takes it of a source after each `next`; it
    /// takes none of operators and sinks in this version.
    type Saved: Clone + Send + 'static;

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
}

/// What becomes of an event that user code returns an error for. Set it with `.on_error(..)` on a stage
/// or on a closure's step.
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
    /// The event is left out, counted as failed and logged, and the job goes on.
    #[default]
    Skip,
    /// The job fails with it.
    Fail,
}

/// One field marked `#[state]`.
///
/// In a source the marked fields are the position that it is built anew at. In an operator or a sink
/// they are only described in this version: a panic loses them, and nothing is saved yet.
///
/// ```
/// use streamwork::{Component, Rescale};
///
/// #[derive(Component)]
/// struct Tail {
///     #[state]
///     offset: u64,
/// }
///
/// let [offset] = Tail::STATE else { panic!() };
/// assert_eq!((offset.name, offset.type_name, offset.rescale), ("offset", "u64", Rescale::Refuse));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateField {
    /// The field's name.
    pub name: &'static str,
    /// Its type as it is written in the source.
    pub type_name: &'static str,
    /// What becomes of it when the parallelism changes.
    pub rescale: Rescale,
}

/// What is to become of a state field when the parallelism changes. It is only described in this
/// version: nothing is saved from one run to the next, so nothing is rescaled.
///
/// ```
/// use std::collections::HashMap;
/// use streamwork::{Component, Rescale};
///
/// #[derive(Component)]
/// struct Counter {
///     #[state(by_key)]
///     counts: HashMap<String, u64>,
///     #[state(replicated)]
///     limit: u64,
/// }
///
/// assert_eq!(Counter::STATE[0].rescale, Rescale::ByKey);
/// assert_eq!(Counter::STATE[1].rescale, Rescale::Replicated);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rescale {
    /// `#[state]`: another parallelism is to be refused.
    #[default]
    Refuse,
    /// `#[state(by_key)]`: a map whose entries are to move with their keys.
    ByKey,
    /// `#[state(replicated)]`: the same on every instance.
    Replicated,
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
}

impl Context {
    /// The job's name.
    #[must_use]
    pub fn job(&self) -> &str {
        &self.job
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
