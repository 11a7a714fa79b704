//! Errors with a mark that says what is to be done about them.

use super::BoxError;
use std::error::Error as StdError;
use std::fmt::{self, Write as _};

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
///
/// The mark is found wherever it is in the chain of causes: `?` may turn the error into another that has
/// it as its source, one of `anyhow` for example.
#[derive(Debug)]
pub struct Fatal(Final);

impl Fatal {
    /// Marks `error` as final.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(Final(error.into()))
    }

    /// Whether `error` is marked as final, or comes from one that is.
    #[must_use]
    pub fn is(error: &(dyn StdError + Send + Sync + 'static)) -> bool {
        error.is::<Self>() || causes(error).any(|cause| cause.is::<Final>())
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
        &*self.0.0
    }

    /// The error without its mark, if it has one.
    pub(crate) fn unmarked(error: BoxError) -> BoxError {
        match error.downcast::<Self>() {
            Ok(marked) => marked.0.0,
            Err(other) => match other.downcast::<Malformed>() {
                Ok(marked) => marked.0.0,
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
        Some(&self.0)
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
pub struct Malformed(OfInput);

impl Malformed {
    /// Marks `error` as one of a single piece of input.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(OfInput(error.into()))
    }

    /// Whether `error` is marked so, or comes from one that is.
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
        error.is::<Self>() || causes(error).any(|cause| cause.is::<OfInput>())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl StdError for Malformed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

/// The causes of an error, as far as anybody follows them: an error may name itself as its source.
pub(crate) fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source()).take(16)
}

/// An error with what it came from, on one line.
pub(crate) fn with_causes(error: &(dyn StdError + 'static)) -> String {
    let chain = std::iter::once(error).chain(causes(error));
    let mut line = String::new();
    for error in chain.filter(|error| !is_mark(*error)) {
        let before = line.len();
        let part = if before == 0 { write!(line, "{error}") } else { write!(line, ": {error}") };
        if part.is_err() {
            line.truncate(before);
            line.push_str("an error without a text");
        }
    }
    line.replace(['\r', '\n'], " ")
}

/// Whether this link of a chain of causes is a mark, which says nothing that the one before did not.
fn is_mark(cause: &(dyn StdError + 'static)) -> bool {
    cause.is::<Final>() || cause.is::<OfInput>()
}

macro_rules! mark {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        struct $name(BoxError);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl StdError for $name {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                self.0.source()
            }
        }
    };
}

mark!(
    /// The mark of [`Fatal`], where it is found as a cause.
    Final
);
mark!(
    /// The mark of [`Malformed`].
    OfInput
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_behind_other_errors() {
        fn inner() -> anyhow::Result<()> {
            Err(Fatal::new("no such table"))?
        }

        let plain: BoxError = inner().unwrap_err().into();
        let told: BoxError = inner().unwrap_err().context("cannot look it up").into();
        let bad: BoxError = anyhow::Error::from(Malformed::new("no number")).into();
        assert!(Fatal::is(&*plain) && Fatal::is(&*told) && !Fatal::is(&*bad));
        assert!(Malformed::is(&*bad) && !Malformed::is(&*told));
        let text = crate::instance::Cause::error(told).to_string();
        assert_eq!(text, "error: cannot look it up: no such table");
    }
}
