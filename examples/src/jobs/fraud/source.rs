//! [`TransactionSource`]: reads transactions and prints each one.

use super::IntoTransaction;
use super::Transaction;
use crate::console::Console;
use streamwork::StateField;
use streamwork::prelude::*;

impl TransactionSource<()> {
    /// The name of the source.
    pub const NAME: &str = "transaction source";
}

/// Reads transactions and prints each one that it emits. A line that is none is skipped: it says what
/// is wanted, and counts it as failed.
#[derive(Clone, Debug)]
pub struct TransactionSource<S> {
    input: S,
    console: Console,
    instance: usize,
    is_over: bool,
}

impl<S> TransactionSource<S> {
    /// What `input` emits are transactions, or lines.
    pub fn new(input: S, console: Console) -> Self {
        Self { input, console, instance: 0, is_over: false }
    }
}

impl<S: Component> Component for TransactionSource<S> {
    type Saved = S::Saved;

    const STATE: &'static [StateField] = S::STATE;

    fn name(&self) -> &str {
        TransactionSource::NAME
    }

    fn save(&self) -> S::Saved {
        self.input.save()
    }

    fn load(&mut self, saved: S::Saved) {
        self.input.load(saved);
    }
}

impl<S: Source<Out: IntoTransaction>> Source for TransactionSource<S> {
    type Out = Transaction;

    const RESUMES: bool = S::RESUMES;

    fn replays(&self) -> bool {
        self.input.replays()
    }

    fn splits(&self) -> Result<Splits> {
        self.input.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        self.input.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<Transaction>) -> Result<Progress> {
        if self.is_over {
            return Ok(Progress::End);
        }
        // One at a time: each malformed one is an error of its own.
        let mut arrived = Emitter::with_room(1);
        let progress = self.input.next(&mut arrived).await;
        let mut malformed = None;
        for arrived in arrived.as_slice() {
            match arrived.to_transaction() {
                Ok(transaction) => {
                    let head =
                        format!("transaction (transaction source) :: instance {}", self.instance);
                    self.console.print(&format!("\n{head} --> {transaction}\n"))?;
                    out.emit(transaction);
                }
                Err(error) => {
                    self.console.print(&format!("{}\n", error.wanted()))?;
                    malformed = Some(error);
                }
            }
        }
        let progress = progress?;
        match malformed {
            None => Ok(progress),
            Some(error) => {
                self.is_over = progress == Progress::End;
                Err(Malformed::new(error).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends with its only line, and is not to be called after that.
    #[derive(Component, Clone)]
    struct LastWords(bool);

    impl Source for LastWords {
        type Out = String;

        async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
            assert!(!self.0, "it is at its end");
            self.0 = true;
            out.emit("no transaction".to_owned());
            Ok(Progress::End)
        }
    }

    #[test]
    fn an_input_that_ends_with_a_malformed_line_is_at_its_end() {
        let console = Console::memory();
        let job = Job::new("last-words");
        job.source(TransactionSource::new(LastWords(false), console.clone())).sink(Collect::new());
        let outcome = Engine::new().run(job).unwrap();
        assert_eq!((outcome.events_in(), outcome.failed(), outcome.restarts()), (1, 1, 0));
        assert!(console.text().starts_with("Input needs to be in this format: "));
    }
}
