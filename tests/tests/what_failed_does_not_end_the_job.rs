//! A part of a job that goes back to a checkpoint is not at its end any more, whatever its machines said
//! before they were replaced: the job does not end before all of its data has come again.

use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::{Faulty, Scheduler};

fn job(delivery: Duration, got: [&Collect<u64>; 2]) -> Job {
    let job = Job::new("two-parts").delivery(Delivery::exactly_once(delivery));
    let faulty = Faulty::panic_at(got[0].clone(), 20);
    job.source(FromIter::new(0..40_u64)).named("left").parallelism(2).sink(faulty).named("faulty");
    job.source(FromIter::new(0..40_u64)).named("right").sink(got[1].clone()).named("fine");
    job
}

#[test]
fn its_sources_may_have_come_to_their_end_before_it_failed_or_while_it_goes_back() {
    for seed in 0..400 {
        let (left, right) = (Collect::new(), Collect::new());
        let job = job(Duration::from_millis(1 + seed % 40), [&left, &right]);
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        assert_eq!((outcome.status(), outcome.restarts()), (JobStatus::Finished, 1), "seed {seed}");
        assert_eq!((left.len(), right.len()), (40, 40), "seed {seed}");
    }
}

/// Takes its time to set up.
#[derive(Component, Clone, Default)]
struct Slow {
    #[state]
    done: bool,
}

impl Source for Slow {
    type Out = u64;

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        let clock = ctx.clock();
        clock.sleep_until(clock.now() + Duration::from_millis(5)).await;
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        out.emit(1);
        self.done = true;
        Ok(Progress::End)
    }
}

#[test]
fn a_part_may_fail_before_another_is_set_up() {
    for seed in 0..400 {
        let (left, right) = (Collect::new(), Collect::new());
        let job =
            Job::new("two-parts").delivery(Delivery::exactly_once(Duration::from_millis(seed % 9)));
        let faulty = Faulty::panic_at(left.clone(), 1);
        job.source(FromIter::new(0..40_u64)).named("left").sink(faulty).named("faulty");
        job.source(Slow::default()).sink(right.clone()).named("fine");
        let outcome = Scheduler::seeded(seed).at_most(1_000_000).run(job).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "seed {seed}");
        assert_eq!((left.len(), right.len()), (40, 1), "seed {seed}");
    }
}
