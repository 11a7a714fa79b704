//! What breaks is built anew, what waits is not lost, and nobody else notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::{Fault, Faulty};
use streamwork::{Cause, InstanceState};

fn quick() -> RestartStrategy {
    RestartStrategy { pause: Duration::from_millis(1), ..RestartStrategy::default() }
}

/// Counts what it gets since it was built.
#[derive(Component, Clone, Debug, Default)]
struct Counter {
    seen: u64,
}

impl Operator for Counter {
    type In = u64;
    type Out = (u64, u64);

    fn apply(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        self.seen += 1;
        out.emit((n, self.seen));
        Ok(())
    }
}

#[test]
fn counting_begins_again_after_the_lost_event() {
    let got = Collect::new();
    let job = Job::new("panic").restarts(quick());
    job.source(FromIter::new(1..=100_u64))
        .apply(Faulty::new(Counter::default(), Some(Fault::panic("counter", 5))))
        .sink(got.clone());
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!((outcome.failed(), outcome.restarts()), (1, 1));
    assert_eq!(outcome.component("counter").unwrap().applied, 99);
    let mut expected: Vec<_> = (1..=4).map(|n| (n, n)).collect();
    expected.extend((6..=100).map(|n| (n, n - 5)));
    assert_eq!(got.take(), expected);
}

#[test]
fn an_error_keeps_the_state() {
    let got = Collect::new();
    let job = Job::new("error");
    job.source(FromIter::new(1..=100_u64))
        .apply(Faulty::new(Counter::default(), Some(Fault::error("counter", 5))))
        .sink(got.clone());
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!((outcome.failed(), outcome.restarts()), (1, 0));
    let mut expected: Vec<_> = (1..=4).map(|n| (n, n)).collect();
    expected.extend((6..=100).map(|n| (n, n - 1)));
    assert_eq!(got.take(), expected);
}

/// B43: an operator panics on its fifth event; three others share its thread.
#[test]
fn others_on_the_thread_never_notice() {
    let job = Job::new("shared-thread").restarts(quick());
    let numbers = job.source(FromIter::new(1..=20_000_u64));
    let victim = Collect::new();
    numbers
        .apply(Faulty::new(Counter::default(), Some(Fault::panic("counter", 5))))
        .sink(victim.clone())
        .named("victim");
    let others: Vec<_> = (0..3).map(|_| Collect::new()).collect();
    for (i, other) in others.iter().enumerate() {
        let counter = numbers.apply(Counter::default()).named(&format!("bystander-{i}"));
        counter.sink(other.clone()).named(&format!("other-{i}"));
    }
    let outcome = Engine::new().arbiters(1).run(job).unwrap();
    for other in others {
        let expected: Vec<_> = (1..=20_000).map(|n| (n, n)).collect();
        assert_eq!(other.take(), expected);
    }
    assert_eq!(victim.len(), 19_999);
    assert_eq!(outcome.restarts(), 1);
    assert_eq!(outcome.component("counter").unwrap().restarts, 1);
}

#[test]
fn one_panic_too_many_fails_the_job_with_its_cause() {
    let job = Job::new("hopeless").restarts(quick());
    job.source(FromIter::new(0_u64..))
        .apply(Faulty::new(Counter::default(), Some(Fault::panic("counter", 5).always())))
        .sink(ForEach::new(|_| {}));
    let error = Engine::new().run(job).unwrap_err();
    let failure = error.failure().unwrap();
    assert_eq!(failure.instance.to_string(), "counter[0]");
    assert_eq!(failure.event, Some(15));
    assert!(matches!(&failure.cause, Cause::Panic { message, place: Some(place) }
        if message.contains("on cue at event 15") && place.contains("fault.rs:")));
    let text = error.to_string();
    assert!(text.contains("\"hopeless\" failed: counter[0] at event 15: panic at "), "{text}");
    assert!(text.ends_with("(the restarts are used up)"), "{text}");
}

#[test]
fn a_final_error_fails_the_job_at_once() {
    let job = Job::new("final");
    job.source(FromIter::new(0_u64..))
        .sink(TryForEach::new(|n| if n == 7 { Err(Fatal::new("seven").into()) } else { Ok(()) }));
    let error = Engine::new().run(job).unwrap_err();
    let text = error.to_string();
    assert_eq!(text, "job \"final\" failed: try-for-each[0] at event 8: error: seven");
}

#[derive(Component, Clone, Debug)]
struct Moody {
    setups: Arc<AtomicU64>,
    fails_at: u64,
}

impl Sink for Moody {
    type In = u64;

    fn setup(&mut self, _: &Context) -> Result<()> {
        match self.setups.fetch_add(1, Ordering::SeqCst) {
            n if n == self.fails_at => Err("not in the mood".into()),
            _ => Ok(()),
        }
    }

    fn write(&mut self, n: u64) -> Result<()> {
        assert_ne!(n, 3, "three");
        Ok(())
    }
}

#[test]
fn a_failing_setup_at_the_first_start_ends_the_job() {
    let job = Job::new("setup");
    job.source(FromIter::new(0_u64..)).sink(Moody { setups: Arc::default(), fails_at: 0 });
    let error = Engine::new().run(job).unwrap_err();
    let text = error.to_string();
    assert_eq!(text, "job \"setup\" failed: moody[0]: setup failed: not in the mood");
}

#[test]
fn a_failing_setup_at_a_restart_is_tried_again() {
    let setups = Arc::new(AtomicU64::new(0));
    let job = Job::new("setup-again").restarts(quick());
    job.source(FromIter::new(0..10_u64)).sink(Moody { setups: Arc::clone(&setups), fails_at: 1 });
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!((outcome.events_out(), outcome.failed()), (9, 1));
    assert_eq!(setups.load(Ordering::SeqCst), 3);
}

/// Panics wherever it is told to.
#[derive(Component, Clone, Debug)]
struct Brittle {
    breaks_in: &'static str,
}

impl Brittle {
    fn touch(&self, place: &str) {
        assert_ne!(self.breaks_in, place, "brittle");
    }
}

impl Drop for Brittle {
    fn drop(&mut self) {
        if self.breaks_in == "drop" && !std::thread::panicking() {
            panic!("brittle");
        }
    }
}

impl Operator for Brittle {
    type In = u64;
    type Out = u64;

    fn setup(&mut self, _: &Context) -> Result<()> {
        self.touch("setup");
        Ok(())
    }

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(n);
        Ok(())
    }

    fn finish(&mut self, _: &mut Emitter<u64>) -> Result<()> {
        self.touch("finish");
        Ok(())
    }
}

#[test]
fn panics_outside_of_apply_end_in_errors_too() {
    for (breaks_in, restarts) in [("setup", 2), ("finish", 2)] {
        let job = Job::new("brittle").restarts(RestartStrategy { restarts, ..quick() });
        job.source(FromIter::new(0..10_u64))
            .apply_with("brittle", move |_| Brittle { breaks_in })
            .sink(ForEach::new(|_| {}));
        let error = Engine::new().run(job).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("brittle[0]: panic at ") && text.contains("brittle"), "{text}");
    }
    let job = Job::new("brittle-drop");
    job.source(FromIter::new(0..10_u64))
        .apply_with("brittle", |_| Brittle { breaks_in: "drop" })
        .sink(ForEach::new(|_| {}));
    assert_eq!(Engine::new().run(job).unwrap().events_out(), 10);
}

#[test]
fn a_grouping_that_fails_loses_its_event_and_no_other() {
    let got = Collect::new();
    let job = Job::new("misrouted");
    job.source(FromIter::new(0..10_000_usize))
        .group(Direct::to(|n: &usize, instances| {
            assert_ne!(*n, 77, "no way");
            if *n == 99 { instances } else { n % instances }
        }))
        .sink(got.clone())
        .parallelism(2);
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!((outcome.events_in(), outcome.events_out(), outcome.failed()), (10_000, 9_998, 2));
    let mut numbers = got.take();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq((0..10_000).filter(|n| *n != 77 && *n != 99)));
}

#[test]
fn the_tree_says_who_failed_and_why() {
    let job = Job::new("tree").restarts(quick());
    job.source(FromIter::new(0..100_u64))
        .apply(Faulty::new(Counter::default(), Some(Fault::panic("counter", 5))))
        .parallelism(2)
        .sink(ForEach::new(|_| {}));
    let outcome = Engine::new().run(job).unwrap();
    let tree = outcome.tree();
    assert_eq!(tree.status, JobStatus::Finished);
    let counter = &tree.components[1].instances[0];
    assert_eq!(counter.state, InstanceState::Ended);
    assert!(counter.failure.as_ref().unwrap().contains("a panic on cue at event 5"));
    let text = tree.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "tree: finished");
    assert_eq!(lines[1], "├── from-iter (source)");
    assert_eq!(lines[3], "├── counter (operator)");
    assert!(
        lines[4].starts_with("│   ├── 0 ended       in 50  out 49  failed 1  restarts 1"),
        "{text}"
    );
    assert_eq!(lines[6], "└── for-each (sink)");
}

/// Holds its thread until the gate opens.
#[derive(Component, Clone, Debug)]
#[component(blocking)]
struct Blocking {
    gate: streamwork_tests::Gate,
}

impl Sink for Blocking {
    type In = u64;

    fn write(&mut self, _: u64) -> Result<()> {
        self.gate.pass();
        Ok(())
    }
}

#[test]
fn a_blocking_component_has_threads_of_its_own() {
    let gate = streamwork_tests::Gate::closed();
    let got = Collect::new();
    let job = Job::new("blocking");
    job.source(FromIter::new(0..3_u64)).sink(Blocking { gate: gate.clone() }).parallelism(3);
    job.source(FromIter::new(0..1_000_u64)).named("beside").sink(got.clone());
    let handle = Engine::new().arbiters(1).start(job).unwrap();
    streamwork_tests::wait_until("the others are done", || got.len() == 1_000);
    gate.open();
    assert_eq!(handle.wait().unwrap().events_out(), 1_003);
}

/// Can't be cloned more than once.
#[derive(Component, Debug, Default)]
struct Unclonable(Arc<AtomicU64>);

impl Clone for Unclonable {
    fn clone(&self) -> Self {
        assert_eq!(self.0.fetch_add(1, Ordering::SeqCst), 0, "no more copies");
        Self(Arc::clone(&self.0))
    }
}

impl Sink for Unclonable {
    type In = u64;

    fn write(&mut self, _: u64) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_panic_while_a_job_is_put_together_is_an_error() {
    let job = Job::new("clones");
    job.source(FromIter::new(0..10_u64)).sink(Unclonable::default()).parallelism(3);
    let error = Engine::new().run(job).unwrap_err();
    assert!(matches!(error, streamwork::Error::Assembly { .. }), "{error}");
    assert!(error.to_string().contains("no more copies"), "{error}");
}

#[test]
fn a_failed_job_says_what_it_had_counted() {
    let job = Job::new("counted").restarts(RestartStrategy { restarts: 0, ..quick() });
    job.source(FromIter::new(1..=10_u64))
        .sink(Faulty::new(Collect::new(), Some(Fault::panic("collect", 4))));
    match Engine::new().run(job).unwrap_err() {
        streamwork::Error::Failed { counts, .. } => {
            let (name, counts) = &counts[1];
            assert_eq!(name.as_str(), "collect");
            assert_eq!((counts.applied, counts.failed), (3, 1));
            assert_eq!(counts.received, 4 + counts.discarded);
        }
        other => panic!("{other}"),
    }
}

/// Panics in its first setup, or in a later one.
#[derive(Component, Clone, Debug)]
struct Opening {
    setups: Arc<AtomicU64>,
    breaks_at: u64,
    #[state]
    emitted: u64,
}

impl Source for Opening {
    type Out = u64;

    async fn setup(&mut self, _: &Context) -> Result<()> {
        assert_ne!(self.setups.fetch_add(1, Ordering::SeqCst), self.breaks_at, "not open");
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        if self.emitted == 3 && self.setups.load(Ordering::SeqCst) == 1 {
            panic!("once");
        }
        if self.emitted == 6 {
            return Ok(Progress::End);
        }
        out.emit(self.emitted);
        self.emitted += 1;
        Ok(Progress::More)
    }
}

#[test]
fn a_source_is_tried_again_after_its_first_setup_and_not_before() {
    let source = |breaks_at| Opening { setups: Arc::default(), breaks_at, emitted: 0 };
    let job = Job::new("first").restarts(quick());
    job.source(source(0)).sink(ForEach::new(|_| {}));
    let text = Engine::new().run(job).unwrap_err().to_string();
    assert!(text.contains("opening[0]: panic at ") && text.contains("not open"), "{text}");

    let got = Collect::new();
    let job = Job::new("second").restarts(quick());
    job.source(source(1)).sink(got.clone());
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!(got.take(), [0, 1, 2, 3, 4, 5]);
    assert_eq!((outcome.restarts(), outcome.failed()), (1, 0));
}

/// An error that can't be shown, and that is its own cause.
#[derive(Debug)]
struct Unspeakable;

impl std::fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("no words")
    }
}

#[derive(Debug)]
struct Endless;

impl std::fmt::Display for Endless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("endless")
    }
}

impl std::error::Error for Unspeakable {}

impl std::error::Error for Endless {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self)
    }
}

#[test]
fn an_error_that_cannot_be_shown_fails_the_job_all_the_same() {
    let run = |fatal: fn() -> Fatal| {
        let job = Job::new("words");
        job.source(FromIter::new(0..3_u64)).sink(TryForEach::new(move |_| Err(fatal().into())));
        Engine::new().run(job).unwrap_err().to_string()
    };
    let text = run(|| Fatal::new(Unspeakable));
    assert!(text.contains("an error without a text (panic at "), "{text}");
    let text = run(|| Fatal::new(Endless));
    assert!(text.contains("error: endless: endless"), "{text}");
}

/// An event whose code panics where it is told to.
#[derive(Debug)]
struct Touchy {
    number: u64,
    breaks_in: &'static str,
}

impl Touchy {
    fn touch(&self, place: &str) {
        assert!(self.number % 10 != 7 || self.breaks_in != place, "touchy");
    }
}

impl Clone for Touchy {
    fn clone(&self) -> Self {
        self.touch("clone");
        Self { ..*self }
    }
}

impl Event for Touchy {
    fn weight(&self) -> usize {
        self.touch("weight");
        16
    }
}

impl Drop for Touchy {
    fn drop(&mut self) {
        if self.breaks_in == "drop" {
            panic!("touchy");
        }
    }
}

fn touchy(breaks_in: &'static str, events: u64) -> Generator<impl Fn(u64) -> Touchy + Clone> {
    Generator::indexed(move |number| Touchy { number, breaks_in }).events(events)
}

#[test]
fn events_with_code_that_panics_lose_themselves_at_most() {
    let job = Job::new("weight");
    job.source(touchy("weight", 100)).sink(ForEach::new(|_| {}));
    assert_eq!(Engine::new().run(job).unwrap().events_out(), 100);

    let job = Job::new("fan-out");
    let events = job.source(touchy("clone", 100));
    events.sink(ForEach::new(|_| {})).named("first");
    events.sink(ForEach::new(|_| {})).named("last");
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!((outcome.events_out(), outcome.failed()), (190, 10));

    let job = Job::new("all");
    job.source(touchy("clone", 100)).group(All).sink(ForEach::new(|_| {})).parallelism(3);
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!((outcome.events_out(), outcome.failed(), outcome.dropped()), (270, 10, 0));
}

#[test]
fn events_whose_destructors_panic_are_dropped_one_by_one() {
    let gate = streamwork_tests::Gate::closed();
    let held = gate.clone();
    let job = Job::new("drop");
    job.source(touchy("drop", u64::MAX)).sink(ForEach::new(move |event: Touchy| {
        held.pass();
        std::mem::forget(event);
    }));
    let handle = Engine::new().arbiters(2).start(job).unwrap();
    streamwork_tests::wait_until("events wait", || handle.metrics()[0].1.emitted > 15);
    handle.stop();
    gate.open();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Stopped);
}

#[test]
fn failed_reads_came_in_and_failed() {
    let job = Job::new("reads");
    let fault = Fault::error("from-iter", 5);
    job.source(Faulty::new(FromIter::new(1..=100_u64), Some(fault))).sink(ForEach::new(|_| {}));
    let outcome = Engine::new().run(job).unwrap();
    let counts = (outcome.events_in(), outcome.events_out(), outcome.failed(), outcome.dropped());
    assert_eq!(counts, (100, 99, 1, 0));
}

#[test]
fn absurd_parallelism_is_refused() {
    let job = Job::new("absurd");
    job.source(FromIter::new(0..3_u64)).sink(ForEach::new(|_| {})).parallelism(usize::MAX);
    let text = Engine::new().run(job).unwrap_err().to_string();
    assert!(text.contains("at most 32768 is possible"), "{text}");
}
