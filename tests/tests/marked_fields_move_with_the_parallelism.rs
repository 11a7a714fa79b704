//! The fields of an operator go on at another parallelism as their marks say: entries by key lie where their
//! events go, once each, and what is replicated is the same on every instance, new ones too.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use std::collections::BTreeMap;
use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;

const EVENTS: u64 = 900;
const KEYS: u64 = 30;

/// The instances of each run, one after the other.
const RUNS: [usize; 3] = [3, 2, 5];

/// Numbers the events of each key.
#[derive(Component, Clone, Default)]
struct ByKey {
    #[state(by_key)]
    counts: BTreeMap<u64, u64>,
}

impl Operator for ByKey {
    type In = u64;
    type Out = (u64, u64);

    fn apply(&mut self, key: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        let count = self.counts.entry(key).or_default();
        *count += 1;
        out.emit((key, *count));
        Ok(())
    }
}

/// Numbers the events, which every instance gets, and says which instance it is.
#[derive(Component, Clone, Default)]
struct Replicated {
    #[state(replicated)]
    count: u64,
    instance: u64,
}

impl Operator for Replicated {
    type In = u64;
    type Out = (u64, u64);

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index() as u64;
        Ok(())
    }

    fn apply(&mut self, _: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        self.count += 1;
        out.emit((self.instance, self.count));
        Ok(())
    }
}

type Got = Collect<(u64, u64)>;

/// Keys, of which each comes as often, and what counts them.
fn job(build: impl FnOnce(&Stream<u64>)) -> Job {
    let job = Job::new("marked").delivery(Delivery::exactly_once(Duration::from_millis(2)));
    let keys = job.source(Generator::indexed(|n| n % KEYS).events(EVENTS).splits(5));
    build(&keys.parallelism(2).rate(4_000.0));
    job
}

fn by_key(parallelism: usize, got: &Got) -> Job {
    job(|keys| {
        let counted = keys.group(Fields::whole()).apply(ByKey::default()).named("count");
        counted.parallelism(parallelism).sink(got.clone());
    })
}

fn replicated(parallelism: usize, got: &Got) -> Job {
    job(|keys| {
        let counted = keys.group(All).apply(Replicated::default()).named("count");
        counted.parallelism(parallelism).sink(got.clone());
    })
}

/// Runs the job at each parallelism, the last time to its end, and gives what came each time.
#[track_caller]
fn runs(seed: u64, job: fn(usize, &Got) -> Job) -> (Vec<Vec<(u64, u64)>>, Outcome) {
    let (got, store) = (Got::new(), MemoryStore::new());
    let (mut came, mut outcomes) = (Vec::new(), Vec::new());
    for (run, parallelism) in RUNS.into_iter().enumerate() {
        let scheduler = Scheduler::seeded(seed * 10 + run as u64).store(store.clone());
        let last = run + 1 == RUNS.len();
        let scheduler = if last { scheduler } else { scheduler.stop_after(250) };
        let outcome = scheduler.run(job(parallelism, &got)).unwrap();
        let status = if last { JobStatus::Finished } else { JobStatus::Stopped };
        assert_eq!(outcome.status(), status, "seed {seed}, run {run}");
        assert_eq!(outcome.checkpoints().restored.is_some(), run > 0);
        assert!(!got.is_empty(), "seed {seed}: nothing came in run {run}");
        came.push(got.take());
        outcomes.push(outcome);
    }
    (came, outcomes.pop().unwrap())
}

#[test]
fn entries_by_key_go_where_their_events_go() {
    let each = EVENTS / KEYS;
    for seed in 0..20 {
        let (came, outcome) = runs(seed, by_key);
        let mut all = came.concat();
        all.sort_unstable();
        let of_key = |key| (1..=each).map(move |n| (key, n));
        assert_eq!(all, (0..KEYS).flat_map(of_key).collect::<Vec<_>>(), "seed {seed}");
        // At the end each key lies with one instance.
        let instances =
            outcome.saved_state().unwrap().unwrap().instances::<ByKey>("count").unwrap();
        assert_eq!(instances.len(), 5);
        let mut kept: Vec<(u64, u64)> =
            instances.into_iter().flat_map(|(counts,)| counts.into_iter()).collect();
        kept.sort_unstable();
        assert_eq!(kept, (0..KEYS).map(|key| (key, each)).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn what_is_replicated_is_the_same_on_every_instance() {
    for seed in 0..20 {
        let (came, outcome) = runs(seed, replicated);
        let mut before = 0;
        for (parallelism, mut came) in RUNS.into_iter().zip(came) {
            let until = before + (came.len() / parallelism) as u64;
            came.sort_unstable();
            let of_instance = |i| (before + 1..=until).map(move |n| (i, n));
            let expected: Vec<_> = (0..parallelism as u64).flat_map(of_instance).collect();
            assert_eq!(came, expected, "seed {seed}, at {parallelism}");
            before = until;
        }
        assert_eq!(before, EVENTS, "seed {seed}");
        let state = outcome.saved_state().unwrap().unwrap();
        assert_eq!(state.instances::<Replicated>("count").unwrap(), [(EVENTS,); 5]);
    }
}
