//! Files under checkpoints, from the first event to the restart.

use super::publication::Prepared;
use super::test_support::{TempDir, checkpointed};
use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::fs;

/// What happens to a job, one thing after the other.
#[derive(Clone, Debug)]
enum Action {
    /// The source goes on by so many events.
    Write(u64),
    /// A barrier passes all instances.
    Prepare,
    /// The checkpoint of the last barrier is published.
    Publish,
    /// A checkpoint is committed; whether that is known is another matter.
    Commit { known: bool },
    /// The process dies, in the middle of a commit perhaps, and is started again.
    Kill { half_a_commit: bool, instances: usize },
    /// An instance panics, and all are built anew.
    Panic,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        6 => (1_u64..5).prop_map(Action::Write),
        3 => Just(Action::Prepare),
        3 => Just(Action::Publish),
        2 => any::<bool>().prop_map(|known| Action::Commit { known }),
        2 => (any::<bool>(), 1_usize..4)
            .prop_map(|(half_a_commit, instances)| Action::Kill { half_a_commit, instances }),
        1 => Just(Action::Panic),
    ];
    prop::collection::vec(action, 1..40)
}

/// What an instance has prepared, with the numbers that are in it.
type Batch = (Handle, Vec<u64>);

/// A job that writes 0, 1, 2, .. into files, played by hand; its store is this struct.
struct World {
    dir: TempDir,
    prototype: NdjsonFiles<u64>,
    instances: Vec<NdjsonFiles<u64>>,
    /// What each has written since it prepared.
    open: Vec<Vec<u64>>,
    /// Where the source is, where it was at the last barrier, and in the newest checkpoint.
    position: u64,
    at_barrier: u64,
    published: u64,
    checkpoint: u64,
    /// In no checkpoint yet.
    prepared: Vec<Batch>,
    /// In a checkpoint, and not known to be committed.
    pending: VecDeque<Batch>,
    /// What is to be seen.
    seen: Vec<u64>,
}

impl World {
    fn new(instances: usize) -> Self {
        let dir = TempDir::new("model");
        let prototype = NdjsonFiles::in_dir(dir.path());
        let mut world = Self {
            dir,
            prototype,
            instances: Vec::new(),
            open: Vec::new(),
            position: 0,
            at_barrier: 0,
            published: 0,
            checkpoint: 0,
            prepared: Vec::new(),
            pending: VecDeque::new(),
            seen: Vec::new(),
        };
        world.set_up(instances);
        world
    }

    fn set_up(&mut self, instances: usize) {
        self.open = vec![Vec::new(); instances];
        self.instances = (0..instances).map(|_| self.prototype.clone()).collect();
        for (index, instance) in self.instances.iter_mut().enumerate() {
            instance.setup(&checkpointed("job", "x", index)).unwrap();
        }
        self.position = self.published;
        self.prepared.clear();
    }

    fn act(&mut self, action: &Action) {
        match *action {
            Action::Write(events) => (0..events).for_each(|_| self.write()),
            Action::Prepare => self.prepare(),
            Action::Publish => {
                if !self.prepared.is_empty() {
                    self.published = self.at_barrier;
                    self.pending.extend(self.prepared.drain(..));
                }
            }
            Action::Commit { known } => self.commit(known),
            Action::Kill { half_a_commit, instances } => {
                if half_a_commit {
                    self.commit_half();
                }
                self.kill();
                self.settle();
                self.prototype.clone().clean_up("job", "x").unwrap();
                assert_eq!(self.dir.hidden(), []);
                self.set_up(instances);
            }
            Action::Panic => {
                let instances = self.instances.len();
                self.instances.clear();
                self.settle();
                self.set_up(instances);
            }
        }
    }

    fn write(&mut self) {
        let index = usize::try_from(self.position).unwrap() % self.instances.len();
        self.instances[index].write(self.position).unwrap();
        if self.position.is_multiple_of(3) {
            self.instances[index].flush().unwrap();
        }
        self.open[index].push(self.position);
        self.position += 1;
    }

    fn prepare(&mut self) {
        self.checkpoint += 1;
        self.at_barrier = self.position;
        for (instance, open) in self.instances.iter_mut().zip(&mut self.open) {
            let handle = instance.prepare(CheckpointId(self.checkpoint)).unwrap();
            assert_eq!(handle.is_none(), open.is_empty());
            self.prepared.extend(handle.map(|handle| (handle, std::mem::take(open))));
        }
    }

    fn commit(&mut self, known: bool) {
        let Some((handle, numbers)) = self.pending.front() else { return };
        self.prototype.clone().commit(handle.clone()).unwrap();
        self.seen.extend(numbers.iter().filter(|n| !self.seen.contains(n)).collect::<Vec<_>>());
        if known {
            self.pending.pop_front();
        }
    }

    fn commit_half(&mut self) {
        let Some((handle, numbers)) = self.pending.front() else { return };
        let Prepared { draft, target, .. } = handle.get().unwrap();
        if self.dir.file(&draft).exists() {
            fs::hard_link(self.dir.file(&draft), self.dir.file(&target)).unwrap();
            self.seen.extend(numbers);
        }
    }

    /// Nobody cleans up behind a process that is killed.
    fn kill(&mut self) {
        let files = self.dir.all();
        self.instances.clear();
        self.dir.put_back(&files);
    }

    fn settle(&mut self) {
        while !self.pending.is_empty() {
            self.commit(true);
        }
    }

    fn visible(&self) -> Vec<u64> {
        let files = self.dir.visible();
        let lines = files.iter().flat_map(|(_, text)| text.lines());
        let mut numbers: Vec<u64> = lines.map(|line| line.parse().unwrap()).collect();
        numbers.sort_unstable();
        numbers
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn each_event_is_in_the_visible_files_once_whatever_happens(
        instances in 1_usize..4,
        actions in actions(),
    ) {
        let mut world = World::new(instances);
        for action in actions {
            world.act(&action);
            let mut seen = world.seen.clone();
            seen.sort_unstable();
            prop_assert_eq!(world.visible(), seen, "after {:?}", action);
        }
        for action in [
            Action::Write(1),
            Action::Prepare,
            Action::Publish,
            Action::Kill { half_a_commit: true, instances: 1 },
        ] {
            world.act(&action);
        }
        prop_assert!(world.visible().into_iter().eq(0..world.position));
    }
}

/// Writes, prepares and commits by a clone.
fn publish<S: Sink + Clone>(sink: &mut S, events: impl IntoIterator<Item = S::In>, at: u64) {
    events.into_iter().try_for_each(|event| sink.write(event)).unwrap();
    let handle = sink.prepare(CheckpointId(at)).unwrap().unwrap();
    sink.clone().commit(handle).unwrap();
}

#[test]
fn each_table_has_its_header() {
    #[derive(Clone, serde::Serialize)]
    struct Row {
        n: u64,
    }
    impl Event for Row {}
    let dir = TempDir::new("headers");
    let mut sink = CsvFiles::in_dir(dir.path());
    sink.setup(&checkpointed("job", "x", 0)).unwrap();
    publish(&mut sink, [Row { n: 1 }, Row { n: 2 }], 1);
    publish(&mut sink, [Row { n: 3 }], 2);
    let texts: Vec<_> = dir.all().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["n\n1\n2\n", "n\n3\n"]);
}

#[test]
fn the_same_checkpoint_of_a_run_that_begins_afresh_gives_another_file() {
    let dir = TempDir::new("fresh");
    for run in 0..2 {
        let mut sink = NdjsonFiles::in_dir(dir.path());
        sink.setup(&checkpointed("job", "x", 0)).unwrap();
        publish(&mut sink, [run], 1);
    }
    let texts: Vec<_> = dir.all().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["0\n", "1\n"]);
}

#[test]
fn the_sinks_say_what_becomes_of_repeated_events() {
    fn effect<S: Sink>(_: &S) -> Effect {
        S::EFFECT
    }
    assert_eq!(effect(&NdjsonFiles::<u64>::in_dir("")), Effect::Committing);
    assert_eq!(effect(&CsvFiles::<u64>::in_dir("")), Effect::Committing);
    assert_eq!(effect(&Collect::<u64>::new()), Effect::Committing);
    assert_eq!(effect(&Print::<u64>::stdout()), Effect::Repeating);
    assert_eq!(effect(&ForEach::new(|_: u64| {})), Effect::Repeating);
    assert_eq!(effect(&TryForEach::new(|_: u64| Ok(()))), Effect::Repeating);
    let drain = |_: &Context| futures::sink::drain::<u64>();
    assert_eq!(effect(&IntoSink::new(drain)), Effect::Repeating);
}
