//! What chapters 1 to 3 of *Grokking Streaming Systems* ask of a system, where no other test shows
//! it. The numbers are those of `docs/book-map.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use streamwork::grouping::{Target, Targets};
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{KeyGroups, Problem};
use streamwork_tests::{Gate, wait_until};

/// Completes when `ready` says so; gives way to everything else meanwhile.
async fn until(ready: impl Fn() -> bool) {
    std::future::poll_fn(|cx| {
        if ready() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Emits what comes in, and something more.
#[derive(Component, Clone)]
struct Add(u64);

impl Operator for Add {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(n + self.0);
        Ok(())
    }
}

/// Emits what comes in, twice as much.
#[derive(Component, Clone)]
struct Double;

impl Operator for Double {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(2 * n);
        Ok(())
    }
}

/// Has no end, and sends an event only when the result of the one before is there.
#[derive(Component, Clone)]
struct OneByOne {
    sent: u64,
    results: Collect<u64>,
}

impl Source for OneByOne {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        until(|| self.results.len() as u64 == self.sent).await;
        out.emit(self.sent);
        self.sent += 1;
        Ok(Progress::More)
    }
}

/// 1.1
#[test]
fn a_result_is_there_before_the_next_event_is_sent() {
    let results = Collect::new();
    let job = Job::new("one-by-one");
    job.source(OneByOne { sent: 0, results: results.clone() }).apply(Double).sink(results.clone());
    let handle = Engine::new().start(job).unwrap();
    wait_until("a hundred results", || results.len() >= 100);
    handle.drain();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
    let results = results.take();
    assert!(results.iter().copied().eq((0..results.len() as u64).map(|n| 2 * n)));
}

/// 1.1, where a busy sender has one event for a receiver and everything after it for another.
#[test]
fn an_event_on_a_rarely_used_link_does_not_wait_for_a_second_one() {
    let counts: Arc<[AtomicU64; 8]> = Arc::default();
    let job = Job::new("rare");
    job.source(FromIter::new(0_u64..))
        .group(Direct::to(|n: &u64, _| usize::from(*n == 0)))
        .sink(Busy { instance: 0, counts: Arc::clone(&counts) })
        .parallelism(2);
    let handle = Engine::new().start(job).unwrap();
    wait_until("the rare event", || counts[1].load(Ordering::Relaxed) == 1);
    handle.drain();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
}

/// 1.4
#[test]
fn a_stage_is_added_replaced_or_removed_without_touching_the_others() {
    let run = |connect: fn(&Stream<u64>, Collect<u64>)| {
        let got = Collect::new();
        let job = Job::new("stages");
        connect(&job.source(FromIter::new(1..=3)), got.clone());
        Engine::new().run(job).unwrap();
        got.take()
    };
    assert_eq!(run(|numbers, got| drop(numbers.apply(Add(1)).sink(got))), [2, 3, 4]);
    assert_eq!(run(|numbers, got| drop(numbers.apply(Double).sink(got))), [2, 4, 6]);
    assert_eq!(run(|numbers, got| drop(numbers.apply(Add(1)).apply(Double).sink(got))), [4, 6, 8]);
    assert_eq!(run(|numbers, got| drop(numbers.sink(got))), [1, 2, 3]);
}

/// Emits one number a call, and counts its calls.
#[derive(Component, Clone)]
struct Steady {
    left: u64,
    calls: Arc<AtomicU64>,
}

impl Source for Steady {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.left -= 1;
        out.emit(self.left);
        Ok(if self.left == 0 { Progress::End } else { Progress::More })
    }
}

/// 2.1; `ends.rs` shows that the source is held once the path is full. These events fit in, however
/// they are cut into frames: a link takes sixteen before it knows how fast its receiver is.
#[test]
fn a_slow_sink_costs_its_source_nothing_until_the_path_is_full() {
    let (gate, calls, done) = (Gate::closed(), Arc::default(), Arc::new(AtomicU64::new(0)));
    let (held, count) = (gate.clone(), Arc::clone(&done));
    let job = Job::new("slow-sink");
    job.source(Steady { left: 12, calls: Arc::clone(&calls) }).sink(ForEach::new(move |_| {
        held.pass();
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let handle = Engine::new().arbiters(2).start(job).unwrap();
    wait_until("the source is done", || calls.load(Ordering::SeqCst) == 12);
    assert_eq!(done.load(Ordering::SeqCst), 0);
    gate.open();
    assert_eq!(handle.wait().unwrap().events_out(), 12);
}

/// What happened, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<(&'static str, usize)>>>);

impl Diary {
    fn note(&self, what: &'static str, instance: usize) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).push((what, instance));
    }

    fn read(&self) -> Vec<(&'static str, usize)> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

/// Notes its setup and its events. With a gate, it is set up only after that was opened.
#[derive(Component, Clone)]
struct Noted {
    instance: usize,
    diary: Diary,
    gate: Option<Gate>,
}

impl Sink for Noted {
    type In = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        if let Some(gate) = &self.gate {
            gate.pass();
            // Time for the source to do what it should not.
            (0..1_000).for_each(|_| std::thread::yield_now());
        }
        self.instance = ctx.index();
        self.diary.note("setup", self.instance);
        Ok(())
    }

    fn write(&mut self, _: u64) -> Result<()> {
        self.diary.note("event", self.instance);
        Ok(())
    }
}

/// Opens a gate when it is set up, and notes that it is read.
#[derive(Component, Clone)]
struct Eager {
    diary: Diary,
    gate: Gate,
}

impl Source for Eager {
    type Out = u64;

    async fn setup(&mut self, _: &Context) -> Result<()> {
        self.gate.open();
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        self.diary.note("read", 0);
        out.emit(1);
        Ok(Progress::End)
    }
}

/// 2.4
#[test]
fn sources_are_read_only_when_all_that_follows_is_set_up() {
    for _ in 0..20 {
        let (diary, gate) = (Diary::default(), Gate::closed());
        let job = Job::new("ready");
        job.source(Eager { diary: diary.clone(), gate: gate.clone() })
            .sink(Noted { instance: 0, diary: diary.clone(), gate: Some(gate) })
            .parallelism(2);
        Engine::new().arbiters(3).run(job).unwrap();
        let events = diary.read().into_iter().map(|(what, _)| what);
        assert!(events.eq(["setup", "setup", "read", "event"]), "{:?}", diary.read());
    }
}

/// Emits the numbers below a limit: none at the first call, then one, two, three, none, ...
#[derive(Component, Clone)]
struct Uneven {
    limit: u64,
    next: u64,
    calls: u64,
}

impl Source for Uneven {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        let end = self.limit.min(self.next + self.calls % 4);
        out.extend(self.next..end);
        self.next = end;
        self.calls += 1;
        Ok(if end == self.limit { Progress::End } else { Progress::More })
    }
}

/// Emits n % 3 events for number n, notes each call, and fails on every tenth after it has emitted.
#[derive(Component, Clone)]
struct Several {
    calls: Collect<u64>,
}

impl Operator for Several {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        self.calls.write(n)?;
        out.extend((0..n % 3).map(|_| n));
        if n % 10 == 9 { Err("a tenth".into()) } else { Ok(()) }
    }
}

/// 2.6; what a failing call emitted never existed.
#[test]
fn apply_is_called_once_for_each_event_and_emits_any_number() {
    let (calls, got) = (Collect::new(), Collect::new());
    let job = Job::new("once");
    job.source(Uneven { limit: 5_000, next: 0, calls: 0 })
        .apply(Several { calls: calls.clone() })
        .parallelism(1)
        .sink(got.clone());
    let outcome = Engine::new().run(job).unwrap();
    assert!(calls.take().into_iter().eq(0..5_000));
    let expected = (0..5_000).filter(|n| n % 10 != 9).flat_map(|n| (0..n % 3).map(move |_| n));
    assert!(got.take().into_iter().eq(expected));
    assert_eq!((outcome.failed(), outcome.restarts()), (500, 0));
}

/// Emits a number, then returns errors; over and over, until it has emitted all.
#[derive(Component, Clone)]
struct Stumbling {
    numbers: u64,
    errors: u64,
    calls: u64,
}

impl Source for Stumbling {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        let (round, place) = (self.calls / (1 + self.errors), self.calls % (1 + self.errors));
        self.calls += 1;
        if round == self.numbers {
            return Ok(Progress::End);
        }
        if place > 0 {
            return Err("no luck".into());
        }
        out.emit(round);
        Ok(Progress::More)
    }
}

/// 2.6, where calls fail. The pauses between them are simulated.
#[test]
fn a_source_that_fails_is_called_again_and_given_up_after_ten_errors_in_a_row() {
    let run = |errors| {
        let got = Collect::new();
        let job = Job::new("stumbling");
        job.source(Stumbling { numbers: 3, errors, calls: 0 }).sink(got.clone());
        (Scheduler::seeded(errors).run(job), got.take())
    };
    let (outcome, got) = run(9);
    assert_eq!((outcome.unwrap().failed(), got), (27, vec![0, 1, 2]));
    let (outcome, got) = run(10);
    assert_eq!(got, [0]);
    let text = outcome.unwrap_err().to_string();
    assert_eq!(text, "job \"stumbling\" failed: stumbling[0]: error: no luck");
}

/// 2.7
#[test]
fn a_drain_finishes_what_is_open_and_a_stop_drops_it() {
    let run = |end: fn(&JobHandle)| {
        let (counts, flowing, census) = (Collect::new(), Flag::default(), Census::default());
        let (seen, finished) = (flowing.clone(), Arc::clone(&census.finished));
        let job = Job::new("ends");
        let input = job.source(FromIter::new(kinds(u64::MAX)));
        input.apply(census).parallelism(2).sink(counts.clone());
        input.sink(ForEach::new(move |_| seen.raise()));
        let handle = Engine::new().start(job).unwrap();
        wait_until("events flow", || flowing.is_up());
        end(&handle);
        let outcome = handle.wait().unwrap();
        let counted: u64 = counts.take().into_iter().map(|(_, count)| count).sum();
        (outcome.status(), finished.load(Ordering::SeqCst), counted, outcome.events_in())
    };
    let (status, finished, counted, read) = run(JobHandle::drain);
    assert_eq!((status, finished, counted), (JobStatus::Drained, 2, read));
    for end in [JobHandle::stop, JobHandle::kill] {
        let (status, finished, counted, _) = run(end);
        assert!(matches!(status, JobStatus::Stopped | JobStatus::Killed), "{status}");
        assert_eq!((finished, counted), (0, 0), "{status}");
    }
}

/// Takes everything, and cannot write it out.
#[derive(Component, Clone)]
struct FullDisk {
    at_the_end: bool,
}

impl Sink for FullDisk {
    type In = u64;

    fn write(&mut self, _: u64) -> Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.at_the_end { Ok(()) } else { Err("no space".into()) }
    }

    fn finish(&mut self) -> Result<()> {
        Err("no space".into())
    }
}

/// 2.7, where what is in flight cannot be written.
#[test]
fn a_job_whose_sink_cannot_write_does_not_end_well() {
    for at_the_end in [false, true] {
        let job = Job::new("disk");
        job.source(FromIter::new(0..10_u64)).sink(FullDisk { at_the_end });
        let text = Engine::new().run(job).unwrap_err().to_string();
        let call = if at_the_end { "finish" } else { "flush" };
        assert_eq!(text, format!("job \"disk\" failed: full-disk[0]: {call} failed: no space"));
    }
}

/// 2.9
#[test]
fn a_component_that_is_there_twice_is_refused_by_name() {
    let job = Job::new("twice");
    let source = FromIter::new(0..3_u64);
    let numbers = job.source(source.clone());
    numbers.apply(Double);
    numbers.apply(Double);
    job.source(source).sink(ForEach::new(|_| {}));
    let error = Engine::new().run(job).unwrap_err();
    let twice = |name: &str| Problem::DuplicateName { name: name.into(), times: 2 };
    assert_eq!(error.problems(), [twice("double"), twice("from-iter")], "{error}");
}

/// 2.11
#[test]
fn what_a_last_operator_emits_is_dropped_and_counted() {
    let job = Job::new("last");
    job.source(FromIter::new(0..5_000_u64)).apply(Double).parallelism(2);
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!(outcome.status(), JobStatus::Finished);
    assert_eq!((outcome.events_out(), outcome.failed(), outcome.dropped()), (5_000, 0, 0));
    let counts = outcome.component("double").unwrap();
    assert_eq!((counts.emitted, counts.unread, counts.sent), (5_000, 5_000, 0));
}

/// 3.1
#[test]
fn each_instance_is_set_up_with_its_number_before_its_first_event() {
    let diary = Diary::default();
    let job = Job::new("numbers");
    job.source(FromIter::new(0..3_000_u64))
        .sink(Noted { instance: usize::MAX, diary: diary.clone(), gate: None })
        .parallelism(3);
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!(outcome.tree().components[1].instances.len(), 3);
    let diary = diary.read();
    for instance in 0..3 {
        let mut own = diary.iter().filter(|(_, i)| *i == instance).map(|(what, _)| *what);
        assert_eq!(own.next(), Some("setup"));
        assert_eq!(own.filter(|what| *what == "event").count(), 1_000);
    }
    assert_eq!(diary.len(), 3 + 3_000);
}

/// 3.1
#[test]
fn no_instances_are_refused() {
    let job = Job::new("none");
    job.source(FromIter::new(0..3_u64)).apply(Double).parallelism(0);
    let error = Engine::new().run(job).unwrap_err();
    assert_eq!(error.problems(), [Problem::NoInstances { name: "double".into() }]);
    let text = error.to_string();
    assert_eq!(text, "job \"none\" can't run: \"double\" has parallelism 0: it needs at least 1");
}

/// 3.2, where the parts of the input are not as many as the instances.
#[test]
fn all_splits_of_a_source_are_read_by_any_number_of_instances() {
    for instances in [1, 2, 5, 8] {
        let got = Collect::new();
        let job = Job::new("splits");
        let numbers = FromIter::new(0..1_000_u64).splits(5);
        job.source(numbers).parallelism(instances).sink(got.clone());
        Engine::new().run(job).unwrap();
        let mut numbers = got.take();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..1_000), "{instances} instances");
    }
}

/// 3.3
#[test]
fn an_event_goes_to_exactly_one_instance_of_each_operator() {
    let (two, three) = (Collect::new(), Collect::new());
    let job = Job::new("exactly-one");
    let numbers = job.source(FromIter::new(0..10_000_u64)).parallelism(2);
    numbers.sink(two.clone()).named("two").parallelism(2);
    numbers.group(Fields::whole()).sink(three.clone()).named("three").parallelism(3);
    Engine::new().run(job).unwrap();
    for got in [two, three] {
        let mut numbers = got.take();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..10_000));
    }
}

/// Counts by kind, for itself, and says the counts at the end.
#[derive(Component, Clone, Default)]
struct Census {
    counts: BTreeMap<u64, u64>,
    finished: Arc<AtomicU64>,
}

impl Operator for Census {
    type In = u64;
    type Out = (u64, u64);

    fn apply(&mut self, kind: u64, _: &mut Emitter<Self::Out>) -> Result<()> {
        *self.counts.entry(kind).or_default() += 1;
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<Self::Out>) -> Result<()> {
        self.finished.fetch_add(1, Ordering::SeqCst);
        out.extend(std::mem::take(&mut self.counts));
        Ok(())
    }
}

/// A made-up input of twenty kinds.
fn kinds(events: u64) -> impl Iterator<Item = u64> + Clone {
    (0..events).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32).map(|n| n % 20)
}

/// Each instance's counts by kind.
fn count(events: u64, counters: usize, by_kind: bool) -> Vec<BTreeMap<u64, u64>> {
    let got = Collect::new();
    let job = Job::new("census");
    let input = job.source(FromIter::new(kinds(events))).parallelism(2);
    let counted = match by_kind {
        false => input.group(Shuffle::new()).apply(Census::default()),
        true => input.group(Fields::whole()).apply(Census::default()),
    };
    counted.parallelism(counters).group(Forward).sink(got.clone()).parallelism(counters);
    Engine::new().run(job).expect("the job is well formed");
    (0..counters).map(|i| got.of_instance(i).into_iter().collect()).collect()
}

/// 3.5
#[test]
fn totals_are_equal_at_every_parallelism() {
    let mut expected = BTreeMap::new();
    kinds(20_000).for_each(|kind| *expected.entry(kind).or_default() += 1);
    for counters in [1, 2, 4] {
        for by_kind in [false, true] {
            let mut totals: BTreeMap<u64, u64> = BTreeMap::new();
            for (kind, n) in count(20_000, counters, by_kind).into_iter().flatten() {
                *totals.entry(kind).or_default() += n;
            }
            assert_eq!(totals, expected, "{counters} counters");
        }
    }
}

/// 3.15
#[test]
fn a_kind_is_counted_by_many_under_shuffle_and_by_one_under_fields() {
    for kind in 0..20 {
        let with_kind = |counts: &[BTreeMap<u64, u64>]| {
            counts.iter().filter(|counts| counts.contains_key(&kind)).count()
        };
        assert_eq!(with_kind(&count(20_000, 3, false)), 3, "shuffle, kind {kind}");
        assert_eq!(with_kind(&count(20_000, 3, true)), 1, "fields, kind {kind}");
    }
}

/// Something that one part of a job tells another.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn raise(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_up(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Sends event 2 only when the second stage has event 1 in its hands.
#[derive(Component, Clone)]
struct Timed {
    sent: u64,
    second_has_1: Flag,
}

impl Source for Timed {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        if self.sent == 1 {
            until(|| self.second_has_1.is_up()).await;
        }
        self.sent += 1;
        out.emit(self.sent);
        Ok(if self.sent == 2 { Progress::End } else { Progress::More })
    }
}

/// Says when it has event 2.
#[derive(Component, Clone)]
struct First {
    first_has_2: Flag,
}

impl Operator for First {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        if n == 2 {
            self.first_has_2.raise();
        }
        out.emit(n);
        Ok(())
    }
}

/// 3.6: the second stage is not done with event 1 before the first has begun with event 2.
#[test]
fn two_stages_work_on_two_events_at_the_same_time() {
    let (second_has_1, first_has_2) = (Flag::default(), Flag::default());
    let (has, wait) = (second_has_1.clone(), first_has_2.clone());
    let job = Job::new("overlap");
    job.source(Timed { sent: 0, second_has_1 }).apply(First { first_has_2 }).sink(ForEach::new(
        move |n| {
            if n == 1 {
                has.raise();
                wait_until("the first stage has event 2", || wait.is_up());
            }
        },
    ));
    assert_eq!(Engine::new().arbiters(3).run(job).unwrap().events_out(), 2);
}

/// 3.7
#[test]
fn every_instance_goes_on_when_they_outnumber_the_threads() {
    let counts: Arc<[AtomicU64; 8]> = Arc::default();
    let job = Job::new("crowd");
    job.source(FromIter::new(0_u64..))
        .parallelism(3)
        .sink(Busy { instance: 0, counts: counts.clone() })
        .parallelism(8);
    let handle = Engine::new().arbiters(1).start(job).unwrap();
    wait_until("each has got far", || counts.iter().all(|n| n.load(Ordering::Relaxed) > 10_000));
    handle.drain();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
}

/// Counts what each instance got.
#[derive(Component, Clone)]
struct Busy {
    instance: usize,
    counts: Arc<[AtomicU64; 8]>,
}

impl Sink for Busy {
    type In = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        Ok(())
    }

    fn write(&mut self, _: u64) -> Result<()> {
        self.counts[self.instance].fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// 3.9, 3.10
#[test]
fn without_a_grouping_events_are_dealt_out_evenly() {
    for instances in [1, 2, 3, 4, 7] {
        let got = Collect::new();
        let job = Job::new("even");
        job.source(FromIter::new(0..10_000_u64)).sink(got.clone()).parallelism(instances);
        Engine::new().run(job).unwrap();
        let mut sum = 0;
        for n in (0..instances).map(|i| got.of_instance(i).len()) {
            assert!(n == 10_000 / instances || n == 10_000_usize.div_ceil(instances), "{n}");
            sum += n;
        }
        assert_eq!(sum, 10_000);
    }
}

/// Where each key went: by the whole event, by a part of it, by a key that is made from it.
fn places<G: Grouping<u64>>(grouping: G, sources: usize) -> BTreeMap<u64, BTreeSet<usize>> {
    let got = Collect::new();
    let job = Job::new("places");
    let input = job.source(FromIter::new(kinds(5_000))).parallelism(sources);
    input.group(grouping).sink(got.clone()).parallelism(3);
    Engine::new().run(job).expect("the job is well formed");
    let mut places: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for instance in 0..3 {
        for key in got.of_instance(instance) {
            places.entry(key).or_default().insert(instance);
        }
    }
    places
}

/// 3.11
#[test]
fn a_key_meets_the_same_instance_from_every_sender_and_in_every_run() {
    let groups = KeyGroups::DEFAULT;
    let home = |key| BTreeSet::from([groups.instance(groups.of_key(&key), 3)]);
    let expected: BTreeMap<u64, BTreeSet<usize>> = (0..20).map(|key| (key, home(key))).collect();
    for sources in [1, 2, 4] {
        assert_eq!(places(Fields::whole(), sources), expected);
        assert_eq!(places(Fields::on(|key: &u64| key), sources), expected);
        assert_eq!(places(Fields::by(|key: &u64| *key), sources), expected);
    }
}

/// Small numbers to the first instance, in turn to the others what is left.
#[derive(Clone)]
struct Small {
    turn: usize,
}

impl Grouping<u64> for Small {
    fn target(&mut self, n: &u64, targets: Targets) -> Target {
        if *n < 100 {
            return Target::Instance(0);
        }
        self.turn = self.turn % (targets.instances() - 1) + 1;
        Target::Instance(self.turn)
    }
}

/// 3.16
#[test]
fn a_grouping_of_ones_own_decides() {
    let got = Collect::new();
    let job = Job::new("own");
    job.source(FromIter::new(0..1_100_u64))
        .group(Small { turn: 0 })
        .sink(got.clone())
        .parallelism(3);
    Engine::new().run(job).unwrap();
    assert!(got.of_instance(0).into_iter().eq(0..100));
    assert!(got.of_instance(1).into_iter().eq((100..1_100).step_by(2)));
    assert!(got.of_instance(2).into_iter().eq((101..1_100).step_by(2)));
}

/// 3.16
#[test]
fn under_all_every_instance_gets_a_copy() {
    let got = Collect::new();
    let job = Job::new("copies");
    job.source(FromIter::new(0..1_000_u64)).group(All).sink(got.clone()).parallelism(3);
    let outcome = Engine::new().run(job).unwrap();
    for instance in 0..3 {
        assert!(got.of_instance(instance).into_iter().eq(0..1_000));
    }
    let counts = outcome.component("from-iter").unwrap();
    assert_eq!((counts.emitted, counts.copies, counts.sent), (1_000, 2_000, 3_000));
}
