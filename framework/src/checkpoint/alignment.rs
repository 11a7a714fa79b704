//! [`Alignment`]: when an instance may take its snapshot. Pure.
//!
//! ```text
//!   link 0   a b c | d e          | barrier n: what is before it belongs into checkpoint n
//!   link 1   x y z   w | v        link 0 is held at its barrier until that of link 1 has come;
//!                                 then the instance saves its state, which holds a b c x y z w
//! ```
//!
//! A link at its end counts as aligned: nothing that could belong into a checkpoint follows. A higher
//! barrier, and an abort, end the alignment of a lower one. A barrier that is not above everything that
//! was let through or given up is stale, and is ignored.
//!
//! Where barriers are not aligned no link is held, and a snapshot may hold events that come after the
//! barrier of their link: after a failure these come again.

use crate::id::{CheckpointId, LinkIndex};

/// Checkpoint `id` lies here in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub(crate) id: CheckpointId,
    /// The last checkpoint that was completed when it was sent: what is written is what has changed since.
    pub(crate) since: Option<CheckpointId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    barrier: Option<CheckpointId>,
    ended: bool,
}

/// The barriers that have come to an instance, link by link.
#[derive(Debug)]
pub(crate) struct Alignment {
    links: Vec<Link>,
    /// Whether links are held at their barriers.
    holds: bool,
    /// The barrier that is waited for on other links.
    current: Option<Barrier>,
    /// The highest that was let through or given up.
    over: Option<CheckpointId>,
}

impl Alignment {
    pub(crate) fn new(links: usize, holds: bool) -> Self {
        Self { links: vec![Link::default(); links], holds, current: None, over: None }
    }

    /// A barrier has come over `link`. Gives it back if the snapshot is to be taken now.
    pub(crate) fn barrier(&mut self, link: LinkIndex, barrier: Barrier) -> Option<Barrier> {
        if self.over >= Some(barrier.id) {
            return None;
        }
        self.links[link.as_usize()].barrier = Some(barrier.id);
        match self.current {
            // One of which the rest will not come any more, or only to be ignored.
            Some(current) if current.id > barrier.id => return None,
            Some(current) if current.id == barrier.id => {}
            _ => self.current = Some(barrier),
        }
        self.complete()
    }

    /// `link` is at its end. Gives the barrier back that waited for it alone.
    pub(crate) fn end(&mut self, link: LinkIndex) -> Option<Barrier> {
        self.links[link.as_usize()].ended = true;
        self.complete()
    }

    /// Checkpoint `id` and those before it are given up.
    pub(crate) fn abort(&mut self, id: CheckpointId) {
        self.over = self.over.max(Some(id));
        if self.current.is_some_and(|current| current.id <= id) {
            self.current = None;
        }
    }

    /// Whether what comes over `link` has to wait.
    pub(crate) fn holds(&self, link: LinkIndex) -> bool {
        let barrier = self.links[link.as_usize()].barrier;
        self.holds && self.current.is_some_and(|current| barrier == Some(current.id))
    }

    /// Whether a snapshot waits for the barriers of other links.
    pub(crate) fn is_waiting(&self) -> bool {
        self.current.is_some()
    }

    fn complete(&mut self) -> Option<Barrier> {
        let current = self.current?;
        let arrived = |link: &Link| link.ended || link.barrier >= Some(current.id);
        if !self.links.iter().all(arrived) {
            return None;
        }
        self.current = None;
        self.over = Some(current.id);
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet, VecDeque};

    fn barrier(id: u64) -> Barrier {
        Barrier { id: CheckpointId(id), since: None }
    }

    #[derive(Clone, Copy, Debug)]
    enum Arrival {
        Event(u32),
        Barrier(u64),
        End,
    }

    /// What each of three links carries: events, and the barriers 1, 2, ... of which a link may lack some,
    /// as after an abort; then perhaps its end.
    fn links() -> impl Strategy<Value = Vec<Vec<Arrival>>> {
        let link =
            (prop::collection::vec((0_usize..4, prop::bool::weighted(0.8)), 0..5), any::<bool>());
        prop::collection::vec(link, 3).prop_map(|links| {
            let mut event = 0;
            let carries = links.into_iter().map(|(intervals, ends)| {
                let mut carried = Vec::new();
                for (n, (events, has_barrier)) in intervals.into_iter().enumerate() {
                    for _ in 0..events {
                        event += 1;
                        carried.push(Arrival::Event(event));
                    }
                    if has_barrier {
                        carried.push(Arrival::Barrier(n as u64 + 1));
                    }
                }
                carried.extend(ends.then_some(Arrival::End));
                carried
            });
            carries.collect()
        })
    }

    proptest! {
        /// In any order of arrival: a snapshot holds exactly what each link carried before its barrier,
        /// no event is lost, and the order within a link stays.
        #[test]
        fn a_snapshot_holds_what_came_before_the_barrier_on_every_link(
            links in links(),
            order in prop::collection::vec((0_usize..3, 0_u8..20), 0..80),
        ) {
            let mut wire: Vec<VecDeque<Arrival>> = links.iter().cloned().map(Into::into).collect();
            let mut alignment = Alignment::new(3, true);
            let mut applied: Vec<Vec<u32>> = vec![Vec::new(); 3];
            let mut snapshots: BTreeMap<u64, Vec<Vec<u32>>> = BTreeMap::new();
            let drain = (0..3).flat_map(|link| (0..40).map(move |_| (link, 1)));
            for (link, action) in order.into_iter().chain(drain) {
                let index = LinkIndex(link as u32);
                if action == 0 {
                    // Somebody gives up what is waited for.
                    if let Some(current) = alignment.current {
                        alignment.abort(current.id);
                    }
                    continue;
                }
                if alignment.holds(index) {
                    continue;
                }
                let taken = match wire[link].pop_front() {
                    None => None,
                    Some(Arrival::Event(event)) => {
                        applied[link].push(event);
                        None
                    }
                    Some(Arrival::Barrier(id)) => alignment.barrier(index, barrier(id)),
                    Some(Arrival::End) => alignment.end(index),
                };
                if let Some(taken) = taken {
                    prop_assert_eq!(snapshots.insert(taken.id.0, applied.clone()), None);
                }
            }
            for (id, snapshot) in &snapshots {
                for (link, carried) in links.iter().enumerate() {
                    let is_it = |a: &&Arrival| !matches!(a, Arrival::Barrier(n) if n >= id);
                    let before: BTreeSet<u32> = carried
                        .iter()
                        .take_while(is_it)
                        .filter_map(|a| if let Arrival::Event(e) = a { Some(*e) } else { None })
                        .collect();
                    let held: BTreeSet<u32> = snapshot[link].iter().copied().collect();
                    prop_assert_eq!(&held, &before, "checkpoint {} link {}", id, link);
                }
            }
        }
    }

    #[test]
    fn an_abort_lets_go_and_its_barrier_is_stale_from_then_on() {
        let mut alignment = Alignment::new(2, true);
        let (first, second) = (LinkIndex(0), LinkIndex(1));
        assert_eq!(alignment.barrier(first, barrier(7)), None);
        assert!(alignment.holds(first) && !alignment.holds(second));
        alignment.abort(CheckpointId(7));
        assert!(!alignment.holds(first));
        assert_eq!(alignment.barrier(second, barrier(7)), None);
        assert!(!alignment.is_waiting());
        assert_eq!(alignment.barrier(second, barrier(8)), None);
        assert_eq!(alignment.barrier(first, barrier(8)), Some(barrier(8)));
    }

    #[test]
    fn a_higher_barrier_ends_the_alignment_of_a_lower_one() {
        let mut alignment = Alignment::new(3, true);
        assert_eq!(alignment.barrier(LinkIndex(0), barrier(1)), None);
        assert_eq!(alignment.barrier(LinkIndex(1), barrier(2)), None);
        assert!(!alignment.holds(LinkIndex(0)) && alignment.holds(LinkIndex(1)));
        assert_eq!(alignment.barrier(LinkIndex(2), barrier(1)), None);
        assert_eq!(alignment.barrier(LinkIndex(2), barrier(2)), None);
        assert_eq!(alignment.barrier(LinkIndex(0), barrier(2)), Some(barrier(2)));
    }

    #[test]
    fn an_end_counts_as_aligned_and_one_barrier_is_enough_when_all_have_ended() {
        let mut alignment = Alignment::new(2, true);
        assert_eq!(alignment.barrier(LinkIndex(0), barrier(1)), None);
        assert_eq!(alignment.end(LinkIndex(1)), Some(barrier(1)));
        assert_eq!(alignment.barrier(LinkIndex(1), barrier(1)), None);
        assert_eq!(alignment.end(LinkIndex(0)), None);
        assert_eq!(alignment.barrier(LinkIndex(1), barrier(2)), Some(barrier(2)));
        assert_eq!(alignment.barrier(LinkIndex(0), barrier(2)), None);
    }

    #[test]
    fn without_alignment_nothing_is_held() {
        let mut alignment = Alignment::new(2, false);
        assert_eq!(alignment.barrier(LinkIndex(0), barrier(1)), None);
        assert!(!alignment.holds(LinkIndex(0)));
        assert_eq!(alignment.barrier(LinkIndex(1), barrier(1)), Some(barrier(1)));
    }
}
