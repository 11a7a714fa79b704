//! For tests (feature `test-util`): a whole job on one thread in an order that a seed decides, and
//! faults on cue.

mod fault;
mod scheduler;

pub use fault::{Fault, Faulty};
pub use scheduler::Scheduler;
