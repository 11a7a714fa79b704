//! Groupings that do not look at the event.

use super::{Grouping, Target, Targets};

/// A copy to every instance.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("copies");
/// job.source(FromIter::new(0..3_u64)).group(All).sink(got.clone()).parallelism(2);
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.of_instance(0), [0, 1, 2]);
/// assert_eq!(got.of_instance(1), [0, 1, 2]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct All;

impl<T> Grouping<T> for All {
    #[inline]
    fn target(&mut self, _: &T, _: Targets) -> Target {
        Target::All
    }

    fn sole_target(&self, targets: Targets) -> Option<usize> {
        (targets.instances() == 1).then_some(0)
    }
}

/// Everything to the first instance.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("one-place");
/// job.source(FromIter::new(0..3_u64)).group(Global).sink(got.clone()).parallelism(2);
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.of_instance(0), [0, 1, 2]);
/// assert!(got.of_instance(1).is_empty());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Global;

impl<T> Grouping<T> for Global {
    #[inline]
    fn target(&mut self, _: &T, _: Targets) -> Target {
        Target::Instance(0)
    }

    fn sole_target(&self, _: Targets) -> Option<usize> {
        Some(0)
    }
}

/// Sender i to instance i (modulo their number): nothing is exchanged, whole batches are handed on.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("side-by-side");
/// job.source(FromIter::new(0..4_u64)).parallelism(2)
///     .group(Forward)
///     .sink(got.clone()).parallelism(2);
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.of_instance(0), [0, 2]);
/// assert_eq!(got.of_instance(1), [1, 3]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Forward;

impl<T> Grouping<T> for Forward {
    #[inline]
    fn target(&mut self, _: &T, targets: Targets) -> Target {
        Target::Instance(targets.sender() % targets.instances())
    }

    fn sole_target(&self, targets: Targets) -> Option<usize> {
        Some(targets.sender() % targets.instances())
    }
}
