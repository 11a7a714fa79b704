//! [`StepsOperator`]: closures as a component of their own.

use crate::component::{BoxError, Component, Fatal, OnError, Result};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::operator::Operator;
use crate::step::{Failures, Held, StepInfo, Steps};
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Closures that follow one another, as an operator.
pub(super) struct StepsOperator<S, C> {
    steps: C,
    infos: Arc<[Arc<StepInfo>]>,
    failures: Failures,
    events: PhantomData<fn(S)>,
}

impl<S, C> StepsOperator<S, C> {
    pub(super) fn new(steps: C, infos: Arc<[Arc<StepInfo>]>) -> Self {
        Self { steps, infos, failures: Failures::default(), events: PhantomData }
    }
}

impl<S, C: Clone> Clone for StepsOperator<S, C> {
    fn clone(&self) -> Self {
        Self::new(self.steps.clone(), Arc::clone(&self.infos))
    }
}

impl<S: 'static, C: Send + 'static> Component for StepsOperator<S, C> {
    type Saved = ();

    fn name(&self) -> &str {
        "steps"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<S: Event, C: Steps<S>> Operator for StepsOperator<S, C> {
    type In = S;
    type Out = C::Out;

    #[inline]
    fn apply(&mut self, event: S, out: &mut Emitter<C::Out>) -> Result<()> {
        self.steps.lead(&event, &self.failures, &mut |item| out.emit(item.take()));
        match self.failures.take() {
            None => Ok(()),
            Some((step, error)) => Err(failed(&self.infos[step], error)),
        }
    }
}

/// A closure has lost an event: the error of the component that it is in, as the closure's policy has it.
#[cold]
fn failed(step: &StepInfo, error: BoxError) -> BoxError {
    step.failed.fetch_add(1, Ordering::Relaxed);
    let last = Fatal::is(&*error) || step.on_error == OnError::Fail;
    let error = StepError { step: Arc::clone(&step.name), error: Fatal::unmarked(error) };
    if last { Fatal::new(error).into() } else { error.into() }
}

/// An error with the closure that returned it.
#[derive(Debug)]
struct StepError {
    step: Arc<str>,
    error: BoxError,
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.step)
    }
}

impl Error for StepError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}
