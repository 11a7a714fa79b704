//! A sink that has to wait holds those before it back, loses nothing, and finishes when it can. If one
//! of its hooks fails, the job ends with that; if the job is stopped, nobody waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as TaskContext, Poll};
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{Cause, Counts};
use streamwork_tests::{Census, Live, Permits, Waits, assert_adds_up, small_links, wait_until};

const EVENTS: u64 = 500;

/// Where something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hook {
    Ready,
    Flush,
    Finish,
}

const HOOKS: [Hook; 3] = [Hook::Ready, Hook::Flush, Hook::Finish];

/// What happens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    /// Waits now and then, and wakes itself.
    Dawdles,
    /// Waits, and nobody ever wakes it.
    Hangs,
    Fails,
    Panics,
}

/// Gathers events, writes them at a flush, and does something in one of its hooks.
#[derive(Component, Clone, Debug)]
struct Moody {
    hook: Hook,
    deed: Deed,
    /// From the how many-th event on.
    from: u64,
    calls: u64,
    gathered: Vec<u64>,
    written: Collect<u64>,
    out: Collect<u64>,
    finished: Arc<AtomicU64>,
}

impl Moody {
    fn new(hook: Hook, deed: Deed, from: u64) -> Self {
        let (written, out) = (Collect::new(), Collect::new());
        let finished = Arc::default();
        Self { hook, deed, from, calls: 0, gathered: Vec::new(), written, out, finished }
    }

    fn at(&mut self, hook: Hook, cx: &mut TaskContext<'_>) -> Poll<Result<()>> {
        self.calls += 1;
        let early = (self.written.len() as u64) < self.from;
        if hook != self.hook || early && self.deed != Deed::Dawdles {
            return Poll::Ready(Ok(()));
        }
        match self.deed {
            Deed::Dawdles if !self.calls.is_multiple_of(3) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Deed::Dawdles => Poll::Ready(Ok(())),
            Deed::Hangs => Poll::Pending,
            Deed::Fails => Poll::Ready(Err("on cue".into())),
            Deed::Panics => panic!("on cue"),
        }
    }
}

impl Sink for Moody {
    type In = u64;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<()>> {
        self.at(Hook::Ready, cx)
    }

    fn write(&mut self, n: u64) -> Result<()> {
        self.gathered.push(n);
        self.written.write(n)
    }

    fn poll_flush(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<()>> {
        match self.at(Hook::Flush, cx) {
            Poll::Ready(Ok(())) => {
                Poll::Ready(self.gathered.drain(..).try_for_each(|n| self.out.write(n)))
            }
            other => other,
        }
    }

    fn poll_finish(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<()>> {
        match self.at(Hook::Finish, cx) {
            Poll::Ready(Ok(())) => {
                self.finished.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(self.gathered.drain(..).try_for_each(|n| self.out.write(n)))
            }
            other => other,
        }
    }
}

fn job(sink: &Moody, events: u64) -> Job {
    let job = Job::new("moody").link_limits(small_links());
    job.source(FromIter::new(0..events)).sink(sink.clone());
    job
}

#[test]
fn it_loses_nothing_and_finishes() {
    for hook in HOOKS {
        for seed in 0..100 {
            let sink = Moody::new(hook, Deed::Dawdles, 0);
            let outcome = Scheduler::seeded(seed).run(job(&sink, EVENTS)).unwrap();
            assert!(sink.out.take().into_iter().eq(0..EVENTS), "{hook:?}, seed {seed}");
            assert_eq!(sink.finished.load(Ordering::Relaxed), 1, "{hook:?}, seed {seed}");
            assert_adds_up(&outcome, &format!("{hook:?}, seed {seed}"));
        }
        let sink = Moody::new(hook, Deed::Dawdles, 0);
        Engine::new().run(job(&sink, EVENTS)).unwrap();
        assert!(sink.out.take().into_iter().eq(0..EVENTS), "{hook:?} on threads");
    }
}

/// Writes what it gathered when it is polled to flush, and knows no other end.
#[derive(Component, Clone)]
struct Flushes {
    gathered: Vec<u64>,
    polls: u64,
    out: Collect<u64>,
}

impl Sink for Flushes {
    type In = u64;

    fn write(&mut self, n: u64) -> Result<()> {
        self.gathered.push(n);
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<()>> {
        self.polls += 1;
        if !self.polls.is_multiple_of(3) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.gathered.drain(..).try_for_each(|n| self.out.write(n)))
    }
}

#[test]
fn one_that_only_flushes_has_flushed_at_the_end() {
    for seed in 0..100 {
        let out = Collect::new();
        let sink = Flushes { gathered: Vec::new(), polls: 0, out: out.clone() };
        let job = Job::new("flushes").link_limits(small_links());
        job.source(FromIter::new(0..EVENTS)).sink(sink);
        Scheduler::seeded(seed).run(job).unwrap();
        assert!(out.take().into_iter().eq(0..EVENTS), "seed {seed}");
    }
}

fn counts_of<'a>(counts: &'a [(streamwork::ComponentName, Counts)], name: &str) -> &'a Counts {
    &counts.iter().find(|(of, _)| of.as_str() == name).expect("each component is listed").1
}

#[test]
fn a_hook_that_fails_ends_the_job() {
    for hook in HOOKS {
        for deed in [Deed::Fails, Deed::Panics] {
            for seed in 0..60 {
                let from = if hook == Hook::Finish { EVENTS } else { seed * 3 };
                let sink = Moody::new(hook, deed, from);
                let ran = match seed {
                    0..10 => Engine::new().run(job(&sink, EVENTS)),
                    _ => Scheduler::seeded(seed).run(job(&sink, EVENTS)),
                };
                let error = match ran {
                    Err(error) => error,
                    // It had no rest after that many events: then it did not flush.
                    Ok(_) if hook == Hook::Flush && from > 0 => continue,
                    Ok(outcome) => panic!("{hook:?} {deed:?}, seed {seed}: {outcome:?}"),
                };
                let what = format!("{hook:?} {deed:?}, seed {seed}: {error}");
                let failure = error.failure().unwrap();
                assert_eq!(failure.instance.to_string(), "moody[0]", "{what}");
                assert_eq!(failure.event, None, "{what}");
                match (hook, deed, &failure.cause) {
                    (_, Deed::Panics, Cause::Panic { message, .. }) => {
                        assert_eq!(message, "on cue", "{what}");
                    }
                    (Hook::Ready, _, Cause::Error(_))
                    | (Hook::Flush, _, Cause::Flush(_))
                    | (Hook::Finish, _, Cause::Finish(_)) => {}
                    _ => panic!("{what}"),
                }
                let Error::Failed { counts, exhausted: false, .. } = &error else {
                    panic!("{what}")
                };
                let (source, sink_counts) =
                    (counts_of(counts, "from-iter"), counts_of(counts, "moody"));
                assert_eq!(sink_counts.applied, sink.written.len() as u64, "{what}");
                assert_eq!((sink_counts.failed, sink_counts.restarts), (0, 0), "{what}");
                let received = sink_counts.applied + sink_counts.discarded;
                assert_eq!(sink_counts.received, received, "{what}: {counts:?}");
                assert_eq!(source.emitted, source.sent + source.unsent, "{what}: {counts:?}");
                assert_eq!(source.sent, sink_counts.received, "{what}: {counts:?}");
                if hook != Hook::Flush {
                    assert_eq!(sink_counts.applied, from, "{what}");
                }
                assert_eq!(sink.finished.load(Ordering::Relaxed), 0, "{what}");
            }
        }
    }
}

#[test]
fn a_stop_waits_for_no_hook() {
    for hook in HOOKS {
        for seed in 0..100 {
            let sink = Moody::new(hook, Deed::Hangs, 20);
            let scheduler = Scheduler::seeded(seed).stop_after(2_000);
            let outcome = scheduler.run(job(&sink, EVENTS)).unwrap();
            let what = format!("{hook:?}, seed {seed}");
            // A flush that never ends keeps nobody from finishing.
            if hook == Hook::Flush && outcome.status() == JobStatus::Finished {
                continue;
            }
            assert_eq!(outcome.status(), JobStatus::Stopped, "{what}");
            assert_eq!(sink.finished.load(Ordering::Relaxed), 0, "{what}");
            assert_eq!(outcome.events_out(), sink.written.len() as u64, "{what}");
            if hook == Hook::Ready {
                assert_eq!(outcome.events_out(), 20, "{what}");
            }
            assert_adds_up(&outcome, &what);
        }
    }
}

#[test]
fn on_threads_neither_a_stop_nor_a_kill_waits() {
    for kill in [false, true] {
        let permits = Permits::none();
        permits.give(20);
        let job = Job::new("held").link_limits(small_links());
        let got = Collect::new();
        job.source(FromIter::new(0_u64..)).sink(Waits::new(got.clone(), &permits));
        let handle = Engine::new().start(job).unwrap();
        wait_until("the sink waits", || permits.waiting() == 1);
        if kill {
            handle.kill();
        } else {
            handle.stop();
        }
        let outcome = handle.wait().unwrap();
        let expected = if kill { JobStatus::Killed } else { JobStatus::Stopped };
        assert_eq!(outcome.status(), expected);
        assert!(got.take().into_iter().eq(0..20));
        assert_eq!(outcome.events_in(), 20 + outcome.dropped());
        assert_adds_up(&outcome, "");
    }
}

#[test]
fn a_drain_waits_for_it() {
    let (census, permits, got) = (Census::default(), Permits::none(), Collect::new());
    let born = census.clone();
    let job = Job::new("drained");
    let source = job.source(Generator::indexed(move |n| Live::new(n, &born)));
    source.map(Live::number).sink(Waits::new(got.clone(), &permits));
    let handle = Engine::new().start(job).unwrap();
    wait_until("the sink waits", || permits.waiting() == 1);
    // What a drain finds made is what it has to wait for.
    let made = || handle.component("generator").map_or(0, |source| source.emitted);
    wait_until("the source is ahead", || made() > 10);
    handle.drain();
    permits.give(10);
    wait_until("the sink waits again", || got.len() == 10 && permits.waiting() == 1);
    assert_ne!(handle.status(), JobStatus::Drained);
    permits.give(u64::MAX / 2);
    let outcome = handle.wait().unwrap();
    assert_eq!((outcome.status(), outcome.dropped()), (JobStatus::Drained, 0));
    assert!(got.take().into_iter().eq(0..outcome.events_in()));
}

/// Those before it are held back: what is made meanwhile is bounded.
#[test]
fn what_waits_for_it_is_bounded() {
    let (census, permits) = (Census::default(), Permits::none());
    let sum = Arc::new(AtomicU64::new(0));
    let (born, summed) = (census.clone(), Arc::clone(&sum));
    let job = Job::new("bounded");
    let source = job.source(Generator::indexed(move |n| Live::new(n, &born)).events(100_000));
    let passed = source.filter(|_| true).named("passed").parallelism(2);
    let sink = ForEach::new(move |event: Live| {
        summed.fetch_add(event.number(), Ordering::Relaxed);
    });
    passed.sink(Waits::new(sink, &permits)).parallelism(2);
    let handle = Engine::new().start(job).unwrap();
    for step in 1..=10 {
        permits.give(1_000);
        wait_until("both instances wait", || permits.waiting() == 2);
        assert_eq!(permits.taken(), 1_000 * step);
    }
    permits.give(100_000);
    let outcome = handle.wait().unwrap();
    assert_eq!((outcome.events_out(), outcome.dropped()), (100_000, 0));
    assert_eq!(sum.load(Ordering::Relaxed), 100_000 * 99_999 / 2);
    assert!(census.most() < 3_000, "{} events were alive at once", census.most());
}
