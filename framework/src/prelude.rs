//! The names that a job's file imports: `use streamwork::prelude::*;`
//!
//! ```
//! use streamwork::prelude::*;
//!
//! let got = Collect::new();
//! let job = Job::new("numbers");
//! job.source(FromIter::new(1..=3_u64)).sink(got.clone());
//! Engine::new().run(job).unwrap();
//! assert_eq!(got.take(), [1, 2, 3]);
//! ```

pub use crate::channel::Channel;
pub use crate::component::{Component, Context, Fatal, Malformed, OnError, Result};
pub use crate::emitter::Emitter;
pub use crate::error::Error;
pub use crate::event::{Event, Nothing};
pub use crate::grouping::{All, Direct, Fields, Forward, Global, Grouping, Shuffle};
pub use crate::job::{Checkpoints, Delivery, Job, Stage, Stream, Streams};
pub use crate::key::Key;
pub use crate::link::LinkLimits;
pub use crate::operator::{KeyedOperator, KeyedTwoInput, Operator, TwoInput};
pub use crate::restart::RestartStrategy;
pub use crate::runtime::{Engine, JobHandle, JobStatus, Outcome};
pub use crate::sink::{
    Collect, CsvFiles, ForEach, IntoSink, NdjsonFiles, Print, Sink, TryForEach, TwoPhaseSink,
};
pub use crate::source::{
    Csv, FromIter, FromStream, FromThread, Generator, Lines, Ndjson, Progress, Source, Splits,
    TcpLines, ThreadEmitter, TryFromStream,
};
pub use crate::state::{Keyed, State};
pub use crate::time::{EventTime, Watermark};
#[cfg(feature = "macros")]
pub use streamwork_macros::{Component, Event, Key, State};
