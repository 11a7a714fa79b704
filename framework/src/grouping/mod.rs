//! [`Grouping`]: which instances of an operator get an event.
//!
//! | grouping | an event goes to |
//! |---|---|
//! | [`Shuffle`] (default) | the next instance in turn |
//! | [`Fields`] | the instance that its key belongs to |
//! | [`All`] | every instance |
//! | [`Global`] | the first instance |
//! | [`Direct`] | the instance that a function names |
//! | [`Forward`] | the instance with the sender's own number |
//!
//! A grouping is cloned for each sending instance, so what it remembers is never shared.

mod direct;
mod fields;
mod fixed;
mod shuffle;

pub use direct::Direct;
pub use fields::{Fields, FieldsBy, Whole};
pub use fixed::{All, Forward, Global};
pub use shuffle::Shuffle;

use crate::key::KeyGroups;

/// Decides which instances get an event. Implement it for a grouping of your own:
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::grouping::{Targets, Target};
///
/// /// Even numbers to the first instance, odd ones to the last.
/// #[derive(Clone)]
/// struct ByParity;
///
/// impl Grouping<u64> for ByParity {
///     fn target(&mut self, event: &u64, targets: Targets) -> Target {
///         Target::Instance(if event % 2 == 0 { 0 } else { targets.instances() - 1 })
///     }
/// }
///
/// let numbers = Collect::new();
/// let job = Job::new("parity");
/// job.source(FromIter::new(0..10_u64))
///     .group(ByParity)
///     .sink(numbers.clone())
///     .parallelism(2);
/// Engine::new().run(job).unwrap();
/// assert_eq!(numbers.take().len(), 10);
/// ```
pub trait Grouping<T>: Clone + Send + 'static {
    /// Where `event` goes. Events of one sender reach one instance in the order in which they were
    /// sent.
    ///
    /// An instance that does not exist, or a panic, fails this event alone: it is counted and logged.
    fn target(&mut self, event: &T, targets: Targets) -> Target;

    /// The one instance that gets whole batches, if every event goes there whatever it is. The
    /// engine then hands batches on without a look at the events. The default knows of none.
    ///
    /// ```
    /// use streamwork::grouping::{Target, Targets};
    /// use streamwork::prelude::*;
    ///
    /// /// Everything to the last instance.
    /// #[derive(Clone)]
    /// struct Last;
    ///
    /// impl<T> Grouping<T> for Last {
    ///     fn target(&mut self, _: &T, targets: Targets) -> Target {
    ///         Target::Instance(targets.instances() - 1)
    ///     }
    ///
    ///     fn sole_target(&self, targets: Targets) -> Option<usize> {
    ///         Some(targets.instances() - 1)
    ///     }
    /// }
    ///
    /// let got = Collect::new();
    /// let job = Job::new("last");
    /// job.source(FromIter::new(["car", "van"])).group(Last).sink(got.clone()).parallelism(3);
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.of_instance(2), ["car", "van"]);
    /// ```
    fn sole_target(&self, targets: Targets) -> Option<usize> {
        let _ = targets;
        None
    }

    /// Whether events are spread by key groups: the operator then can't have more instances than
    /// there are groups. [`Targets`] has an example.
    fn by_key(&self) -> bool {
        false
    }
}

/// Where an event goes.
///
/// ```
/// use streamwork::grouping::{Target, Targets};
/// use streamwork::prelude::*;
///
/// /// Alarms to every instance, anything else to the first.
/// #[derive(Clone)]
/// struct Alarms;
///
/// impl Grouping<&'static str> for Alarms {
///     fn target(&mut self, event: &&'static str, _: Targets) -> Target {
///         if *event == "alarm" { Target::All } else { Target::Instance(0) }
///     }
/// }
///
/// let got = Collect::new();
/// let job = Job::new("alarms");
/// job.source(FromIter::new(["ok", "alarm"])).group(Alarms).sink(got.clone()).parallelism(2);
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.of_instance(0), ["ok", "alarm"]);
/// assert_eq!(got.of_instance(1), ["alarm"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// To the instance of this number.
    Instance(usize),
    /// A copy to every instance.
    All,
}

/// Who sends and who may receive.
///
/// ```
/// use streamwork::grouping::{Target, Targets};
/// use streamwork::prelude::*;
///
/// /// By key if the number is even, and else with the sender's own number.
/// #[derive(Clone)]
/// struct Mixed;
///
/// impl Grouping<u64> for Mixed {
///     fn target(&mut self, n: &u64, targets: Targets) -> Target {
///         let groups = targets.key_groups();
///         Target::Instance(match n % 2 {
///             0 => groups.instance(groups.of_key(n), targets.instances()),
///             _ => targets.sender() % targets.instances(),
///         })
///     }
///
///     /// Groups are looked at: there must be at least one for each instance.
///     fn by_key(&self) -> bool {
///         true
///     }
/// }
///
/// let got = Collect::new();
/// let job = Job::new("mixed");
/// job.source(FromIter::new(0..10_u64)).group(Mixed).sink(got.clone()).parallelism(3);
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.of_instance(0).iter().filter(|n| *n % 2 == 1).count(), 5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Targets {
    pub(crate) sender: usize,
    pub(crate) instances: usize,
    pub(crate) key_groups: KeyGroups,
}

impl Targets {
    /// The number of the sending instance.
    #[inline]
    #[must_use]
    pub fn sender(self) -> usize {
        self.sender
    }

    /// How many instances receive.
    #[inline]
    #[must_use]
    pub fn instances(self) -> usize {
        self.instances
    }

    /// The job's key groups.
    #[inline]
    #[must_use]
    pub fn key_groups(self) -> KeyGroups {
        self.key_groups
    }
}
