//! [`DeadLetter`]: an event that failed too often.

use super::Event;
use crate::event::Storable;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// An event that a component failed at, and that was left out for that; `dead_letters()` of a stage is the
/// stream of them.
///
/// ```
/// use streamwork::DeadLetter;
/// use streamwork::prelude::*;
///
/// /// Reads numbers.
/// #[derive(Component, Clone)]
/// struct Parse;
///
/// impl Operator for Parse {
///     type In = String;
///     type Out = u64;
///
///     fn apply(&mut self, text: String, out: &mut Emitter<u64>) -> Result<()> {
///         out.emit(text.parse()?);
///         Ok(())
///     }
/// }
///
/// let (numbers, dead) = (Collect::new(), Collect::<DeadLetter>::new());
/// let job = Job::new("numbers");
/// let texts = job.source(FromIter::new(["1", "one", "2"].map(String::from)));
/// let parsed = texts.apply(Parse).on_error(OnError::DeadLetter);
/// parsed.dead_letters().sink(dead.clone()).named("dead");
/// parsed.sink(numbers.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(numbers.take(), [1, 2]);
/// let letters = dead.take();
/// assert_eq!(letters[0].event::<String>().unwrap(), "one");
/// assert_eq!(letters[0].component, "parse");
/// assert!(letters[0].cause.contains("invalid digit"), "{}", letters[0].cause);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The component that failed at it.
    pub component: String,
    /// Which instance of it, from 0.
    pub instance: u64,
    /// What happened, as the log has it.
    pub cause: String,
    /// How often it was tried.
    pub tries: u32,
    encoded: ByteBuf,
}

impl DeadLetter {
    pub(crate) fn new(
        component: &str,
        instance: usize,
        cause: String,
        tries: u32,
        encoded: Vec<u8>,
    ) -> Self {
        let (component, instance) = (component.to_owned(), instance as u64);
        Self { component, instance, cause, tries, encoded: ByteBuf::from(encoded) }
    }

    /// The event.
    ///
    /// # Errors
    /// It is no `T`.
    pub fn event<T: Storable>(&self) -> Result<T, Box<dyn std::error::Error + Send + Sync>> {
        Ok(rmp_serde::from_slice(&self.encoded)?)
    }

    /// The event as MessagePack, with the names of its fields.
    #[must_use]
    pub fn encoded(&self) -> &[u8] {
        &self.encoded
    }
}

impl Event for DeadLetter {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.component.len() + self.cause.len() + self.encoded.len()
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        super::encode_event(self)
    }
}
