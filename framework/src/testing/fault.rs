//! [`Fault`]: what is to fail, and when, for programs that are told so.

use crate::component::Result;
use std::fmt;

/// A fault in one instance of a component (instance 0, if [no other](Self::of_instance) is named), at the
/// n-th event of that instance. For programs that are told on their command line what is to fail; a test
/// says [`Faulty::panic_at`](super::Faulty::panic_at) or [`error_at`](super::Faulty::error_at).
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
    instance: usize,
    pub(super) event: u64,
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
        Self::new(Kind::Panic, component, event)
    }

    /// An error at event `event` (from 1) of `component`; [`Faulty`](super::Faulty) has an example.
    #[must_use]
    pub fn error(component: &str, event: u64) -> Self {
        Self::new(Kind::Error, component, event)
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

    /// The same in instance `index`.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{self, Fault, Faulty};
    ///
    /// let got = Collect::new();
    /// let job = Job::new("second");
    /// let fault = Fault::error("collect", 2).of_instance(1);
    /// job.source(FromIter::new(0..6_u64)).sink(Faulty::new(got.clone(), Some(fault))).parallelism(2);
    /// testing::run(job).unwrap();
    /// assert_eq!((got.of_instance(0), got.of_instance(1)), (vec![0, 2, 4], vec![1, 5]));
    /// ```
    #[must_use]
    pub fn of_instance(self, index: usize) -> Self {
        Self { instance: index, ..self }
    }

    /// The same in the component `name`: for a program whose job gives a component another name than its own,
    /// by which alone [`Faulty::new`](super::Faulty::new) knows it.
    ///
    /// ```
    /// use streamwork::testing::Fault;
    ///
    /// let fault = Fault::parse("error:usage writer:3").unwrap().of_component("ndjson-files");
    /// assert_eq!(fault, Fault::error("ndjson-files", 3));
    /// ```
    #[must_use]
    pub fn of_component(self, name: &str) -> Self {
        Self { component: name.to_owned(), ..self }
    }

    /// Reads `panic:COMPONENT:N` or `error:COMPONENT:N`, with or without `:always` behind: a
    /// fault in instance 0.
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
        Ok(Self { always, ..Self::new(kind, component, event) })
    }

    /// The component that is to fail.
    #[must_use]
    pub fn component(&self) -> &str {
        &self.component
    }

    fn new(kind: Kind, component: &str, event: u64) -> Self {
        Self { kind, component: component.to_owned(), instance: 0, event, always: false }
    }

    /// Whether it is meant for this instance.
    pub(super) fn is_of(&self, instance: usize) -> bool {
        instance == self.instance
    }

    pub(super) fn hits(&self, event: u64) -> bool {
        event == self.event || (self.always && event > self.event)
    }

    pub(super) fn strike(&self, event: u64) -> Result<()> {
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
        write!(f, "{kind}:{}:{}{always}", self.component, self.event)?;
        match self.instance {
            0 => Ok(()),
            index => write!(f, " in instance {index}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_in_another_instance_has_no_text_form_that_could_be_misread() {
        let text = Fault::panic("a", 3).of_instance(2).to_string();
        assert_eq!(text, "panic:a:3 in instance 2");
        assert!(Fault::parse(&text).is_err());
    }

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
