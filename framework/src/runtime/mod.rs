//! [`Engine`]: runs jobs. The only module that knows of actix.

mod actor;
mod assembly;
mod engine;
mod handle;
mod placement;
mod state;
mod supervision;
mod supervisor;
mod tree;

pub(crate) use assembly::{Place, Shell, assemble};
pub use engine::Engine;
pub use handle::{JobHandle, JobRemote, JobStatus, Outcome};
#[cfg(any(test, feature = "test-util"))]
pub(crate) use state::JobState;
#[cfg(any(test, feature = "test-util"))]
pub(crate) use supervision::{JobSupervision, Verdict};
pub use tree::{ComponentTree, InstanceState, InstanceTree, SupervisionTree};
