//! What is said of a piece of input that can't be read.

use crate::component::{BoxError, Fatal, Result};

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
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shorten("gr\u{fc}n", 4), "gr\u{fc}n");
        assert_eq!(shorten("gr\u{fc}n", 3), "gr\u{fc}...");
        assert_eq!(message("no\r\nx"), "no  x");
    }
}
