//! Wrong usage: code 2, and one line that says what is wanted.

use crate::harness::{
    End, FRAUD_DETECTION, PARALLEL_VEHICLE_COUNT, STREAM_FORK, STREAM_MERGE, STREAM_SPLIT,
    SYSTEM_USAGE, VEHICLE_COUNT, WORKLOAD, run,
};
use crate::own::OWN;
use crate::recovery::RECOVERY;

#[track_caller]
fn refused(program: &str, options: &str, parts: &[&str]) -> End {
    let options: Vec<&str> = options.split_whitespace().collect();
    let end = run(program, &options, "");
    end.has_code(2).has_error(parts);
    assert_eq!(end.stdout, "");
    end
}

#[test]
fn numbers_are_checked() {
    for options in ["--rate 0", "--rate -1", "--rate nan", "--rate inf", "--rate fast"] {
        refused(VEHICLE_COUNT, options, &["--rate", "a number above 0"]);
    }
    for options in ["--events -1", "--events 1.5", "--events many"] {
        refused(VEHICLE_COUNT, options, &["--events", "a whole number"]);
    }
    refused(VEHICLE_COUNT, "--seed x", &["--seed"]);
    refused(VEHICLE_COUNT, "--parallelism 0", &["--parallelism", "from 1"]);
    refused(PARALLEL_VEHICLE_COUNT, "--sources 0", &["--sources", "from 1"]);
    refused(PARALLEL_VEHICLE_COUNT, "--counters 0", &["--counters", "from 1"]);
    refused(PARALLEL_VEHICLE_COUNT, "--counters -2", &["--counters", "from 1"]);
    let many = "--counters 200 --grouping fields";
    refused(PARALLEL_VEHICLE_COUNT, many, &["vehicle-counter", "200", "128"]);
}

#[test]
fn an_input_is_one_of_three() {
    refused(VEHICLE_COUNT, "--connect h:1 --input f", &["--connect", "--input"]);
    refused(VEHICLE_COUNT, "--events 5 --input f", &["--events", "--input", "simulated"]);
    refused(VEHICLE_COUNT, "--events 5 --connect h:1", &["--events", "--connect", "simulated"]);
    refused(VEHICLE_COUNT, "--seed 5 --connect h:1", &["--seed", "--connect", "simulated"]);
    for address in ["h", "h:", ":1", "h:0", "h:65536", "::1:9990"] {
        refused(VEHICLE_COUNT, &format!("--connect {address}"), &["HOST:PORT is wanted"]);
    }
    refused(PARALLEL_VEHICLE_COUNT, "--connect h:65535", &["65535", "2 sources"]);
}

#[test]
fn what_this_version_cannot_do_is_said() {
    refused(VEHICLE_COUNT, "--web 127.0.0.1:7000", &["--web off"]);
    refused(VEHICLE_COUNT, "--web-control secret", &["no page"]);
    refused(VEHICLE_COUNT, "--output d", &["unexpected argument"]);
}

#[test]
fn checkpoints_have_an_interval_and_a_place() {
    for program in [VEHICLE_COUNT, PARALLEL_VEHICLE_COUNT, STREAM_FORK, SYSTEM_USAGE] {
        let ways = ["at-least-once-checkpoints or exactly-once"];
        refused(program, "--delivery at-least-once", &ways);
        refused(program, "--delivery sometimes", &["no such delivery", "at-most-once"]);
        for semantic in ["at-least-once-checkpoints", "exactly-once"] {
            let options = format!("--delivery {semantic}");
            refused(program, &options, &[semantic, "--data-dir"]);
            let options = format!("{options} --checkpoint-interval 1s --fresh");
            refused(program, &options, &["--data-dir"]);
        }
        refused(program, "--fresh", &["--fresh", "--data-dir"]);
        let without = ["--checkpoint-interval", "at-most-once takes no checkpoints"];
        refused(program, "--checkpoint-interval 1s", &without);
        for interval in ["0s", "0ms", "-1s", "1", "1.5s", "soon"] {
            let options = format!("--data-dir d --checkpoint-interval {interval}");
            let options = format!("{options} --delivery exactly-once");
            refused(program, &options, &["--checkpoint-interval", "40ms, 1s or 2m"]);
        }
    }
}

#[test]
fn an_input_that_passes_by_has_no_checkpoints() {
    for program in [VEHICLE_COUNT, PARALLEL_VEHICLE_COUNT, STREAM_FORK, SYSTEM_USAGE] {
        for semantic in ["at-least-once-checkpoints", "exactly-once"] {
            for input in ["--input -", "--connect localhost:9990"] {
                let options = format!("{input} --delivery {semantic} --data-dir nowhere");
                let ways = ["--input with a file", "--delivery at-most-once"];
                refused(program, &options, &[&[input, semantic][..], &ways].concat());
            }
        }
    }
    refused(RECOVERY[2], "--input - --delivery exactly-once", &["--input -", "a file"]);
    assert!(!std::path::Path::new("nowhere").exists());
}

#[test]
fn chaos_needs_a_component_of_the_job() {
    let names = ["sensor-reader", "vehicle-counter"];
    refused(VEHICLE_COUNT, "--chaos panic:windmill:1", &[&names[..], &["windmill"]].concat());
    refused(PARALLEL_VEHICLE_COUNT, "--chaos error:windmill:1", &names);
    for fault in ["boom", "panic:vehicle-counter", "panic:vehicle-counter:0", "error:x:1:never"] {
        refused(VEHICLE_COUNT, &format!("--chaos {fault}"), &["panic:COMPONENT:N"]);
    }
}

#[test]
fn the_graphs_of_chapter_4_take_the_same_options() {
    for program in [STREAM_FORK, STREAM_SPLIT, STREAM_MERGE, FRAUD_DETECTION] {
        refused(program, "--parallelism 0", &["--parallelism", "from 1"]);
        refused(program, "--rate 0", &["--rate", "a number above 0"]);
        refused(program, "--events 5 --input f", &["--events", "--input", "simulated"]);
        refused(program, "--events 5 --connect h:1", &["--events", "--connect", "simulated"]);
        refused(program, "--delivery exactly-once", &["exactly-once", "--data-dir"]);
        refused(program, "--web 127.0.0.1:7000", &["--web off"]);
        let end = run(program, &["--events", "0", "--web", "off", "--json"], "");
        end.has_code(0).is_quiet();
        assert_eq!(end.stdout, "");
        assert!(end.stderr.lines().all(|line| line.starts_with('{')), "{}", end.stderr);
    }
    let booths = ["booth/shuffle grouping", "booth clone/fields grouping"];
    refused(STREAM_FORK, "--chaos panic:windmill:1", &booths);
    refused(STREAM_SPLIT, "--chaos panic:windmill:1", &booths);
    refused(STREAM_MERGE, "--chaos panic:windmill:1", &["bridge1", "bridge2", "booth"]);
    let analyzers = ["average ticket analyzer", "proximity analyzer", "frequency analyzer"];
    refused(FRAUD_DETECTION, "--chaos panic:windmill:1", &analyzers);
    refused(SYSTEM_USAGE, "--chaos panic:usage_writer:1", &["transaction source", "usage totals"]);
    refused(FRAUD_DETECTION, "--parallelism 200", &["analyzer", "200", "128"]);
}

#[test]
fn two_sources_need_two_inputs() {
    refused(STREAM_MERGE, "--input -", &["can't be read by both", "--connect"]);
    refused(STREAM_MERGE, "--connect h:65535", &["65535", "2 sources"]);
    refused(FRAUD_DETECTION, "--connect h:65535 --sources 2", &["65535", "2 sources"]);
    refused(FRAUD_DETECTION, "--sources 0", &["--sources", "from 1"]);
}

#[test]
fn windows_are_for_a_later_version() {
    for window in ["fixed", "sliding", "session", "x"] {
        refused(FRAUD_DETECTION, &format!("--window {window}"), &["no windows", "leave it out"]);
    }
}

#[test]
fn a_database_is_for_a_later_version() {
    refused(SYSTEM_USAGE, "--sqlite rows.db", &["no SQL sink", "--output"]);
}

#[test]
fn logs_are_as_they_are_asked_for() {
    refused(VEHICLE_COUNT, "--log loud", &["--log", "loud"]);
    let log = |options: &[&str]| {
        let end = run(VEHICLE_COUNT, &[&["--events", "0"], options].concat(), "");
        end.has_code(0);
        assert_eq!(end.stdout, "");
        end.stderr
    };
    assert_eq!(log(&["--log", "off"]), "");
    assert_eq!(log(&["--log", "error", "--web", "off"]), "");
    let plain = log(&["--delivery", "at-most-once"]);
    assert!(plain.contains("job started") && !plain.contains('\u{1b}'), "{plain}");
    let json = log(&["--json"]);
    assert!(json.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{json}");
    assert!(json.contains(r#""message":"job ended""#), "{json}");
}

#[test]
fn workloads_are_checked() {
    for name in ["W3", "W9", "w1", "x"] {
        refused(WORKLOAD, &format!("{name} 1 10"), &[name, "there are W1, W2, W7 and W8"]);
    }
    for events in ["1.5", "-1", "nan", "inf", "1e16", "9007199254740993", "x"] {
        refused(WORKLOAD, &format!("W1 1 {events}"), &["a whole number from 0"]);
    }
    refused(WORKLOAD, "W1 0 10", &["from 1"]);
    refused(WORKLOAD, "W1 200 10", &["counter", "200", "128"]);
    refused(WORKLOAD, "W7 200 10", &["counter", "200", "128"]);
    refused(WORKLOAD, "W7 1 10 --checkpoint 1s --by-hand", &["--checkpoint", "--by-hand"]);
    refused(WORKLOAD, "W7 1 10 --checkpoint 0s", &["--checkpoint", "40ms, 1s or 2m"]);
    refused(WORKLOAD, "W1 1 10 --acks", &["unexpected argument"]);
}

#[test]
fn help_is_there() {
    let counts = [VEHICLE_COUNT, PARALLEL_VEHICLE_COUNT, WORKLOAD];
    let graphs = [STREAM_FORK, STREAM_SPLIT, STREAM_MERGE, FRAUD_DETECTION, SYSTEM_USAGE];
    let programs = counts.into_iter().chain(graphs).chain(OWN).chain(RECOVERY);
    for program in programs {
        let end = run(program, &["--help"], "");
        assert!(end.has_code(0).stdout.contains("Usage:"));
    }
}
