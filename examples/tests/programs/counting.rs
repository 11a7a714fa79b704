//! Nothing is lost and nothing is counted twice.

use crate::harness::{
    Block, End, PARALLEL_VEHICLE_COUNT, Program, VEHICLE_COUNT, accept, naive_counts, run,
    two_ports, vehicles,
};
use std::collections::BTreeMap;
use std::io::Write;

#[test]
fn a_simulated_input_has_as_many_events_as_it_is_told() {
    let end = run(VEHICLE_COUNT, &["--events", "20", "--seed", "1", "--rate", "1000"], "");
    end.has_code(0).is_quiet();
    end.has_end_line(&["status=finished", "events_in=20", "events_out=20", "failed=0"]);
    assert_eq!(end.total().values().sum::<u64>(), 20);
    assert_eq!(end.counted().len(), 20);
}

/// What each source has read.
fn read_by_source(options: &str) -> BTreeMap<usize, Vec<String>> {
    let options: Vec<&str> = options.split(' ').collect();
    let end = run(PARALLEL_VEHICLE_COUNT, &options, "");
    end.has_code(0);
    let mut read = BTreeMap::<usize, Vec<String>>::new();
    for block in end.blocks() {
        if let Block::Sensor { instance, kind } = block {
            read.entry(instance).or_default().push(kind);
        }
    }
    read
}

#[test]
fn the_same_seed_gives_the_same_lines() {
    let read = |seed: &str| read_by_source(&format!("--events 30 --rate 1e6 --seed {seed}"));
    assert_eq!(read("7"), read("7"));
    assert_ne!(read("7"), read("8"));
}

#[test]
fn a_simulated_line_depends_on_its_number_alone() {
    let read =
        |sources: usize| read_by_source(&format!("--events 31 --rate 1e6 --sources {sources}"));
    let (one, three) = (read(1), read(3));
    assert_eq!(one[&0].len(), 31);
    // Source i of three has the events i, i + 3, i + 6, ...
    for source in 0..3 {
        let every_third: Vec<_> = one[&0].iter().skip(source).step_by(3).cloned().collect();
        assert_eq!(three[&source], every_third);
    }
}

fn ten_thousand(grouping: &str) -> End {
    let input = vehicles(10_000);
    let options = [
        "--input",
        "-",
        "--sources",
        "1",
        "--counters",
        "3",
        "--grouping",
        grouping,
        "--web",
        "off",
    ];
    let end = run(PARALLEL_VEHICLE_COUNT, &options, &input);
    end.has_code(0).is_quiet();
    end.has_end_line(&["events_in=10000", "events_out=10000", "failed=0", "dropped=0"]);
    assert_eq!(end.total(), naive_counts(input.lines()));
    end
}

#[test]
fn by_type_each_type_is_counted_in_one_place() {
    let end = ten_thousand("fields");
    let counts = end.last_counts();
    let kinds: usize = counts.values().map(BTreeMap::len).sum();
    assert_eq!(kinds, end.total().len());
}

#[test]
fn counters_that_take_turns_get_equal_shares() {
    let end = ten_thousand("shuffle");
    let mut blocks = [0; 3];
    for (instance, _) in end.counted() {
        blocks[instance] += 1;
    }
    blocks.sort_unstable();
    assert_eq!(blocks, [3_333, 3_333, 3_334]);
}

#[test]
fn one_counter_per_type_also_in_the_first_job() {
    let input = vehicles(500);
    let end = run(VEHICLE_COUNT, &["--input", "-", "--parallelism", "3"], &input);
    end.has_code(0).has_end_line(&["events_in=500", "events_out=500"]);
    // Which counter prints is not said here: the highest count of a type is its last.
    let mut highest = BTreeMap::new();
    for (kind, count) in end.counted().into_iter().flat_map(|(_, counts)| counts) {
        let before = highest.entry(kind).or_insert(0);
        *before = count.max(*before);
    }
    assert_eq!(highest, naive_counts(input.lines()));
}

#[test]
fn a_file_is_read_by_one_of_the_sources() {
    let input = vehicles(100);
    let options = ["--input", "-", "--sources", "4", "--parallelism", "1"];
    let end = run(PARALLEL_VEHICLE_COUNT, &options, &input);
    end.has_code(0).is_quiet();
    assert_eq!(end.total(), naive_counts(input.lines()));
    let by_another = |block: &Block| matches!(block, Block::Sensor { instance: 1.., .. });
    assert!(!end.blocks().iter().any(by_another));
}

#[test]
fn an_empty_input_is_no_failure() {
    let end = run(VEHICLE_COUNT, &["--input", "-"], "");
    end.has_code(0).is_quiet().has_end_line(&["status=finished", "events_in=0"]);
    assert_eq!(end.stdout, "");
}

#[test]
fn a_peer_that_leaves_at_once_costs_the_other_nothing() {
    let (address, [first, second]) = two_ports();
    let program = Program::start(PARALLEL_VEHICLE_COUNT, &["--connect", &address]);
    let (mut stays, leaves) = (accept(first), accept(second));
    drop(leaves);
    let input = vehicles(2_000);
    stays.write_all(input.as_bytes()).unwrap();
    drop(stays);
    let end = program.end();
    end.has_code(0).has_end_line(&["events_in=2000", "events_out=2000", "dropped=0"]);
    assert_eq!(end.total(), naive_counts(input.lines()));
}
