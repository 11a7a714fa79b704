//! The sender decides.

use super::{Grouping, Target, Targets};
use std::fmt;

/// To the instance that a function names, given the event and the number of instances.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("direct");
/// job.source(FromIter::new(0..4_usize))
///     .group(Direct::to(|n: &usize, instances| n % instances))
///     .sink(got.clone())
///     .parallelism(2);
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.of_instance(1), [1, 3]);
/// ```
#[derive(Clone)]
pub struct Direct<F> {
    choose: F,
}

impl Direct<()> {
    /// Sends each event to instance `choose(&event, instances)`. A number that is not below
    /// `instances` fails that event: it is counted and logged.
    pub fn to<T, F>(choose: F) -> Direct<F>
    where
        F: Fn(&T, usize) -> usize + Clone + Send + 'static,
    {
        Direct { choose }
    }
}

impl<T, F> Grouping<T> for Direct<F>
where
    F: Fn(&T, usize) -> usize + Clone + Send + 'static,
{
    #[inline]
    fn target(&mut self, event: &T, targets: Targets) -> Target {
        Target::Instance((self.choose)(event, targets.instances()))
    }
}

impl<F> fmt::Debug for Direct<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Direct")
    }
}
