//! [`State`]: types that can be kept in a checkpoint.

use crate::shape::Shape;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error as StdError;
use std::fmt;

/// A type that is kept in checkpoints and read again by a later version of the program. Derive it, beside
/// serde's two traits:
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::State;
///
/// #[derive(State, Clone, Default, Serialize, Deserialize)]
/// struct Visits {
///     count: u64,
///     /// Came later: what was saved without it is read too.
///     #[serde(default)]
///     #[state(default)]
///     pages: Vec<String>,
/// }
///
/// assert_eq!(Visits::shape().to_string(), "{count: u64, pages: [string]}");
/// ```
///
/// Before the first event, what was saved is compared with the type of today. More fields with defaults,
/// more variants and another order are read as they are; where anything else is different the start is
/// refused in words, unless the type has a higher [`VERSION`](Self::VERSION) and a
/// [`migration`](Self::migration).
///
/// serde writes an option in an option like one, and would read `Some(None)` as `None`; so that is no state:
///
/// ```compile_fail,E0080
/// use streamwork::State;
///
/// println!("{}", <Option<Option<u64>>>::shape());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be kept as state",
    note = "add `#[derive(State, Serialize, Deserialize)]` to the type; one of another crate goes into a \
            newtype of yours with `#[state(serde, version = 1)]`"
)]
pub trait State: Serialize + DeserializeOwned + Send + 'static {
    /// Counted up when what was saved has to be migrated: `#[state(version = 2, migrate = path)]`.
    const VERSION: u32 = 0;

    /// Whether a value can be written as nothing, as `None` is: an option around it could not be told from
    /// none, and is refused by the compiler.
    #[doc(hidden)]
    const NULLABLE: bool = false;

    /// What it is made of.
    fn shape() -> Shape;

    /// Reads what a lower version wrote, if there is a way.
    #[must_use]
    fn migration() -> Option<Migration<Self>>
    where
        Self: Sized,
    {
        None
    }
}

/// Makes a value out of one that an earlier version of its type wrote, or says why it cannot.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::{Old, Reading, Result, State};
///
/// #[derive(Serialize, Deserialize)]
/// struct Before {
///     millis: u64,
/// }
/// # impl State for Before {
/// #     fn shape() -> streamwork::Shape {
/// #         streamwork::Shape::Struct(vec![streamwork::Field::new("millis", u64::shape())])
/// #     }
/// # }
///
/// #[derive(State, Serialize, Deserialize)]
/// #[state(version = 1, migrate = Self::from_millis)]
/// struct Timeout {
///     seconds: f64,
/// }
///
/// impl Timeout {
///     fn from_millis(old: &Old<'_>) -> Result<Self> {
///         let before: Before = old.decode()?;
///         Ok(Self { seconds: before.millis as f64 / 1_000.0 })
///     }
/// }
///
/// // what the engine does with each value that was saved
/// let saved = rmp_serde::to_vec_named(&Before { millis: 1_500 })?;
/// let reading = Reading::<Timeout>::of(&Before::shape()).unwrap();
/// assert_eq!(reading.read(&saved)?.seconds, 1.5);
/// # Ok::<(), streamwork::BoxError>(())
/// ```
pub type Migration<T> = fn(&Old<'_>) -> Result<T, Box<dyn StdError + Send + Sync>>;

/// A value as an earlier version of its type wrote it. [`Migration`] has an example.
#[derive(Clone, Copy)]
pub struct Old<'a> {
    shape: &'a Shape,
    bytes: &'a [u8],
}

impl<'a> Old<'a> {
    pub(super) fn new(shape: &'a Shape, bytes: &'a [u8]) -> Self {
        Self { shape, bytes }
    }

    /// The version that wrote it.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.shape.version()
    }

    /// What it was made of.
    #[must_use]
    pub fn shape(&self) -> &'a Shape {
        self.shape
    }

    /// Its bytes: MessagePack, structs as maps by the names of their fields.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Reads it as a `T`: a type made like the one of then, that needs to be no [`State`].
    ///
    /// # Errors
    /// They are not the bytes of a `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Box<dyn StdError + Send + Sync>> {
        Ok(rmp_serde::from_slice(self.bytes)?)
    }
}

impl fmt::Debug for Old<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Old")
            .field("shape", &format_args!("{}", self.shape))
            .field("bytes", &self.bytes.len())
            .finish()
    }
}
