//! [`Event`]: what flows through a job.

mod dead_letter;
mod encoded;
mod weight;

pub use dead_letter::DeadLetter;
pub use encoded::encode_event;

use crate::time::EventTime;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Something that happened: the payload of a stream. Derive it:
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::{Event, EventTime};
///
/// #[derive(Event, Clone, Debug, Serialize, Deserialize)]
/// struct Vehicle {
///     kind: String,
///     #[event(time)]
///     at: EventTime,
/// }
///
/// let car = Vehicle { kind: "car".into(), at: EventTime::from_millis(7) };
/// assert_eq!(car.time(), Some(EventTime::from_millis(7)));
/// ```
///
/// The derive asks for serde's two traits, because an event may have to be stored or sent;
/// `#[event(local)]` on the type says that this one never is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no event",
    note = "add `#[derive(Event, Clone, Serialize, Deserialize)]` to the type, or \
            `#[event(local)]` beside the derive if it is never stored or sent"
)]
pub trait Event: Clone + Send + 'static {
    /// The bytes that this event occupies, its own size in memory by default. Links are bounded by
    /// the sum, so a type with large parts on the heap should count them (`#[event(weight = f)]`).
    ///
    /// ```
    /// use streamwork::Event;
    ///
    /// assert_eq!(7_u64.weight(), 8);
    /// assert!(String::from("a long text").weight() > size_of::<String>());
    /// ```
    fn weight(&self) -> usize {
        size_of::<Self>()
    }

    /// When it happened, if it carries its time (`#[event(time)]`).
    fn time(&self) -> Option<EventTime> {
        None
    }

    /// The event as bytes, by which it is known again and kept; `None` if it is never stored. The derive
    /// writes it.
    #[doc(hidden)]
    fn encoded(&self) -> Option<Vec<u8>> {
        None
    }
}

/// An event that can be stored or sent: every type that serde can write and read back.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::Storable;
///
/// #[derive(Serialize, Deserialize)]
/// struct Vehicle {
///     kind: String,
/// }
///
/// fn is_storable<T: Storable>() -> bool {
///     true
/// }
/// assert!(is_storable::<Vehicle>());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can be neither stored nor sent",
    note = "add `#[derive(Serialize, Deserialize)]`, or `#[event(local)]` if it never has to be"
)]
pub trait Storable: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Storable for T {}

/// The event type of a component that emits nothing: no value of it exists.
///
/// ```
/// use streamwork::{Emitter, Nothing};
/// assert_eq!(Emitter::<Nothing>::new().len(), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Nothing {}

impl Event for Nothing {
    fn encoded(&self) -> Option<Vec<u8>> {
        match *self {}
    }
}
