//! [`StateError`]: why state can't be written or read.

use crate::shape::Difference;
use std::error::Error as StdError;
use std::fmt;

/// Why state can't be written, or what was saved can't be read. Each says whose it is: `component.field`.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use streamwork::{FieldWriter, StateError};
///
/// // serde can't write a time before 1970
/// let early = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
/// let error = FieldWriter::new("tail").put("since", &early).unwrap_err();
/// assert!(matches!(error, StateError::Unwritable { .. }));
/// assert_eq!(error.to_string(), "cannot write the state field `tail.since`");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// serde refuses to write a value.
    #[error("cannot write the state field `{component}{}`", dotted(.field))]
    Unwritable {
        /// The component.
        component: String,
        /// Its field.
        field: String,
        /// What serde says.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A field can't be read, or its migration says that it can't.
    #[error("cannot read the state field `{component}{}` of instance {instance}", dotted(.field))]
    Undecodable {
        /// The component.
        component: String,
        /// Its field.
        field: String,
        /// The instance that wrote it.
        instance: usize,
        /// Why.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The value of a key can't be read, or its migration says that it can't.
    #[error("cannot read the state of the key {key} of `{component}{}`", dotted(.field))]
    UndecodableKey {
        /// The component.
        component: String,
        /// The field that the key is in; empty for the state of a keyed operator.
        field: String,
        /// The key, as far as it can be read.
        key: String,
        /// Why.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// What an instance wrote is no such thing.
    #[error("cannot read the state of instance {instance} of `{component}`")]
    Damaged {
        /// The component.
        component: String,
        /// The instance that wrote it.
        instance: usize,
        /// Why.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// There is not one piece of state for each instance that there was.
    #[error(
        "cannot read the state of `{component}`: it had {before} instances, and {found} are here"
    )]
    Incomplete {
        /// The component.
        component: String,
        /// How many instances it had.
        before: usize,
        /// Of how many there is something.
        found: usize,
    },
    /// A type has changed, and can't read what it wrote before.
    #[error("the state of `{component}` has changed: {}", Words(.differences))]
    Changed {
        /// The component.
        component: String,
        /// Everything that keeps it from being read.
        differences: Vec<Difference>,
    },
    /// The parallelism has changed, and a field fits only that of before.
    #[error(
        "the state field `{component}{}` was saved by {before} instances and can't be given to \
         {now}: keep the parallelism, or say how it is spread: `#[state(by_key)]` for a map whose \
         entries move with their keys, `#[state(replicated)]` for what is the same everywhere, \
         `#[state(redistribute)]` for a type that implements `Redistribute`",
        dotted(.field)
    )]
    Rescaled {
        /// The component.
        component: String,
        /// Its field.
        field: String,
        /// How many instances it had.
        before: usize,
        /// How many it has.
        now: usize,
    },
    /// A key is in the state of an instance that it doesn't belong to, or in two of them.
    #[error(
        "the key {key} of `{component}.{field}` lies with instance {instance} and belongs to instance \
         {home} of {before}: group by it before the component"
    )]
    Misplaced {
        /// The component.
        component: String,
        /// The field that the key is in.
        field: String,
        /// The key.
        key: String,
        /// The instance that it was found with.
        instance: usize,
        /// The one that it belongs to.
        home: usize,
        /// How many instances there were.
        before: usize,
    },
}

fn dotted(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!(".{field}") }
}

/// Differences in one line.
struct Words<'a>(&'a [Difference]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, difference) in self.0.iter().enumerate() {
            write!(f, "{}{difference}", if i == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
