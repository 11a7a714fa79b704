//! A job that can't be put together says why, and nothing panics behind it.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::prelude::*;

#[test]
fn a_start_that_fails_is_quiet() {
    let panics = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&panics);
    panic::set_hook(Box::new(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    for _ in 0..50 {
        let job = Job::new("nowhere");
        job.source(Lines::in_dir("no/such/folder")).sink(Collect::new());
        let error = Engine::new().run(job).unwrap_err();
        assert!(matches!(error, Error::Assembly { .. }), "{error}");
    }
    drop(panic::take_hook());
    assert_eq!(panics.load(Ordering::SeqCst), 0);
}
