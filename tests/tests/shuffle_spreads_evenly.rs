//! B25 (a): four emitters, four instances, 100,000 events: each instance gets a quarter.

use streamwork::prelude::*;

fn spread(job: Job) -> Vec<u64> {
    let outcome = Engine::new().run(job).expect("it runs to its end");
    let sink = outcome.tree().components.last().expect("there is a sink");
    assert_eq!((sink.name.as_str(), sink.instances.len()), ("for-each", 4));
    sink.instances.iter().map(|i| i.counts.applied).collect()
}

fn assert_even(spread: &[u64]) {
    assert_eq!(spread.iter().sum::<u64>(), 100_000, "{spread:?}");
    assert!(spread.iter().all(|n| n.abs_diff(25_000) <= 250), "{spread:?}");
}

#[test]
fn from_four_instances_of_a_source() {
    let job = Job::new("even");
    let numbers = job.source(Generator::indexed(|n| n).events(100_000)).parallelism(4);
    numbers.sink(ForEach::new(|_: u64| {})).parallelism(4);
    assert_even(&spread(job));
}

#[test]
fn from_four_sources() {
    let job = Job::new("even");
    let sources: Vec<_> = (0..4)
        .map(|i| {
            let numbers = job.source(Generator::indexed(|n| n).events(25_000));
            numbers.named(&format!("source-{i}"))
        })
        .collect();
    Streams::of(sources).sink(ForEach::new(|_: u64| {})).parallelism(4);
    assert_even(&spread(job));
}

/// Emitters that get every other event, and batches of odd sizes.
#[test]
fn from_four_operators_behind_closures() {
    let job = Job::new("even");
    let numbers = job.source(Generator::indexed(|n| n).events(200_000));
    let emitters = numbers.filter(|n| n % 2 == 0).map(|n| n / 2).boxed();
    let emitters = emitters.inspect(|_| {}).named("emitters").parallelism(4);
    emitters.sink(ForEach::new(|_: u64| {})).parallelism(4);
    assert_even(&spread(job));
}
