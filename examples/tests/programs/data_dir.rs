//! The directory in which a job keeps its checkpoints: whose it is, and what becomes of it.

use crate::harness::{End, Program, SYSTEM_USAGE, TempDir, TempFile, VEHICLE_COUNT, run};
use crate::usage::payments;
use std::fs;
use std::path::Path;

fn usage(input: &str, kept: &str, more: &[&str]) -> End {
    let options = ["--input", input, "--delivery", "exactly-once", "--data-dir", kept];
    run(SYSTEM_USAGE, &[&options, more].concat(), "")
}

#[track_caller]
fn refused(kept: &str, parts: &[&str]) {
    let input = TempFile::new("refused", "1,1\n");
    let end = usage(input.path(), kept, &[]);
    end.has_code(1).has_error(&[&["system-usage", kept], parts].concat());
    assert!(!end.stderr.contains("job started") && end.stdout.is_empty(), "{}", end.stderr);
}

#[test]
fn a_directory_is_that_of_one_job() {
    let kept = TempDir::new("of-vehicles");
    let options = ["--events", "9", "--rate", "1e6", "--delivery", "exactly-once", "--data-dir"];
    run(VEHICLE_COUNT, &[&options[..], &[kept.path()]].concat(), "").has_code(0);
    refused(kept.path(), &["belongs to the job \"vehicle-count\"", "take another directory"]);
}

#[test]
fn a_directory_is_that_of_one_process() {
    let kept = TempDir::new("locked");
    let options = ["--delivery", "exactly-once", "--data-dir", kept.path()];
    let program = Program::start(SYSTEM_USAGE, &options);
    program.logs("job started");
    refused(kept.path(), &["in use", "end the other process"]);
    program.kill();
}

#[test]
fn what_is_no_directory_is_refused() {
    let file = TempFile::new("no-directory", "");
    refused(file.path(), &["is no directory"]);
    refused(&format!("{}/kept", file.path()), &["cannot make the data directory"]);
    if cfg!(target_os = "linux") {
        refused("/proc/kept", &["cannot make the data directory"]);
    }
}

#[test]
fn a_directory_of_other_files_is_left_alone() {
    let kept = TempDir::new("foreign");
    fs::create_dir_all(kept.path()).unwrap();
    fs::write(Path::new(kept.path()).join("letter.txt"), "dear").unwrap();
    refused(kept.path(), &["is no data directory, and not empty"]);
    let names = fs::read_dir(kept.path()).unwrap().map(|file| file.unwrap().file_name());
    assert!(names.into_iter().all(|name| name == "letter.txt" || name == "lock"));
}

#[test]
fn a_fresh_start_moves_aside_what_was_there() {
    let (text, totals, _) = payments(100);
    let input = TempFile::new("fresh-lines", &text);
    let kept = TempDir::new("fresh");
    let starts = |more: &[&str], how: &str| {
        let end = usage(input.path(), kept.path(), more);
        assert_eq!(end.has_code(0).stdout, totals);
        assert!(end.stderr.contains(how), "{}", end.stderr);
    };
    let goes_on = "with which the job has finished";
    starts(&[], "restored=\"fresh\"");
    starts(&[], goes_on);
    for n in 1..=2 {
        starts(&["--fresh"], "restored=\"fresh\"");
        let archived = Path::new(kept.path()).join(format!("archive/{n}/IDENTITY"));
        assert!(archived.is_file(), "{}", archived.display());
    }
    starts(&[], goes_on);
}

#[cfg(unix)]
#[test]
fn a_job_that_was_stopped_goes_on() {
    let (text, totals, expected) = payments(4_000);
    let input = TempFile::new("stopped-lines", &text);
    let (kept, output) = (TempDir::new("stopped-kept"), TempDir::new("stopped-output"));
    let common = ["--input", input.path(), "--delivery", "exactly-once"];
    let places = ["--data-dir", kept.path(), "--output", output.path()];
    let options = [common, places].concat();
    let program = Program::start(SYSTEM_USAGE, &[&options[..], &["--rate", "400"]].concat());
    program.logs("a read failed");
    program.signal("TERM");
    let end = program.end();
    end.has_code(0).has_end_line(&["status=stopped"]);
    assert_eq!(end.stdout, "");

    let end = run(SYSTEM_USAGE, &options, "");
    assert!(end.stderr.contains("restored=\"from checkpoint "), "{}", end.stderr);
    assert_eq!(end.has_code(0).stdout, totals);
    assert!(crate::usage::verdicts(output.path()) == expected);
}

#[test]
fn an_older_checkpoint_is_gone_on_from_when_it_is_asked_for() {
    let (input, kept) = (TempFile::new("older", &payments(200).0), TempDir::new("older"));
    let first = usage(input.path(), kept.path(), &["--checkpoint-interval", "1ms"]);
    first.has_code(0);
    let refused = usage(input.path(), kept.path(), &["--restore-from", "999999"]);
    refused.has_code(1).has_error(&["there is no checkpoint 999999; good "]);
    assert!(refused.stdout.is_empty());
    // The last of those that are listed is the newest, with which the job has finished. There are
    // as many as the disk allowed: one, too.
    let listed = refused.stderr.split("; good ").nth(1).unwrap();
    let newest = listed.split(':').next().unwrap().rsplit(' ').next().unwrap();
    let again = usage(input.path(), kept.path(), &["--restore-from", newest]);
    assert_eq!(again.has_code(0).stdout, first.stdout);
}

/// Stopped in the middle of a file, a job does not go on with anything else.
#[cfg(unix)]
#[test]
fn another_input_is_refused() {
    let (text, ..) = payments(4_000);
    let input = TempFile::new("first-input", &text);
    let kept = TempDir::new("other-input");
    let durable = ["--delivery", "exactly-once", "--data-dir", kept.path()];
    let first = ["--input", input.path(), "--rate", "400"];
    let program = Program::start(SYSTEM_USAGE, &[&durable[..], &first].concat());
    program.logs("a read failed");
    program.signal("TERM");
    program.end().has_code(0).has_end_line(&["status=stopped"]);

    // Nowhere in it does a line begin but at its beginning.
    let other = TempFile::new("other-input", &"1".repeat(100_000));
    let short = TempFile::new("short-input", "1,1\n");
    for (other, parts) in [
        (&["--events", "9"], ["a simulated input", "it was a file", "--fresh"]),
        (&["--input", other.path()], [other.path(), "no line begins there", "begin anew"]),
        (&["--input", short.path()], [short.path(), "it has only 4", "begin anew"]),
    ] {
        let end = run(SYSTEM_USAGE, &[&durable[..], other].concat(), "");
        end.has_code(1).has_error(&parts);
        assert_eq!(end.stdout, "");
    }
    run(SYSTEM_USAGE, &[&durable[..], &["--input", input.path()]].concat(), "").has_code(0);
}

#[test]
fn an_output_that_is_no_directory_is_named() {
    let (input, output) =
        (TempFile::new("no-output-lines", "1,1\n"), TempFile::new("no-output", ""));
    let kept = TempDir::new("no-output-kept");
    let end = usage(input.path(), kept.path(), &["--output", output.path()]);
    end.has_code(1).has_error(&["usage writer", "cannot make the directory", output.path()]);
}
