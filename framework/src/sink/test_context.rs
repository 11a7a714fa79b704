//! Contexts that sinks are set up with in tests.

use crate::component::{Context, Split};
use crate::id::InstanceId;
use crate::time::ManualClock;
use std::sync::Arc;

/// Of an instance of a job that takes checkpoints.
pub(super) fn checkpointed(job: &str, component: &str, index: usize) -> Context {
    Context {
        job: job.into(),
        instance: InstanceId::new(component, index),
        parallelism: index + 1,
        split: Split { index, count: index + 1 },
        clock: Arc::new(ManualClock::new()),
        draining: Arc::default(),
        checkpointed: true,
    }
}
