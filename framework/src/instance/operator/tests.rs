use super::*;
use crate::checkpoint::ComponentManifest;
use crate::component::Context;
use crate::grouping::{Grouping, Shuffle, Targets};
use crate::id::{Attempt, InstanceId};
use crate::instance::logic::Finish;
use crate::instance::saving::{Restorer, Saver};
use crate::instance::tests::{Inbox, Notes, Wakes, barrier, link_to, seat};
use crate::instance::{Edge, Fan, Kept, RoutedEdge, Sending};
use crate::key::KeyGroups;
use crate::link::{Lane, LinkLimits, LinkSender, LinkState};
use crate::metrics::Counts;
use crate::time::{EventTime, ManualClock, Watermark};
use std::task::Waker;
use std::time::Duration;

/// Emits each number `copies` times; what a number does otherwise is in its value.
struct Odd {
    clock: ManualClock,
    copies: usize,
}

impl Logic for Odd {
    type In = i64;
    type Out = i64;

    fn kept() -> Kept {
        unreachable!("nobody takes checkpoints here")
    }

    fn differences(_: &ComponentManifest) -> Vec<String> {
        unreachable!("nobody takes checkpoints here")
    }

    fn restore(&mut self, _: &Restorer<'_>) -> Result<()> {
        unreachable!("nobody takes checkpoints here")
    }

    fn save(&mut self, _: &mut Saver) -> Result<()> {
        unreachable!("nobody takes checkpoints here")
    }

    fn setup(&mut self, _: &Context) -> Result<()> {
        Ok(())
    }

    fn apply(&mut self, n: i64, out: &mut Emitter<i64>) -> Result<()> {
        out.extend(std::iter::repeat_n(n, self.copies));
        match n {
            -1 => Err("minus one".into()),
            -2 => panic!("minus two"),
            // A slow one: longer than a slice.
            1_000.. => {
                self.clock.advance(Duration::from_millis(2));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn poll_finish(
        &mut self,
        out: &mut Emitter<i64>,
        _: &mut task::Context<'_>,
    ) -> Poll<Result<Finish>> {
        out.emit(i64::MAX);
        Poll::Ready(Ok(Finish::Done))
    }
}

/// One machine with `links` senders before it and `receivers` after it, all moved by hand.
struct Bench {
    machine: OperatorMachine<Odd>,
    senders: Vec<Lane<i64>>,
    mail: Arc<Inbox>,
    receivers: Vec<Arc<Inbox>>,
    notes: Arc<Notes>,
    control: Arc<crate::instance::ControlCell>,
    counters: Arc<crate::metrics::Counters>,
    wakes: Arc<Wakes>,
}

impl Bench {
    fn new(links: usize, receivers: usize, copies: usize, limits: LinkLimits) -> Self {
        let clock = ManualClock::new();
        let notes = Arc::new(Notes::default());
        let mail = Arc::new(Inbox::default());
        let seat = seat("odd", links, &clock, &notes);
        let (control, counters) = (Arc::clone(&seat.control), Arc::clone(&seat.counters));
        seat.pace.publish(1);
        let link = |mailbox: &Arc<Inbox>, index, counters: &Arc<crate::metrics::Counters>| {
            link_to(mailbox, index, limits, counters)
        };
        let upstream = Arc::default();
        let senders = (0..links).map(|i| Lane::new(link(&mail, i as u32, &upstream), 1)).collect();
        let inboxes: Vec<_> = (0..receivers).map(|_| Arc::new(Inbox::default())).collect();
        let targets = Targets { sender: 0, instances: receivers, key_groups: KeyGroups::DEFAULT };
        let lanes = inboxes.iter().map(|inbox| link(inbox, 0, &counters)).collect();
        let sender = Sending {
            job: "bench".into(),
            instance: InstanceId::new("odd", 0),
            counters: Arc::clone(&counters),
        };
        let edge = routed(sender, Shuffle::new(), targets, lanes);
        let maker: Maker<Odd> = Box::new(move |_| Odd { clock: clock.clone(), copies });
        let stream = Fan::new(vec![edge], Arc::clone(&counters));
        let outlets = Outlets { stream, channels: Vec::new(), losses: None };
        let machine = OperatorMachine::new(seat, maker, outlets);
        let receivers = inboxes;
        let wakes = Arc::default();
        Self { machine, senders, mail, receivers, notes, control, counters, wakes }
    }

    /// Sends over link `link` and delivers.
    fn send(&mut self, link: usize, events: &[i64], control: Option<Control>) {
        events.iter().for_each(|n| self.senders[link].push(*n));
        match control {
            Some(control) => self.senders[link].push_control(control),
            None => self.senders[link].flush(),
        }
        while let Some(frame) = self.mail.pop() {
            self.machine.accept(frame);
        }
    }

    fn poll(&mut self) {
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.machine.poll(&mut task::Context::from_waker(&waker));
    }

    fn wakes(&self) -> usize {
        self.wakes.count()
    }

    /// What receiver `i` has got since the last look, with its control elements.
    fn receive(&self, i: usize) -> Vec<Result<i64, Control>> {
        self.receivers[i].open_all()
    }

    fn counts(&self) -> Counts {
        self.counters.read()
    }

    fn notes(&self) -> Vec<String> {
        self.notes.all()
    }
}

type Result<T, E = BoxError> = std::result::Result<T, E>;

fn routed<G: Grouping<i64>>(
    sender: Sending,
    grouping: G,
    targets: Targets,
    links: Vec<LinkSender>,
) -> Box<dyn Edge<i64>> {
    Box::new(RoutedEdge::new(sender, "next".into(), grouping, targets, links))
}

fn mark(t: i64) -> Control {
    Control::Watermark(Watermark(EventTime::from_millis(t)))
}

fn easy() -> LinkLimits {
    LinkLimits { frames: 64, ..LinkLimits::default() }
}

#[test]
fn control_stays_behind_the_events_before_it_and_enters_every_lane() {
    let mut bench = Bench::new(1, 2, 1, easy());
    bench.send(0, &[1, 2, 3], Some(mark(10)));
    bench.send(0, &[4], Some(mark(20)));
    bench.send(0, &[], Some(Control::Barrier(barrier(1))));
    bench.poll();
    let barrier = Control::Barrier(barrier(1));
    assert_eq!(
        format!("{:?}", bench.receive(0)),
        format!("{:?}", [Ok(1), Ok(3), Err(mark(10)), Err(mark(20)), Err(barrier)])
    );
    assert_eq!(
        format!("{:?}", bench.receive(1)),
        format!("{:?}", [Ok(2), Err(mark(10)), Ok(4), Err(mark(20)), Err(barrier)])
    );
}

#[test]
fn watermarks_barriers_and_ends_wait_for_the_slowest_link() {
    let mut bench = Bench::new(2, 1, 1, easy());
    let show = |seen: &[Result<i64, Control>]| format!("{seen:?}");
    bench.send(0, &[], Some(mark(10)));
    bench.send(0, &[], Some(Control::Barrier(barrier(1))));
    bench.poll();
    assert_eq!(show(&bench.receive(0)), "[]");
    bench.send(1, &[], Some(mark(7)));
    bench.send(1, &[], Some(Control::Barrier(barrier(1))));
    bench.poll();
    let expected = [Err(mark(7)), Err(Control::Barrier(barrier(1)))];
    assert_eq!(show(&bench.receive(0)), show(&expected));
    bench.send(1, &[], Some(Control::Idle));
    bench.poll();
    assert_eq!(show(&bench.receive(0)), show(&[Err(mark(10))]));
    bench.send(0, &[], Some(Control::End));
    bench.send(0, &[], Some(Control::Close));
    bench.poll();
    assert_eq!(show(&bench.receive(0)), show(&[Err(Control::Idle)]));
    bench.send(1, &[5], Some(Control::End));
    bench.poll();
    let expected = [Ok(5), Ok(i64::MAX), Err(Control::End)];
    assert_eq!(show(&bench.receive(0)), show(&expected));
    assert_eq!(bench.notes(), ["ready"]);
    bench.send(1, &[], Some(Control::Close));
    bench.poll();
    assert_eq!(show(&bench.receive(0)), show(&[Err(Control::Close)]));
    assert_eq!(bench.notes(), ["ready", "ended"]);
}

/// F8, B38: what an earlier attempt left in the mailbox is dropped and counted, its credit freed.
#[test]
fn stale_frames_are_dropped_and_counted() {
    let mut bench = Bench::new(1, 1, 1, easy());
    let state = LinkState::new(easy(), Arc::default());
    let old = || {
        let credit = state.take(3, 24);
        let batch = Batch::new(vec![1_i64, 2, 3]);
        let end = Some(Control::End);
        Frame::new(LinkIndex(0), Attempt(0), Some(batch), end, credit)
    };
    bench.machine.accept(old());
    bench.send(0, &[9], None);
    bench.machine.accept(old());
    bench.poll();
    assert_eq!(format!("{:?}", bench.receive(0)), "[Ok(9)]");
    let counts = bench.counts();
    assert_eq!((counts.stale, counts.received, counts.applied), (6, 1, 1));
    assert_eq!(state.in_flight(), (0, 0, 0));
}

/// K3, F8: the frame at hand goes on after the event that failed.
#[test]
fn the_frame_at_hand_goes_on_after_a_panic() {
    let mut bench = Bench::new(1, 1, 2, easy());
    bench.send(0, &[1, -1, 2, -2, 3], None);
    bench.send(0, &[4], None);
    bench.poll();
    let notes = bench.notes();
    assert_eq!(notes[0], "ready");
    assert!(notes[1].starts_with("broken: odd[0] at event 4: panic at "), "{notes:?}");
    bench.poll();
    assert_eq!(bench.notes().len(), 2, "a broken instance waits for the order");
    bench.control.give(Command::Restart);
    bench.poll();
    assert_eq!(bench.notes()[2], "restarted");
    let got = format!("{:?}", bench.receive(0));
    assert_eq!(got, "[Ok(1), Ok(1), Ok(2), Ok(2), Ok(3), Ok(3), Ok(4), Ok(4)]");
    let counts = bench.counts();
    assert_eq!((counts.received, counts.applied, counts.failed, counts.restarts), (6, 4, 2, 1));
}

/// F4: at the end of its slice an instance lets others go on, and takes the frame up again.
#[test]
fn a_frame_is_parked_at_the_end_of_a_slice() {
    let mut bench = Bench::new(1, 1, 1, easy());
    bench.send(0, &[1_000, 1_001, 1_002], None);
    let mut polls = 0;
    while bench.counts().applied < 3 {
        let (before, wakes) = (bench.counts().applied, bench.wakes());
        bench.poll();
        polls += 1;
        assert!(bench.counts().applied <= before + 1);
        assert!(bench.counts().applied == 3 || bench.wakes() > wakes, "it sleeps with work left");
    }
    assert!(polls >= 3, "{polls}");
}

/// F4, F5: an operator that emits much for one event stops at the outbox limit, not after the frame.
#[test]
fn a_blocked_instance_reads_nothing_more() {
    let limits = LinkLimits { frames: 2, ..LinkLimits::default() };
    let mut bench = Bench::new(1, 1, 1_000, limits);
    bench.send(0, &(1..=500).collect::<Vec<_>>(), None);
    bench.poll();
    let held = bench.counts();
    // Two frames under way, one that waits, and what a single call added to the last.
    assert!(held.applied <= 8, "{held:?}");
    assert_eq!(held.applied * 1_000, held.emitted);
    let wakes = bench.wakes();
    bench.poll();
    assert_eq!(bench.counts(), held, "it read on while it was blocked");
    let mut got = bench.receive(0).len();
    assert!(bench.wakes() > wakes, "nobody woke it when credit came home");
    while bench.counts().applied < 500 {
        bench.poll();
        got += bench.receive(0).len();
    }
    bench.poll();
    got += bench.receive(0).len();
    assert_eq!(got, 500_000);
}

/// F7: with nothing more to read, a partial batch leaves.
#[test]
fn a_partial_batch_leaves_when_there_is_nothing_to_read() {
    let mut bench = Bench::new(1, 1, 1, easy());
    bench.send(0, &[1], None);
    bench.poll();
    assert_eq!(format!("{:?}", bench.receive(0)), "[Ok(1)]");
}

#[test]
fn a_halt_drops_and_counts_everything() {
    let limits = LinkLimits { frames: 1, ..LinkLimits::default() };
    let mut bench = Bench::new(1, 1, 1_000, limits);
    bench.send(0, &(1..=500).collect::<Vec<_>>(), None);
    bench.poll();
    bench.control.give(Command::Halt);
    bench.poll();
    bench.send(0, &[7], None);
    bench.machine.close();
    let counts = bench.counts();
    assert_eq!(counts.received, counts.applied + counts.discarded);
    assert_eq!(counts.emitted, counts.sent + counts.unsent);
    assert!(counts.discarded > 400 && counts.unsent > 0, "{counts:?}");
    assert_eq!(bench.notes(), ["ready", "ended"]);
}
