//! What travels in a link.

use super::credit::Credit;
use crate::checkpoint::Barrier;
use crate::id::{Attempt, LinkIndex};
use crate::time::Watermark;
use std::any::Any;
use std::fmt;

/// A batch of events, boxed so that the same allocation travels to and fro.
pub(crate) type Batch<T> = Box<Vec<T>>;

/// An element that belongs between two events: it acts on those after it and not on those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// No more events before this time.
    Watermark(Watermark),
    /// This link is silent for now: it holds no watermark back.
    Idle,
    /// A checkpoint lies here.
    Barrier(Barrier),
    /// No more events; control may follow.
    End,
    /// Nothing follows.
    Close,
}

/// At most one batch, followed by at most one control element, with the credit that pays for it.
pub(crate) struct Frame {
    pub(crate) link: LinkIndex,
    pub(crate) attempt: Attempt,
    batch: Option<Box<dyn Any + Send>>,
    pub(crate) control: Option<Control>,
    credit: Credit,
}

impl Frame {
    pub(crate) fn new<T: Send + 'static>(
        link: LinkIndex,
        attempt: Attempt,
        batch: Option<Batch<T>>,
        control: Option<Control>,
        credit: Credit,
    ) -> Self {
        let batch = batch.map(|b| b as Box<dyn Any + Send>);
        Self { link, attempt, batch, control, credit }
    }

    /// How many events it was sent with.
    pub(crate) fn events(&self) -> usize {
        self.credit.events()
    }

    /// Takes the frame apart. The credit must live as long as any of the events.
    pub(crate) fn open<T: Send + 'static>(self) -> (Option<Batch<T>>, Option<Control>, Credit) {
        let batch = self.batch.map(|b| {
            b.downcast::<Vec<T>>().expect("both ends of a link were made from one typed stream")
        });
        (batch, self.control, self.credit)
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("link", &self.link)
            .field("events", &self.events())
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}
