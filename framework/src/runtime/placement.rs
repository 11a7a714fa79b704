//! Which thread an instance runs on. Pure.

/// The threads that a job is spread over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// How many components the job has.
    pub(super) components: usize,
    /// The instances of its widest component.
    pub(super) widest: usize,
    /// How many arbiters there are.
    pub(super) arbiters: usize,
}

impl Placement {
    /// The arbiter of instance `index` of the `component`-th component.
    ///
    /// Instance i of every component shares arbiter i, since two actors on one arbiter hand batches
    /// over several times faster than across two. Where even the widest component leaves arbiters
    /// without work, the components are cut into as many runs of neighbours as there are arbiters, so
    /// that stages overlap and as few batches as possible change threads.
    pub(super) fn arbiter_of(self, component: usize, index: usize) -> usize {
        let Self { components, widest, arbiters } = self;
        let first = if widest < arbiters {
            let nearest = (component * arbiters + components / 2) / components.max(1);
            nearest.min(arbiters - 1)
        } else {
            0
        };
        (first + index) % arbiters.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(components: usize, widest: usize, arbiters: usize, expected: &[usize]) {
        let placement = Placement { components, widest, arbiters };
        let line: Vec<_> = (0..components).map(|k| placement.arbiter_of(k, 0)).collect();
        assert_eq!(line, expected);
    }

    #[test]
    fn stages_overlap_only_where_threads_would_idle() {
        check(3, 1, 2, &[0, 1, 1]);
        check(2, 1, 2, &[0, 1]);
        check(6, 1, 2, &[0, 0, 1, 1, 1, 1]);
        check(3, 2, 4, &[0, 1, 3]);
        check(3, 2, 2, &[0, 0, 0]);
        check(3, 1, 1, &[0, 0, 0]);
    }

    #[test]
    fn equal_instances_share_an_arbiter() {
        let placement = Placement { components: 3, widest: 6, arbiters: 4 };
        assert_eq!(placement.arbiter_of(1, 5), 1);
        assert_eq!(placement.arbiter_of(2, 5), 1);
    }
}
