//! Failures on cue: what is lost, what is built anew, and what is said about it.

use crate::harness::{End, VEHICLE_COUNT, run};

/// The totals that the counter printed, one for each vehicle.
fn totals(end: &End) -> Vec<u64> {
    end.counted().iter().map(|(_, counts)| counts.values().sum()).collect()
}

fn hundred_cars(chaos: &str) -> End {
    run(VEHICLE_COUNT, &["--input", "-", "--chaos", chaos], &"car\n".repeat(100))
}

#[test]
fn an_error_of_the_counter_loses_one_event() {
    let end = hundred_cars("error:vehicle-counter:5");
    end.has_code(0).has_end_line(&["events_in=100", "events_out=99", "failed=1", "restarts=0"]);
    assert_eq!(totals(&end), (1..=99).collect::<Vec<u64>>());
    assert!(end.stderr.contains("vehicle-counter[0] at event 5"), "{}", end.stderr);
}

#[test]
fn a_panic_of_the_counter_loses_one_event_and_what_was_counted() {
    let end = hundred_cars("panic:vehicle-counter:5");
    end.has_code(0).is_quiet();
    end.has_end_line(&["events_in=100", "events_out=99", "failed=1", "restarts=1"]);
    assert_eq!(totals(&end), (1..=4).chain(1..=95).collect::<Vec<u64>>());
    assert!(end.stderr.contains("restarting in 10ms, fresh"), "{}", end.stderr);
    assert!(end.stderr.contains("restarts 1"), "the tree is missing:\n{}", end.stderr);
}

#[test]
fn a_counter_that_panics_always_fails_the_job() {
    let end = hundred_cars("panic:vehicle-counter:5:always");
    end.has_code(1).has_error(&[
        "vehicle-count",
        "vehicle-counter[0]",
        "a panic on cue",
        "used up",
    ]);
    end.has_end_line(&["status=failed", "restarts=10", "a panic on cue"]);
    assert_eq!(totals(&end), [1, 2, 3, 4]);
}

#[test]
fn an_error_of_the_reader_loses_one_event() {
    let end = hundred_cars("error:sensor-reader:5");
    end.has_code(0).has_end_line(&["events_in=100", "events_out=99", "failed=1", "restarts=0"]);
    assert_eq!(totals(&end), (1..=99).collect::<Vec<u64>>());
}

#[test]
fn a_panic_of_the_reader_loses_nothing() {
    let end = hundred_cars("panic:sensor-reader:5");
    end.has_code(0).is_quiet();
    end.has_end_line(&["events_in=100", "events_out=100", "restarts=1"]);
    assert_eq!(totals(&end), (1..=100).collect::<Vec<u64>>());
}

#[test]
fn a_reader_that_fails_always_fails_the_job() {
    let end = hundred_cars("error:sensor-reader:5:always");
    end.has_code(1).has_error(&["sensor-reader[0]", "an error on cue"]);
    assert_eq!(totals(&end), [1, 2, 3, 4]);
}

#[test]
fn a_simulated_input_goes_on_after_a_panic_too() {
    let options = ["--events", "100", "--rate", "1e6", "--chaos"];
    let undisturbed = run(VEHICLE_COUNT, &options[..4], "");
    let end = run(VEHICLE_COUNT, &[&options[..], &["panic:sensor-reader:50"]].concat(), "");
    end.has_code(0);
    assert_eq!(end.counted(), undisturbed.counted());
}
