//! [`StepsEdge`]: closures between an instance and the links.

use super::{Edge, Fan, Sending};
use crate::component::{BoxError, Fatal, OnError};
use crate::guard::{catch, drop_quietly};
use crate::instance::failure::{Cause, Failure};
use crate::instance::failure_is_logged;
use crate::link::Control;
use crate::step::{Failures, Pass, StepInfo, Steps, Tally, pass};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

/// An edge that leads events through closures, to the edges of the stream that these make.
pub(crate) struct StepsEdge<S, C: Steps<S>> {
    sender: Sending,
    steps: C,
    infos: Arc<[Arc<StepInfo>]>,
    failures: Failures,
    made: Vec<C::Out>,
    next: Fan<C::Out>,
    /// Events that came in, and that came out.
    taken: u64,
    outputs: u64,
    /// A failure that is to end the job.
    failure: Option<Failure>,
}

impl<S: Send + 'static, C: Steps<S>> StepsEdge<S, C> {
    /// Events that are made before they go on.
    const BATCH: usize = 1_024;

    pub(crate) fn new(
        sender: Sending,
        steps: C,
        infos: Arc<[Arc<StepInfo>]>,
        next: Fan<C::Out>,
    ) -> Self {
        Self {
            sender,
            steps,
            infos,
            failures: Failures::default(),
            made: Vec::new(),
            next,
            taken: 0,
            outputs: 0,
            failure: None,
        }
    }

    fn lead(&mut self, batch: &[S]) {
        let (taken, outputs, mut lost) = (batch.len() as u64, self.outputs, 0);
        let mut tally = Tally::default();
        let mut events = batch.iter();
        loop {
            // The iterator stays outside of what is caught: a panic takes the event at hand with it
            // and leaves those behind.
            let Self { steps, failures, made, .. } = self;
            made.reserve(Self::BATCH.saturating_sub(made.len()));
            let stop = catch(|| pass(steps, &mut events, failures, made, Self::BATCH, &mut tally));
            match stop {
                Ok(Pass::Done) => break,
                Ok(Pass::Full) => self.go_on(),
                Ok(Pass::Failed) => {
                    lost += 1;
                    if let Some((step, error)) = self.failures.take() {
                        self.lose(step, error);
                    }
                }
                Err(panic) => {
                    lost += 1;
                    let step = self.failures.take_panicked().unwrap_or(self.infos.len() - 1);
                    // An error that came before it is not told: the event is lost once.
                    self.failures.take().into_iter().for_each(drop_quietly);
                    self.fail(step, Cause::from(panic), false);
                }
            }
        }
        self.go_on();
        self.taken += taken;
        if !C::EXPANDS {
            tally.filtered = taken - lost - (self.outputs - outputs);
        }
        let counters = &self.sender.counters;
        counters.filtered.add(tally.filtered);
        counters.expanded.add(tally.expanded);
        counters.lost_in_steps.add(lost);
    }

    /// What was made goes on.
    fn go_on(&mut self) {
        if !self.made.is_empty() {
            self.outputs += self.made.len() as u64;
            self.next.push(&mut self.made);
        }
    }

    #[cold]
    fn lose(&mut self, step: usize, error: BoxError) {
        let last = Fatal::is(&*error) || self.infos[step].on_error == OnError::Fail;
        self.fail(step, Cause::error(error), last);
    }

    /// An event was lost. If that is to be the `last`, the job ends with it.
    #[cold]
    fn fail(&mut self, step: usize, cause: Cause, last: bool) {
        let info = &self.infos[step];
        let failed = info.failed.fetch_add(1, Ordering::Relaxed) + 1;
        let instance = self.sender.instance.clone();
        let failure = Failure { instance, event: None, step: Some(Arc::clone(&info.name)), cause };
        if last {
            self.failure.get_or_insert(failure);
        } else if failure_is_logged(failed) {
            tracing::warn!(
                component = %self.sender.instance.component,
                instance = self.sender.instance.index,
                failed,
                "event lost: {failure}",
            );
        }
    }
}

impl<S: Send + 'static, C: Steps<S>> Edge<S> for StepsEdge<S, C> {
    fn push(&mut self, batch: &mut Vec<S>) {
        self.lead(batch);
        crate::guard::drop_each(batch.drain(..));
    }

    fn offer(&mut self, batch: &[S]) {
        self.lead(batch);
    }

    fn looks(&self) -> bool {
        true
    }

    fn push_control(&mut self, control: Control) {
        self.next.push_control(control);
    }

    fn flush(&mut self) {
        self.next.flush();
    }

    fn is_blocked(&mut self, waker: &Waker) -> bool {
        self.next.is_blocked(waker)
    }

    fn waits(&self) -> bool {
        self.next.waits()
    }

    /// Where events become several, fewer are taken at a time.
    fn most(&mut self) -> usize {
        let most = self.next.most();
        match C::EXPANDS {
            true => (most / (self.outputs / self.taken.max(1)).max(1) as usize).max(1),
            false => most,
        }
    }

    fn discard(&mut self) -> u64 {
        self.next.discard()
    }

    fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take().or_else(|| self.next.take_failure())
    }
}

impl<S, C: Steps<S>> fmt::Debug for StepsEdge<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepsEdge").field("sender", &self.sender.instance).finish_non_exhaustive()
    }
}
