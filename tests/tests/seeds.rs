//! Whole jobs in one call: with a fixed interleaving, with many, and under the supervisors' deadlines.

use std::panic::catch_unwind;
use std::task::{self, Poll};
use std::time::Duration;
use streamwork::InstanceState;
use streamwork::prelude::*;
use streamwork::testing::{self, Faulty, Scheduler};

/// What a closure panics with.
fn message(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(test).expect_err("it did not panic");
    *panic.downcast::<String>().expect("it panicked with something else")
}

#[test]
fn the_seed_that_fails_is_named_with_what_it_said() {
    let mut tried = Vec::new();
    let text = {
        let tried = std::sync::Mutex::new(&mut tried);
        message(std::panic::AssertUnwindSafe(|| {
            testing::every_seed(3..20, |scheduler| {
                tried.lock().unwrap().push(scheduler.seed());
                assert!(scheduler.seed() < 5, "too\nlarge");
            });
        }))
    };
    assert_eq!(tried, [3, 4, 5]);
    assert!(text.starts_with("failed with seed 5 at "), "{text}");
    assert!(text.contains("seeds.rs:"), "{text}");
    assert!(text.ends_with(", after 2 that passed:\ntoo\nlarge"), "{text}");
}

#[test]
#[should_panic(expected = "no seeds, so nothing was tested")]
fn a_test_without_seeds_does_not_pass() {
    testing::every_seed([], |_| {});
}

#[test]
fn every_seed_is_an_interleaving_of_its_own() {
    let mut orders = std::collections::BTreeSet::new();
    testing::every_seed(0..20, |scheduler| {
        let got = Collect::new();
        let job = Job::new("orders");
        job.source(FromIter::new(0..20_u64)).parallelism(3).sink(got.clone());
        scheduler.run(job).unwrap();
        orders.insert(got.take());
    });
    assert!(orders.len() > 2, "{} orders", orders.len());
}

#[test]
fn collect_does_not_hide_that_events_were_lost() {
    let text = message(|| {
        drop(testing::collect(|job| {
            job.source(FromIter::new(["1", "x"])).try_map(|text| Ok(text.parse::<u64>()?))
        }));
    });
    let cause = "from-iter[0], try_map#1 after from-iter: error: invalid digit found in string";
    let starts = format!("user code failed at 1 event, first {cause}; where");
    assert!(text.starts_with(&starts), "{text}");
    assert!(text.contains("from-iter (source)"), "{text}");
}

/// Whatever it was lost to, the first failure is told.
#[test]
fn collect_says_what_the_first_event_was_lost_to() {
    let starts = |text: String, start: &str| assert!(text.starts_with(start), "{text}");
    let numbers = || FromIter::new(1..=5_u64);

    let text = message(move || {
        drop(testing::collect(|job| job.source(numbers()).apply(Faulty::panic_at(Odd, 1))));
    });
    starts(text, "user code failed at 3 events, first odd[0]: panic at ");

    let text = message(move || drop(testing::collect(|job| job.source(numbers()).apply(Odd))));
    starts(text, "user code failed at 2 events, first odd[0] at event 2: error: 2 is even; where");

    let text = message(|| drop(testing::collect(|job| job.source(Stutters::default()))));
    starts(text, "user code failed at 1 event, first stutters[0]: error: not yet; where");

    let text = message(move || {
        drop(testing::collect(|job| {
            job.source(numbers()).group(Direct::to(|n: &u64, _| *n as usize / 5)).apply(Odd)
        }));
    });
    starts(
        text,
        "user code failed at 3 events, first from-iter[0]: the grouping to odd failed: inst",
    );
}

/// Passes odd numbers on, and fails at the others.
#[derive(Component, Clone, Debug)]
struct Odd;

impl Operator for Odd {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        if n.is_multiple_of(2) {
            return Err(format!("{n} is even").into());
        }
        out.emit(n);
        Ok(())
    }
}

/// Fails at its first read, and ends with the second.
#[derive(Component, Clone, Debug, Default)]
struct Stutters {
    reads: u64,
}

impl Source for Stutters {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        self.reads += 1;
        if self.reads == 1 {
            return Err("not yet".into());
        }
        out.emit(1);
        Ok(Progress::End)
    }
}

#[test]
fn collect_says_why_a_job_was_refused_or_failed() {
    let refused = message(|| {
        drop(testing::collect(|job| job.source(FromIter::new([1_u64])).parallelism(0)));
    });
    assert!(refused.contains("can't run"), "{refused}");
    let failed = message(|| {
        drop(testing::collect(|job| {
            let texts = job.source(FromIter::new(["x"]));
            texts.try_map(|text| Ok(text.parse::<u64>()?)).on_error(OnError::Fail)
        }));
    });
    assert!(failed.contains("try_map#1 after from-iter"), "{failed}");
    let error = testing::try_collect(|job| job.source(FromIter::new([1_u64])).parallelism(0));
    assert_eq!(error.unwrap_err().problems().len(), 1);
}

/// Emits one number, then breaks for good.
#[derive(Component, Clone, Debug, Default)]
struct Breaks {
    #[state]
    emitted: bool,
}

impl Source for Breaks {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        if self.emitted {
            return Err(Fatal::new("broken").into());
        }
        self.emitted = true;
        out.emit(1);
        Ok(Progress::More)
    }
}

/// Never has room.
#[derive(Component, Clone, Debug, Default)]
struct Stuck;

impl Sink for Stuck {
    type In = u64;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<()>> {
        Poll::Pending
    }

    fn write(&mut self, _: u64) -> Result<()> {
        Err("there was no room".into())
    }
}

/// What is under way is waited for ten seconds, and no longer, also where time is simulated.
#[test]
fn a_job_that_lost_its_source_ends_although_its_sink_is_stuck() {
    testing::every_seed(0..50, |scheduler| {
        let job = Job::new("stuck");
        job.source(Breaks::default()).sink(Stuck);
        let error = scheduler.run(job).unwrap_err();
        assert_eq!(error.failure().unwrap().to_string(), "breaks[0]: error: broken");
    });
}

/// A stop ends it too; without one it can't go on, and that is said.
#[test]
fn a_stuck_job_stalls_unless_it_is_stopped() {
    let job = || {
        let job = Job::new("stuck");
        job.source(FromIter::new([1_u64])).sink(Stuck);
        job
    };
    let outcome = Scheduler::seeded(1).stop_after(1_000).run(job()).unwrap();
    assert_eq!((outcome.status(), outcome.dropped()), (JobStatus::Stopped, 1));
    let text = message(|| drop(testing::run(job())));
    assert!(text.starts_with("the job stalled after "), "{text}");
    let who =
        "(seed 0): stuck[0] waits for something outside of the test, with 1 event at hand: run";
    assert!(text.contains(who), "{text}");
}

/// What a test says about a job that does not end.
const ENDLESS: [&str; 4] = [".events(n)", "drain_after", "at_most", "(source)"];

#[test]
fn a_job_with_an_endless_source_is_given_up() {
    let text = message(|| drop(testing::collect(|job| job.source(FromIter::new(0_u64..)))));
    assert!(text.starts_with("the job has not ended after "), "{text}");
    assert!(text.contains(" steps (seed 0): if a source of it is endless"), "{text}");
    assert!(ENDLESS.iter().all(|hint| text.contains(hint)), "{text}");
}

#[test]
fn a_test_says_how_many_steps_its_job_may_take() {
    let job = |events: u64| {
        let job = Job::new("bounded");
        job.source(Generator::indexed(|n| n).events(events)).sink(ForEach::new(|_| {}));
        job
    };
    let text = message(move || drop(Scheduler::seeded(3).at_most(40).run(job(1_000_000))));
    assert!(text.starts_with("the job has not ended after 40 steps (seed 3)"), "{text}");
    assert!(text.contains("\nbounded: "), "{text}");
    let outcome = Scheduler::seeded(3).at_most(40).run(job(10)).unwrap();
    assert_eq!(outcome.events_out(), 10);
    // They begin with the order to end.
    let drained = Scheduler::seeded(3).drain_after(100).at_most(40).run(job(u64::MAX)).unwrap();
    assert_eq!(drained.status(), JobStatus::Drained);
}

/// A job that is told when to end may emit as much as it wants until then, and a test that gives steps
/// gives events too.
#[test]
fn more_than_ten_million_events_are_no_harm_if_the_test_knows_of_them() {
    let events = 11_000_000;
    let job = Job::new("long");
    job.source(Generator::indexed(|n| n).events(events)).filter(|_| false).sink(Collect::new());
    let outcome = Scheduler::seeded(1).at_most(1_000_000).run(job).unwrap();
    assert_eq!(outcome.events_in(), events);
}

/// A source that waits for what no step of the job can bring.
#[test]
fn a_stall_names_the_sources_that_wait_for_something_outside() {
    for setup in [false, true] {
        let text = message(move || {
            let job = Job::new("outside");
            let numbers = job.source(FromIter::new(0..3_u64));
            let waiting = job.source(Waits { setup }).parallelism(2);
            numbers.sink(Collect::new()).named("numbers");
            waiting.sink(Collect::new()).named("others");
            drop(testing::run(job));
        });
        let who = "(seed 0): waits[0], waits[1] wait for something outside of the test (files, \
                   sockets and threads are read on another thread): run this job with `Engine`, or \
                   test the part behind the source\noutside: running";
        assert!(text.contains(who), "{text}");
    }
}

#[test]
fn a_stall_names_a_source_that_is_read_on_another_thread() {
    // Never sends, until the test is over.
    let (open, closed) = std::sync::mpsc::channel::<u64>();
    let closed = std::sync::Arc::new(std::sync::Mutex::new(closed));
    let text = message(std::panic::AssertUnwindSafe(move || {
        let source = FromThread::new(move |_: &Context, out: &mut ThreadEmitter<u64>| {
            if let Ok(n) = closed.lock().unwrap().recv() {
                out.emit(n)?;
            }
            Ok(())
        });
        drop(testing::collect(|job| job.source(source)));
    }));
    drop(open);
    assert!(text.contains("(seed 0): from-thread[0] waits for something outside of the"), "{text}");
}

/// Waits for ever, in its setup or when it is read.
#[derive(Component, Clone, Debug)]
struct Waits {
    setup: bool,
}

impl Source for Waits {
    type Out = u64;

    async fn setup(&mut self, _: &Context) -> Result<()> {
        if self.setup {
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    async fn next(&mut self, _: &mut Emitter<u64>) -> Result<Progress> {
        std::future::pending().await
    }
}

/// Its last flush never comes to an end.
#[derive(Component, Clone, Debug)]
struct Lingers;

impl Sink for Lingers {
    type In = u64;

    fn write(&mut self, _: u64) -> Result<()> {
        Ok(())
    }

    fn poll_finish(&mut self, _: &mut task::Context<'_>) -> Poll<Result<()>> {
        Poll::Pending
    }
}

#[test]
fn a_stall_names_the_sink_that_waits_at_the_end() {
    let text = message(|| {
        let job = Job::new("lingers");
        job.source(FromIter::new([1_u64])).sink(Lingers);
        drop(testing::run(job));
    });
    let who =
        "lingers[0] waits for something outside of the test, at the end of data: run this job";
    assert!(text.contains(who), "{text}");
}

/// Takes a second to be dropped: in simulated time each look at the clock takes some.
#[derive(Component, Clone, Debug, Default)]
struct Slow(Option<Context>);

impl Sink for Slow {
    type In = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.0 = Some(ctx.clone());
        Ok(())
    }

    fn write(&mut self, _: u64) -> Result<()> {
        Ok(())
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        if let Some(ctx) = &self.0 {
            let until = ctx.clock().now() + Duration::from_secs(1);
            while ctx.clock().now() < until {}
        }
    }
}

/// Who does not come to its end within some tens of milliseconds after a stop is left behind: the first
/// takes a second, and nobody waits for the others.
#[test]
fn a_stop_does_not_wait_for_who_is_held_up() {
    testing::every_seed(0..20, |scheduler| {
        let job = Job::new("slow");
        job.source(FromIter::new(0_u64..)).sink(Slow::default()).parallelism(4);
        let outcome = scheduler.stop_after(300).run(job).unwrap();
        assert_eq!(outcome.status(), JobStatus::Stopped);
        assert_eq!(outcome.events_in(), outcome.events_out() + outcome.dropped());
        for instance in &outcome.tree().components[1].instances {
            assert_eq!(instance.state, InstanceState::Abandoned);
        }
    });
}
