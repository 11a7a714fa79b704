use super::*;
use crate::checkpoint::{Change, Part};

/// A job of a source and a sink of one instance each, in one region, and of a source in another.
struct Bench {
    coordination: Coordination,
    now: Moment,
}

const REGION: usize = 0;
const SINK: usize = 1;

impl Bench {
    fn new() -> Self {
        let names = ["source", "sink", "other"];
        let template = Template {
            job: "bench".to_owned(),
            run: "1".to_owned(),
            delivery: "exactly-once".to_owned(),
            key_groups: 128,
            components: names.iter().map(|name| ComponentManifest::empty(name)).collect(),
            regions: vec![REGION, REGION, 2],
        };
        let settings = Checkpoints::every(Duration::from_secs(1)).timeout(Duration::from_secs(5));
        let coordination = Coordination::new(settings, template, None, CheckpointId(1));
        let mut bench = Self { coordination, now: Moment::START };
        bench.coordination.on_running(bench.now);
        bench
    }

    /// Time passes; gives what was ordered.
    fn wait(&mut self, duration: Duration) -> Vec<Order> {
        self.now = self.now + duration;
        self.coordination.on_time(self.now);
        self.orders()
    }

    fn orders(&mut self) -> Vec<Order> {
        self.coordination.take_orders().into()
    }

    /// The parts of instance 0 of these components; the sink has prepared something.
    fn give(&mut self, id: u64, components: &[usize]) -> Vec<Order> {
        for component in components {
            let parts = vec![(Part::Instance(0), Change::Base(vec![1]))];
            let handle = (*component == SINK).then(|| (vec![id as u8], 10));
            let (aligned, took) = (Duration::ZERO, Duration::ZERO);
            let snapshot = Snapshot { id: CheckpointId(id), parts, handle, aligned, took };
            let day = EventTime::from_millis(0);
            self.coordination.on_snapshot((*component, 0), snapshot, day);
        }
        self.orders()
    }

    fn published(&mut self, published: Result<Box<Manifest>, String>) -> Vec<Order> {
        self.coordination.on_published(published, self.now);
        self.orders()
    }
}

/// The manifest that is to be published, which was ordered last.
fn manifest(orders: Vec<Order>) -> Box<Manifest> {
    match orders.into_iter().last() {
        Some(Order::Publish(manifest)) => manifest,
        other => panic!("{other:?}"),
    }
}

fn handles(commits: &[PendingCommit]) -> Vec<u8> {
    commits.iter().map(|commit| commit.handle[0]).collect()
}

#[track_caller]
fn assert_triggers(orders: &[Order], id: u64, since: Option<u64>) {
    let [Order::Trigger(trigger)] = orders else { panic!("{orders:?}") };
    let barrier = Barrier { id: CheckpointId(id), since: since.map(CheckpointId) };
    assert_eq!(trigger.barrier, barrier);
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_checkpoint_is_published_when_all_have_given_their_part_and_then_committed() {
    let mut bench = Bench::new();
    assert!(bench.wait(SECOND / 2).is_empty());
    assert_triggers(&bench.wait(SECOND / 2), 1, None);
    assert!(bench.wait(SECOND).is_empty(), "one is on its way");
    assert!(bench.give(1, &[0, 1]).iter().all(|order| matches!(order, Order::Put(_))));
    let manifest = manifest(bench.give(1, &[2]));
    assert_eq!((manifest.id.0, handles(&manifest.commits)), (1, vec![1]));
    let orders = bench.published(Ok(manifest));
    assert!(matches!(&orders[..], [Order::Commit(commits)] if handles(commits) == [1]));
    // Not confirmed yet: the next one has it, too.
    assert_triggers(&bench.wait(SECOND), 2, Some(1));
    let manifest = super::tests::manifest(bench.give(2, &[0, 1, 2]));
    assert_eq!(handles(&manifest.commits), [1, 2]);
    bench.coordination.on_committed(CheckpointId(1));
    assert!(matches!(bench.orders()[..], [Order::Confirm(CheckpointId(1))]));
    let orders = bench.published(Ok(manifest));
    assert!(matches!(&orders[..], [Order::Commit(commits)] if handles(commits) == [2]));
}

#[test]
fn what_was_prepared_for_one_that_is_given_up_belongs_to_the_next() {
    let mut bench = Bench::new();
    bench.wait(SECOND);
    bench.give(1, &[1]);
    let orders = bench.wait(SECOND * 5);
    assert!(
        matches!(&orders[..], [Order::Abort(CheckpointId(1)), Order::Discard, Order::Trigger(_)]),
        "{orders:?}"
    );
    // One that comes too late for the first.
    bench.give(1, &[0]);
    let manifest = manifest(bench.give(2, &[0, 1, 2]));
    assert_eq!(handles(&manifest.commits), [1, 2]);
    // It cannot be published either: all of it waits for the third.
    bench.published(Err("full".to_owned()));
    bench.wait(SECOND);
    let manifest = super::tests::manifest(bench.give(3, &[0, 1, 2]));
    assert_eq!(handles(&manifest.commits), [1, 2, 3]);
}

#[test]
fn what_a_region_has_prepared_and_comes_again_is_forgotten() {
    let mut bench = Bench::new();
    bench.wait(SECOND);
    bench.give(1, &[1]);
    bench.coordination.on_failure(REGION, bench.now);
    let orders = bench.orders();
    assert!(
        matches!(
            &orders[..],
            [
                Order::Abort(_),
                Order::Discard,
                Order::Forget(gone),
                Order::Rewind { region: REGION, to: None },
            ] if handles(gone) == [1]
        ),
        "{orders:?}"
    );
    assert!(bench.wait(SECOND * 2).is_empty(), "nothing begins while it goes back");
    bench.coordination.on_rewound(REGION, bench.now);
    assert_triggers(&bench.wait(SECOND), 2, None);
    let manifest = manifest(bench.give(2, &[0, 1, 2]));
    assert_eq!(handles(&manifest.commits), [2]);
}

#[test]
fn a_failure_waits_until_it_is_known_which_checkpoint_is_the_last() {
    for is_published in [true, false] {
        let mut bench = Bench::new();
        bench.wait(SECOND);
        let manifest = manifest(bench.give(1, &[0, 1, 2]));
        bench.coordination.on_failure(REGION, bench.now);
        assert!(bench.orders().is_empty());
        let published = if is_published { Ok(manifest) } else { Err("no".to_owned()) };
        let orders = bench.published(published);
        let Some(Order::Rewind { to, .. }) = orders.last() else { panic!("{orders:?}") };
        assert_eq!(to.as_ref().map(|to| to.id.0), is_published.then_some(1));
    }
}

#[test]
fn the_end_waits_for_the_last_commit() {
    let mut bench = Bench::new();
    bench.coordination.end(false, bench.now);
    assert_triggers(&bench.orders(), 1, None);
    let manifest = manifest(bench.give(1, &[0, 1, 2]));
    assert_eq!(manifest.kind, ManifestKind::Finished);
    let orders = bench.published(Ok(manifest));
    assert!(matches!(orders[..], [Order::Commit(_)]), "{orders:?}");
    assert!(bench.wait(SECOND * 9).is_empty(), "there is no other after it");
    bench.coordination.on_committed(CheckpointId(1));
    assert!(matches!(bench.orders()[..], [Order::Confirm(_), Order::Close]));
}

#[test]
fn a_last_checkpoint_is_tried_again_and_a_stop_goes_without() {
    let mut bench = Bench::new();
    bench.coordination.end(false, bench.now);
    for id in 1..Coordination::TRIES.into() {
        assert_triggers(&bench.orders(), id, None);
        bench.give(id, &[0, 1, 2]);
        assert!(bench.published(Err("full".to_owned())).is_empty());
        bench.now = bench.now + Coordination::LONGEST;
        bench.coordination.on_time(bench.now);
    }
    bench.orders();
    bench.give(Coordination::TRIES.into(), &[0, 1, 2]);
    let orders = bench.published(Err("full".to_owned()));
    assert!(matches!(&orders[..], [Order::Fail(why)] if why.contains("full")), "{orders:?}");

    let mut bench = Bench::new();
    bench.coordination.end(true, bench.now);
    bench.give(1, &[0, 1, 2]);
    let orders = bench.published(Err("full".to_owned()));
    assert!(matches!(orders[..], [Order::Halt]), "{orders:?}");
}

#[test]
fn a_job_that_is_to_stop_does_not_wait_for_what_goes_back() {
    let mut bench = Bench::new();
    bench.coordination.on_failure(REGION, bench.now);
    bench.orders();
    bench.coordination.end(true, bench.now);
    assert!(matches!(bench.orders()[..], [Order::Halt]));

    // It had waited for a checkpoint that is under way.
    for is_publishing in [false, true] {
        let mut bench = Bench::new();
        bench.wait(SECOND);
        let given = bench.give(1, if is_publishing { &[0, 1, 2] } else { &[0] });
        bench.coordination.end(true, bench.now);
        bench.coordination.on_failure(REGION, bench.now);
        let mut orders = bench.orders();
        if is_publishing {
            assert!(orders.is_empty(), "{orders:?}");
            orders = bench.published(Ok(manifest(given)));
        }
        assert!(matches!(orders.last(), Some(Order::Halt)), "{orders:?}");
    }
}

#[test]
fn a_stop_follows_at_once_on_a_checkpoint_that_took_too_long() {
    let mut bench = Bench::new();
    bench.coordination.settings = Checkpoints::every(SECOND * 100).timeout(SECOND * 5);
    bench.coordination.on_running(bench.now);
    bench.wait(SECOND * 100);
    bench.coordination.end(true, bench.now);
    let orders = bench.wait(SECOND * 5);
    let Some(Order::Trigger(trigger)) = orders.last() else { panic!("{orders:?}") };
    assert!(trigger.is_last);
}
