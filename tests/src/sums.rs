//! The counters of a job, added up.

use streamwork::{Counts, Outcome};

/// Nothing that was received or emitted is unaccounted for, in each component and over all links.
///
/// # Panics
/// If something is; the message ends with `what`.
pub fn assert_adds_up(outcome: &Outcome, what: &str) {
    let mut all = Counts::default();
    for component in &outcome.tree().components {
        let c: Counts = component.instances.iter().map(|i| i.counts).sum();
        let name = &component.name;
        // A source's failures are no events that it received.
        if component.role != "source" {
            assert_eq!(c.received, c.applied + c.failed + c.discarded, "{name}: {c:?} {what}");
        }
        let left = c.sent + c.filtered + c.lost_in_steps + c.misrouted + c.unread + c.unsent;
        assert_eq!(c.emitted + c.copies + c.expanded, left, "{name}: {c:?} {what}");
        all += c;
    }
    assert_eq!(all.sent, all.received + all.stale, "{all:?} {what}");
    assert_eq!(outcome.dropped(), all.dropped(), "{all:?} {what}");
}
