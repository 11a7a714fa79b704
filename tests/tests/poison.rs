//! An event that a component always fails at: tried three times, then the job fails or goes on without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{All, DeadLetter, Error};

/// Passes numbers on, and counts them; 42 is too much for it.
#[derive(Component, Clone, Default)]
struct Picky {
    #[state(replicated)]
    seen: u64,
    panics: bool,
}

impl Operator for Picky {
    type In = u64;
    type Out = (u64, u64);

    fn apply(&mut self, n: u64, out: &mut Emitter<(u64, u64)>) -> Result<()> {
        self.seen += 1;
        out.emit((n, self.seen));
        match n {
            42 if self.panics => panic!("no 42"),
            42 => Err("no 42".into()),
            _ => Ok(()),
        }
    }
}

fn exactly_once() -> Delivery {
    Delivery::exactly_once(Duration::from_millis(3))
}

fn job(
    delivery: Delivery,
    on_error: Option<OnError>,
    panics: bool,
    got: &Collect<(u64, u64)>,
    dead: &Collect<DeadLetter>,
) -> Job {
    let job = Job::new("picky").delivery(delivery);
    let stage = job.source(FromIter::new(1..=100_u64)).apply(Picky { seen: 0, panics });
    let stage = match on_error {
        Some(on_error) => stage.on_error(on_error),
        None => stage,
    };
    stage.dead_letters().sink(dead.clone()).named("dead");
    stage.sink(got.clone());
    job
}

/// All but 42, each with the count that it has without 42.
fn without_42() -> Vec<(u64, u64)> {
    (1..=100).filter(|n| *n != 42).zip(1..).collect()
}

#[test]
fn with_checkpoints_it_is_left_out_after_three_tries_and_nothing_else_is_lost() {
    for panics in [false, true] {
        for seed in 0..30 {
            let (got, dead) = (Collect::new(), Collect::new());
            let job = job(exactly_once(), Some(OnError::DeadLetter), panics, &got, &dead);
            let outcome = Scheduler::seeded(seed).run(job).unwrap();
            assert!(got.take() == without_42(), "seed {seed}\n{}", outcome.tree());
            let letters = dead.take();
            let [letter] = &letters[..] else { panic!("seed {seed}: {letters:?}") };
            assert_eq!((letter.event::<u64>().unwrap(), letter.tries), (42, 3));
            assert!(letter.cause.contains("no 42"), "{}", letter.cause);
            assert_eq!(outcome.component("picky").unwrap().dead, 1);
        }
    }
}

/// Can do nothing with every third number.
#[derive(Component, Clone)]
struct NoThirds;

impl Operator for NoThirds {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(n);
        if n.is_multiple_of(3) { Err("a third".into()) } else { Ok(()) }
    }
}

#[test]
fn however_many_there_are_they_use_up_no_restarts() {
    for seed in 0..10 {
        let (got, dead) = (Collect::new(), Collect::new());
        let job = Job::new("thirds").delivery(exactly_once());
        let stage = job.source(FromIter::new(0..60_u64)).apply(NoThirds).parallelism(2);
        let stage = stage.on_error(OnError::DeadLetter);
        stage.dead_letters().sink(dead.clone()).named("dead");
        stage.sink(got.clone());
        Scheduler::seeded(seed).run(job).unwrap();
        assert_eq!((got.len(), dead.len()), (40, 20), "seed {seed}");
    }
}

#[test]
fn with_checkpoints_the_job_fails_with_it_after_three_tries_by_default() {
    for on_error in [None, Some(OnError::Fail)] {
        let (got, dead) = (Collect::new(), Collect::new());
        let job = job(exactly_once(), on_error, false, &got, &dead);
        let error = Scheduler::seeded(1).run(job).unwrap_err();
        let Error::Failed { failure, exhausted: false, .. } = &error else { panic!("{error}") };
        let text = failure.cause.to_string();
        assert!(text.contains("no 42") && text.contains("tried 3 times"), "{text}");
    }
}

#[test]
fn without_checkpoints_it_goes_to_the_dead_letters_at_once() {
    let (got, dead) = (Collect::new(), Collect::new());
    let job = job(Delivery::at_most_once(), Some(OnError::DeadLetter), false, &got, &dead);
    let outcome = Scheduler::seeded(1).run(job).unwrap();
    assert_eq!(got.len(), 99);
    let letters = dead.take();
    assert_eq!(letters.len(), 1);
    assert_eq!((letters[0].event::<u64>().unwrap(), letters[0].tries), (42, 1));
    assert_eq!((outcome.failed(), outcome.component("picky").unwrap().dead), (1, 1));
}

/// Takes no 7 as the eleventh. It often has no room, and each time before other events.
#[derive(Component, Clone, Default)]
struct Hesitant {
    #[state]
    taken: Vec<u64>,
    asked: Arc<AtomicU64>,
}

impl Sink for Hesitant {
    type In = u64;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<()>> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if asked.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62 > 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn write(&mut self, n: u64) -> Result<()> {
        if (n, self.taken.len()) == (7, 10) {
            return Err("no 7 here".into());
        }
        self.taken.push(n);
        Ok(())
    }
}

#[test]
fn among_others_of_its_kind_it_alone_is_left_out_by_a_sink_that_waits() {
    for seed in 0..30 {
        let dead = Collect::new();
        let job = Job::new("hesitant").delivery(exactly_once());
        let numbers: Vec<u64> = (0..60).map(|n| 7 + n % 2).collect();
        let sink = job.source(FromIter::new(numbers.clone())).sink(Hesitant::default());
        let sink = sink.on_error(OnError::DeadLetter).may_repeat();
        sink.dead_letters().sink(dead.clone()).named("dead");
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        let state = outcome.saved_state().unwrap().unwrap();
        let taken = state.instances::<Hesitant>("hesitant").unwrap().remove(0).0;
        assert_eq!(taken, [&numbers[..10], &numbers[11..]].concat(), "seed {seed}");
        assert_eq!(dead.len(), 1, "seed {seed}");
    }
}

/// Passes on what comes from the left and from the right, and says which instance it is. The first one can do
/// nothing with threes from the left.
#[derive(Component, Clone, Default)]
struct Lopsided {
    index: usize,
}

impl TwoInput for Lopsided {
    type Left = u64;
    type Right = u64;
    type Out = (usize, bool, u64);

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.index = ctx.index();
        Ok(())
    }

    fn apply_left(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.emit((self.index, true, n));
        if (self.index, n) == (0, 3) { Err("no threes".into()) } else { Ok(()) }
    }

    fn apply_right(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.emit((self.index, false, n));
        Ok(())
    }
}

#[test]
fn with_two_inputs_it_is_left_out_of_its_own_and_of_no_other_instance() {
    for seed in 0..30 {
        let (got, dead) = (Collect::new(), Collect::<DeadLetter>::new());
        let exact = seed % 3 > 0;
        let delivery = if exact { exactly_once() } else { Delivery::at_most_once() };
        let job = Job::new("lopsided").delivery(delivery);
        let numbers = || FromIter::new((0..20_u64).map(|n| n % 5));
        let (left, right) = (job.source(numbers()), job.source(numbers()).named("right"));
        let both = left.group(All).connect(right.group(All)).apply(Lopsided::default());
        let both = both.parallelism(2).on_error(OnError::DeadLetter);
        both.dead_letters().sink(dead.clone()).named("dead");
        both.sink(got.clone());
        Scheduler::seeded(seed).run(job).unwrap();
        let mut seen = got.take();
        seen.sort();
        let all = [0, 1].into_iter().flat_map(|index| [(index, false), (index, true)]);
        let all = all.flat_map(|(index, side)| (0..20).map(move |n| (index, side, n / 4)));
        let expected: Vec<_> = all.filter(|event| *event != (0, true, 3)).collect();
        assert_eq!(seen, expected, "seed {seed}");
        let letters = dead
            .take()
            .into_iter()
            .map(|letter| (letter.instance, letter.event::<u64>().unwrap(), letter.tries));
        let letter = (0, 3, if exact { 3 } else { 1 });
        assert_eq!(letters.collect::<Vec<_>>(), [letter; 4], "seed {seed}");
    }
}
