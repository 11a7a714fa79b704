//! The identifiers that run through plans, frames, logs and errors. Each is a type of its own, so
//! that an instance number can't be passed where a link number is meant.

use std::fmt;
use std::sync::Arc;

/// The name of a component as the user gave it: unique in a job, and what its state belongs to.
///
/// ```
/// use streamwork::ComponentName;
///
/// let name = ComponentName::from("vehicle-counter");
/// assert_eq!(name.as_str(), "vehicle-counter");
/// assert_eq!(name.to_string(), "vehicle-counter");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComponentName(Arc<str>);

impl ComponentName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<S: Into<Arc<str>>> From<S> for ComponentName {
    fn from(name: S) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for ComponentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ComponentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// One parallel copy of a component: `vehicle-counter[1]`.
///
/// ```
/// use streamwork::InstanceId;
///
/// let second = InstanceId { component: "vehicle-counter".into(), index: 1 };
/// assert_eq!(second.to_string(), "vehicle-counter[1]");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId {
    /// The component that this is a copy of.
    pub component: ComponentName,
    /// Which copy, from 0.
    pub index: usize,
}

impl InstanceId {
    pub(crate) fn new(component: impl Into<ComponentName>, index: usize) -> Self {
        Self { component: component.into(), index }
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.component, self.index)
    }
}

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The number of a checkpoint; never used twice in the life of a job's data directory.
///
/// ```
/// use streamwork::CheckpointId;
///
/// assert_eq!(CheckpointId(7).to_string(), "7");
/// assert!(CheckpointId(7) < CheckpointId(8));
/// ```
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct CheckpointId(pub u64);

impl CheckpointId {
    /// What a sink that commits is told at the end of a job without checkpoints. No checkpoint has this
    /// number: it is the last, and they are counted up one by one.
    ///
    /// ```
    /// use streamwork::CheckpointId;
    ///
    /// assert!(CheckpointId(1_000_000) < CheckpointId::END);
    /// ```
    pub const END: Self = Self(u64::MAX);
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How often a region has been started anew. Frames carry it, so that what an earlier attempt left
/// in a mailbox can be told from what belongs to this one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Attempt(pub(crate) u32);

impl Attempt {
    /// The attempt that a job starts with.
    pub(crate) const FIRST: Self = Self(1);
}

/// The place of a link among the links that end in one instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct LinkIndex(pub(crate) u32);

impl LinkIndex {
    pub(crate) fn as_usize(self) -> usize {
        self.0 as usize
    }
}
