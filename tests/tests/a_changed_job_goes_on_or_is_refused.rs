//! A job that has changed since its checkpoint goes on under the names of its components, wherever they stand
//! now, or is refused before its first event: in words, and with the checkpoint left as it was.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use serde::{Deserialize, Serialize};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{CheckpointStore, KeyGroups, MemoryStore};

const EVENTS: u64 = 400;
const KEYS: u64 = 5;

type Got = Collect<(u64, u64)>;

/// Numbers, and what follows them.
fn job(build: impl FnOnce(&Stream<u64>)) -> Job {
    let job = Job::new("changing").delivery(Delivery::exactly_once(Duration::from_millis(2)));
    let numbers = job.source(FromIter::new(0..EVENTS).splits(5)).rate(4_000.0);
    build(&numbers.named("numbers"));
    job
}

/// Adds `step` for each event of a key. The sink has a name that does not follow the counter's.
fn count(numbers: &Stream<u64>, name: &str, step: u64, got: &Got) {
    let counted = numbers.key_by_value(|n: &u64| n % KEYS).fold(0, move |sum: &mut u64, _| {
        *sum += step;
    });
    counted.named(name).parallelism(2).sink(got.clone()).named(&format!("of {step}"));
}

fn both(first: &Got, second: &Got) -> Job {
    job(|numbers| {
        count(numbers, "c1", 1, first);
        count(numbers, "c2", 10, second);
    })
}

/// What a counter comes to that was never disturbed.
#[track_caller]
fn assert_counted(got: &Got, step: u64, what: &str) {
    let mut all = got.take();
    all.sort_unstable();
    let of_key = |key| (1..=EVENTS / KEYS).map(move |n| (key, n * step));
    assert_eq!(all, (0..KEYS).flat_map(of_key).collect::<Vec<_>>(), "{what}");
}

/// A store with a checkpoint of this job, taken somewhere in the middle.
fn stopped(seed: u64, job: Job, got: &Got) -> MemoryStore {
    let store = MemoryStore::new();
    let outcome = Scheduler::seeded(seed).store(store.clone()).stop_after(250).run(job).unwrap();
    assert_eq!(outcome.status(), JobStatus::Stopped);
    assert!((1..EVENTS as usize).contains(&got.len()), "seed {seed}: {}", got.len());
    store
}

/// Everything that is in the store.
fn content(store: &MemoryStore) -> Vec<Vec<u8>> {
    let manifests = store.manifests().unwrap();
    let mut content: Vec<_> = manifests.iter().map(|id| store.manifest(*id).unwrap()).collect();
    content.extend(store.segments().unwrap().iter().map(|id| store.segment(*id).unwrap()));
    content
}

/// Runs a job that is refused with these words: no event comes through, and the store is as it was.
#[track_caller]
fn refused(store: &MemoryStore, after: Job, got: &Got, words: &[&str]) {
    let (before, came) = (content(store), got.len());
    let error = Scheduler::seeded(2).store(store.clone()).run(after).unwrap_err();
    assert!(matches!(error, Error::Incompatible { .. }), "{error}");
    for part in words {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert_eq!(got.len(), came, "an event came through");
    assert!(content(store) == before, "the store has changed");
}

#[track_caller]
fn finished(seed: u64, store: &MemoryStore, job: Job) {
    let outcome = Scheduler::seeded(seed).store(store.clone()).run(job).unwrap();
    assert_eq!(outcome.status(), JobStatus::Finished);
    assert!(outcome.checkpoints().restored.is_some() && outcome.events_in() < EVENTS);
}

#[test]
fn counters_go_on_under_their_names() {
    for seed in 0..20 {
        let (first, second) = (Got::new(), Got::new());
        let store = stopped(seed, both(&first, &second), &first);
        // One more component before c1, the two built the other way round, at another parallelism.
        let changed = job(|numbers| {
            count(numbers, "c2", 10, &second);
            let shifted = numbers.map(|n| n + KEYS).named("shift").parallelism(3);
            count(&shifted, "c1", 1, &first);
        });
        finished(seed + 100, &store, changed);
        assert_counted(&first, 1, &format!("c1, seed {seed}"));
        assert_counted(&second, 10, &format!("c2, seed {seed}"));
    }
}

#[test]
fn one_that_is_gone_is_refused_until_it_may_be() {
    let (first, second) = (Got::new(), Got::new());
    let store = stopped(1, both(&first, &second), &first);
    let alone = || job(|numbers| count(numbers, "c1", 1, &first));
    let words = "no component \"c2\" any more, and its state would be lost";
    refused(&store, alone(), &first, &[words, "`Job::drop_state_of(\"c2\")`"]);
    finished(3, &store, alone().drop_state_of("c2").drop_state_of("of 10"));
    assert_counted(&first, 1, "c1");
}

#[test]
fn one_that_is_called_differently_is_refused() {
    let (first, second) = (Got::new(), Got::new());
    let store = stopped(1, both(&first, &second), &first);
    let renamed = job(|numbers| {
        count(numbers, "c1", 1, &first);
        count(numbers, "c3", 10, &second);
    });
    refused(
        &store,
        renamed,
        &first,
        &["no component \"c2\" any more", "give a component that name"],
    );
    finished(3, &store, both(&first, &second));
    assert_counted(&first, 1, "c1");
    assert_counted(&second, 10, "c2");
}

#[test]
fn keys_of_another_type_or_in_other_groups_are_refused() {
    let (first, second) = (Got::new(), Got::new());
    let store = stopped(1, both(&first, &second), &first);
    let keys = job(|numbers| {
        count(numbers, "c1", 1, &first);
        let counted = numbers.key_by_value(|n: &u64| (n % KEYS) as u32).fold(0_u64, |_, _| {});
        let counted = counted.named("c2").map(|(key, sum)| (u64::from(*key), *sum));
        counted.sink(second.clone()).named("of 10");
    });
    refused(&store, keys, &first, &["\"c2\": its keys: u64 before, u32 now"]);
    let groups = both(&first, &second).key_groups(KeyGroups::new(64).unwrap());
    refused(&store, groups, &first, &["128 key groups, and the job has 64"]);
    finished(3, &store, both(&first, &second));
    assert_counted(&first, 1, "c1");
    assert_counted(&second, 10, "c2");
}

/// A state of a key, which counts.
trait Counting: Event + State + Clone + Default + Sync {
    fn count(&mut self);
    fn counted(&self) -> u64;
}

macro_rules! counting {
    ($(#[$doc:meta] $name:ident { $count:ident: $type:ty $(, $more:ident: $of:ty)* })*) => { $(
        #[$doc]
        #[derive(Event, State, Clone, Default, Serialize, Deserialize)]
        struct $name {
            $count: $type,
            $($more: $of,)*
        }

        impl Counting for $name {
            fn count(&mut self) {
                self.$count += 1;
            }

            fn counted(&self) -> u64 {
                u64::from(self.$count)
            }
        }
    )* };
}

counting! {
    /// What the state was.
    Before { count: u32, light: Light }
    /// One field more, which need not be there.
    More { count: u32, light: Light, last: Option<u64> }
    /// One field more, which must be there.
    Needy { count: u32, light: Light, last: u64 }
    /// A field called differently.
    Renamed { counted: u32, light: Light }
    /// A wider number.
    Wider { count: u64, light: Light }
    /// An enum with a variant less.
    Darker { count: u32, light: Dark }
}

#[derive(Event, State, Clone, Default, Serialize, Deserialize)]
enum Light {
    #[default]
    Red,
    Green,
}

#[derive(Event, State, Clone, Default, Serialize, Deserialize)]
enum Dark {
    #[default]
    Red,
}

fn counting<S: Counting>(got: &Got) -> Job {
    job(|numbers| {
        let keyed = numbers.key_by_value(|n: &u64| n % KEYS);
        let counted = keyed.fold(S::default(), |state, _| state.count()).named("count");
        counted.parallelism(2).map(|(key, state)| (*key, state.counted())).sink(got.clone());
    })
}

#[test]
fn a_field_more_goes_on_with_its_default() {
    for seed in 0..20 {
        let got = Got::new();
        let store = stopped(seed, counting::<Before>(&got), &got);
        finished(seed + 100, &store, counting::<More>(&got));
        assert_counted(&got, 1, &format!("seed {seed}"));
    }
}

#[track_caller]
fn changed<S: Counting>(words: &[&str]) {
    let got = Got::new();
    let store = stopped(1, counting::<Before>(&got), &got);
    refused(&store, counting::<S>(&got), &got, words);
    finished(3, &store, counting::<Before>(&got));
    assert_counted(&got, 1, "as it was before");
}

#[test]
fn a_field_called_differently_is_refused() {
    changed::<Renamed>(&["\"count\"", "count` is gone", "counted` is new"]);
}

#[test]
fn a_field_more_without_a_default_is_refused() {
    changed::<Needy>(&["\"count\"", "last` is new"]);
}

#[test]
fn a_wider_number_is_refused() {
    changed::<Wider>(&["\"count\"", "count`: u32 before, u64 now"]);
}

#[test]
fn a_variant_less_is_refused() {
    changed::<Darker>(&["\"count\"", "variant", "Green"]);
}
