//! [`Engine`]: runs jobs. The only module that knows of actix.

mod actor;
mod actors;
mod assembly;
mod checkpoints;
mod engine;
mod handle;
mod keeping;
mod placement;
mod recording;
mod start;
mod state;
mod status;
mod supervision;
mod supervisor;
mod tree;

pub use engine::Engine;
pub use handle::{JobHandle, JobRemote, Outcome};
pub use status::JobStatus;
pub use tree::{ComponentTree, InstanceState, InstanceTree, SupervisionTree};

#[cfg(feature = "test-util")]
pub(crate) use {
    assembly::{Assembly, Making, Place, Settings, Shell, state_of},
    state::JobState,
    supervision::{ComponentSupervision, Deadline, Ending, JobSupervision, Verdict},
};
