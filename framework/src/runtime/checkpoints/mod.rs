//! Checkpoints of a running job: when they are taken, written, published and committed.
//!
//! ```text
//!               trigger                  snapshots               segments
//! coordination ────────▶ sources ─ ─ ─ ▶ instances ─▶ coordination ──────▶ writer ──▶ store
//!      ▲                 barriers through the job          │ complete: publish   │
//!      └───────────────────────────────────────────────────┴────── published ◀───┘
//!      │ commit
//!      ▼
//!  committer ──▶ what the sinks have prepared becomes visible
//! ```
//!
//! [`Coordination`] decides and does nothing else: facts come in, orders go out, and its shell carries them
//! out. The writer and the committer are threads: whatever they do may block.
//!
//! **Order.** A checkpoint is published when every instance has given its part and all of it is durable;
//! what sinks have prepared for it is committed after that, and before its successor's. A failure waits
//! for a publication that is under way: only then is it known which checkpoint is the last.

mod committer;
mod coordination;
mod writer;

#[cfg(feature = "test-util")]
pub(crate) use committer::Refused;
pub(crate) use committer::{CommitReport, CommitThread, Committers, Retry};
pub(crate) use coordination::{Coordination, Costs, Order, Template};
pub(crate) use writer::{Writer, WriterOrder, WriterReport, Writing};
