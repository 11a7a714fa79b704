//! The second shell: machines on one thread, in an order that a seed decides.

mod backstage;
mod cells;
mod clock;
mod run;

use crate::checkpoint::{CheckpointStore, ManifestKind, MemoryStore};
use crate::error::Error;
use crate::guard::drop_quietly;
use crate::id::Attempt;
use crate::instance::Cause;
use crate::job::Job;
use crate::runtime::{
    Assembly, ComponentSupervision, Ending, JobStatus, JobSupervision, Keeping, MakeStore, Making,
    Opened, Outcome, Recording, Settings, StorePlace, state_of,
};
use backstage::Backstage;
use cells::Cells;
use clock::{Random, SeededClock};
use run::{Limit, Run};
use std::sync::Arc;

/// Runs a whole job on the calling thread. Which instance goes on, whether a frame is delivered
/// first, how long anything takes: all of it is drawn from the seed, so a seed is an interleaving,
/// and the same seed is the same run.
///
/// Time is simulated, for the supervisors too: the pause before a restart, and how long a job that is to
/// end waits for what is under way. Sources that wait for something outside (a file or a socket, which are
/// read on another thread) can't be run by it: such a job stalls, and the panic names who waits.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::Scheduler;
///
/// for seed in 0..20 {
///     let got = Collect::new();
///     let job = Job::new("seeded");
///     job.source(FromIter::new(0..100_u64)).parallelism(2).sink(got.clone()).parallelism(3);
///     let outcome = Scheduler::seeded(seed).run(job).unwrap();
///     assert_eq!(outcome.status(), JobStatus::Finished);
///     assert_eq!(got.len(), 100);
/// }
/// ```
#[derive(Clone)]
pub struct Scheduler {
    seed: u64,
    store: Option<MakeStore>,
    ending: Option<(u64, Ending)>,
    /// How many steps the job may take, if the test says so.
    most: Option<u64>,
}

impl Scheduler {
    /// How far a job gets by default.
    const STEPS: u64 = 10_000_000;
    const EVENTS: u64 = 10_000_000;

    /// A scheduler for one interleaving.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { seed, store: None, ending: None, most: None }
    }

    /// Its seed.
    ///
    /// ```
    /// assert_eq!(streamwork::testing::Scheduler::seeded(7).seed(), 7);
    /// ```
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Drains the job after this many steps.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Scheduler;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(Collect::new());
    /// let outcome = Scheduler::seeded(1).drain_after(500).run(job).unwrap();
    /// assert_eq!(outcome.status(), JobStatus::Drained);
    /// assert_eq!(outcome.events_in(), outcome.events_out());
    /// ```
    #[must_use]
    pub fn drain_after(self, steps: u64) -> Self {
        Self { ending: Some((steps, Ending::Drain)), ..self }
    }

    /// Stops the job after this many steps.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Scheduler;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(Collect::new());
    /// let outcome = Scheduler::seeded(1).stop_after(500).run(job).unwrap();
    /// assert_eq!(outcome.status(), JobStatus::Stopped);
    /// assert_eq!(outcome.events_in(), outcome.events_out() + outcome.dropped());
    /// ```
    #[must_use]
    pub fn stop_after(self, steps: u64) -> Self {
        Self { ending: Some((steps, Ending::Stop)), ..self }
    }

    /// Kills the job after this many steps: what it had not written yet is lost, as when its process dies.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::MemoryStore;
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Scheduler;
    ///
    /// let store = MemoryStore::new();
    /// let got = Collect::new();
    /// let job = || {
    ///     let job = Job::new("numbers").delivery(Delivery::exactly_once(Duration::from_millis(1)));
    ///     job.source(Generator::indexed(|n| n).events(20_000)).sink(got.clone());
    ///     job
    /// };
    /// let killed = Scheduler::seeded(1).store(store.clone()).kill_after(40).run(job()).unwrap();
    /// assert_eq!(killed.status(), JobStatus::Killed);
    /// let outcome = Scheduler::seeded(2).store(store).run(job()).unwrap();
    /// assert_eq!(outcome.status(), JobStatus::Finished);
    /// assert_eq!(got.take(), (0..20_000).collect::<Vec<_>>());
    /// ```
    #[must_use]
    pub fn kill_after(self, steps: u64) -> Self {
        Self { ending: Some((steps, Ending::Kill)), ..self }
    }

    /// Keeps the checkpoints of the job in this store, of which a clone holds the same. Without it each run
    /// has one of its own, in memory. [`kill_after`](Self::kill_after) has an example.
    #[must_use]
    pub fn store<S: CheckpointStore + Clone + Sync + 'static>(self, store: S) -> Self {
        Self { store: Some(Arc::new(move || Box::new(store.clone()))), ..self }
    }

    /// Gives the job this many steps to its end, from the order to [drain](Self::drain_after) or
    /// [stop](Self::stop_after) on if there is one. Without it a job may take ten million steps and emit ten
    /// million events, so that one with an endless source does not fill the memory. A step is a frame
    /// delivered or an instance that goes on for a while, with up to some hundred events.
    ///
    /// ```should_panic
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Scheduler;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
    /// // panics: the job has not ended after 1000 steps
    /// Scheduler::seeded(1).at_most(1_000).run(job).unwrap();
    /// ```
    #[must_use]
    pub fn at_most(self, steps: u64) -> Self {
        Self { most: Some(steps), ..self }
    }

    /// Runs the job to its end.
    ///
    /// # Errors
    /// As [`Engine::run`](crate::Engine::run).
    ///
    /// # Panics
    /// If the job stalls: nothing can go on and nothing is going to happen. The message names the
    /// instances that wait for something outside, and has the supervision tree and the seed. If the job
    /// does not end within its [steps](Self::at_most), most likely because a source is endless.
    pub fn run(&self, job: Job) -> Result<Outcome, Error> {
        let name = job.name().to_owned();
        let (delivery, key_groups, limits) = job.settings();
        let strategy = job.restart_strategy();
        let dropped = job.dropped_state();
        let graph = match job.into_graph() {
            Ok(graph) => graph,
            Err(problems) => return Err(Error::Refused { job: name, problems }),
        };
        let state = Arc::new(state_of(&name, &graph));
        let clock = SeededClock::new(self.seed);
        let seeded = Arc::new(clock.clone());
        let settings = Settings { key_groups, limits, clock: seeded, delivery, dropped };
        let mut assembly = match Assembly::new(graph, Arc::clone(&state), settings) {
            Ok(assembly) => assembly,
            Err((error, mut graph)) => {
                graph.take_apart().into_iter().for_each(drop_quietly);
                return Err(Error::Assembly { job: name, cause: Cause::setup(error) });
            }
        };
        let place = StorePlace::Store(self.store.clone().unwrap_or_else(|| {
            let store = MemoryStore::new();
            Arc::new(move || Box::new(store.clone()))
        }));
        let keeping = Keeping { place, fresh: false, wanted: None };
        let opened = delivery
            .checkpoints()
            .map(|taking| Opened::open(&state, &assembly, &keeping, taking, &|_| {}))
            .transpose();
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                assembly.take_apart().into_iter().for_each(drop_quietly);
                return Err(error);
            }
        };
        let rewinds = opened.is_some();
        let mut cells = Cells::default();
        let restored = opened.as_ref().and_then(|opened| opened.restored.clone());
        if restored.as_ref().is_some_and(|r| r.manifest.kind == ManifestKind::Finished) {
            assembly.take_apart().into_iter().for_each(drop_quietly);
            state.set_status(JobStatus::Finished);
            return Ok(Outcome::of(&state));
        }
        let backstage = Backstage::default();
        let recording = opened.map(|opened| {
            let coordination = opened.coordination(&state, &assembly, "seeded");
            let Opened { writing, committers, .. } = opened;
            backstage.lock().machinery = Some((writing, committers));
            Recording::new(Arc::clone(&state), coordination, Box::new(backstage.clone()))
        });
        let components = (0..state.components.len())
            .map(|c| ComponentSupervision::new(Arc::clone(&state), c, strategy, rewinds))
            .collect();
        let job = JobSupervision::new(Arc::clone(&state), strategy, rewinds);
        let restored = restored.as_ref();
        assembly.make(Making { attempt: Attempt::FIRST, region: None, restored }, &mut cells);
        if !rewinds {
            // As the engine does: their destructors are the user's.
            assembly.take_apart().into_iter().for_each(drop_quietly);
        }
        let run = Run {
            job,
            components,
            cells,
            assembly,
            recording,
            backstage,
            waiting: Vec::new(),
            clock,
            random: Random(self.seed),
            ending: self.ending,
            limit: Limit::of(self),
            steps: 0,
            seed: self.seed,
            state,
        };
        run.run()
    }
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seed, ending, most, .. } = self;
        f.debug_struct("Scheduler")
            .field("seed", seed)
            .field("ending", ending)
            .field("most", most)
            .finish_non_exhaustive()
    }
}
