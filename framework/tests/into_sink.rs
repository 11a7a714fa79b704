//! `IntoSink`: events go to any `futures::Sink`, when it is ready for them.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use futures::channel::mpsc;
use futures::executor::block_on;
use futures::{SinkExt, StreamExt};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{self, Poll};
use streamwork::prelude::*;

#[test]
fn a_sink_that_is_slow_gets_everything() {
    let (tell, told) = mpsc::channel(0);
    let job = Job::new("sink");
    job.source(FromIter::new(0..5_000_u64)).sink(IntoSink::new(move |_: &Context| tell.clone()));
    let handle = Engine::new().start(job).unwrap();
    let got: Vec<u64> = block_on(told.take(5_000).collect());
    assert!(got.into_iter().eq(0..5_000));
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Finished);
}

type Log = Arc<Mutex<Vec<String>>>;

/// Notes each call. Is ready, flushed and closed only when it was asked twice.
#[derive(Debug)]
struct Noting {
    log: Log,
    asked: bool,
}

impl Noting {
    fn poll(&mut self, what: &str, cx: &task::Context<'_>) -> Poll<Result<(), std::io::Error>> {
        self.asked = !self.asked;
        if self.asked {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.log.lock().unwrap().push(what.to_owned());
        Poll::Ready(Ok(()))
    }
}

impl futures::Sink<u64> for Noting {
    type Error = std::io::Error;

    fn poll_ready(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        self.poll("ready", cx)
    }

    fn start_send(self: Pin<&mut Self>, n: u64) -> Result<(), Self::Error> {
        self.log.lock().unwrap().push(format!("send {n}"));
        if n == 13 { Err(std::io::Error::other("no thirteen")) } else { Ok(()) }
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        self.poll("flush", cx)
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Result<(), Self::Error>> {
        self.poll("close", cx)
    }
}

fn run(events: Vec<u64>) -> (Vec<String>, Result<Outcome, Error>) {
    let log = Log::default();
    let noted = Arc::clone(&log);
    let job = Job::new("sink");
    let make = move |_: &Context| Noting { log: Arc::clone(&noted), asked: false };
    job.source(FromIter::new(events)).sink(IntoSink::new(make));
    let outcome = Engine::new().run(job);
    let calls = log.lock().unwrap().clone();
    (calls, outcome)
}

#[test]
fn it_is_ready_before_each_event_and_closed_once_at_the_end() {
    let (calls, outcome) = run(vec![1, 2, 3]);
    assert_eq!(outcome.unwrap().events_out(), 3);
    let mut sent = 0;
    for pair in calls.windows(2) {
        if pair[1].starts_with("send") {
            assert_eq!(pair[0], "ready", "{calls:?}");
            sent += 1;
        }
    }
    assert_eq!(sent, 3);
    assert_eq!(calls.iter().filter(|call| *call == "close").count(), 1);
    assert_eq!(calls.last().unwrap(), "close");
}

#[test]
fn an_error_is_final() {
    let (calls, outcome) = run(vec![12, 13, 14]);
    let text = outcome.unwrap_err().to_string();
    assert!(text.contains("no thirteen"), "{text}");
    assert!(!calls.contains(&"send 14".to_owned()), "{calls:?}");
}

#[test]
fn each_instance_has_a_sink_of_its_own() {
    let (tell, told) = mpsc::channel(100);
    let job = Job::new("sink");
    let make = move |ctx: &Context| {
        let index = ctx.index();
        tell.clone().with(move |n: u64| async move { Ok::<_, mpsc::SendError>((index, n)) })
    };
    job.source(FromIter::new(0..10_u64)).sink(IntoSink::new(make)).parallelism(2);
    Engine::new().run(job).unwrap();
    let mut got: Vec<(usize, u64)> = block_on(told.take(10).collect());
    got.sort_by_key(|(_, n)| *n);
    assert!(got.iter().map(|(_, n)| *n).eq(0..10));
    assert!((0..2).all(|i| got.iter().filter(|(index, _)| *index == i).count() == 5));
}
