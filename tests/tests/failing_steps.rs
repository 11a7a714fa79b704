//! A closure on an edge that is to fail the job does so at once, and nothing behind it is finished.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::{Clock, IntoStream, Moment, testing};

const HOUR: Duration = Duration::from_secs(3_600);

/// The clock of the job that runs.
type SharedClock = Arc<OnceLock<Arc<dyn Clock>>>;

/// Emits one, two and three. Then it is at its end, or is silent for an hour and breaks.
#[derive(Component, Clone, Debug)]
struct Three {
    silent: bool,
    clock: SharedClock,
    #[state]
    emitted: u64,
}

impl Three {
    fn new(silent: bool, clock: &SharedClock) -> Self {
        Self { silent, clock: Arc::clone(clock), emitted: 0 }
    }
}

impl Source for Three {
    type Out = u64;

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.clock.get_or_init(|| Arc::clone(ctx.clock()));
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        if self.emitted < 3 {
            self.emitted += 1;
            out.emit(self.emitted);
            return Ok(Progress::More);
        }
        if !self.silent {
            return Ok(Progress::End);
        }
        let clock = self.clock.get().expect("it is set up");
        clock.sleep_until(clock.now() + HOUR).await;
        Err(Fatal::new("an hour has passed").into())
    }
}

/// Passes everything on.
#[derive(Component, Clone, Debug)]
struct Pass;

impl Operator for Pass {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(n);
        Ok(())
    }
}

/// Passes everything on when it is at its end.
#[derive(Component, Clone, Debug, Default)]
struct Late(Vec<u64>);

impl Operator for Late {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, _: &mut Emitter<u64>) -> Result<()> {
        self.0.push(n);
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<u64>) -> Result<()> {
        out.extend(self.0.drain(..));
        Ok(())
    }
}

/// Counts how often it was finished.
#[derive(Component, Clone, Debug, Default)]
struct Finishes(Arc<AtomicU64>);

impl Sink for Finishes {
    type In = u64;

    fn write(&mut self, _: u64) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Runs a job that accepts no twos, in many interleavings.
fn check<S: IntoStream<Event = u64>>(build: impl Fn(&Job, &SharedClock) -> S) {
    testing::every_seed(0..100, |scheduler| {
        let sink = Finishes::default();
        let job = Job::new("no-twos");
        let clock = SharedClock::default();
        build(&job, &clock)
            .into_stream()
            .try_map(|n| if *n == 2 { Err("no twos".into()) } else { Ok(*n) })
            .on_error(OnError::Fail)
            .sink(sink.clone());
        let error = scheduler.run(job).expect_err("a two passed");
        assert!(error.to_string().ends_with(": error: no twos"), "{error}");
        assert_eq!(sink.0.load(Ordering::Relaxed), 0, "a job that failed was finished");
        let now = clock.get().expect("a source was set up").now();
        assert!(now < Moment::START + HOUR, "it was silent first");
    });
}

#[test]
fn a_source_that_falls_silent_hides_no_failure() {
    check(|job, clock| job.source(Three::new(true, clock)));
}

#[test]
fn an_operator_that_falls_silent_hides_no_failure() {
    check(|job, clock| job.source(Three::new(true, clock)).apply(Pass));
}

#[test]
fn a_failure_in_the_last_batch_of_a_source_finishes_nothing() {
    check(|job, clock| job.source(Three::new(false, clock)));
}

#[test]
fn a_failure_in_the_last_batch_of_an_operator_finishes_nothing() {
    check(|job, clock| job.source(Three::new(false, clock)).apply(Late::default()));
}

/// Emits a hundred numbers with its last word.
#[derive(Component, Clone, Debug)]
struct AtOnce;

impl Source for AtOnce {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        out.extend(0..100);
        Ok(Progress::End)
    }
}

/// What waits in front of a closure when its source, or an operator, is at its end is no more past
/// failing the job than what came before it.
#[test]
fn a_failure_in_what_still_waits_at_the_end_finishes_nothing() {
    testing::every_seed(0..40, |scheduler| {
        for behind_an_operator in [false, true] {
            let finished = Arc::new(AtomicU64::new(0));
            let job = Job::new("waits");
            let numbers = job.source(AtOnce);
            let numbers = match behind_an_operator {
                true => numbers.apply(Late::default()).into_stream(),
                false => numbers.into_stream(),
            };
            numbers
                .flat_map(|n| vec![*n; 1_000])
                .try_map(|n| if *n == 99 { Err("no 99".into()) } else { Ok(*n) })
                .on_error(OnError::Fail)
                .sink(Finishes(Arc::clone(&finished)));
            let error = scheduler.clone().run(job).unwrap_err();
            let step = error.failure().unwrap().step.clone().unwrap();
            assert!(step.starts_with("try_map#2 after "), "{step}");
            assert_eq!(finished.load(Ordering::SeqCst), 0);
        }
    });
}

/// Two closures of one component, of which one forgives.
#[test]
fn closures_that_are_a_component_keep_their_policies_and_their_names() {
    let run = |bad: &'static str| {
        let got = Collect::new();
        let job = Job::new("both");
        job.source(FromIter::new([1_u64, 2, 3]))
            .try_map(move |n| if *n == 2 && bad == "first" { Err("bad".into()) } else { Ok(*n) })
            .try_map(move |n| if *n == 2 && bad == "second" { Err("bad".into()) } else { Ok(*n) })
            .on_error(OnError::Fail)
            .named("both")
            .sink(got.clone());
        testing::run(job).map(|outcome| (outcome, got.take()))
    };
    let (outcome, got) = run("first").unwrap();
    assert_eq!((got, outcome.component("both").unwrap().failed), (vec![1, 3], 1));
    let text = run("second").unwrap_err().to_string();
    assert!(text.contains("both[0] at event 2: error: try_map#2 after from-iter: bad"), "{text}");
}
