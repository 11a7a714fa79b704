//! A checker finds what is wrong, at every instance, and changes nothing.

use streamwork::prelude::*;
use streamwork::testing::{self, Checker, Fault, Faulty};

/// Turns neighbours round: an even number waits for the odd one after it.
#[derive(Component, Clone, Debug, Default)]
struct Swap {
    even: Option<u64>,
}

impl Operator for Swap {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        if n.is_multiple_of(2) {
            self.even = Some(n);
        } else {
            out.emit(n);
            out.extend(self.even.take());
        }
        Ok(())
    }
}

#[test]
fn what_a_correct_job_does_is_clean_in_every_interleaving() {
    testing::every_seed(0..100, |scheduler| {
        let in_order = Checker::in_order(|n: &u64| (n % 3, *n));
        let (once, small) = (Checker::once(|n: &u64| *n), Checker::holds("small", |n| *n < 60));
        let got = Collect::new();
        let job = Job::new("clean");
        job.source(FromIter::new(0..60_u64))
            .parallelism(3)
            .apply(in_order.clone())
            .parallelism(2)
            .apply(once.clone())
            .parallelism(2)
            .apply(small.clone())
            .sink(got.clone());
        let outcome = scheduler.run(job).unwrap();
        for checker in [&in_order, &once, &small] {
            assert_eq!(checker.seen(), 60);
            checker.assert_clean();
        }
        assert_eq!((got.len(), outcome.failed(), outcome.restarts()), (60, 0, 0));
    });
}

#[test]
fn a_step_back_is_found_and_passed_on() {
    let checker = Checker::in_order(|n: &u64| ((), *n));
    let numbers = testing::collect(|job| {
        job.source(FromIter::new(0..40_u64)).apply(Swap::default()).apply(checker.clone())
    });
    assert_eq!(numbers[..4], [1, 0, 3, 2]);
    assert_eq!(checker.violations().len(), 10, "the others are only counted");
    assert_eq!(checker.violations()[1], "instance 0, event 4: 2 after 3 of ()");
    let assertion = std::panic::AssertUnwindSafe(|| checker.assert_clean());
    let panic = std::panic::catch_unwind(assertion).unwrap_err();
    let text = panic.downcast::<String>().unwrap();
    assert!(
        text.starts_with("in-order: 20 of 40 events are wrong:\n  instance 0, event 2"),
        "{text}"
    );
}

#[test]
fn equal_numbers_are_in_order_but_not_once() {
    let (in_order, once) = (Checker::in_order(|n: &u64| ((), *n)), Checker::once(|n: &u64| *n));
    testing::collect(|job| {
        job.source(FromIter::new([1, 1, 2])).apply(in_order.clone()).apply(once.clone())
    });
    in_order.assert_clean();
    assert_eq!(once.violations(), ["instance 0, event 2: 1 has come before"]);
}

/// A copy for each instance is once at each, and not once in all.
#[test]
fn twice_is_twice_at_whichever_instance() {
    let once = Checker::once(|n: &u64| *n);
    testing::collect(|job| {
        job.source(FromIter::new(0..7_u64)).group(All).apply(once.clone()).parallelism(2)
    });
    assert_eq!((once.seen(), once.violations().len()), (14, 7));
}

#[test]
fn a_claim_that_does_not_hold_is_quoted_with_the_instance() {
    let checker = Checker::holds("below five", |n: &u64| *n < 5);
    testing::collect(|job| {
        job.source(FromIter::new(0..6_u64)).apply(checker.clone()).parallelism(2)
    });
    assert_eq!(checker.violations(), ["instance 1, event 3: not so: below five"]);
}

#[test]
#[should_panic(expected = "the checker \"once\" has seen no event")]
fn a_checker_without_events_does_not_pass() {
    let checker = Checker::once(|n: &u64| *n);
    testing::collect(|job| {
        let none = job.source(FromIter::new(0..6_u64)).filter(|_| false);
        none.apply(checker.clone())
    });
    checker.assert_clean();
}

/// A source that goes on at its position repeats nothing, wherever it breaks.
#[test]
fn a_restart_is_checked_across() {
    testing::every_seed(0..30, |scheduler| {
        let (once, in_order) = (Checker::once(|n: &u64| *n), Checker::in_order(|n| ((), *n)));
        let fault = Fault::panic("from-iter", scheduler.seed() + 1);
        let job = Job::new("restart");
        job.source(Faulty::new(FromIter::new(0..40_u64), Some(fault)))
            .apply(once.clone())
            .apply(in_order.clone());
        let outcome = scheduler.run(job).unwrap();
        assert_eq!((outcome.restarts(), once.seen()), (1, 40));
        once.assert_clean();
        in_order.assert_clean();
    });
}
