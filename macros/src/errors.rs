//! [`Errors`]: every mistake in one input, so that the user sees all of them at once.

use quote::ToTokens;
use std::fmt;
use syn::{Error, Result};

/// The errors that were found so far.
#[derive(Debug, Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Adds an error that points at `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl fmt::Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    /// Adds an error.
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// What was understood, if nothing was wrong with it.
    pub(crate) fn finish<T>(self, understood: T) -> Result<T> {
        self.0.map_or(Ok(understood), Err)
    }
}
