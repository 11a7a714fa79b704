//! How jobs end: by themselves, drained, stopped, killed, with every link full and user code stuck.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::{Clock, InstanceState, Moment, SystemClock};
use streamwork_tests::{Gate, wait_until};

/// Far more than the 50 ms that are promised: other tests run beside this one.
const SOON: Duration = Duration::from_secs(2);

/// A job whose sink is held at a gate, with its links filled up to the source.
fn full(gate: &Gate, emitted: &Arc<AtomicU64>) -> JobHandle {
    let (gate, emitted) = (gate.clone(), Arc::clone(emitted));
    let job = Job::new("full");
    job.source(Generator::indexed(move |n| {
        emitted.fetch_add(1, Ordering::SeqCst);
        n
    }))
    .apply_with("pass", |_| Pass)
    .sink(ForEach::new(move |_| gate.pass()));
    Engine::new().arbiters(2).start(job).expect("the job is well formed")
}

#[derive(Component, Debug)]
struct Pass;

impl Operator for Pass {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(n);
        Ok(())
    }
}

/// Waits until the source has not emitted anything for a while: it is held.
fn until_held(emitted: &AtomicU64) -> u64 {
    let clock = SystemClock::new();
    let (mut last, mut since) = (0, clock.now());
    wait_until("the source is held", || emitted.load(Ordering::SeqCst) > 0);
    loop {
        let now = emitted.load(Ordering::SeqCst);
        if now != last {
            (last, since) = (now, clock.now());
        } else if clock.now().since(since) > Duration::from_millis(100) {
            return last;
        }
        std::thread::yield_now();
    }
}

fn timed<R>(f: impl FnOnce() -> R) -> (R, Duration) {
    let clock = SystemClock::new();
    let result = f();
    (result, clock.now().since(Moment::START))
}

#[test]
fn a_stuck_sink_stops_the_source_within_its_credits() {
    let (gate, emitted) = (Gate::closed(), Arc::new(AtomicU64::new(0)));
    let handle = full(&gate, &emitted);
    let held = until_held(&emitted);
    // Two links of eight frames, and a batch in each of the three hands between.
    assert!(held <= (2 * 8 + 3) * 1_024, "{held}");
    gate.open();
    handle.drain();
    let outcome = handle.wait().unwrap();
    assert_eq!(outcome.events_in(), outcome.events_out());
    assert_eq!(outcome.dropped(), 0);
}

#[test]
fn stop_and_kill_end_soon_with_every_link_full() {
    for kill in [false, true] {
        let (gate, emitted) = (Gate::closed(), Arc::new(AtomicU64::new(0)));
        let handle = full(&gate, &emitted);
        until_held(&emitted);
        let (outcome, took) = timed(|| {
            if kill {
                handle.kill()
            } else {
                handle.stop()
            }
            handle.wait().unwrap()
        });
        assert!(took < SOON, "{took:?}");
        let expected = if kill { JobStatus::Killed } else { JobStatus::Stopped };
        assert_eq!(outcome.status(), expected);
        // The one that never came back is left behind, and said so.
        let sink = &outcome.tree().components[2].instances[0];
        assert_eq!(sink.state, InstanceState::Abandoned);
        assert_eq!(outcome.events_in(), outcome.events_out() + outcome.dropped());
        gate.open();
    }
}

#[test]
fn a_stopped_job_says_what_it_dropped() {
    let written = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&written);
    let job = Job::new("stopped");
    job.source(FromIter::new(0_u64..)).parallelism(2).sink(ForEach::new(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let handle = Engine::new().start(job).unwrap();
    wait_until("events flow", || written.load(Ordering::SeqCst) > 10_000);
    handle.stop();
    let outcome = handle.wait().unwrap();
    assert_eq!(outcome.status(), JobStatus::Stopped);
    assert_eq!(outcome.events_out(), written.load(Ordering::SeqCst));
    assert_eq!(outcome.events_in(), outcome.events_out() + outcome.dropped());
}

#[test]
fn one_of_two_sources_that_ends_first_takes_nothing_with_it() {
    for _ in 0..100 {
        let got = Collect::new();
        let job = Job::new("uneven");
        // Split 0 has all the events, split 1 ends at once.
        let events = Generator::indexed(|n| n).events(2_000);
        job.source(OnlyFirst(events)).parallelism(2).sink(got.clone()).parallelism(2);
        Engine::new().run(job).unwrap();
        let mut numbers = got.take();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..2_000));
    }
}

/// Reads its input as one split; other instances have none.
#[derive(Clone, Debug)]
struct OnlyFirst<S>(S);

impl<S: Component> Component for OnlyFirst<S> {
    type Saved = S::Saved;

    fn name(&self) -> &str {
        self.0.name()
    }

    fn save(&self) -> S::Saved {
        self.0.save()
    }

    fn load(&mut self, saved: S::Saved) {
        self.0.load(saved);
    }
}

impl<S: Source> Source for OnlyFirst<S> {
    type Out = S::Out;

    fn splits(&self) -> Result<Splits> {
        Ok(Splits::Fixed(1))
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.0.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<S::Out>) -> Result<Progress> {
        self.0.next(out).await
    }
}

/// Never has anything.
#[derive(Component, Clone, Debug)]
struct Silent;

impl Source for Silent {
    type Out = u64;

    async fn next(&mut self, _: &mut Emitter<u64>) -> Result<Progress> {
        std::future::pending().await
    }
}

#[test]
fn a_silent_source_drains() {
    let job = Job::new("silent");
    job.source(Silent).sink(ForEach::new(|_| {}));
    let handle = Engine::new().start(job).unwrap();
    wait_until("it runs", || handle.status() == JobStatus::Running);
    handle.drain();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
}

#[test]
fn ending_twice_and_after_the_end_is_harmless() {
    let job = Job::new("twice");
    job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
    let handle = Engine::new().start(job).unwrap();
    let remote = handle.remote();
    remote.drain();
    remote.stop();
    remote.drain();
    remote.kill();
    let outcome = handle.wait().unwrap();
    assert_eq!(outcome.events_in(), outcome.events_out() + outcome.dropped());
    remote.kill();
}

#[test]
fn a_source_without_splits_ends_at_once() {
    let job = Job::new("none");
    job.source(FromIter::new(0_u64..).splits(0)).sink(ForEach::new(|_| {}));
    assert_eq!(Engine::new().run(job).unwrap().events_in(), 0);
}

#[test]
fn more_instances_than_arbiters_all_go_on() {
    let got = Collect::new();
    let job = Job::new("many");
    job.source(FromIter::new(0..5_000_u64)).parallelism(7).sink(got.clone()).parallelism(13);
    Engine::new().arbiters(2).run(job).unwrap();
    assert_eq!(got.len(), 5_000);
}

/// Emits 5,000 numbers, then an error that would come again.
#[derive(Component, Clone, Debug, Default)]
struct BadTail {
    #[state]
    emitted: u64,
}

impl Source for BadTail {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        while self.emitted < 5_000 {
            if out.is_full() {
                return Ok(Progress::More);
            }
            out.emit(self.emitted);
            self.emitted += 1;
        }
        Err(Fatal::new("the tail is bad").into())
    }
}

/// Says whether it was finished.
#[derive(Component, Clone, Debug)]
struct Finished(Arc<AtomicU64>);

impl Operator for Finished {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(n);
        Ok(())
    }

    fn finish(&mut self, _: &mut Emitter<u64>) -> Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn what_a_lost_source_had_emitted_is_processed_and_nothing_is_finished() {
    for _ in 0..50 {
        let (got, finished) = (Collect::new(), Arc::new(AtomicU64::new(0)));
        let job = Job::new("bad-tail");
        job.source(BadTail::default()).apply(Finished(Arc::clone(&finished))).sink(got.clone());
        job.source(Silent).sink(ForEach::new(|_| {})).named("other");
        let error = Engine::new().run(job).unwrap_err();
        let text = error.to_string();
        assert_eq!(text, "job \"bad-tail\" failed: bad-tail[0]: error: the tail is bad");
        assert_eq!(got.len(), 5_000);
        assert_eq!(finished.load(Ordering::SeqCst), 0);
    }
}

/// Holds its thread in its destructor until the gate opens.
#[derive(Component, Debug)]
struct Clinging(Gate);

impl Drop for Clinging {
    fn drop(&mut self) {
        self.0.pass();
    }
}

impl Sink for Clinging {
    type In = u64;

    fn write(&mut self, _: u64) -> Result<()> {
        Ok(())
    }
}

/// Waits for a blocking call that ends when the gate opens.
#[derive(Component, Clone, Debug)]
struct Calls(Gate);

impl Source for Calls {
    type Out = u64;

    async fn next(&mut self, _: &mut Emitter<u64>) -> Result<Progress> {
        let gate = self.0.clone();
        tokio::task::spawn_blocking(move || gate.pass()).await?;
        Ok(Progress::More)
    }
}

#[test]
fn a_stop_waits_for_no_destructor_and_no_blocking_call() {
    let gate = Gate::closed();
    let job = Job::new("calls");
    job.source(Calls(gate.clone())).sink(ForEach::new(|_| {}));
    let handle = Engine::new().start(job).unwrap();
    wait_until("it runs", || handle.status() == JobStatus::Running);
    let (outcome, took) = timed(|| {
        handle.stop();
        handle.wait().unwrap()
    });
    assert!(took < SOON, "{took:?}");
    assert_eq!(outcome.status(), JobStatus::Stopped);

    let held = gate.clone();
    let job = Job::new("clinging");
    job.source(Silent).apply_with("clinging", move |_| ClingingOperator(Clinging(held.clone())));
    let handle = Engine::new().start(job).unwrap();
    wait_until("it runs", || handle.status() == JobStatus::Running);
    let (outcome, took) = timed(|| {
        handle.stop();
        handle.wait().unwrap()
    });
    assert!(took < SOON, "{took:?}");
    assert_eq!(outcome.tree().components[1].instances[0].state, InstanceState::Abandoned);
    gate.open();
}

#[derive(Component, Debug)]
struct ClingingOperator(Clinging);

impl Operator for ClingingOperator {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, _: &mut Emitter<u64>) -> Result<()> {
        self.0.write(n)
    }
}
