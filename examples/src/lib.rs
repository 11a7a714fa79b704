//! What the example programs share: their options, their input, how they print and log, and how they
//! end.
//!
//! Each program is a file in `src/bin` that reads its options and hands a [`Job`](streamwork::Job) to
//! [`run`]; the job itself is built by a function in [`jobs`].
//!
//! | program | shows |
//! |---|---|
//! | `vehicle-count` | a source and an operator (chapter 2) |
//! | `parallel-vehicle-count` | several instances, and groupings (chapter 3) |
//! | `stream-fork` | one stream that two operators read (chapter 4) |
//! | `stream-split` | one source that emits into two streams, by a channel (chapter 4) |
//! | `stream-merge` | one operator that reads two streams (chapter 4) |
//! | `fraud-detection` | a graph of five components, history by key, and a fan-in (chapter 4) |
//! | `system-usage` | totals that are right after failures, and files of results (chapters 5 and 10) |
//! | `own-source` | a source of one's own, with a position |
//! | `own-sink` | a sink of one's own, which gathers and flushes |
//! | `own-grouping` | a grouping of one's own |
//! | `manual-state` | a component that keeps its state by itself (chapter 10) |
//! | `lambda` | a batch layer, a stream layer, and a query over both (chapter 10) |
//! | `word-count-recovery` | an instance that breaks, and is built anew by its supervisor |
//! | `inside-tokio` | a job within an asynchronous program |
//! | `several-jobs` | several jobs in one program, of which one fails |
//! | `workload`, `latency`, `recovery-times` | what it costs |
//!
//! | exit code | means |
//! |---|---|
//! | 0 | the job finished, or was drained or stopped; or nobody reads standard output any more |
//! | 1 | the job failed: one line `error: ..` on standard error says what and where |
//! | 2 | wrong usage |
//! | 130 | a second Ctrl-C or SIGTERM killed the job |

mod args;
mod console;
mod delivery;
mod input;
pub mod jobs;
mod logging;
mod numbered;
mod run;
mod signals;
mod temp_dir;

pub use args::{Common, LogArgs, count, duration, instances};
pub use console::{Console, say};
pub use input::{InputArgs, InputLines, InputPosition};
pub use jobs::Setting;
pub use numbered::Numbered;
pub use run::{Usage, exit, fail, refuse, run, run_then};
pub use temp_dir::TempDir;
