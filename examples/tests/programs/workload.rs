//! The engine and the hand-written loop come to the same result, whatever the parallelism.

use crate::harness::{WORKLOAD, run};

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
