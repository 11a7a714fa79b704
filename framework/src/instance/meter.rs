//! How fast an instance gets through its events, and how many it may take before it looks up.

use crate::link::Pace;
use crate::time::Moment;
use std::sync::Arc;
use std::time::Duration;

/// The length of a time slice: after that the instance lets others on its thread go on.
pub(crate) const SLICE: Duration = Duration::from_millis(1);

/// Measures the time per event from the moment that there is work: time in which the instance was
/// blocked by those after it counts, time in which it had nothing to do does not. So the figure says
/// how long an event at the end of the queue will wait.
#[derive(Debug)]
pub(crate) struct Meter {
    pace: Arc<Pace>,
    last: Moment,
    nanos: u64,
    events: u64,
}

impl Meter {
    pub(crate) fn new(pace: Arc<Pace>) -> Self {
        Self { pace, last: Moment::START, nanos: 0, events: 0 }
    }

    /// Work begins after there was none.
    pub(crate) fn start(&mut self, now: Moment) {
        self.last = now;
    }

    /// `events` more are done. The past weighs seven eighths, in time and in events: one slow event
    /// among few does not outweigh the thousands after it.
    pub(crate) fn record(&mut self, events: u64, now: Moment) {
        let nanos = u64::try_from(now.since(self.last).as_nanos()).unwrap_or(u64::MAX);
        self.last = now;
        self.nanos = (self.nanos - self.nanos / 8).saturating_add(nanos);
        self.events = self.events - self.events / 8 + events;
        if self.events > 0 {
            self.pace.publish(self.picos_per_event());
        }
    }

    fn picos_per_event(&self) -> u64 {
        let picos = u128::from(self.nanos) * 1_000 / u128::from(self.events.max(1));
        u64::try_from(picos).unwrap_or(u64::MAX)
    }

    /// How many events take a quarter of a slice: as many go by without a look at the clock.
    pub(crate) fn chunk(&self) -> usize {
        if self.events == 0 {
            return 1;
        }
        let quarter = SLICE.as_nanos() as u64 * 1_000 / 4;
        usize::try_from(quarter / self.picos_per_event().max(1)).unwrap_or(usize::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_event_does_not_outweigh_a_thousand_fast_ones() {
        let mut meter = Meter::new(Arc::default());
        meter.start(Moment::START);
        assert_eq!(meter.chunk(), 1);
        let mut now = Moment::START + Duration::from_millis(10);
        meter.record(1, now);
        assert_eq!(meter.chunk(), 1);
        now = now + Duration::from_micros(10);
        meter.record(1_024, now);
        assert!(meter.chunk() > 20, "{}", meter.chunk());
    }

    #[test]
    fn slow_events_are_taken_one_by_one() {
        let mut meter = Meter::new(Arc::default());
        let mut now = Moment::START;
        for _ in 0..3 {
            now = now + Duration::from_millis(5);
            meter.record(1, now);
        }
        assert_eq!(meter.chunk(), 1);
    }
}
