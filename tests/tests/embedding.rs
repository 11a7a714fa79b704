//! Jobs inside of other programs: in a runtime, several at a time, on another thread.

use streamwork::prelude::*;
use streamwork::{Error, Problem};

fn count(n: u64) -> (Job, Collect<u64>) {
    let got = Collect::new();
    let job = Job::new("count");
    job.source(FromIter::new(0..n)).parallelism(2).sink(got.clone());
    (job, got)
}

#[test]
fn inside_a_tokio_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let (job, got) = count(1_000);
        let handle = Engine::new().start(job).unwrap();
        let outcome = tokio::spawn(handle.finished()).await.unwrap().unwrap();
        assert_eq!((outcome.events_out(), got.len()), (1_000, 1_000));
    });
}

#[test]
fn a_job_is_watched_while_its_end_is_awaited() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let job = Job::new("watched");
        job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
        let handle = Engine::new().start(job).unwrap();
        let remote = handle.remote();
        let end = tokio::spawn(handle.finished());
        let applied = || remote.component("for-each").unwrap().applied;
        streamwork_tests::wait_until("some events", || applied() > 1_000);
        let seen = applied();
        assert!(matches!(remote.status(), JobStatus::Starting | JobStatus::Running));
        let metrics = remote.metrics();
        assert_eq!(metrics[1].0.as_str(), "for-each");
        assert!(metrics[1].1.applied >= seen);
        let tree = remote.supervision_tree();
        assert!(tree.components[1].instances[0].counts.applied >= seen);
        remote.drain();
        let outcome = end.await.unwrap().unwrap();
        assert_eq!((outcome.status(), remote.status()), (JobStatus::Drained, JobStatus::Drained));
        assert!(outcome.events_out() >= seen, "{} < {seen}", outcome.events_out());
        // What it counted can still be read.
        assert_eq!(remote.component("for-each"), outcome.component("for-each"));
        assert_eq!(remote.component("nobody"), None);
    });
}

#[test]
fn a_job_that_failed_says_what_each_component_counted() {
    let job = Job::new("sealed");
    job.source(FromIter::new(1..=3_u64)).sink(TryForEach::new(|n| {
        if n == 3 { Err(Fatal::new("no threes").into()) } else { Ok(()) }
    }));
    let error = Engine::new().run(job).unwrap_err();
    let counts = error.component("try-for-each").unwrap();
    assert_eq!((counts.applied, counts.failed), (2, 1));
    assert_eq!(error.component("nobody"), None);
    let refused = Engine::new().run(Job::new("nothing")).unwrap_err();
    assert_eq!(refused.component("try-for-each"), None);
}

#[test]
fn many_jobs_in_one_process() {
    let jobs: Vec<_> = (0..8).map(|n| count(n * 100)).collect();
    let running: Vec<_> = jobs
        .into_iter()
        .map(|(job, got)| (Engine::new().arbiters(1).start(job).unwrap(), got))
        .collect();
    for (n, (handle, got)) in running.into_iter().enumerate() {
        handle.wait().unwrap();
        assert_eq!(got.len(), n * 100);
    }
}

#[test]
fn a_job_is_sent_to_another_thread_and_run_there() {
    let (job, got) = count(10);
    std::thread::spawn(move || Engine::new().run(job).unwrap()).join().unwrap();
    assert_eq!(got.len(), 10);
}

#[test]
fn a_detached_job_goes_on() {
    let (job, got) = count(1_000);
    Engine::new().start(job).unwrap().detach();
    streamwork_tests::wait_until("all events", || got.len() == 1_000);
}

#[test]
fn a_job_is_refused_with_all_its_problems() {
    let job = Job::new("wrong");
    let numbers = job.source(FromIter::new(0..3_u64)).parallelism(0);
    numbers.sink(ForEach::new(|_| {}));
    numbers.sink(ForEach::new(|_| {})).parallelism(0);
    job.source(FromIter::new(0..3_u64)).named("unread").rate(-1.0);
    let error = Engine::new().run(job).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }));
    let problems = error.problems();
    assert_eq!(problems.len(), 5, "{error}");
    assert!(problems.contains(&Problem::Unread { name: "unread".into() }), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("job \"wrong\" can't run: 5 problems: (1) "), "{text}");
}
