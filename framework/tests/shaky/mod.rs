//! A source that panics once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use streamwork::prelude::*;
use streamwork::{Splits, StateField};

/// Panics after the call that emitted a certain line, once. All else is as in the source inside.
#[derive(Clone, Debug)]
pub(crate) struct Shaky<S> {
    inner: S,
    line: &'static str,
    armed: Arc<AtomicBool>,
}

impl<S> Shaky<S> {
    pub(crate) fn new(inner: S, line: &'static str) -> Self {
        Self { inner, line, armed: Arc::new(AtomicBool::new(true)) }
    }
}

impl<S: Component> Component for Shaky<S> {
    type Saved = S::Saved;

    const STATE: &'static [StateField] = S::STATE;

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn save(&self) -> S::Saved {
        self.inner.save()
    }

    fn load(&mut self, saved: S::Saved) {
        self.inner.load(saved);
    }
}

impl<S: Source<Out = String>> Source for Shaky<S> {
    type Out = String;

    fn splits(&self) -> Result<Splits> {
        self.inner.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.inner.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
        let progress = self.inner.next(out).await;
        let there = out.as_slice().iter().any(|line| line == self.line);
        if there && self.armed.swap(false, Ordering::SeqCst) {
            panic!("met {}", self.line);
        }
        progress
    }
}
