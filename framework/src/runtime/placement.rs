//! Which thread an instance runs on. Pure.

/// The arbiter of instance `index` of the `component`-th component.
///
/// Instance i of every component shares arbiter i, since two actors on one arbiter hand batches over
/// several times faster than across two. Where even the widest component leaves arbiters without
/// work, component k begins at arbiter k instead, so that stages overlap.
pub(super) fn arbiter_of(component: usize, index: usize, widest: usize, arbiters: usize) -> usize {
    let first = if widest < arbiters { component } else { 0 };
    (first + index) % arbiters.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_overlap_only_where_threads_would_idle() {
        let line = |widest| (0..3).map(|k| arbiter_of(k, 0, widest, 2)).collect::<Vec<_>>();
        assert_eq!(line(1), [0, 1, 0]);
        assert_eq!(line(2), [0, 0, 0]);
        assert_eq!(arbiter_of(1, 5, 6, 4), 1);
        assert_eq!(arbiter_of(3, 2, 3, 1), 0);
    }
}
