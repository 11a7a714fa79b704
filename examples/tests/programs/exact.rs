//! Failures on cue under checkpoints: every job goes back to its last checkpoint, and ends with the counts
//! of one that nothing has disturbed. What it prints meanwhile may come twice.

use crate::fraud::said;
use crate::graphs::Printed;
use crate::harness::{
    End, FRAUD_DETECTION, PARALLEL_VEHICLE_COUNT, STREAM_FORK, STREAM_MERGE, STREAM_SPLIT,
    SYSTEM_USAGE, TempDir, TempFile, VEHICLE_COUNT, naive_counts, run, vehicles,
};
use crate::usage::{payments, verdicts};
use std::collections::{BTreeMap, BTreeSet};

const VEHICLES: usize = 600;

/// Runs a job that fails once in the middle, in a directory of its own; checks that it says so.
#[track_caller]
fn disturbed(program: &str, options: &str, more: &[&str], chaos: &str) -> End {
    // Different tests may let the same component fail.
    let kept = TempDir::new(&format!("exact-{chaos}-{}", more.join("").len()));
    let common = ["--delivery", "exactly-once", "--checkpoint-interval", "20ms", "--data-dir"];
    let options: Vec<&str> = options.split_whitespace().collect();
    let rest = [&common[..], &[kept.path(), "--chaos", chaos], more, &options].concat();
    let end = run(program, &rest, "");
    assert!(!end.stderr.contains("panicked"), "{}", end.stderr);
    end.has_code(0).has_end_line(&["status=finished", "restarts=1"]);
    assert!(end.stderr.contains("going back to the last checkpoint"), "{}", end.stderr);
    end
}

#[test]
fn vehicles_are_counted_once() {
    let lines = vehicles(VEHICLES);
    let expected = naive_counts(lines.lines());
    let input = TempFile::new("exact-vehicles", &lines);
    let input = ["--input", input.path()];
    let at = ["panic:sensor-reader", "panic:vehicle-counter", "error:vehicle-counter"];
    for chaos in at.map(|at| format!("{at}:300")) {
        let end = disturbed(VEHICLE_COUNT, "--rate 1500", &input, &chaos);
        assert_eq!(end.total(), expected, "{chaos}");
    }
    for grouping in ["shuffle", "fields"] {
        let options = format!("--rate 1500 --sources 1 --counters 2 --grouping {grouping}");
        let chaos = "panic:vehicle-counter:150";
        let end = disturbed(PARALLEL_VEHICLE_COUNT, &options, &input, chaos);
        assert_eq!(end.total(), expected, "{grouping}");
    }
}

#[test]
fn booths_count_each_vehicle_once() {
    let lines = vehicles(VEHICLES);
    let (mut expected, mut clones) = (naive_counts(lines.lines()), BTreeMap::new());
    for (kind, count) in &expected {
        clones.insert(format!("{kind} clone"), *count);
    }
    let input = TempFile::new("exact-booths", &lines);
    let input = ["--input", input.path()];
    let totals = |program, chaos: &str, booths: &[&str]| {
        let printed = Printed::of(&disturbed(program, "--rate 1500", &input, chaos));
        booths.iter().map(|booth| printed.total(booth)).collect::<Vec<_>>()
    };
    let booths = ["booth/shuffle grouping", "booth clone/fields grouping"];
    for chaos in ["panic:bridge:300", "panic:booth/shuffle grouping:150"] {
        let both = [expected.clone(), expected.clone()];
        assert_eq!(totals(STREAM_FORK, chaos, &booths), both, "{chaos}");
    }
    let chaos = "panic:booth clone/fields grouping:20";
    assert_eq!(totals(STREAM_SPLIT, chaos, &booths), [expected.clone(), clones.clone()]);
    expected.extend(clones);
    assert_eq!(totals(STREAM_MERGE, "panic:bridge2:300", &["booth"]), [expected]);
}

#[test]
fn transactions_are_decided_as_they_would_have_been() {
    let decisions = |end: &End| {
        let said = said(&end.stdout).into_iter();
        let decided = said.map(|(id, said)| (id, BTreeSet::from_iter(said.decisions)));
        decided.collect::<BTreeMap<_, _>>()
    };
    let options = "--events 400 --seed 7 --rate 1000";
    let undisturbed = run(FRAUD_DETECTION, &options.split(' ').collect::<Vec<_>>(), "");
    let expected = decisions(&undisturbed);
    assert!(expected.len() == 400 && expected.values().all(|said| said.len() == 1));
    for component in ["transaction source", "average ticket analyzer", "score aggregator"] {
        let chaos = format!("panic:{component}:150");
        // A decision that comes twice is the same.
        let end = disturbed(FRAUD_DETECTION, options, &[], &chaos);
        assert!(decisions(&end) == expected, "{chaos}");
    }
}

#[test]
fn payments_are_counted_and_written_once() {
    let (text, totals, expected) = payments(1_000);
    let input = TempFile::new("exact-payments", &text);
    // An error of the source is no failure, but a line that cannot be read.
    let [source, analyzer, writer] =
        ["transaction source", "system usage analyzer", "usage writer"];
    for (kind, component) in [
        ("panic", source),
        ("panic", analyzer),
        ("error", analyzer),
        ("panic", writer),
        ("error", writer),
    ] {
        let output = TempDir::new("exact-output");
        let more = ["--input", input.path(), "--output", output.path()];
        let chaos = format!("{kind}:{component}:200");
        let end = disturbed(SYSTEM_USAGE, "--rate 4000", &more, &chaos);
        assert_eq!(end.stdout, totals, "{chaos}");
        assert!(verdicts(output.path()) == expected, "{chaos}");
    }
    // It has little to do, and that at the end.
    let end =
        disturbed(SYSTEM_USAGE, "--rate 4000", &["--input", input.path()], "panic:usage totals:9");
    assert_eq!(end.stdout, totals);
}

#[test]
fn what_fails_each_time_fails_the_job() {
    let (text, ..) = payments(1_000);
    let input = TempFile::new("exact-always", &text);
    let (kept, output) = (TempDir::new("always-kept"), TempDir::new("always"));
    let options = [
        ["--input", input.path(), "--output", output.path()],
        ["--delivery", "exactly-once", "--data-dir", kept.path()],
        ["--parallelism", "1", "--chaos", "panic:system usage analyzer:200:always"],
    ];
    let end = run(SYSTEM_USAGE, &options.concat(), "");
    end.has_code(1).has_error(&["system-usage", "system usage analyzer[0]", "a panic on cue"]);
    end.has_end_line(&["status=failed"]);
    assert_eq!(end.stdout, "");
    // What was there before the first checkpoint is not seen, and nothing comes after it.
    assert!(verdicts(output.path()).len() < 200);
}
