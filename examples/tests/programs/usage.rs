//! The usage job: its totals and its files depend on its input alone.

use crate::harness::{End, Program, SYSTEM_USAGE, TempDir, TempFile, accept, run, send, two_ports};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

/// The verdicts in the files of a directory, by line; there is no other file, and no line twice.
pub(crate) fn verdicts(directory: &str) -> BTreeMap<u64, Value> {
    let mut verdicts = BTreeMap::new();
    for file in fs::read_dir(directory).expect("it was made") {
        let file = file.expect("it is there").path();
        assert_eq!(file.extension().and_then(|e| e.to_str()), Some("ndjson"), "{file:?}");
        for line in fs::read_to_string(&file).expect("it is a file").lines() {
            let verdict: Value = serde_json::from_str(line).expect("it is JSON");
            let number = verdict["line"].as_u64().expect("it has a number");
            assert_eq!(verdicts.insert(number, verdict), None, "line {number}");
        }
    }
    verdicts
}

/// `n` lines, of which some are no payments, with what is to be printed and written of them.
pub(crate) fn payments(n: u64) -> (String, String, BTreeMap<u64, Value>) {
    let (mut text, mut verdicts) = (String::new(), BTreeMap::new());
    let (mut fraud, mut sum) = (0, 0);
    for line in 1..=n {
        let cents = line * line * 7_919 % 100_000;
        let amount = format!("{}.{:02}", cents / 100, cents % 100);
        match line % 10 {
            0 => text += "abc\n",
            5 => text += &format!("{amount}5,3\n"),
            7 => text += &format!("{amount},3\r\n"),
            _ => text += &format!("{amount},3\n"),
        }
        if !line.is_multiple_of(5) {
            let is_fraud = cents >= 80_000;
            fraud += u64::from(is_fraud);
            sum += cents;
            verdicts.insert(line, json!({"line": line, "cents": cents, "fraud": is_fraud}));
        }
    }
    let transactions = verdicts.len();
    let totals = format!("{{\"transactions\":{transactions},\"fraud\":{fraud},\"cents\":{sum}}}\n");
    (text, totals, verdicts)
}

#[test]
fn totals_and_verdicts_do_not_depend_on_the_parallelism() {
    let (text, totals, expected) = payments(1_000);
    let input = TempFile::new("usage", &text);
    for parallelism in ["1", "2", "3"] {
        let output = TempDir::new(parallelism);
        let options =
            ["--input", input.path(), "--parallelism", parallelism, "--output", output.path()];
        let end = run(SYSTEM_USAGE, &options, "");
        end.has_code(0).has_end_line(&["events_in=1000", "failed=200", "dropped=0"]);
        assert_eq!(end.stdout, totals);
        assert_eq!(verdicts(output.path()), expected);
    }
}

#[test]
fn an_object_has_its_fields_in_order() {
    let output = TempDir::new("fields");
    let options = ["--input", "-", "--parallelism", "1", "--output", output.path()];
    let end = run(SYSTEM_USAGE, &options, "42.00,3\nx\n800,1\n-5,2");
    assert_eq!(end.has_code(0).stdout, "{\"transactions\":3,\"fraud\":1,\"cents\":83700}\n");
    assert!(end.stderr.contains("line 2 needs to be in this format: {amount},{merchandiseId}"));
    let file = fs::read_dir(output.path()).unwrap().next().unwrap().unwrap().path();
    let expected = "{\"line\":1,\"cents\":4200,\"fraud\":false}\n\
                    {\"line\":3,\"cents\":80000,\"fraud\":true}\n\
                    {\"line\":4,\"cents\":-500,\"fraud\":false}\n";
    assert_eq!(fs::read_to_string(file).unwrap(), expected);
}

#[test]
fn what_is_not_text_has_a_number_too() {
    let output = TempDir::new("bytes");
    let mut program = Program::start(SYSTEM_USAGE, &["--input", "-", "--output", output.path()]);
    program.feed(b"1,1\n\xff,1\n\n3,1\n");
    let end = program.end();
    assert_eq!(end.has_code(0).stdout, "{\"transactions\":2,\"fraud\":0,\"cents\":400}\n");
    assert_eq!(verdicts(output.path()).into_keys().collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn an_input_without_payments_comes_to_nothing() {
    let nothing = "{\"transactions\":0,\"fraud\":0,\"cents\":0}\n";
    for text in ["", "\n", "abc"] {
        let output = TempDir::new("nothing");
        let end = run(SYSTEM_USAGE, &["--input", "-", "--output", output.path()], text);
        assert_eq!(end.has_code(0).stdout, nothing, "{text:?}");
        assert!(verdicts(output.path()).is_empty());
    }
}

#[test]
fn a_peer_is_an_input() {
    let (address, [listener, _second]) = two_ports();
    let program = Program::start(SYSTEM_USAGE, &["--connect", &address]);
    let peer = accept(listener);
    send(&peer, "799.99,1\n800.00,1\n");
    drop(peer);
    let end = program.end();
    assert_eq!(end.has_code(0).stdout, "{\"transactions\":2,\"fraud\":1,\"cents\":159999}\n");
}

fn simulated(options: &[&str]) -> End {
    let common = ["--events", "2000", "--rate", "1e6"];
    let end = run(SYSTEM_USAGE, &[&common[..], options].concat(), "");
    end.has_code(0);
    end
}

#[test]
fn a_seed_decides_and_nothing_else() {
    let [one, same, other] = ["1", "1", "2"].map(|seed| simulated(&["--seed", seed]).stdout);
    assert_eq!(one, same);
    assert_ne!(one, other);
    assert_eq!(one, simulated(&["--parallelism", "5"]).stdout);
    assert!(one.starts_with("{\"transactions\":2000,\"fraud\":"), "{one}");
}

#[test]
fn a_source_that_is_built_anew_goes_on_with_the_numbers() {
    let (text, totals, expected) = payments(100);
    let input = TempFile::new("anew-lines", &text);
    let output = TempDir::new("anew");
    let chaos = ["--chaos", "panic:transaction source:42"];
    let options = [&["--input", input.path(), "--output", output.path()][..], &chaos].concat();
    let end = run(SYSTEM_USAGE, &options, "");
    end.has_code(0).has_end_line(&["restarts=1"]);
    assert_eq!(end.stdout, totals);
    assert_eq!(verdicts(output.path()), expected);
}

#[test]
fn an_error_loses_one_payment_where_it_comes_up() {
    let whole = simulated(&[]).stdout;
    for component in ["transaction source", "system usage analyzer"] {
        let end = simulated(&["--chaos", &format!("error:{component}:7")]);
        end.has_end_line(&["failed=1"]);
        assert!(end.stdout.starts_with("{\"transactions\":1999,"), "{}", end.stdout);
    }
    let output = TempDir::new("writer");
    let end = simulated(&["--output", output.path(), "--chaos", "error:usage writer:7"]);
    end.has_end_line(&["failed=1"]);
    assert_eq!(end.stdout, whole);
    assert_eq!(verdicts(output.path()).len(), 1_999);
}

#[cfg(unix)]
#[test]
fn a_job_that_is_drained_prints_what_it_came_to() {
    let output = TempDir::new("drained");
    let program = Program::start(SYSTEM_USAGE, &["--rate", "1e4", "--output", output.path()]);
    program.logs("job started");
    program.signal("TERM");
    let end = program.end();
    end.has_code(0).has_end_line(&["status=drained"]);
    let totals: Value = serde_json::from_str(&end.stdout).unwrap();
    assert_eq!(totals["transactions"], verdicts(output.path()).len());
}

#[test]
fn a_job_that_takes_checkpoints_comes_to_the_same() {
    let whole = simulated(&[]).stdout;
    for semantic in ["at-least-once-checkpoints", "exactly-once"] {
        let kept = TempDir::new(semantic);
        let options =
            ["--delivery", semantic, "--data-dir", kept.path(), "--checkpoint-interval", "40ms"];
        let end = simulated(&options);
        assert!(end.stderr.contains(&format!("delivery={semantic}")), "{}", end.stderr);
        assert_eq!(end.stdout, whole);
    }
}

#[cfg(unix)]
#[test]
fn a_job_that_takes_checkpoints_is_stopped_by_a_signal() {
    let kept = TempDir::new("stopped");
    let options = ["--rate", "1e4", "--delivery", "exactly-once", "--data-dir", kept.path()];
    let program = Program::start(SYSTEM_USAGE, &options);
    program.logs("job started");
    program.signal("TERM");
    let end = program.end();
    end.has_code(0).has_end_line(&["status=stopped"]);
    assert!(end.stderr.contains("the next start goes on from here"), "{}", end.stderr);
    assert_eq!(end.stdout, "", "it has not come to its end");
}
