//! Even spread.

use super::{Grouping, Target, Targets};

/// Deals events out in turn: of n events each of p instances gets n/p, rounded up or down. Sender i
/// begins with instance i.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("even");
/// job.source(FromIter::new(0..7_u64)).group(Shuffle::new()).sink(got.clone()).parallelism(3);
/// Engine::new().run(job).unwrap();
/// let mut sizes: Vec<_> = (0..3).map(|i| got.of_instance(i).len()).collect();
/// sizes.sort();
/// assert_eq!(sizes, [2, 2, 3]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Shuffle {
    next: Option<usize>,
}

impl Shuffle {
    /// A new round.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: None }
    }
}

impl<T> Grouping<T> for Shuffle {
    #[inline]
    fn target(&mut self, _: &T, targets: Targets) -> Target {
        let here = match self.next {
            Some(next) => next,
            None => targets.sender() % targets.instances(),
        };
        let after = here + 1;
        self.next = Some(if after == targets.instances() { 0 } else { after });
        Target::Instance(here)
    }

    fn sole_target(&self, targets: Targets) -> Option<usize> {
        (targets.instances() == 1).then_some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyGroups;
    use proptest::prelude::*;

    fn deal(senders: usize, instances: usize, events: usize) -> Vec<usize> {
        let mut got = vec![0; instances];
        for sender in 0..senders {
            let targets = Targets { sender, instances, key_groups: KeyGroups::DEFAULT };
            let mut shuffle = Shuffle::new();
            for event in 0..events {
                let Target::Instance(i) = shuffle.target(&event, targets) else {
                    panic!("a shuffle sent an event to all instances")
                };
                got[i] += 1;
            }
        }
        got
    }

    /// B25a: four emitters, four instances, 25,000 events each.
    #[test]
    fn four_senders_load_four_instances_alike() {
        assert_eq!(deal(4, 4, 25_000), [25_000; 4]);
    }

    #[test]
    fn senders_begin_with_different_instances() {
        assert_eq!(deal(4, 4, 1), [1; 4]);
    }

    proptest! {
        #[test]
        fn one_sender_is_even_to_one(instances in 1_usize..20, events in 0_usize..500) {
            for n in deal(1, instances, events) {
                prop_assert!(n == events / instances || n == events.div_ceil(instances));
            }
        }
    }
}
