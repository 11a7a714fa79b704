use super::*;
use crate::event::Event;
use crate::id::{Attempt, LinkIndex};
use crate::link::{Control, Frame, Lane, LinkSender, Mailbox};
use crate::time::{EventTime, Watermark};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;
use std::time::Duration;

/// A mailbox that is read by hand.
#[derive(Default)]
struct Inbox(Mutex<VecDeque<Frame>>);

impl Mailbox for Inbox {
    fn deliver(&self, frame: Frame) {
        self.0.lock().unwrap().push_back(frame);
    }
}

impl Inbox {
    fn pop(&self) -> Option<Frame> {
        self.0.lock().unwrap().pop_front()
    }
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Parcel {
    number: u64,
    weight: usize,
}

impl Event for Parcel {
    fn weight(&self) -> usize {
        self.weight
    }
}

fn lane(limits: LinkLimits, pace: &Arc<Pace>) -> (Lane<Parcel>, Arc<LinkState>, Arc<Inbox>) {
    let state = LinkState::new(limits, Arc::clone(pace));
    let inbox = Arc::new(Inbox::default());
    let link = LinkSender {
        state: Arc::clone(&state),
        mailbox: Arc::clone(&inbox) as Arc<dyn Mailbox>,
        index: LinkIndex(0),
        attempt: Attempt::FIRST,
        counters: Arc::default(),
    };
    (Lane::new(link, 1), state, inbox)
}

fn fast() -> Arc<Pace> {
    let pace = Arc::new(Pace::default());
    pace.publish(1_000);
    pace
}

fn parcel(number: u64) -> Parcel {
    Parcel { number, weight: 16 }
}

#[test]
fn a_stuck_receiver_holds_its_frames_and_no_more() {
    let (mut lane, state, inbox) = lane(LinkLimits::default(), &fast());
    let waker = Waker::from(Arc::new(Wakes::default()));
    let mut pushed = 0;
    while !lane.is_blocked(&waker) {
        lane.push(parcel(pushed));
        pushed += 1;
    }
    assert_eq!(state.in_flight().0, 8);
    assert_eq!(inbox.0.lock().unwrap().len(), 8);
    assert!(pushed <= 9 * 1_024, "{pushed}");
}

/// F2: eight panics while frames are processed, and the link goes on.
#[test]
fn credits_come_home_when_a_panic_unwinds() {
    let (mut lane, state, inbox) = lane(LinkLimits::default(), &fast());
    for round in 0..20 {
        lane.push(parcel(round));
        lane.flush();
        let frame = inbox.pop().unwrap();
        let caught = crate::guard::catch(move || {
            let _open = frame.open::<Parcel>();
            panic!("in the middle of it");
        });
        assert!(caught.is_err());
    }
    assert_eq!(state.in_flight(), (0, 0, 0));
}

/// F3: at 5 ms an event, 200 ms hold 40 events, however many frames are free.
#[test]
fn a_slow_receiver_is_owed_no_more_than_the_delay() {
    let pace = Arc::new(Pace::default());
    pace.publish(5_000_000_000);
    let (mut lane, state, _inbox) = lane(LinkLimits::default(), &pace);
    let waker = Waker::from(Arc::new(Wakes::default()));
    for number in 0..5_000 {
        lane.push(parcel(number));
    }
    assert!(lane.is_blocked(&waker));
    assert_eq!(state.in_flight().1, 40);
}

#[test]
fn at_first_little_is_sent_until_the_pace_is_known() {
    let pace = Arc::new(Pace::default());
    let (mut lane, state, _inbox) = lane(LinkLimits::default(), &pace);
    for number in 0..5_000 {
        lane.push(parcel(number));
    }
    assert_eq!(state.in_flight().1, 16);
}

#[test]
fn an_event_heavier_than_the_budget_goes_alone() {
    let limits = LinkLimits { bytes: 100, ..LinkLimits::default() };
    let (mut lane, state, inbox) = lane(limits, &fast());
    let waker = Waker::from(Arc::new(Wakes::default()));
    for number in 0..3 {
        lane.push(Parcel { number, weight: 1_000 });
    }
    lane.flush();
    for number in 0..3 {
        assert_eq!(state.in_flight(), (1, 1, 1_000));
        let (batch, _, credit) = inbox.pop().unwrap().open::<Parcel>();
        assert_eq!(batch.unwrap()[0].number, number);
        assert_eq!(lane.is_blocked(&waker), number < 2 && lane.waits());
        drop(credit);
        lane.is_blocked(&waker);
    }
    assert_eq!(state.in_flight(), (0, 0, 0));
}

#[test]
fn a_watermark_gives_way_only_to_one_without_events_between() {
    let limits = LinkLimits { frames: 1, ..LinkLimits::default() };
    let (mut lane, _state, inbox) = lane(limits, &fast());
    let waker = Waker::from(Arc::new(Wakes::default()));
    let mark = |t| Control::Watermark(Watermark(EventTime::from_millis(t)));
    lane.push_control(Control::Idle); // takes the only credit
    lane.push_control(mark(1));
    lane.push_control(mark(2));
    lane.push(parcel(0));
    lane.push_control(mark(3));
    lane.push_control(mark(4));
    let mut seen = Vec::new();
    while let Some(frame) = inbox.pop() {
        let (batch, control, credit) = frame.open::<Parcel>();
        seen.push((batch.map_or(0, |b| b.len()), control));
        drop(credit);
        lane.is_blocked(&waker);
    }
    let expected = [(0, Some(Control::Idle)), (0, Some(mark(2))), (1, Some(mark(4)))];
    assert_eq!(seen, expected);
}

/// What the model knows of a link: everything pushed, in order, and what has been received.
#[derive(Clone, Debug)]
enum Action {
    Push { weight: usize },
    PushBatch { events: usize },
    Control,
    Flush,
    Receive,
    ReceiveAndPanic,
    Retry,
    Pace { picos: u64 },
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        4 => (1_usize..2_000).prop_map(|weight| Action::Push { weight }),
        2 => (1_usize..700).prop_map(|events| Action::PushBatch { events }),
        1 => Just(Action::Control),
        2 => Just(Action::Flush),
        3 => Just(Action::Receive),
        1 => Just(Action::ReceiveAndPanic),
        2 => Just(Action::Retry),
        1 => (1_u64..20_000_000_000).prop_map(|picos| Action::Pace { picos }),
    ];
    prop::collection::vec(action, 1..120)
}

#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Event(u64),
    Control,
}

proptest! {
    /// Order, bounds, and wake-ups of one link against a plain list.
    #[test]
    fn a_link_keeps_order_and_bounds(actions in actions(), frames in 1_usize..9, bytes in 1_usize..20_000) {
        let limits = LinkLimits { frames, bytes, delay: Duration::from_millis(200) };
        let pace = Arc::new(Pace::default());
        let (mut lane, state, inbox) = lane(limits, &pace);
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let (mut pushed, mut received) = (Vec::new(), Vec::new());
        let mut number = 0;
        let mut blocked = false;
        let open = |frame: Frame, received: &mut Vec<Seen>| {
            let (batch, control, credit) = frame.open::<Parcel>();
            let weights = batch.iter().flat_map(|b| b.iter()).map(|p| p.weight).sum::<usize>();
            let events = batch.as_ref().map_or(0, |b| b.len());
            received.extend(batch.iter().flat_map(|b| b.iter()).map(|p| Seen::Event(p.number)));
            received.extend(control.map(|_| Seen::Control));
            (credit, events, weights)
        };
        for action in actions {
            match action {
                Action::Push { weight } if !blocked => {
                    lane.push(Parcel { number, weight });
                    pushed.push(Seen::Event(number));
                    number += 1;
                }
                Action::PushBatch { events } if !blocked => {
                    let mut batch: Vec<Parcel> = (number..).take(events).map(parcel).collect();
                    pushed.extend(batch.iter().map(|p| Seen::Event(p.number)));
                    number += events as u64;
                    lane.push_batch(&mut batch);
                    prop_assert!(batch.is_empty());
                }
                Action::Control if !blocked => {
                    lane.push_control(Control::Idle);
                    pushed.push(Seen::Control);
                }
                Action::Flush => lane.flush(),
                Action::Receive => {
                    if let Some(frame) = inbox.pop() {
                        drop(open(frame, &mut received));
                    }
                }
                Action::ReceiveAndPanic => {
                    if let Some(frame) = inbox.pop() {
                        let held = open(frame, &mut received);
                        let caught = crate::guard::catch(move || {
                            let _held = held;
                            panic!("on purpose");
                        });
                        prop_assert!(caught.is_err());
                    }
                }
                Action::Retry => blocked = lane.is_blocked(&waker),
                Action::Pace { picos } => pace.publish(picos),
                _ => blocked = lane.is_blocked(&waker),
            }
            let (frames_now, events_now, bytes_now) = state.in_flight();
            prop_assert!(frames_now <= frames);
            prop_assert!(bytes_now <= bytes || events_now == 1, "{} bytes, {} events", bytes_now, events_now);
            prop_assert_eq!(&pushed[..received.len()], &received[..]);
        }
        // Everything pushed arrives, in order, with nothing but the wake-ups to go by.
        lane.flush();
        loop {
            let waits = lane.is_blocked(&waker) || state.sender_waits.load(Ordering::SeqCst);
            let before = wakes.0.load(Ordering::SeqCst);
            while let Some(frame) = inbox.pop() {
                drop(open(frame, &mut received));
            }
            if !waits {
                break;
            }
            prop_assert!(wakes.0.load(Ordering::SeqCst) > before, "a waiting sender was not woken");
        }
        prop_assert_eq!(pushed, received);
        prop_assert_eq!(state.in_flight(), (0, 0, 0));
    }
}

/// Found by the model: a part was cut by the batch's mean weight, and its first events weighed more.
#[test]
fn a_part_is_cut_by_what_its_own_events_weigh() {
    let limits = LinkLimits { bytes: 1_000, ..LinkLimits::default() };
    let (mut lane, state, _inbox) = lane(limits, &fast());
    for number in 0..50 {
        lane.push(Parcel { number, weight: if number < 10 { 150 } else { 1 } });
    }
    lane.flush();
    assert_eq!(state.in_flight(), (1, 6, 900));
}

/// A partial frame of which only a part fits goes in part, and the rest holds up nobody.
#[test]
fn an_overdue_frame_goes_as_far_as_it_fits() {
    let pace = fast();
    let (mut lane, state, _inbox) = lane(LinkLimits::default(), &pace);
    let waker = Waker::from(Arc::new(Wakes::default()));
    for number in 0..100 {
        lane.push(parcel(number));
    }
    // 4 ms an event: 50 may be under way, 25 in a frame.
    pace.publish(4_000_000_000);
    lane.flush();
    for _ in 0..3 {
        assert!(!lane.is_blocked(&waker));
    }
    assert_eq!(state.in_flight().1, 50);
    // From now on frames of 25 are cut, and the next whole one waits.
    assert_eq!(lane.most(), 25);
    lane.push(parcel(100));
    assert!(lane.is_blocked(&waker));
}
