//! The engine and the hand-written loop come to the same result, whatever the parallelism.

use crate::harness::{WORKLOAD, run};

/// Checks the line; gives `checksum:outputs`.
#[track_caller]
fn checked(parallelism: &str, events: &str, number: &str, by_hand: bool) -> String {
    let options = ["W1", parallelism, events, "--by-hand"];
    let end = run(WORKLOAD, &options[..if by_hand { 4 } else { 3 }], "");
    end.has_code(0);
    let fields: Vec<&str> = end.stdout.trim_end().split(' ').collect();
    let [workload, peer, p, n, seconds, rate, result, memory] = fields[..] else {
        panic!("{:?}", end.stdout);
    };
    assert_eq!((workload, p, n), ("W1", parallelism, number));
    assert_eq!(peer, if by_hand { "by-hand" } else { "streamwork" });
    assert!(seconds.parse::<f64>().is_ok() && rate.parse::<u64>().is_ok(), "{:?}", end.stdout);
    assert!(memory.parse::<u64>().is_ok(), "{:?}", end.stdout);
    result.to_owned()
}

#[test]
fn results_do_not_depend_on_who_computes_them() {
    // These are those of other programs that make the same events.
    let known = [
        ("0", "0", "0000000000000000:0"),
        ("1e6", "1000000", "0007a1ef70ff20e2:1000000"),
        ("2000000", "2000000", "000f46a44d76aedd:2000000"),
    ];
    for (events, number, result) in known {
        for parallelism in ["1", "2", "3"] {
            for by_hand in [false, true] {
                assert_eq!(checked(parallelism, events, number, by_hand), result);
            }
        }
    }
}

#[test]
fn odd_shares_are_complete() {
    for events in ["1", "7", "1025"] {
        let one = checked("1", events, events, true);
        for by_hand in [false, true] {
            assert_eq!(checked("3", events, events, by_hand), one);
        }
    }
}
