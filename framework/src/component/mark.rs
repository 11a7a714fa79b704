//! Errors with a mark that says what is to be done about them.

use super::BoxError;
use std::error::Error as StdError;
use std::fmt;

/// An error that would come again: the job fails with it at once instead of trying further. The error
/// of the job ([`Cause::user_error`](crate::Cause::user_error)) is the one inside, without the mark.
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
    ///
    /// ```
    /// use streamwork::Fatal;
    ///
    /// let marked = Fatal::new(std::fmt::Error);
    /// assert!(marked.get_ref().is::<std::fmt::Error>());
    /// ```
    #[must_use]
    pub fn get_ref(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.0
    }

    /// The error without its mark, if it has one.
    pub(crate) fn unwrap(error: BoxError) -> BoxError {
        match error.downcast::<Self>() {
            Ok(marked) => marked.0,
            Err(other) => match other.downcast::<Malformed>() {
                Ok(marked) => marked.0,
                Err(plain) => plain,
            },
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

/// An error of a source about one piece of its input, which is skipped: a line that can't be read, a
/// record with a field too few. It counts as failed and is logged, and the source is called again at
/// once: however many come in a row, they are no sign that the source itself is broken.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::Malformed;
///
/// /// Emits the numbers among words.
/// #[derive(Component, Clone)]
/// struct Numbers {
///     #[state]
///     next: usize,
/// }
///
/// impl Source for Numbers {
///     type Out = u64;
///
///     async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
///         let Some(word) = ["1", "two", "3"].get(self.next) else { return Ok(Progress::End) };
///         self.next += 1;
///         out.emit(word.parse().map_err(Malformed::new)?);
///         Ok(Progress::More)
///     }
/// }
///
/// let got = Collect::new();
/// let job = Job::new("numbers");
/// job.source(Numbers { next: 0 }).sink(got.clone());
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!((got.take(), outcome.failed()), (vec![1, 3], 1));
/// ```
#[derive(Debug)]
pub struct Malformed(BoxError);

impl Malformed {
    /// Marks `error` as one of a single piece of input.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(error.into())
    }

    /// Whether `error` is marked so.
    ///
    /// ```
    /// use streamwork::Malformed;
    ///
    /// let error: streamwork::BoxError = Malformed::new("line 7: no number").into();
    /// assert!(Malformed::is(&*error));
    /// assert_eq!(error.to_string(), "line 7: no number");
    /// ```
    #[must_use]
    pub fn is(error: &(dyn StdError + Send + Sync + 'static)) -> bool {
        error.is::<Self>()
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl StdError for Malformed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}
