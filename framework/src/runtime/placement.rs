//! Which thread an instance runs on. Pure.

/// The threads that a job is spread over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// How many instances the job has.
    pub(super) instances: usize,
    /// The instances of its widest component.
    pub(super) widest: usize,
    /// How many arbiters there are.
    pub(super) arbiters: usize,
}

impl Placement {
    /// The arbiter of instance `index` of a component that `before` instances of others precede.
    ///
    /// Instance i of every component shares arbiter i, since two actors on one arbiter hand batches
    /// over several times faster than across two. Where even the widest component leaves arbiters
    /// without work, the components are cut into as many runs of neighbours as there are arbiters, so
    /// that stages overlap and as few batches as possible change threads.
    pub(super) fn arbiter_of(self, before: usize, index: usize) -> usize {
        let Self { instances, widest, arbiters } = self;
        let first = if widest >= arbiters {
            0
        } else if instances <= arbiters {
            before
        } else {
            ((before * arbiters + instances / 2) / instances).min(arbiters - 1)
        };
        (first + index) % arbiters.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Components by their parallelism, and the arbiters of all instances in a row.
    #[track_caller]
    fn check(components: &[usize], arbiters: usize, expected: &[usize]) {
        let (instances, widest) = (components.iter().sum(), *components.iter().max().unwrap());
        let placement = Placement { instances, widest, arbiters };
        let (mut before, mut placed) = (0, Vec::new());
        for parallelism in components {
            placed.extend((0..*parallelism).map(|index| placement.arbiter_of(before, index)));
            before += parallelism;
        }
        assert_eq!(placed, expected);
    }

    #[test]
    fn stages_overlap_only_where_threads_would_idle() {
        check(&[1, 1, 1], 2, &[0, 1, 1]);
        check(&[1, 1], 2, &[0, 1]);
        check(&[1, 1, 1, 1, 1, 1], 2, &[0, 0, 1, 1, 1, 1]);
        check(&[2, 2, 2], 2, &[0, 1, 0, 1, 0, 1]);
        check(&[1, 1, 1], 1, &[0, 0, 0]);
        check(&[2, 6], 4, &[0, 1, 0, 1, 2, 3, 0, 1]);
    }

    #[test]
    fn each_instance_has_an_arbiter_of_its_own_while_there_are_enough() {
        check(&[1, 2], 3, &[0, 1, 2]);
        check(&[2, 1, 1], 4, &[0, 1, 2, 3]);
    }
}
