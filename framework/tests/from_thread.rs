//! `FromThread`: what a closure emits that blocks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::{Cause, Closed};

/// How long a test waits for what must come.
const DEADLINE: Duration = Duration::from_secs(60);

type Out = ThreadEmitter<u64>;

fn run<F>(job: F, parallelism: usize) -> Result<(Vec<u64>, Outcome), Error>
where
    F: Fn(&Context, &mut Out) -> Result<()> + Clone + Send + 'static,
{
    let got = Collect::new();
    let source = FromThread::new(job);
    let job = Job::new("thread");
    job.source(source).parallelism(parallelism).sink(got.clone());
    let outcome = Engine::new().run(job)?;
    Ok((got.take(), outcome))
}

#[test]
fn everything_arrives_in_order() {
    let (got, outcome) = run(
        |_, out| {
            for n in 0..100_000 {
                out.emit(n)?;
            }
            Ok(())
        },
        1,
    )
    .unwrap();
    assert!(got.into_iter().eq(0..100_000));
    assert_eq!(outcome.events_out(), 100_000);
}

#[test]
fn each_instance_has_a_thread_that_knows_which_it_is() {
    let (mut got, _) = run(
        |ctx, out| {
            out.emit(ctx.index() as u64 * 10 + ctx.parallelism() as u64)?;
            Ok(())
        },
        4,
    )
    .unwrap();
    got.sort_unstable();
    assert_eq!(got, [4, 14, 24, 34]);
}

#[test]
fn one_event_arrives_while_the_thread_blocks() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let (tell, told) = mpsc::channel();
    let job = Job::new("thread");
    job.source(FromThread::new(move |_: &Context, out: &mut Out| {
        for n in 0..3 {
            out.emit(n)?;
            wait.lock().unwrap().recv()?;
        }
        Ok(())
    }))
    .sink(ForEach::new(move |n| tell.send(n).unwrap()));
    let handle = Engine::new().start(job).unwrap();
    for n in 0..3 {
        assert_eq!(told.recv_timeout(DEADLINE).unwrap(), n);
        go.send(()).unwrap();
    }
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Finished);
}

#[test]
fn an_error_fails_the_job_after_what_was_emitted() {
    #[derive(Debug, thiserror::Error)]
    #[error("the line is dead")]
    struct Dead;
    let error = run(
        |_, out| {
            out.emit(1)?;
            Err(Dead.into())
        },
        1,
    )
    .unwrap_err();
    let failure = error.failure().unwrap();
    assert!(failure.cause.user_error().unwrap().is::<Dead>(), "{failure}");
}

#[test]
fn a_panic_is_one_of_the_source_and_the_closure_begins_anew() {
    let calls = Arc::new(AtomicU64::new(0));
    let (got, outcome) = run(
        move |_, out| {
            let call = calls.fetch_add(1, Ordering::SeqCst);
            out.emit(call)?;
            assert!(call > 1, "not yet");
            Ok(())
        },
        1,
    )
    .unwrap();
    assert_eq!((got, outcome.failed()), (vec![0, 1, 2], 2));
}

#[test]
fn a_panic_is_named_with_its_place_in_the_end() {
    let source = FromThread::new(|_: &Context, _: &mut Out| panic!("no line"));
    let job = Job::new("thread").restarts(RestartStrategy { restarts: 1, ..Default::default() });
    job.source(source).sink(Collect::new());
    let error = Engine::new().run(job).unwrap_err();
    assert!(matches!(error.failure().unwrap().cause, Cause::Panic { .. }));
    let text = error.to_string();
    assert!(text.contains("from_thread.rs:") && text.contains("no line"), "{text}");
}

#[test]
fn a_thread_that_is_ahead_ends_with_the_job() {
    let (tell, told) = mpsc::channel();
    let (begin, begun) = mpsc::channel();
    let job = Job::new("thread");
    job.source(FromThread::new(move |_: &Context, out: &mut Out| {
        begin.send(())?;
        let mut n = 0;
        let closed = loop {
            if let Err(closed) = out.emit(n) {
                break closed;
            }
            n += 1;
        };
        tell.send((closed, out.is_closed()))?;
        Err(closed.into())
    }))
    .sink(ForEach::new(|_| {}));
    let handle = Engine::new().start(job).unwrap();
    begun.recv_timeout(DEADLINE).unwrap();
    handle.drain();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
    assert_eq!(told.recv_timeout(DEADLINE).unwrap(), (Closed, true));
}

#[test]
fn a_thread_that_is_silent_does_not_keep_the_job_from_ending() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let job = Job::new("thread");
    let (begin, begun) = mpsc::channel();
    job.source(FromThread::new(move |_: &Context, out: &mut Out| {
        begin.send(())?;
        wait.lock().unwrap().recv()?;
        out.emit(1)?;
        Ok(())
    }))
    .sink(Collect::new());
    let handle = Engine::new().start(job).unwrap();
    begun.recv_timeout(DEADLINE).unwrap();
    handle.drain();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
    go.send(()).unwrap();
}

/// What `emit` has accepted is processed when the job is drained, however far the thread was ahead.
#[test]
fn a_drain_processes_all_that_was_accepted() {
    for _ in 0..20 {
        let accepted = Arc::new(AtomicU64::new(0));
        let (count, (tell, told)) = (Arc::clone(&accepted), mpsc::channel());
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let got = Collect::new();
        let job = Job::new("thread");
        let source = FromThread::new(move |_: &Context, out: &mut Out| {
            while out.emit(7).is_ok() {
                if count.fetch_add(1, Ordering::SeqCst) == 100 {
                    tell.send(())?;
                }
            }
            Ok(())
        });
        job.source(source)
            .inspect(move |_| drop(gate.lock().map(|gate| gate.recv_timeout(DEADLINE))))
            .sink(got.clone());
        let handle = Engine::new().arbiters(1).start(job).unwrap();
        told.recv_timeout(DEADLINE).unwrap();
        handle.drain();
        drop(open);
        let outcome = handle.wait().unwrap();
        assert_eq!(outcome.status(), JobStatus::Drained);
        assert!(got.len() as u64 >= accepted.load(Ordering::SeqCst).min(101), "{}", got.len());
        assert_eq!(got.len() as u64, accepted.load(Ordering::SeqCst));
    }
}
