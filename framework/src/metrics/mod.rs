//! What is counted. The counters of an instance are shared atomics: they can be read while the
//! instance is busy or blocked.

use std::fmt;
use std::ops::AddAssign;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// One number that only its instance raises.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, n: u64) {
        // Cheaper than one read-modify-write, which only several writers would need.
        self.0.store(self.get() + n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// The counters of one instance.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
            /// The first failure, in words.
            failure: OnceLock<String>,
        }

        impl Counters {
            /// A failure has come up. The first one is kept: later ones most often follow from it.
            #[cold]
            pub(crate) fn note_failure(&self, failure: &dyn fmt::Display) {
                self.failure.get_or_init(|| failure.to_string());
            }

            pub(crate) fn first_failure(&self) -> Option<&str> {
                self.failure.get().map(String::as_str)
            }

            pub(crate) fn read(&self) -> Counts {
                Counts { $($name: self.$name.get(),)* }
            }
        }

        /// What an instance, a component or a job has counted so far, in events unless it says
        /// otherwise.
        ///
        /// For each operator and sink `received = applied + failed + discarded + waiting`, for each component
        /// `emitted + copies + expanded = sent + filtered + lost_in_steps + misrouted + unread + unsent +
        /// waiting`, where `waiting` is zero once the job has ended.
        ///
        /// ```
        /// use streamwork::prelude::*;
        ///
        /// let job = Job::new("copies");
        /// let numbers = job.source(FromIter::new(1..=3_u64));
        /// numbers.group(All).sink(ForEach::new(|_| {})).parallelism(2);
        /// let outcome = Engine::new().run(job).unwrap();
        /// let source = outcome.component("from-iter").unwrap();
        /// let sink = outcome.component("for-each").unwrap();
        /// assert_eq!((source.emitted, source.copies, source.sent), (3, 3, 6));
        /// assert_eq!((sink.received, sink.applied, sink.failed), (6, 6, 0));
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl AddAssign for Counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
            }
        }

        impl std::iter::Sum for Counts {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold(Self::default(), |mut sum, one| { sum += one; sum })
            }
        }
    };
}

counters! {
    /// Delivered to the mailbox.
    received,
    /// Processed with success.
    applied,
    /// Lost to an error or a panic of user code; of a source, reads that failed.
    failed,
    /// Of those that failed, what was given to the dead letters.
    dead,
    /// Dropped unprocessed by a stop, a kill or a failed job.
    discarded,
    /// Of an earlier attempt, and dropped for it.
    stale,
    /// Emitted by the component, into channels too.
    emitted,
    /// Added by fan-out and all-groupings: deliveries beyond the first of each event.
    copies,
    /// Left out by closures on its edges: they made nothing of them.
    filtered,
    /// Made by closures on its edges (`flat_map`) beyond the first of each event.
    expanded,
    /// Lost to an error or a panic of a closure on its edges.
    lost_in_steps,
    /// Handed to mailboxes.
    sent,
    /// Emitted where nobody subscribes.
    unread,
    /// Lost because a grouping failed or named an instance that does not exist.
    misrouted,
    /// Emitted, and dropped before they were sent by a stop, a kill or a failed job.
    unsent,
    /// Restarts of the instance.
    restarts,
    /// Timers that fired with success.
    timers,
    /// Timers lost to an error or a panic of user code.
    failed_timers,
}

/// What has been counted of one closure on an edge, over all instances that run it.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("halves");
/// let numbers = job.source(FromIter::new([1_u64, 0, 2]));
/// numbers.map(|n| 2 / n).sink(Collect::new());
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!(outcome.step("map#1 after from-iter").unwrap().failed, 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepCounts {
    /// Events lost to an error or a panic of it.
    pub failed: u64,
}

impl Counts {
    /// Events that left the job without being processed: dropped by a stop or a kill.
    ///
    /// ```
    /// assert_eq!(streamwork::Counts::default().dropped(), 0);
    /// ```
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.discarded + self.stale + self.unsent
    }
}
