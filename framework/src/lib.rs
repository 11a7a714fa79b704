//! Streamwork: stream processing in which every component instance is an actor with a mailbox.
//!
//! A [`Job`] is a graph of sources, operators and sinks joined by streams. An [`Engine`] runs it:
//! each component in as many instances as it is asked to, each instance an actor, each actor watched
//! by a supervisor.
//!
//! ```
//! use std::collections::BTreeMap;
//! use streamwork::prelude::*;
//!
//! /// Counts vehicles by kind.
//! #[derive(Component, Clone, Default)]
//! #[component(name = "vehicle-counter")]
//! struct VehicleCounter {
//!     counts: BTreeMap<&'static str, u64>,
//! }
//!
//! impl Operator for VehicleCounter {
//!     type In = &'static str;
//!     type Out = (&'static str, u64);
//!
//!     fn apply(&mut self, kind: &'static str, out: &mut Emitter<Self::Out>) -> Result<()> {
//!         let count = self.counts.entry(kind).or_default();
//!         *count += 1;
//!         out.emit((kind, *count));
//!         Ok(())
//!     }
//! }
//!
//! let counts = Collect::new();
//! let job = Job::new("vehicle-count");
//! job.source(FromIter::new(["car", "van", "car"]))
//!     .group(Fields::whole())
//!     .apply(VehicleCounter::default())
//!     .sink(counts.clone());
//! Engine::new().run(job)?;
//! assert_eq!(counts.take(), [("car", 1), ("van", 1), ("car", 2)]);
//! # Ok::<(), streamwork::Error>(())
//! ```
//!
//! By default each event is processed at most once. With [`Delivery`] and [`Engine::data_dir`] a job takes
//! checkpoints: it goes back to the last one when something fails, and goes on from it when it is started again,
//! so that each event has its effect on state, and on sinks that commit, exactly once.
//!
//! ```
//! use std::time::Duration;
//! use streamwork::MemoryStore;
//! use streamwork::prelude::*;
//!
//! let counts = Collect::new();
//! let job = Job::new("counts").delivery(Delivery::exactly_once(Duration::from_millis(10)));
//! job.source(FromIter::new(0..100_u64))
//!     .key_by_value(|n: &u64| n % 2)
//!     .fold(0_u64, |count, _| *count += 1)
//!     .sink(counts.clone());
//! Engine::new().store(MemoryStore::new()).run(job)?;
//! let mut counts = counts.take();
//! counts.sort();
//! let expected: Vec<_> = (0..2).flat_map(|key| (1..=50).map(move |count| (key, count))).collect();
//! assert_eq!(counts, expected);
//! # Ok::<(), streamwork::Error>(())
//! ```
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `macros` | yes | `#[derive(Event)]`, `#[derive(Component)]`, `#[derive(Key)]`, `#[derive(State)]` |
//! | `cli` | no | the program `streamwork-checkpoints`: lists, verifies, exports and deletes checkpoints |
//! | `sled` | yes | `SledStore`: checkpoints on disk, in a sled database |
//! | `redb` | no | `RedbStore`: checkpoints on disk, in a redb file |
//! | `test-util` | no | the `testing` module: operators and whole jobs under test, faults on cue |

extern crate self as streamwork;

mod channel;
mod checkpoint;
mod component;
mod emitter;
mod error;
mod event;
pub mod grouping;
mod guard;
mod id;
mod instance;
mod job;
mod key;
mod link;
mod metrics;
mod operator;
pub mod prelude;
mod restart;
mod runtime;
mod shape;
mod sink;
mod source;
mod state;
pub mod step;
#[cfg(feature = "test-util")]
pub mod testing;
mod time;
mod watermark;

pub use channel::{Channel, ChannelInfo};
#[cfg(feature = "redb")]
pub use checkpoint::RedbStore;
#[cfg(feature = "sled")]
pub use checkpoint::SledStore;
pub use checkpoint::{
    CheckpointStore, ComponentManifest, DataDir, DataDirError, Found, Generation, Health, Latest,
    Manifest, ManifestError, ManifestKind, MemoryStore, Part, PartManifest, PendingCommit,
    RecoveryError, Refusal, Restored, SegmentId, SegmentRef, StoreError, StoreKind,
};
pub use component::{
    BoxError, Component, Context, Fatal, Malformed, OnError, Rescale, Result, Split, StateField,
};
pub use emitter::{ChannelEmitter, Emitter};
pub use error::Error;
#[doc(hidden)]
pub use event::encode_event;
pub use event::{DeadLetter, Event, Nothing, Storable};
pub use grouping::{All, Direct, Fields, Forward, Global, Grouping, Shuffle};
pub use id::{CheckpointId, ComponentName, InstanceId};
pub use instance::{Cause, Failure, UserError};
pub use job::{
    AtSource, Begin, Behind, Checkpoints, Delivery, Grouped, IntoStream, Job, KeyedPair,
    KeyedStream, Pair, Piped, Problem, Problems, RightBehind, SinkStage, SourceStage, Stage,
    Stream, Streams, Subscription, Subscriptions,
};
pub use key::{Key, KeyBy, KeyGroup, KeyGroups, KeyHasher, KeyOn, KeySelector, key_hash};
pub use link::LinkLimits;
pub use metrics::{Counts, StepCounts};
pub use operator::{Fold, KeyedOperator, KeyedTwoInput, Operator, TwoInput};
pub use restart::RestartStrategy;
pub use runtime::{
    CheckpointCounts, ComponentTree, Engine, InstanceState, InstanceTree, JobHandle, JobRemote,
    JobStatus, Outcome, SavedState, SupervisionTree,
};
pub use shape::{Change, Difference, Field, Shape, Variant};
pub use sink::{
    Collect, CsvFiles, Effect, ForEach, Handle, IntoSink, NdjsonFiles, Print, Sink, TryForEach,
    TwoPhaseSink,
};
pub use source::{
    Closed, Csv, FromIter, FromStream, FromThread, Generator, Immediate, Lines, Ndjson, Progress,
    Source, Splits, Taker, TcpLines, ThreadEmitter, TryFromStream,
};
pub use state::{
    FieldReader, FieldWriter, Keyed, KeyedMap, Migration, Old, Reading, Redistribute, Rescaling,
    State, StateError,
};
#[cfg(feature = "macros")]
pub use streamwork_macros::{Component, Event, Key, State};
pub use time::{Clock, EventTime, ManualClock, Moment, SystemClock, Watermark};

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
