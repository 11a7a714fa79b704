//! [`Engine`]: runs jobs. The only module that knows of actix.

mod actor;
mod actors;
mod assembly;
mod checkpoints;
mod engine;
mod handle;
mod keeping;
mod opened;
mod outcome;
mod placement;
mod recording;
mod saved_state;
mod start;
mod state;
mod status;
mod supervision;
mod supervisor;
mod tree;

pub use engine::Engine;
pub use handle::{JobHandle, JobRemote};
pub use outcome::{CheckpointCounts, Outcome};
pub use saved_state::SavedState;
pub use status::JobStatus;
pub use tree::{ComponentTree, InstanceState, InstanceTree, SupervisionTree};

#[cfg(feature = "test-util")]
pub(crate) use {
    assembly::{Assembly, Making, Place, Settings, Shell, state_of},
    checkpoints::{CommitReport, Committers, Refused, Retry, WriterOrder, WriterReport, Writing},
    keeping::{Keeping, MakeStore, StorePlace},
    opened::Opened,
    recording::{Helpers, Recording, RecordingOrder},
    state::JobState,
    supervision::{ComponentSupervision, Deadline, Ending, JobOrder, JobSupervision, Verdict},
};
