//! A link is the ordered, bounded path from one instance to another.
//!
//! ```text
//!  sender                                        receiver
//!  Lane ── ready: frames that wait for credit
//!    │        take a credit (frames, events, bytes in flight)
//!    └──▶ Mailbox::deliver(Frame) ──▶ inbox ──▶ events one by one
//!              ▲                                  │ the frame is dropped, by whatever path
//!              └────────── LinkState ◀────────────┘ its credit comes home, the sender wakes
//! ```
//!
//! **Order.** Frames of one link arrive as they were sent; nothing is promised between links.
//!
//! **Bounds.** What is under way on a link is bounded three times: by a number of frames, by bytes
//! ([`Event::weight`](crate::Event::weight)), and by the time that the receiver, at its measured
//! pace, needs for the events. Below one event none of them goes. A control element costs a frame's
//! credit too, so nothing is without bound.
//!
//! **Closing.** `End` says that no events follow, `Close` that nothing does. A frame for a mailbox
//! that is gone is dropped, and its credit comes home as from any other.

mod credit;
mod frame;
mod lane;

pub(crate) use credit::{Credit, LinkState, Pace, Room};
pub(crate) use frame::{Batch, Control, Frame};
pub(crate) use lane::{BatchSize, Lane, LinkSender};

use std::time::Duration;

/// The bounds of a link.
///
/// ```
/// use std::time::Duration;
/// use streamwork::LinkLimits;
///
/// let limits = LinkLimits { delay: Duration::from_millis(50), ..LinkLimits::default() };
/// assert_eq!(limits.frames, 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLimits {
    /// Frames under way at most (8).
    pub frames: usize,
    /// Bytes under way at most (1 MiB), as [`Event::weight`](crate::Event::weight) counts them. An
    /// instance into which many links lead divides 16 MiB among them.
    pub bytes: usize,
    /// The time that the receiver may need for what is under way (200 ms).
    pub delay: Duration,
}

impl Default for LinkLimits {
    fn default() -> Self {
        Self { frames: 8, bytes: 1 << 20, delay: Duration::from_millis(200) }
    }
}

impl LinkLimits {
    const INSTANCE_BYTES: usize = 16 << 20;

    /// These limits for one of `links` links that end in the same instance.
    pub(crate) fn shared_by(self, links: usize) -> Self {
        Self { bytes: self.bytes.min(Self::INSTANCE_BYTES / links.max(1)), ..self }
    }
}

/// Where frames are delivered: the shell's side of an instance.
pub(crate) trait Mailbox: Send + Sync {
    /// Puts a frame at the end of the queue. If the instance is gone the frame is dropped.
    fn deliver(&self, frame: Frame);
}
