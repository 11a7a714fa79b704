//! [`PaymentSource`]: reads payments from numbered lines.

use super::Payment;
use crate::numbered::Numbered;
use streamwork::prelude::*;

impl PaymentSource<()> {
    /// The name of the source.
    pub const NAME: &str = "transaction source";
}

/// Reads a payment from each line. A line that is none has its number, is logged, and counts as failed.
#[derive(Clone, Debug)]
pub struct PaymentSource<S> {
    lines: Numbered<S>,
    is_over: bool,
}

impl<S> PaymentSource<S> {
    /// What `lines` emits are the lines, which is one split.
    pub fn new(lines: S) -> Self {
        Self { lines: Numbered::new(lines), is_over: false }
    }
}

impl<S: Component> Component for PaymentSource<S> {
    type Saved = <Numbered<S> as Component>::Saved;

    fn name(&self) -> &str {
        PaymentSource::NAME
    }

    fn save(&self) -> Self::Saved {
        self.lines.save()
    }

    fn load(&mut self, saved: Self::Saved) {
        self.lines.load(saved);
    }
}

impl<S: Source<Out = String>> Source for PaymentSource<S> {
    type Out = Payment;

    const RESUMES: bool = S::RESUMES;
    const DRAINS: bool = S::DRAINS;

    fn replays(&self) -> bool {
        self.lines.replays()
    }

    fn splits(&self) -> Result<Splits> {
        self.lines.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.lines.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<Payment>) -> Result<Progress> {
        if self.is_over {
            return Ok(Progress::End);
        }
        // One at a time: each malformed one is an error of its own.
        let mut line = Emitter::with_room(1);
        let progress = self.lines.next(&mut line).await;
        for (number, text) in line.as_slice() {
            match Payment::read(*number, text) {
                Ok(payment) => out.emit(payment),
                Err(error) => {
                    self.is_over = matches!(progress, Ok(Progress::End));
                    return Err(Malformed::new(error).into());
                }
            }
        }
        progress
    }
}
