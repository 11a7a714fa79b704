//! For tests (feature `test-util`).
//!
//! | to test | use |
//! |---|---|
//! | one operator, event by event | [`Harness`], [`KeyedHarness`], [`TwoInputHarness`], [`KeyedTwoInputHarness`] |
//! | a part of a job | [`collect`], [`try_collect`] |
//! | a job, on one thread and without waiting | [`run`] |
//! | a job in many orders of events | [`every_seed`], [`Scheduler`] |
//! | that something holds for every event | [`Checker`] |
//! | what happens when user code fails | [`Faulty`]; [`Fault`] to choose on a command line |
//!
//! ```
//! use streamwork::prelude::*;
//! use streamwork::testing::{Faulty, Scheduler};
//!
//! let sink = Faulty::panic_at(ForEach::new(|_| {}), 2);
//! let job = Job::new("numbers");
//! job.source(FromIter::new(1..=3_u64)).sink(sink);
//! let outcome = Scheduler::seeded(7).run(job).unwrap();
//! assert_eq!((outcome.events_out(), outcome.restarts()), (2, 1));
//! ```

mod checker;
mod fault;
mod faulty;
mod faulty_store;
mod harness;
mod run;
mod scheduler;
mod stall;

pub use checker::Checker;
pub use fault::Fault;
pub use faulty::Faulty;
pub use faulty_store::FaultyStore;
pub use harness::{Harness, KeyedHarness, KeyedTwoInputHarness, SinkHarness, TwoInputHarness};
pub use run::{collect, every_seed, run, try_collect};
pub use scheduler::Scheduler;

use crate::component::{Context, Split};
use crate::id::InstanceId;
use crate::time::ManualClock;
use std::sync::Arc;

/// A context to set a component up with, without an engine: instance `index` of `parallelism`, its
/// split of the same number, on a clock that stands still.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing;
///
/// #[derive(Component)]
/// struct Numbered {
///     index: usize,
/// }
///
/// impl Operator for Numbered {
///     type In = u64;
///     type Out = (usize, u64);
///
///     fn setup(&mut self, ctx: &Context) -> Result<()> {
///         self.index = ctx.index();
///         Ok(())
///     }
///
///     fn apply(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
///         out.emit((self.index, n));
///         Ok(())
///     }
/// }
///
/// let mut numbered = Numbered { index: 0 };
/// let mut out = Emitter::new();
/// numbered.setup(&testing::context("numbered", 2, 4)).unwrap();
/// numbered.apply(7, &mut out).unwrap();
/// assert_eq!(out.as_slice(), [(2, 7)]);
/// ```
#[must_use]
pub fn context(component: &str, index: usize, parallelism: usize) -> Context {
    Context {
        job: "test".into(),
        instance: InstanceId::new(component, index),
        parallelism,
        split: Split { index, count: parallelism },
        clock: Arc::new(ManualClock::new()),
        draining: Arc::default(),
        checkpointed: false,
        owner: "test".into(),
    }
}
