use super::super::test_support::checkpointed;
use super::*;

/// An instance of a component that collects into `all`.
fn instance(all: &Collect<u64>, component: &str, index: usize) -> Collect<u64> {
    let mut instance = all.clone();
    instance.setup(&checkpointed("job", component, index)).unwrap();
    instance
}

fn write(instance: &mut Collect<u64>, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().try_for_each(|n| instance.write(n)).unwrap();
}

fn prepare(instance: &mut Collect<u64>, checkpoint: u64) -> Option<Handle> {
    instance.prepare(CheckpointId(checkpoint)).unwrap()
}

#[test]
fn what_was_written_is_seen_when_it_is_committed_and_once() {
    let all = Collect::new();
    let (mut first, mut second) = (instance(&all, "x", 0), instance(&all, "x", 1));
    write(&mut first, 1..=2);
    write(&mut second, [3]);
    let (a, b) = (prepare(&mut first, 7).unwrap(), prepare(&mut second, 7).unwrap());
    write(&mut first, [4]);
    assert!(all.is_empty());
    let mut committer = all.clone();
    committer.commit(b.clone()).unwrap();
    assert_eq!(all.of_instance(1), [3]);
    for handle in [a, b] {
        committer.commit(handle).unwrap();
    }
    assert_eq!(all.take(), [3, 1, 2]);
    committer.commit(prepare(&mut first, 8).unwrap()).unwrap();
    assert_eq!(all.of_instance(0), [4]);
}

#[test]
fn an_interval_without_events_has_no_handle() {
    let all = Collect::new();
    let mut one = instance(&all, "x", 0);
    assert!(prepare(&mut one, 1).is_none());
    write(&mut one, [1]);
    assert!(prepare(&mut one, 2).is_some());
    assert!(prepare(&mut one, 3).is_none());
}

#[test]
fn what_an_earlier_attempt_had_gathered_is_dropped_and_what_it_prepared_can_be_committed() {
    let all = Collect::new();
    let mut one = instance(&all, "x", 0);
    write(&mut one, [1]);
    let handle = prepare(&mut one, 7).unwrap();
    write(&mut one, [2]);
    one.setup(&checkpointed("job", "x", 0)).unwrap();
    assert!(prepare(&mut one, 8).is_none());
    all.clone().commit(handle).unwrap();
    assert_eq!(all.take(), [1]);
}

#[test]
fn cleaning_up_drops_what_this_component_has_prepared_and_no_other() {
    let all = Collect::new();
    let (mut x, mut y) = (instance(&all, "x", 0), instance(&all, "y", 0));
    write(&mut x, [1]);
    write(&mut y, [2]);
    let handles = [prepare(&mut x, 7).unwrap(), prepare(&mut y, 7).unwrap()];
    assert_ne!(handles[0], handles[1], "two components may collect into one");
    let mut committer = all.clone();
    committer.clean_up("another job", "y").unwrap();
    committer.clean_up("job", "x").unwrap();
    for handle in handles {
        committer.commit(handle).unwrap();
    }
    assert_eq!(all.take(), [2]);
}

#[test]
fn the_handle_of_another_process_gives_nothing() {
    let (here, there) = (Collect::new(), Collect::new());
    let (mut one, mut other) = (instance(&here, "x", 0), instance(&there, "x", 0));
    write(&mut one, [1]);
    write(&mut other, [2]);
    let (handle, foreign) = (prepare(&mut one, 7).unwrap(), prepare(&mut other, 7).unwrap());
    let mut committer = here.clone();
    committer.commit(foreign).unwrap();
    assert!(here.is_empty());
    committer.commit(handle).unwrap();
    assert_eq!(here.take(), [1]);
}

#[test]
fn without_checkpoints_everything_is_seen_at_once() {
    let all = Collect::new();
    let mut one = all.clone();
    one.setup(&Context { checkpointed: false, ..checkpointed("job", "x", 2) }).unwrap();
    write(&mut one, [1]);
    assert_eq!(all.of_instance(2), [1]);
    assert!(prepare(&mut one, 7).is_none());
}
