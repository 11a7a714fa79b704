//! Words, counted.

use super::Setting;
use std::collections::BTreeMap;
use streamwork::prelude::*;

/// The components of the job.
pub const WORD_COUNT: [&str; 2] = [READER, WordCounter::NAME];

const READER: &str = "reader";

/// Counts the words of lines: `reader` -> `word-counter`, by word. At the end each word goes into
/// `counts` with its number.
///
/// ```
/// use examples::jobs::word_count;
/// use examples::{Console, Setting};
/// use streamwork::prelude::*;
///
/// let lines = FromIter::new(["one fish".to_owned(), "two fish".to_owned()]);
/// let counts = Collect::new();
/// let setting = Setting::printing_to(Console::memory());
/// Engine::new().run(word_count(lines, 2, &counts, &setting)).unwrap();
/// let mut counts = counts.take();
/// counts.sort();
/// assert_eq!(counts, [("fish".into(), 2), ("one".into(), 1), ("two".into(), 1)]);
/// ```
pub fn word_count<S>(
    lines: S,
    counters: usize,
    counts: &Collect<(String, u64)>,
    setting: &Setting,
) -> Job
where
    S: Source<Out = String> + Clone,
{
    let job = Job::new("word-count").delivery(setting.delivery);
    let reader = job.source(setting.faulty_as(READER, lines)).named(READER);
    setting
        .pace(reader)
        .flat_map(|line| line.split_whitespace().map(String::from).collect::<Vec<_>>())
        .key_by(|word: &String| word)
        .apply(setting.faulty(WordCounter))
        .parallelism(counters)
        .sink(counts.clone())
        .named("counts");
    job
}

/// Counts each word.
#[derive(Component, Clone, Debug)]
#[component(name = "word-counter")]
pub struct WordCounter;

impl WordCounter {
    /// The name of the operator.
    pub const NAME: &str = "word-counter";
}

impl KeyedOperator for WordCounter {
    type Key = String;
    type In = String;
    type Out = (String, u64);
    type State = u64;

    fn apply(
        &mut self,
        _: &String,
        _: String,
        count: &mut Keyed<u64>,
        _: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        **count += 1;
        Ok(())
    }

    fn finish(
        &mut self,
        word: &String,
        count: &mut Keyed<u64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        out.emit((word.clone(), **count));
        Ok(())
    }
}

/// The counts as lines, by word.
#[must_use]
pub fn word_lines(counts: Vec<(String, u64)>) -> String {
    let counts: BTreeMap<String, u64> = counts.into_iter().collect();
    counts.iter().map(|(word, count)| format!("{word} {count}\n")).collect()
}
