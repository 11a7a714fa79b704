//! What sources, operators and sinks share: a name, a default parallelism, described state, and the
//! [`Context`] that an instance is set up with.

use crate::id::InstanceId;
use crate::time::Clock;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// Any error of user code.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// What user code returns: `?` turns any error into it.
pub type Result<T, E = BoxError> = std::result::Result<T, E>;

/// An error that would come again: the job fails with it at once instead of trying further.
///
/// ```
/// use streamwork::Fatal;
///
/// let error: streamwork::BoxError = Fatal::new("no such file").into();
/// assert!(Fatal::is(&*error));
/// assert_eq!(error.to_string(), "no such file");
/// ```
#[derive(Debug)]
pub struct Fatal(BoxError);

impl Fatal {
    /// Marks `error` as final.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(error.into())
    }

    /// Whether `error` is marked as final.
    #[must_use]
    pub fn is(error: &(dyn StdError + Send + Sync + 'static)) -> bool {
        error.is::<Self>()
    }

    /// The error that is marked.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.0
    }

    /// The error without the mark, if it has one.
    pub(crate) fn unwrap(error: BoxError) -> BoxError {
        match error.downcast::<Self>() {
            Ok(marked) => marked.0,
            Err(plain) => plain,
        }
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl StdError for Fatal {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

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
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no component",
    note = "add `#[derive(Component)]` to the struct"
)]
pub trait Component: Send + 'static {
    /// A copy of the fields marked `#[state]`: what is kept of a component between two events.
    type Saved: Clone + Send + 'static;

    /// The fields marked `#[state]`.
    const STATE: &'static [StateField] = &[];

    /// Whether the component blocks its thread (`#[component(blocking)]`): each of its instances
    /// then gets a thread of its own.
    const BLOCKING: bool = false;

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

/// One field marked `#[state]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateField {
    /// The field's name.
    pub name: &'static str,
    /// Its type as it is written in the source.
    pub type_name: &'static str,
    /// What becomes of it when the parallelism changes.
    pub rescale: Rescale,
}

/// What becomes of a state field when the parallelism changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rescale {
    /// `#[state]`: another parallelism is refused.
    #[default]
    Refuse,
    /// `#[state(by_key)]`: a map whose entries move with their keys.
    ByKey,
    /// `#[state(replicated)]`: the same on every instance.
    Replicated,
}

/// Where an instance stands: handed to `setup` before its first event.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) job: Arc<str>,
    pub(crate) instance: InstanceId,
    pub(crate) parallelism: usize,
    pub(crate) split: Split,
    pub(crate) clock: Arc<dyn Clock>,
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

    /// The clock to ask for the time and to sleep by.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }
}

/// The part of a source that has a position of its own: number `index` of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    /// Which split, from 0.
    pub index: usize,
    /// How many splits the source has in all.
    pub count: usize,
}
