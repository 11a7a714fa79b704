//! What is printed: lines for people, or JSON for programs.

use anyhow::{Context, Result};
use serde_json::{Map, Value};
use std::io::Write;

/// Prints lines.
pub(crate) struct Report<W> {
    output: W,
    is_json: bool,
}

impl<W: Write> Report<W> {
    pub(crate) fn new(output: W, is_json: bool) -> Self {
        Self { output, is_json }
    }

    /// Prints one line: the text, or the fields.
    pub(crate) fn line<const N: usize>(
        &mut self,
        text: &str,
        fields: [(&str, Value); N],
    ) -> Result<()> {
        let written = if self.is_json {
            let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
            writeln!(self.output, "{}", Value::Object(Map::from_iter(fields)))
        } else {
            writeln!(self.output, "{text}")
        };
        written.context("cannot write to standard output")
    }
}
