//! [`Numbered`]: lines with their numbers.

use streamwork::prelude::*;

/// Emits each line of an input with its number, from 1. A line that can't be read has its number too,
/// and is skipped.
///
/// How many lines there were is part of the position: a source that goes on in the middle of a file
/// goes on with the numbers as well.
///
/// ```
/// use examples::Numbered;
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("numbered");
/// job.source(Numbered::new(FromIter::new(["a".to_owned(), "b".to_owned()]))).sink(got.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.take(), [(1, "a".to_owned()), (2, "b".to_owned())]);
/// ```
#[derive(Clone, Debug)]
pub struct Numbered<S> {
    input: S,
    lines: u64,
}

impl<S> Numbered<S> {
    /// Numbers what `input` emits, which is one split: numbers go on where they were, not across splits.
    pub fn new(input: S) -> Self {
        Self { input, lines: 0 }
    }
}

impl<S: Component> Component for Numbered<S> {
    type Saved = (S::Saved, u64);

    fn name(&self) -> &str {
        self.input.name()
    }

    fn save(&self) -> (S::Saved, u64) {
        (self.input.save(), self.lines)
    }

    fn load(&mut self, (input, lines): (S::Saved, u64)) {
        self.input.load(input);
        self.lines = lines;
    }
}

impl<S: Source<Out = String>> Source for Numbered<S> {
    type Out = (u64, String);

    const RESUMES: bool = S::RESUMES;
    const DRAINS: bool = S::DRAINS;

    fn replays(&self) -> bool {
        self.input.replays()
    }

    fn splits(&self) -> Result<Splits> {
        self.input.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.input.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<(u64, String)>) -> Result<Progress> {
        let mut lines = Emitter::with_room(out.room());
        let progress = self.input.next(&mut lines).await;
        for line in lines.as_slice() {
            self.lines += 1;
            out.emit((self.lines, line.clone()));
        }
        if let Err(error) = &progress
            && Malformed::is(&**error)
        {
            self.lines += 1;
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;

    /// Emits single letters, one or more at once; anything else is malformed.
    #[derive(Component, Clone)]
    struct Letters {
        text: &'static str,
        #[state]
        read: usize,
    }

    impl Source for Letters {
        type Out = String;

        async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
            while !out.is_full() {
                let Some(letter) = self.text[self.read..].chars().next() else {
                    return Ok(Progress::End);
                };
                self.read += 1;
                match letter {
                    '!' => return Err("the pipe is blocked".into()),
                    '?' => return Err(Malformed::new("no letter").into()),
                    letter => out.emit(letter.to_string()),
                }
            }
            Ok(Progress::More)
        }
    }

    /// Reads on until the end, `room` at once.
    fn rest(source: &mut Numbered<Letters>, room: usize) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        loop {
            let mut out = Emitter::with_room(room);
            let progress = block_on(source.next(&mut out));
            assert!(out.len() <= room);
            all.extend_from_slice(out.as_slice());
            if let Ok(Progress::End) = progress {
                return all;
            }
        }
    }

    #[test]
    fn what_is_malformed_has_a_number_and_other_errors_have_none() {
        for room in [1, 2, 9] {
            let mut source = Numbered::new(Letters { text: "ab?c!d??e", read: 0 });
            let lines = rest(&mut source, room);
            let lines: Vec<_> = lines.iter().map(|(n, line)| (*n, &**line)).collect();
            assert_eq!(lines, [(1, "a"), (2, "b"), (4, "c"), (5, "d"), (8, "e")]);
        }
    }

    #[test]
    fn numbers_go_on_where_the_input_does() {
        let whole = Numbered::new(Letters { text: "ab?cd", read: 0 });
        let all = rest(&mut whole.clone(), 1);
        let mut first = whole.clone();
        for read in 0..4 {
            let mut second = whole.clone();
            second.load(first.save());
            let seen = all.iter().filter(|(n, _)| *n <= read).count();
            assert_eq!(rest(&mut second, 2), all[seen..], "after {read}");
            // One of the four is malformed.
            drop(block_on(first.next(&mut Emitter::with_room(1))));
        }
    }
}
