//! What becomes of a piece of input that can't be read.

use crate::component::{BoxError, Fatal, Malformed, Result};

/// What [`Ndjson`](super::Ndjson) and [`Csv`](super::Csv) do about a line or a record that can't be
/// read as an event.
///
/// ```
/// use streamwork::prelude::*;
///
/// let path = std::env::temp_dir().join(format!("counts-{}.ndjson", std::process::id()));
/// std::fs::write(&path, "1\ntwo\n3\n")?;
///
/// let got = Collect::new();
/// let job = Job::new("skip");
/// job.source(Ndjson::<u64>::open(&path)).sink(got.clone());
/// let outcome = Engine::new().run(job)?;
/// assert_eq!((got.take(), outcome.failed()), (vec![1, 3], 1));
///
/// let job = Job::new("fail");
/// let counts = Ndjson::<u64>::open(&path).on_malformed(OnMalformed::Fail);
/// job.source(counts).sink(Collect::new());
/// let error = Engine::new().run(job).unwrap_err().to_string();
/// assert!(error.contains("line 2 of"), "{error}");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnMalformed {
    /// It is skipped, counted as failed and logged, however many there are: the error is
    /// [`Malformed`].
    #[default]
    Skip,
    /// The job fails, once everything before it was emitted: the error is [`Fatal`].
    Fail,
}

impl OnMalformed {
    /// What a call says that met a bad piece, after others or not: either it is taken with `skip`, or it
    /// stays, and is met again if the call emitted something. What is good goes first.
    pub(super) fn met(
        self,
        bad: impl Into<BoxError>,
        emitted: bool,
        skip: impl FnOnce(),
    ) -> Result<()> {
        match self {
            Self::Skip => {
                skip();
                Err(Malformed::new(bad).into())
            }
            Self::Fail => fail(bad, emitted),
        }
    }
}

/// What a call says that can't go on: nothing as long as it has something to hand over.
pub(super) fn fail(error: impl Into<BoxError>, emitted: bool) -> Result<()> {
    if emitted { Ok(()) } else { Err(Fatal::new(error).into()) }
}

/// A text, which may be all of a large input, up to `limit` characters.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// A message as the middle of another: on one line, and not too long.
pub(super) fn message(text: &str) -> String {
    shorten(&text.replace(['\n', '\r'], " "), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_takes_the_piece_and_failing_lets_it_stay() {
        let mut taken = 0;
        let error = OnMalformed::Skip.met("bad", true, || taken += 1).unwrap_err();
        assert!(Malformed::is(&*error) && taken == 1);
        assert!(OnMalformed::Fail.met("bad", true, || taken += 1).is_ok());
        let error = OnMalformed::Fail.met("bad", false, || taken += 1).unwrap_err();
        assert!(Fatal::is(&*error) && taken == 1);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shorten("gr\u{fc}n", 4), "gr\u{fc}n");
        assert_eq!(shorten("gr\u{fc}n", 3), "gr\u{fc}...");
        assert_eq!(message("no\r\nx"), "no  x");
    }
}
