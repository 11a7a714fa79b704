//! One operator or sink without a job and without actors.

mod bench;
mod keyed;
mod sink;
mod two_input;

pub use keyed::KeyedHarness;
pub use sink::SinkHarness;
pub use two_input::{KeyedTwoInputHarness, TwoInputHarness};

use crate::component::Result;
use crate::instance::OperatorLogic;
use crate::operator::Operator;
use bench::Bench;

/// What every harness can do, whatever kind of operator is in it.
macro_rules! common {
    ($out:ty) => {
        /// Makes it instance `index` of `parallelism`, where it is instance 0 of 1 otherwise; before it
        /// is set up. [`testing::context`](crate::testing::context) says what `setup` is told, and
        /// [`Harness`](crate::testing::Harness) has an example.
        ///
        /// # Panics
        /// If there is no such instance, or it is set up already.
        pub fn instance(&mut self, index: usize, parallelism: usize) -> &mut Self {
            self.bench.place(index, parallelism);
            self
        }

        /// Calls the operator's `setup`. Without it the first event does, as in a job.
        ///
        /// # Errors
        /// As the operator's `setup`.
        pub fn setup(&mut self) -> Result<()> {
            self.bench.set_up()
        }

        /// Says which stream the events to come are from, for operators that ask
        /// [`Emitter::stream`](crate::Emitter::stream). [`Harness`](crate::testing::Harness) has an example.
        pub fn stream(&mut self, name: &str) -> &mut Self {
            self.bench.set_stream(name);
            self
        }

        /// The end of data: the operator emits what it has gathered.
        ///
        /// # Errors
        /// As the operator's `finish`, or its `setup` if there was no event before.
        ///
        /// # Panics
        /// If it was called before.
        pub fn finish(&mut self) -> Result<()> {
            self.bench.finish()
        }

        /// Takes out what was emitted, in order.
        #[must_use]
        pub fn take(&mut self) -> Vec<$out> {
            self.bench.take()
        }

        /// Takes out what was emitted into a channel, in order.
        ///
        /// # Panics
        /// If the component does not declare the channel: in a job nobody could subscribe to it.
        #[must_use]
        pub fn take_channel<T: crate::Event>(&mut self, channel: crate::Channel<T>) -> Vec<T> {
            self.bench.take_channel(channel)
        }

        /// The operator's clock. It stands still until it is told to
        /// [advance](crate::ManualClock::advance).
        #[must_use]
        pub fn clock(&self) -> &crate::ManualClock {
            self.bench.clock()
        }
    };
}
use common;

/// What a harness with keys can let happen besides.
macro_rules! timed {
    () => {
        /// Moves the clock on by `duration`, and fires the [timers](crate::Keyed::set_timer) that fall due,
        /// each at its time; those that they set too. States that have lived their time are forgotten.
        /// [`Keyed::set_timer_after`](crate::Keyed::set_timer_after) has an example.
        ///
        /// # Errors
        /// As the operator's `on_timer`, or its `setup` if there was no event before. That timer is gone, and
        /// nothing of what it emitted is kept; those after it fire at the next call.
        ///
        /// # Panics
        /// As the operator, or after [`finish`](Self::finish).
        pub fn advance(&mut self, duration: std::time::Duration) -> Result<()> {
            self.bench.advance(duration)
        }

        /// Forgets the state of a key that was not changed for so long, as
        /// [`KeyedStream::ttl`](crate::KeyedStream::ttl) does.
        ///
        /// # Panics
        /// If there was an event before.
        pub fn ttl(&mut self, ttl: std::time::Duration) -> &mut Self {
            self.bench.set_ttl(ttl);
            self
        }
    };
}
use timed;

/// What a harness with keys can tell besides.
macro_rules! states {
    ($operator:ident) => {
        /// The state of a key; `None` if it has none, and after the end of data.
        #[must_use]
        pub fn state<Q>(&self, key: &Q) -> Option<&$operator::State>
        where
            $operator::Key: Borrow<Q>,
            Q: crate::key::Key + ?Sized,
        {
            self.bench.logic.keys().get(crate::key::key_hash(key), key)
        }

        /// How many keys have state.
        #[must_use]
        pub fn keys(&self) -> usize {
            self.bench.logic.keys().len()
        }

        /// The operator, to look into.
        #[must_use]
        pub fn operator(&self) -> &$operator {
            self.bench.logic.operator()
        }
    };
}
use states;

/// An [`Operator`] under test: no job, no actors, one call at a time.
///
/// The engine's own code calls the operator. So a call that fails leaves no outputs; a panic comes
/// through to the test.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::Harness;
///
/// /// Passes readings on with the sum so far, and those of a bad sensor into a channel.
/// #[derive(Component, Default)]
/// #[component(channels = [Sum::BAD])]
/// struct Sum {
///     sum: i64,
/// }
///
/// impl Sum {
///     const BAD: Channel<String> = Channel::new("bad");
/// }
///
/// impl Operator for Sum {
///     type In = i64;
///     type Out = i64;
///
///     fn apply(&mut self, n: i64, out: &mut Emitter<i64>) -> Result<()> {
///         self.sum += n;
///         out.emit(self.sum);
///         match n {
///             0.. => Ok(()),
///             -9.. => {
///                 let what = format!("{n} from {}", out.stream());
///                 out.to(Self::BAD).emit(what);
///                 Ok(())
///             }
///             _ => Err("too low".into()),
///         }
///     }
///
///     fn finish(&mut self, out: &mut Emitter<i64>) -> Result<()> {
///         out.emit(-self.sum);
///         Ok(())
///     }
/// }
///
/// let mut harness = Harness::new(Sum::default());
/// harness.apply(3)?;
/// harness.stream("bridge").apply(-2)?;
/// assert_eq!(harness.take(), [3, 1]);
/// assert_eq!(harness.take_channel(Sum::BAD), ["-2 from bridge"]);
///
/// let error = harness.apply(-10).unwrap_err();
/// assert_eq!(error.to_string(), "too low");
/// assert!(harness.take().is_empty());
/// // but what it changed in itself stays
/// assert_eq!(harness.operator().sum, -9);
///
/// harness.finish()?;
/// assert_eq!(harness.take(), [9]);
/// # Ok::<(), streamwork::BoxError>(())
/// ```
///
/// What is said about the calls to come is said in the same way, whatever it is about: `instance` says once,
/// before all of them, which instance it is, and `stream` where the next events are from.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::Harness;
///
/// /// Marks events with the instance that they passed, and the stream that they came from.
/// #[derive(Component, Default)]
/// struct Mark {
///     index: usize,
/// }
///
/// impl Operator for Mark {
///     type In = u64;
///     type Out = String;
///
///     fn setup(&mut self, ctx: &Context) -> Result<()> {
///         self.index = ctx.index();
///         Ok(())
///     }
///
///     fn apply(&mut self, n: u64, out: &mut Emitter<String>) -> Result<()> {
///         out.emit(format!("{n} of {} at {}", out.stream(), self.index));
///         Ok(())
///     }
/// }
///
/// let mut harness = Harness::new(Mark::default());
/// harness.instance(2, 4).stream("bridge").apply(7)?;
/// harness.stream("tunnel").apply(8)?;
/// assert_eq!(harness.take(), ["7 of bridge at 2", "8 of tunnel at 2"]);
/// # Ok::<(), streamwork::BoxError>(())
/// ```
#[derive(Debug)]
pub struct Harness<O: Operator> {
    bench: Bench<OperatorLogic<O>, O::Out>,
}

impl<O: Operator> Harness<O> {
    /// Puts an operator in.
    #[must_use]
    pub fn new(operator: O) -> Self {
        Self { bench: Bench::new(operator, OperatorLogic) }
    }

    /// Applies one event.
    ///
    /// # Errors
    /// As the operator's `apply`, or its `setup` at the first event. Nothing of what it emitted is kept.
    ///
    /// # Panics
    /// As the operator, or after [`finish`](Self::finish).
    pub fn apply(&mut self, event: O::In) -> Result<()> {
        self.bench.apply(event)
    }

    /// The operator, to look into.
    #[must_use]
    pub fn operator(&self) -> &O {
        &self.bench.logic.0
    }

    common!(O::Out);
}
