//! `FromStream` and `TryFromStream`: the items of any `futures::Stream`.

use futures::channel::mpsc;
use futures::{SinkExt, StreamExt, stream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use streamwork::prelude::*;
use streamwork::{Fatal, Malformed};

fn run<S: Source + Clone>(source: S) -> Result<(Vec<S::Out>, Outcome), Error> {
    let got = Collect::new();
    let job = Job::new("stream");
    job.source(source).sink(got.clone());
    let outcome = Engine::new().run(job)?;
    Ok((got.take(), outcome))
}

#[test]
fn everything_arrives_in_order() {
    let (got, _) = run(FromStream::new(|_: &Context| stream::iter(0..100_000_u64))).unwrap();
    assert!(got.into_iter().eq(0..100_000));
}

#[test]
fn items_arrive_while_the_stream_waits() {
    let (mut tell, told) = mpsc::channel(1);
    let (mut answer, answers) = mpsc::channel(9);
    let told = Arc::new(Mutex::new(Some(told)));
    let job = Job::new("stream");
    job.source(FromStream::new(move |_: &Context| told.lock().unwrap().take().unwrap()))
        .sink(ForEach::new(move |n: u64| answer.try_send(n).unwrap()));
    let handle = Engine::new().start(job).unwrap();
    let answers = futures::executor::block_on(async move {
        let mut answers = answers;
        for n in 0..3 {
            tell.send(n).await.unwrap();
            assert_eq!(answers.next().await, Some(n));
        }
        answers
    });
    // Dropping the sender has ended the stream.
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Finished);
    drop(answers);
}

#[test]
fn a_panic_begins_a_new_stream() {
    let made = Arc::new(AtomicU64::new(0));
    let source = FromStream::new(move |_: &Context| {
        let number = made.fetch_add(1, Ordering::SeqCst);
        stream::iter(0..2_000_u64).map(move |n| {
            assert!(number > 0 || n < 1_500, "the first breaks");
            n + number * 10_000
        })
    });
    let (got, outcome) = run(source).unwrap();
    // What the call had emitted that met the panic was taken back.
    let first = got.iter().take_while(|n| **n < 10_000).count();
    assert!(first < 1_500 && got[..first].iter().copied().eq(0..first as u64), "{first}");
    assert!(got[first..].iter().copied().eq(10_000..12_000));
    assert_eq!(outcome.failed(), 1);
}

#[test]
fn errors_count_and_the_stream_goes_on() {
    let items = || (0..20_u64).map(|n| if n % 2 == 0 { Ok(n) } else { Err("odd".to_owned()) });
    let (got, outcome) = run(TryFromStream::new(move |_: &Context| stream::iter(items()))).unwrap();
    assert!(got.into_iter().eq((0..20).step_by(2)));
    assert_eq!(outcome.failed(), 10);
}

#[test]
fn malformed_items_never_end_the_job_and_fatal_ones_do() {
    let malformed = |_: &Context| {
        stream::iter((0..50).map(|n| if n == 49 { Ok(n) } else { Err(Malformed::new("bad")) }))
    };
    let (got, outcome) = run(TryFromStream::new(malformed)).unwrap();
    assert_eq!((got, outcome.failed()), (vec![49], 49));
    let fatal = |_: &Context| stream::iter([Err(Fatal::new("broken")), Ok(1_u64)]);
    let text = run(TryFromStream::new(fatal)).unwrap_err().to_string();
    assert!(text.contains("broken"), "{text}");
}
