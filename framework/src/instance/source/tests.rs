use super::*;
use crate::component::{Component, OnError};
use crate::grouping::{Shuffle, Targets};
use crate::id::InstanceId;
use crate::instance::Losses;
use crate::instance::tests::{Inbox, Notes, Wakes, link_to, seat};
use crate::instance::{ControlCell, Edge, Fan, RoutedEdge, Sending, StepsEdge};
use crate::key::KeyGroups;
use crate::link::LinkLimits;
use crate::metrics::{Counters, Counts};
use crate::step::{Here, StepInfo, TryMap};
use crate::time::{Clock, ManualClock};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What one call of `next` does.
#[derive(Clone, Copy, Debug)]
enum Act {
    Emit(i64),
    /// Emits as many as there is room for, and never stops.
    Flood,
    /// Sleeps for so many milliseconds.
    Sleep(u64),
    Error,
    Malformed,
    Fatal,
    /// Emits, and panics if it is the first time.
    PanicOnce(i64),
    /// Emits, and gives the order to retire.
    Retire(i64),
}
use Act::{Emit, Error, Flood, PanicOnce, Retire, Sleep};

/// Does what stands in its script, a list for each split, and ends behind it. With or without a position.
#[derive(Clone)]
struct Script<const RESUMES: bool> {
    acts: Arc<Vec<Vec<Act>>>,
    clock: ManualClock,
    control: Arc<ControlCell>,
    split: usize,
    at: usize,
    struck: Arc<AtomicBool>,
}

impl<const RESUMES: bool> Component for Script<RESUMES> {
    type Saved = usize;

    fn name(&self) -> &str {
        "script"
    }

    fn save(&self) -> usize {
        self.at
    }

    fn load(&mut self, saved: usize) {
        if RESUMES {
            self.at = saved;
        }
    }
}

impl<const RESUMES: bool> Source for Script<RESUMES> {
    type Out = i64;

    const RESUMES: bool = RESUMES;

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.split = ctx.split().index;
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<i64>) -> Result<Progress> {
        let Some(act) = self.acts[self.split].get(self.at).copied() else {
            return Ok(Progress::End);
        };
        self.at += 1;
        match act {
            Emit(n) => out.emit(n),
            Flood => {
                self.at -= 1;
                out.extend(std::iter::repeat_n(0, out.room()));
            }
            Sleep(millis) => {
                let until = self.clock.now() + Duration::from_millis(millis);
                self.clock.sleep_until(until).await;
            }
            Error => return Err("no read".into()),
            Act::Malformed => return Err(Malformed::new("no number").into()),
            Act::Fatal => return Err(Fatal::new("no input").into()),
            PanicOnce(n) => {
                out.emit(n);
                assert!(self.struck.swap(true, Ordering::SeqCst), "on cue");
            }
            Retire(n) => {
                out.emit(n);
                self.control.give(Command::Retire);
            }
        }
        Ok(Progress::More)
    }
}

/// One machine with a receiver behind it, moved by hand.
struct Bench<const RESUMES: bool> {
    machine: SourceMachine<Script<RESUMES>>,
    receiver: Arc<Inbox>,
    notes: Arc<Notes>,
    control: Arc<ControlCell>,
    counters: Arc<Counters>,
    wakes: Arc<Wakes>,
    clock: ManualClock,
}

/// An edge of any kind.
type Way = Box<dyn Edge<i64>>;

fn sending(counters: &Arc<Counters>) -> Sending {
    Sending {
        job: "test".into(),
        instance: InstanceId::new("script", 0),
        counters: Arc::clone(counters),
    }
}

/// What a bench is built with, beside the script.
#[derive(Clone, Copy)]
struct Setting {
    rate: Option<f64>,
    on_error: OnError,
    limits: LinkLimits,
    /// Between the source and the receiver.
    step: fn(Way, &Arc<Counters>) -> Way,
}

impl Default for Setting {
    fn default() -> Self {
        let limits = LinkLimits { frames: 64, ..LinkLimits::default() };
        Self { rate: None, on_error: OnError::Skip, limits, step: |edge, _| edge }
    }
}

impl<const RESUMES: bool> Bench<RESUMES> {
    /// A machine for a script, in the given setting.
    fn with(acts: Vec<Vec<Act>>, setting: Setting) -> Self {
        let clock = ManualClock::new();
        let (notes, receiver) = (Arc::new(Notes::default()), Arc::new(Inbox::default()));
        let seat = Seat { on_error: Some(setting.on_error), ..seat("script", 0, &clock, &notes) };
        let (control, counters) = (Arc::clone(&seat.control), Arc::clone(&seat.counters));
        let targets = Targets { sender: 0, instances: 1, key_groups: KeyGroups::DEFAULT };
        let links = vec![link_to(&receiver, 0, setting.limits, &counters)];
        let sender = sending(&counters);
        let edge = RoutedEdge::new(sender, "next".into(), Shuffle::new(), targets, links);
        let edge = (setting.step)(Box::new(edge), &counters);
        let stream = Fan::new(vec![edge], Arc::clone(&counters));
        let outlets = Outlets { stream, channels: Vec::new(), losses: None };
        let count = acts.len();
        let splits: Vec<_> = (0..count).map(|index| Split { index, count }).collect();
        let script = Script {
            acts: Arc::new(acts),
            clock: clock.clone(),
            control: Arc::clone(&control),
            split: 0,
            at: 0,
            struck: Arc::default(),
        };
        let maker: Maker<Script<RESUMES>> = Box::new(move |_| script.clone());
        let machine = SourceMachine::new(seat, maker, &splits, setting.rate, outlets);
        let wakes = Arc::default();
        Self { machine, receiver, notes, control, counters, wakes, clock }
    }

    /// A machine that was told to read.
    fn reading(acts: Vec<Vec<Act>>, setting: Setting) -> Self {
        let bench = Self::with(acts, setting);
        bench.control.give(Command::Go);
        bench
    }

    fn poll(&mut self) {
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.machine.poll(&mut task::Context::from_waker(&waker));
    }

    /// Polls, and gives what came out.
    fn read(&mut self) -> Vec<i64> {
        self.poll();
        self.receiver.open_all().into_iter().filter_map(std::result::Result::ok).collect()
    }

    /// Polls, and shows what came out, with control elements.
    fn show(&mut self) -> String {
        self.poll();
        format!("{:?}", self.receiver.open_all())
    }

    fn advance(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }

    fn counts(&self) -> Counts {
        self.counters.read()
    }
}

#[test]
fn nothing_is_read_before_the_order() {
    let mut bench = Bench::<true>::with(vec![vec![Emit(1)]], Setting::default());
    assert_eq!(bench.show(), "[]");
    assert_eq!(bench.notes.all(), ["ready"]);
    let wakes = bench.wakes.count();
    bench.control.give(Command::Go);
    assert!(bench.wakes.count() > wakes, "the order woke nobody");
    assert_eq!(bench.show(), "[Ok(1), Err(End), Err(Close)]");
    assert_eq!(bench.notes.all(), ["ready", "ended"]);
}

#[test]
fn an_instance_without_splits_ends_at_once() {
    let mut bench = Bench::<true>::with(Vec::new(), Setting::default());
    assert_eq!(bench.show(), "[Err(End), Err(Close)]");
    assert_eq!(bench.notes.all(), ["ready", "ended"]);
}

#[test]
fn splits_take_turns() {
    let acts = (0..3).map(|s| vec![Emit(10 * s), Emit(10 * s + 1)]).collect();
    let mut bench = Bench::<true>::reading(acts, Setting::default());
    assert_eq!(bench.read(), [0, 10, 20, 1, 11, 21]);
}

#[test]
fn a_split_that_waits_holds_up_no_other() {
    let acts = vec![vec![Sleep(5), Emit(0)], vec![Emit(10), Emit(11)]];
    let mut bench = Bench::<true>::reading(acts, Setting::default());
    assert_eq!(bench.show(), "[Ok(10), Ok(11)]");
    let wakes = bench.wakes.count();
    bench.advance(5);
    assert!(bench.wakes.count() > wakes, "nobody woke it");
    assert_eq!(bench.show(), "[Ok(0), Err(End), Err(Close)]");
}

/// The rate is that of the instance, whatever the number of its splits.
#[test]
fn splits_share_the_rate_of_their_instance() {
    let acts = (0..2).map(|s| (0..10).map(|n| Emit(10 * s + n)).collect()).collect();
    let setting = Setting { rate: Some(10.0), ..Setting::default() };
    let mut bench = Bench::<true>::reading(acts, setting);
    let mut got = Vec::new();
    for _ in 0..20 {
        let one = bench.read();
        assert_eq!(one.len(), 1, "{one:?} after {got:?}");
        got.extend(one);
        bench.advance(99);
        assert!(bench.read().is_empty(), "too early, after {got:?}");
        let wakes = bench.wakes.count();
        bench.advance(1);
        assert!(bench.wakes.count() > wakes, "nobody woke it");
    }
    let expected: Vec<i64> = (0..10).flat_map(|n| [n, 10 + n]).collect();
    assert_eq!(got, expected);
}

#[test]
fn errors_in_a_row_are_tried_again_after_pauses_that_double() {
    let mut acts = vec![Error; 9];
    acts.extend([Emit(7), Error, Emit(8)]);
    let mut bench = Bench::<true>::reading(vec![acts], Setting::default());
    bench.poll();
    assert_eq!(bench.counts().failed, 2, "after the first it is tried again at once");
    for (i, pause) in [10, 20, 40, 80, 160, 320, 640].into_iter().enumerate() {
        bench.advance(pause - 1);
        bench.poll();
        assert_eq!(bench.counts().failed, 2 + i as u64, "too early");
        bench.advance(1);
        bench.poll();
        assert_eq!(bench.counts().failed, 3 + i as u64, "not after {pause} ms");
    }
    bench.advance(640);
    // An event ends the row.
    assert_eq!(bench.show(), "[Ok(7), Ok(8), Err(End), Err(Close)]");
    assert_eq!((bench.counts().failed, bench.notes.all().len()), (10, 2));
}

#[test]
fn the_tenth_error_in_a_row_loses_the_instance() {
    let mut acts = vec![Emit(1)];
    acts.extend([Error; 10]);
    let mut bench = Bench::<true>::reading(vec![acts], Setting::default());
    assert_eq!(bench.show(), "[Ok(1)]");
    for _ in 0..8 {
        assert_eq!(bench.notes.all(), ["ready"]);
        bench.advance(640);
        bench.poll();
    }
    assert_eq!(bench.notes.all(), ["ready", "lost: script[0]: error: no read"]);
    assert_eq!(bench.counts().failed, 10);
    // It waits for an order; then it closes its links, and the input is not at its end.
    assert_eq!(bench.show(), "[]");
    bench.control.give(Command::Retire);
    assert_eq!(bench.show(), "[Err(Close)]");
    assert_eq!(bench.notes.all()[2], "ended");
}

/// What is wrong is a piece of the input, and not the way in.
#[test]
fn malformed_input_is_in_no_row() {
    let mut acts = vec![Act::Malformed; 25];
    acts.push(Emit(1));
    let mut bench = Bench::<true>::reading(vec![acts], Setting::default());
    assert_eq!(bench.show(), "[Ok(1), Err(End), Err(Close)]");
    assert_eq!(bench.counts().failed, 25);
}

#[test]
fn an_error_that_is_to_fail_the_job_is_the_last_read() {
    let strict = || Setting { on_error: OnError::Fail, ..Setting::default() };
    let cases = [
        (Error, strict(), "no read"),
        (Act::Malformed, strict(), "no number"),
        (Act::Fatal, Setting::default(), "no input"),
    ];
    for (act, setting, text) in cases {
        let acts = vec![vec![Emit(1), act, Emit(2)], vec![Emit(10), Emit(11), Emit(12)]];
        let mut bench = Bench::<true>::reading(acts, setting);
        assert_eq!(bench.show(), "[Ok(1), Ok(10)]", "what it had read before leaves");
        assert_eq!(bench.notes.all(), ["ready", &format!("lost: script[0]: error: {text}")]);
        assert_eq!((bench.show(), bench.counts().failed), ("[]".to_owned(), 1));
    }
}

#[test]
fn after_a_panic_a_split_goes_on_at_its_position() {
    let acts = vec![
        vec![Emit(1), Emit(2), PanicOnce(3), Emit(4)],
        vec![Emit(10), Emit(11), Emit(12), Emit(13)],
    ];
    let mut bench = Bench::<true>::reading(acts, Setting::default());
    // The other one never notices; what the call had emitted is taken back.
    assert_eq!(bench.read(), [1, 10, 2, 11, 12, 13]);
    let notes = bench.notes.all();
    assert_eq!(notes.len(), 2);
    assert!(notes[1].starts_with("broken: script[0] at event 5: panic at "), "{notes:?}");
    assert!(notes[1].ends_with(": on cue, at its position"), "{notes:?}");
    assert_eq!(bench.show(), "[]", "it waits for the order");
    bench.control.give(Command::Restart);
    assert_eq!(bench.show(), "[Ok(3), Ok(4), Err(End), Err(Close)]");
    assert_eq!(bench.notes.all()[2..], ["restarted", "ended"]);
    let counts = bench.counts();
    assert_eq!((counts.emitted, counts.failed, counts.restarts), (8, 0, 1));
}

#[test]
fn without_a_position_a_split_begins_again() {
    let acts = vec![vec![Emit(1), PanicOnce(2), Emit(3)]];
    let mut bench = Bench::<false>::reading(acts, Setting::default());
    assert_eq!(bench.read(), [1]);
    assert!(bench.notes.all()[1].ends_with(": on cue, fresh"), "{:?}", bench.notes.all());
    bench.control.give(Command::Restart);
    assert_eq!(bench.read(), [1, 2, 3]);
    let counts = bench.counts();
    assert_eq!((counts.emitted, counts.failed, counts.restarts), (4, 1, 1));
}

/// A closure behind the source that accepts no twos.
fn no_twos(next: Way, counters: &Arc<Counters>) -> Way {
    let step = |n: &i64| if *n == 2 { Err("no twos".into()) } else { Ok(*n) };
    let info = StepInfo {
        name: "try_map#1 after script".into(),
        on_error: OnError::Fail,
        failed: AtomicU64::default(),
    };
    let steps = TryMap::after(Here, 0, step);
    let next = Fan::new(vec![next], Arc::clone(counters));
    let losses = Losses::new(sending(counters), [Arc::new(info)].into());
    Box::new(StepsEdge::<i64, _>::new(losses, steps, next))
}

/// Whether it is silent after that or at its end, it tells at once, and nothing is finished.
#[test]
fn a_step_that_is_to_fail_the_job_does_so_at_once() {
    for silence in [vec![], vec![Sleep(3_600_000)]] {
        let mut acts = vec![Emit(1), Emit(2), Emit(3)];
        acts.extend(silence);
        let setting = Setting { step: no_twos, ..Setting::default() };
        let mut bench = Bench::<true>::reading(vec![acts], setting);
        assert_eq!(bench.show(), "[Ok(1), Ok(3)]");
        let lost = "lost: script[0], try_map#1 after script: error: no twos";
        assert_eq!(bench.notes.all(), ["ready", lost]);
        assert_eq!(bench.show(), "[]", "a lost source reads on");
        bench.control.give(Command::Retire);
        assert_eq!(bench.show(), "[Err(Close)]");
        assert_eq!(bench.notes.all()[2..], ["ended"]);
    }
}

/// The job fails for another reason already: there is one cause, and one close.
#[test]
fn a_step_that_fails_while_the_source_retires_is_no_second_cause() {
    let setting = Setting { step: no_twos, ..Setting::default() };
    let mut bench = Bench::<true>::reading(vec![vec![Emit(1), Retire(2), Emit(3)]], setting);
    assert_eq!(bench.show(), "[Ok(1), Err(Close)]");
    assert_eq!(bench.notes.all(), ["ready", "ended"]);
    assert_eq!(bench.counts().lost_in_steps, 1);
}

#[test]
fn the_orders_to_end_differ_in_what_they_say_downstream() {
    let flood = || {
        let limits = LinkLimits { frames: 2, ..LinkLimits::default() };
        let mut bench =
            Bench::<true>::reading(vec![vec![Flood]], Setting { limits, ..Setting::default() });
        bench.poll();
        bench
    };
    let end = |mut bench: Bench<true>, command| {
        bench.control.give(command);
        let mut controls = Vec::new();
        for _ in 0..10 {
            bench.poll();
            controls.extend(bench.receiver.open_all().into_iter().filter_map(Result::err));
        }
        (format!("{controls:?}"), bench)
    };
    let (controls, bench) = end(flood(), Command::Drain);
    assert_eq!((&*controls, bench.counts().unsent), ("[End, Close]", 0));
    let (controls, bench) = end(flood(), Command::Retire);
    assert_eq!((&*controls, bench.counts().unsent), ("[Close]", 0));
    let (controls, bench) = end(flood(), Command::Halt);
    let counts = bench.counts();
    assert_eq!((&*controls, counts.emitted), ("[]", counts.sent + counts.unsent));
    assert_eq!(bench.notes.all(), ["ready", "ended"]);
}

/// F4, F5: without credit it reads no further, and goes on when some comes home.
#[test]
fn a_blocked_source_reads_nothing_more() {
    let limits = LinkLimits { frames: 2, ..LinkLimits::default() };
    let mut bench =
        Bench::<true>::reading(vec![vec![Flood]], Setting { limits, ..Setting::default() });
    bench.poll();
    let (held, wakes) = (bench.counts(), bench.wakes.count());
    assert!(held.emitted > 0 && held.emitted <= 4 * 1_024, "{held:?}");
    bench.poll();
    assert_eq!(bench.counts(), held, "it read on while it was blocked");
    assert!(!bench.receiver.open_all().is_empty());
    assert!(bench.wakes.count() > wakes, "nobody woke it when credit came home");
    bench.poll();
    assert!(bench.counts().emitted > held.emitted);
}
