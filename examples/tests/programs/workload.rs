//! The engine and the hand-written loop come to the same result, whatever the parallelism.

use crate::harness::{TempDir, WORKLOAD, run, run_in};
use std::fs;

/// Checks the line; gives `checksum:outputs`.
#[track_caller]
fn checked(workload: &str, parallelism: &str, events: [&str; 2], by_hand: bool) -> String {
    let [events, number] = events;
    let options = [workload, parallelism, events, "--by-hand"];
    let end = run(WORKLOAD, &options[..if by_hand { 4 } else { 3 }], "");
    end.has_code(0);
    let fields: Vec<&str> = end.stdout.trim_end().split(' ').collect();
    let [name, peer, p, n, seconds, rate, result, memory] = fields[..] else {
        panic!("{:?}", end.stdout);
    };
    assert_eq!((name, p, n), (workload, parallelism, number));
    assert_eq!(peer, if by_hand { "by-hand" } else { "streamwork" });
    assert!(seconds.parse::<f64>().is_ok() && rate.parse::<u64>().is_ok(), "{:?}", end.stdout);
    assert!(memory.parse::<u64>().is_ok(), "{:?}", end.stdout);
    result.to_owned()
}

#[test]
fn results_do_not_depend_on_who_computes_them() {
    // Those of W1 and W7 are of other programs that make the same events.
    let known = [
        ("W1", ["0", "0"], "0000000000000000:0"),
        ("W1", ["1e6", "1000000"], "0007a1ef70ff20e2:1000000"),
        ("W1", ["2000000", "2000000"], "000f46a44d76aedd:2000000"),
        ("W2", ["1e6", "1000000"], "f5a35d67076984e2:8171"),
        ("W7", ["0", "0"], "0000000000000000:0"),
        ("W7", ["1e6", "1000000"], "0007a2d7e0d0405f:1000000"),
        ("W8", ["1e6", "1000000"], "0007a1fb6e36e375:1000000"),
    ];
    for (workload, events, result) in known {
        for parallelism in ["1", "2", "3"] {
            for by_hand in [false, true] {
                assert_eq!(checked(workload, parallelism, events, by_hand), result, "{workload}");
            }
        }
    }
}

#[test]
fn odd_shares_are_complete() {
    for workload in ["W1", "W7", "W8"] {
        for events in ["1", "7", "1025"] {
            let one = checked(workload, "1", [events; 2], true);
            for by_hand in [false, true] {
                assert_eq!(checked(workload, "3", [events; 2], by_hand), one, "{workload}");
            }
        }
    }
}

#[test]
fn checkpoints_change_no_result_and_leave_nothing() {
    let temporary = TempDir::new("workload-temporary");
    for (workload, events) in [("W1", "300000"), ("W2", "300000"), ("W7", "1e5"), ("W8", "1e5")] {
        let expected = checked(workload, "1", [events, &count(events)], true);
        for parallelism in ["1", "2"] {
            let options = [workload, parallelism, events, "--checkpoint", "20ms"];
            let end = run_in(&temporary, WORKLOAD, &options);
            let fields: Vec<&str> = end.has_code(0).stdout.split_whitespace().collect();
            assert_eq!((fields.len(), fields[6]), (8, &*expected), "{}", end.stdout);
            let line = end.stderr.trim_end();
            let figures: Vec<(&str, f64)> = line.split(' ').map(figure).collect();
            let names: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
            let wanted = ["checkpoints", "first_ms", "worst_ms", "stall_ms", "align_ms"];
            assert_eq!(names, wanted, "{line}");
            // There is at least the last one, and no first one takes longer than the worst.
            assert!(figures[0].1 >= 1.0 && figures[1].1 <= figures[2].1, "{line}");
            assert!(figures[1].1 > 0.0, "{line}");
        }
    }
    let refused = run_in(&temporary, WORKLOAD, &["W7", "200", "1", "--checkpoint", "1s"]);
    refused.has_code(2).has_error(&["200", "128"]);
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

fn count(text: &str) -> String {
    examples::count(text).expect("it is a number").to_string()
}

/// `name=number`.
#[track_caller]
fn figure(text: &str) -> (&str, f64) {
    let (name, number) = text.split_once('=').unwrap_or_else(|| panic!("{text:?}"));
    (name, number.parse().unwrap_or_else(|_| panic!("{text:?}")))
}
