//! Faults on cue.

use crate::component::{Component, Context, Result, StateField};
use crate::emitter::Emitter;
use crate::operator::Operator;
use crate::sink::Sink;
use crate::source::{Progress, Source, Splits};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A fault in instance 0 of a component, at its n-th event.
///
/// ```
/// use streamwork::testing::Fault;
///
/// let fault = Fault::parse("panic:vehicle-counter:5").unwrap();
/// assert_eq!(fault.component(), "vehicle-counter");
/// assert_eq!(fault.to_string(), "panic:vehicle-counter:5");
/// assert!(Fault::parse("panic:vehicle-counter").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    kind: Kind,
    component: String,
    event: u64,
    always: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Panic,
    Error,
}

impl Fault {
    /// A panic at event `event` (from 1) of `component`.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{Fault, Faulty};
    ///
    /// let got = Collect::new();
    /// let job = Job::new("panic");
    /// let sink = Faulty::new(got.clone(), Some(Fault::panic("collect", 2)));
    /// job.source(FromIter::new(1..=3_u64)).sink(sink);
    /// let outcome = Engine::new().run(job).unwrap();
    /// assert_eq!((got.take(), outcome.restarts()), (vec![1, 3], 1));
    /// ```
    #[must_use]
    pub fn panic(component: &str, event: u64) -> Self {
        Self { kind: Kind::Panic, component: component.to_owned(), event, always: false }
    }

    /// An error at event `event` (from 1) of `component`; [`Faulty`] has an example.
    #[must_use]
    pub fn error(component: &str, event: u64) -> Self {
        Self { kind: Kind::Error, component: component.to_owned(), event, always: false }
    }

    /// The same at every event from that one on.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{Fault, Faulty};
    ///
    /// let got = Collect::new();
    /// let job = Job::new("errors");
    /// let sink = Faulty::new(got.clone(), Some(Fault::error("collect", 2).always()));
    /// job.source(FromIter::new(1..=3_u64)).sink(sink);
    /// let outcome = Engine::new().run(job).unwrap();
    /// assert_eq!((got.take(), outcome.failed()), (vec![1], 2));
    /// ```
    #[must_use]
    pub fn always(self) -> Self {
        Self { always: true, ..self }
    }

    /// Reads `panic:COMPONENT:N` or `error:COMPONENT:N`, with or without `:always` behind.
    ///
    /// # Errors
    /// Says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wanted = || {
            format!(
                "{text:?} is no fault: expected panic:COMPONENT:N or error:COMPONENT:N, with or without :always"
            )
        };
        let (kind, rest) = text.split_once(':').ok_or_else(wanted)?;
        let (rest, always) = match rest.strip_suffix(":always") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (component, event) = rest.rsplit_once(':').ok_or_else(wanted)?;
        let event = event.parse().ok().filter(|n| *n > 0).ok_or_else(wanted)?;
        let kind = match kind {
            "panic" => Kind::Panic,
            "error" => Kind::Error,
            _ => return Err(wanted()),
        };
        if component.is_empty() {
            return Err(wanted());
        }
        Ok(Self { kind, component: component.to_owned(), event, always })
    }

    /// The component that is to fail.
    #[must_use]
    pub fn component(&self) -> &str {
        &self.component
    }

    fn hits(&self, event: u64) -> bool {
        event == self.event || (self.always && event > self.event)
    }

    fn strike(&self, event: u64) -> Result<()> {
        match self.kind {
            Kind::Panic => panic!("a panic on cue at event {event}"),
            Kind::Error => Err(format!("an error on cue at event {event}").into()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Panic => "panic",
            Kind::Error => "error",
        };
        let always = if self.always { ":always" } else { "" };
        write!(f, "{kind}:{}:{}{always}", self.component, self.event)
    }
}

/// A component that fails on cue, and is otherwise the one inside. Its clones count events together,
/// so that an instance that was built anew goes on counting.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::{Fault, Faulty};
///
/// let got = Collect::new();
/// let job = Job::new("faulty");
/// let sink = Faulty::new(got.clone(), Some(Fault::error("collect", 2)));
/// job.source(FromIter::new(1..=3_u64)).sink(sink);
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!((got.take(), outcome.failed()), (vec![1, 3], 1));
/// ```
#[derive(Clone, Debug)]
pub struct Faulty<C> {
    inner: C,
    fault: Option<Fault>,
    events: Arc<AtomicU64>,
    /// Whether this is the instance that is to fail.
    armed: bool,
}

impl<C: Component> Faulty<C> {
    /// Wraps a component. A fault for a component of another name does nothing.
    pub fn new(component: C, fault: Option<Fault>) -> Self {
        let fault = fault.filter(|fault| fault.component == component.name());
        Self { inner: component, fault, events: Arc::default(), armed: false }
    }

    fn arm(&mut self, ctx: &Context) {
        self.armed = ctx.index() == 0;
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref().filter(|_| self.armed)
    }

    /// One more event has come; fails if it is its turn.
    fn count(&self) -> Result<()> {
        match self.fault() {
            None => Ok(()),
            Some(fault) => {
                let event = self.events.fetch_add(1, Ordering::Relaxed) + 1;
                if fault.hits(event) { fault.strike(event) } else { Ok(()) }
            }
        }
    }
}

impl<C: Component> Component for Faulty<C> {
    type Saved = C::Saved;

    const STATE: &'static [StateField] = C::STATE;
    const BLOCKING: bool = C::BLOCKING;

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn parallelism(&self) -> usize {
        self.inner.parallelism()
    }

    fn save(&self) -> C::Saved {
        self.inner.save()
    }

    fn load(&mut self, saved: C::Saved) {
        self.inner.load(saved);
    }
}

impl<O: Operator> Operator for Faulty<O> {
    type In = O::In;
    type Out = O::Out;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx)
    }

    fn apply(&mut self, event: O::In, out: &mut Emitter<O::Out>) -> Result<()> {
        self.count()?;
        self.inner.apply(event, out)
    }

    fn finish(&mut self, out: &mut Emitter<O::Out>) -> Result<()> {
        self.inner.finish(out)
    }
}

impl<S: Sink> Sink for Faulty<S> {
    type In = S::In;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx)
    }

    fn write(&mut self, event: S::In) -> Result<()> {
        self.count()?;
        self.inner.write(event)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }

    fn finish(&mut self) -> Result<()> {
        self.inner.finish()
    }
}

/// An error takes the n-th event with it; a panic makes the source read it again, if it has a
/// position to go back to.
impl<S: Source> Source for Faulty<S> {
    type Out = S::Out;

    const RESUMES: bool = S::RESUMES;

    fn splits(&self) -> Result<Splits> {
        self.inner.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<S::Out>) -> Result<Progress> {
        let Some(fault) = self.fault().cloned() else { return self.inner.next(out).await };
        let limit = out.limit();
        let before = self.events.load(Ordering::Relaxed);
        let next = before + 1;
        // Up to the event before the fault, or the event of the fault alone.
        let until = if fault.hits(next) { 1 } else { fault.event.saturating_sub(next) };
        if let Ok(until) = usize::try_from(until)
            && until > 0
        {
            out.set_limit(limit.min(out.len() + until));
        }
        let start = out.len();
        let progress = self.inner.next(out).await;
        out.set_limit(limit);
        let emitted = (out.len() - start) as u64;
        self.events.fetch_add(emitted, Ordering::Relaxed);
        if emitted > 0 && fault.hits(next) {
            out.buffer().remove(start);
            fault.strike(next)?;
        }
        progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_read_as_they_are_written() {
        for text in ["panic:a:1", "error:b-c:20:always"] {
            assert_eq!(Fault::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "panic", "panic:a", "panic::1", "panic:a:0", "panic:a:x", "boom:a:1"] {
            let error = Fault::parse(text).unwrap_err();
            assert!(error.contains("expected panic:COMPONENT:N"), "{error}");
        }
    }
}
