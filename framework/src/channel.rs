//! [`Channel`]: a named, typed output of a component beside its stream.

use crate::event::{DeadLetter, Event};
use std::any::{TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;

/// A named output of a component, for events of type `T`, beside those that it
/// [emits](crate::Emitter::emit) to everybody. Who subscribes to a channel gets its events and no
/// others.
///
/// A component declares its channels, emits into them, and its stage in the job gives their streams:
///
/// ```
/// use streamwork::prelude::*;
///
/// #[derive(Component, Clone)]
/// #[component(channels = [TollBooth::ALERTS])]
/// struct TollBooth;
///
/// impl TollBooth {
///     const ALERTS: Channel<String> = Channel::new("alerts");
/// }
///
/// impl Operator for TollBooth {
///     type In = u32;
///     type Out = u32;
///
///     fn apply(&mut self, axles: u32, out: &mut Emitter<u32>) -> Result<()> {
///         if axles > 9 {
///             out.to(Self::ALERTS).emit(format!("{axles} axles"));
///         }
///         out.emit(axles);
///         Ok(())
///     }
/// }
///
/// let (passed, alerts) = (Collect::new(), Collect::new());
/// let job = Job::new("toll");
/// let booth = job.source(FromIter::new([2, 12, 3])).apply(TollBooth);
/// booth.sink(passed.clone()).named("passed");
/// booth.channel(TollBooth::ALERTS).sink(alerts.clone()).named("alerts");
/// Engine::new().run(job).unwrap();
/// assert_eq!(passed.take(), [2, 12, 3]);
/// assert_eq!(alerts.take(), ["12 axles"]);
/// ```
pub struct Channel<T> {
    name: &'static str,
    events: PhantomData<fn() -> T>,
}

impl<T> Channel<T> {
    /// A channel of this name. A component has one channel of a name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, events: PhantomData }
    }

    /// Its name.
    ///
    /// ```
    /// const ALERTS: streamwork::Channel<String> = streamwork::Channel::new("alerts");
    /// assert_eq!(ALERTS.name(), "alerts");
    /// ```
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<T: Event> Channel<T> {
    /// The channel without its type, for [`Component::CHANNELS`](crate::Component::CHANNELS).
    ///
    /// ```
    /// const ALERTS: streamwork::Channel<u64> = streamwork::Channel::new("alerts");
    /// assert_eq!(ALERTS.info().to_string(), "alerts (u64)");
    /// ```
    #[must_use]
    pub const fn info(self) -> ChannelInfo {
        ChannelInfo { name: self.name, type_id: TypeId::of::<T>, type_name: type_name::<T> }
    }
}

/// Where every component may emit what it has failed at.
pub(crate) const DEAD_LETTERS: Channel<DeadLetter> = Channel::new("dead letters");

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Channel<T> {}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "channel {:?}", self.name)
    }
}

/// A [`Channel`] that a component declares, whatever its type; made by [`Channel::info`].
///
/// ```
/// use streamwork::{Channel, Component};
///
/// const LATE: Channel<u64> = Channel::new("late");
///
/// #[derive(Component)]
/// #[component(channels = [LATE])]
/// struct Booth;
///
/// assert_eq!(Booth::CHANNELS[0].name(), "late");
/// ```
#[derive(Clone, Copy)]
pub struct ChannelInfo {
    name: &'static str,
    type_id: fn() -> TypeId,
    type_name: fn() -> &'static str,
}

impl ChannelInfo {
    /// The channel's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the two have the same name and type.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.name == other.name && (self.type_id)() == (other.type_id)()
    }
}

impl fmt::Display for ChannelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, (self.type_name)())
    }
}

impl fmt::Debug for ChannelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "channel {self}")
    }
}
