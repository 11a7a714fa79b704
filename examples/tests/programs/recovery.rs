//! The programs about state: what is kept, by whom, and what a failure costs.

use crate::harness::{End, TempDir, naive_counts, run};
use std::fs;

const MANUAL_STATE: &str = env!("CARGO_BIN_EXE_manual-state");
const LAMBDA: &str = env!("CARGO_BIN_EXE_lambda");
const WORD_COUNT_RECOVERY: &str = env!("CARGO_BIN_EXE_word-count-recovery");

pub(crate) const RECOVERY: [&str; 3] = [MANUAL_STATE, LAMBDA, WORD_COUNT_RECOVERY];

#[test]
fn a_counter_that_keeps_its_own_state_goes_on_with_it() {
    let once = "counter 0: car 2, van 3\ncounter 1: bus 1, truck 3\nrestarts 1, lost 1\n";
    assert_eq!(run(MANUAL_STATE, &[], "").has_code(0).stdout, once);

    let name = format!("streamwork-manual-state-kept-{}", std::process::id());
    let store = std::env::temp_dir().join(name);
    let options = ["--store", store.to_str().unwrap()];
    assert_eq!(run(MANUAL_STATE, &options, "").has_code(0).stdout, once);
    let twice = "counter 0: car 4, van 6\ncounter 1: bus 2, truck 6\nrestarts 1, lost 1\n";
    assert_eq!(run(MANUAL_STATE, &options, "").has_code(0).stdout, twice);
    let files = fs::read_dir(&store).unwrap().map(|file| file.unwrap().file_name());
    let mut files: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["counter-0.json", "counter-1.json"]);

    fs::write(store.join("counter-1.json"), "{").unwrap();
    let broken = store.join("counter-1.json");
    let parts = ["manual-state", "vehicle-counter[1]", broken.to_str().unwrap(), "holds no counts"];
    run(MANUAL_STATE, &options, "").has_code(1).has_error(&parts);
    let parts = ["cannot make", broken.to_str().unwrap()];
    run(MANUAL_STATE, &["--store", parts[1]], "").has_code(1).has_error(&parts);
    fs::remove_dir_all(store).unwrap();
}

/// The counts of a line that begins so.
#[track_caller]
fn line<'a>(end: &'a End, head: &str) -> &'a str {
    let mut lines = end.stdout.lines().filter_map(|line| line.strip_prefix(head));
    lines.next().unwrap_or_else(|| panic!("{head:?} is wanted in:\n{}", end.stdout))
}

#[test]
fn a_batch_and_what_came_after_it_are_everything() {
    let of = |options: &[&str]| {
        let end = run(LAMBDA, options, "");
        end.has_code(0).is_quiet();
        assert_eq!(line(&end, "merged query: "), line(&end, "full count: "));
        assert_eq!(end.stdout.lines().count(), 4);
        end
    };
    let end = of(&[]);
    let full = "bus 97, car 552, motorcycle 44, truck 198, van 109";
    assert_eq!(line(&end, "full count: "), full);
    let batch = "bus 62, car 321, motorcycle 26, truck 117, van 75";
    assert_eq!(line(&end, "batch up to 600: "), batch);
    let stream = "bus 35, car 231, motorcycle 18, truck 81, van 34";
    assert_eq!(line(&end, "stream after 600: "), stream);

    // Passages have the times 0 to 999.
    assert_eq!(line(&of(&["--until", "999"]), "stream after 999: "), "");
    assert_eq!(line(&of(&["--until", "1"]), "batch up to 1: ").matches(' ').count(), 1);
    assert_eq!(line(&of(&["--events", "0"]), "full count: "), "");
}

/// The text that the program counts.
const TEXT: &str = "row row row your boat\ngently down the stream\nmerrily merrily merrily merrily\n\
                    life is but a dream\nrow your boat down the stream\nand dream a merrily dream\n";

/// The counts that were printed: what follows the empty line.
#[track_caller]
fn counts(end: &End) -> &str {
    end.has_code(0).stdout.split_once("\n\n").expect("the tree comes first").1
}

#[track_caller]
fn counted(options: &[&str], stdin: &str) -> End {
    run(WORD_COUNT_RECOVERY, &[&["--rate", "1e6"], options].concat(), stdin)
}

fn naive(text: &str) -> String {
    let counts = naive_counts(text.split_whitespace());
    counts.iter().map(|(word, count)| format!("{word} {count}\n")).collect()
}

#[test]
fn an_instance_that_is_built_anew_has_lost_its_words_and_the_other_has_not() {
    let end = counted(&[], "");
    let text = "a 2\nand 1\nboat 1\nbut 1\ndown 1\ndream 3\ngently 1\nis 1\nlife 1\nmerrily 5\nrow 1\n\
                stream 2\nthe 1\nyour 2\n";
    assert_eq!(counts(&end), text);
    for part in [
        "word-count: finished\n├── reader (source)\n│   └── 0 ended       out 6\n",
        "│   ├── 0 ended       in 21  out 9  failed 1  restarts 1  last failure: panic at ",
        ": a panic on cue at event 6\n│   └── 1 ended       in 8  out 5\n",
    ] {
        assert!(end.stdout.contains(part), "{part:?} is wanted in:\n{}", end.stdout);
    }
    end.has_end_line(&["events_in=6", "failed=1", "restarts=1"]);

    // One word more or less before the failure is another count, so it is this one that was told.
    let other = counted(&["--chaos", "panic:word-counter:7"], "");
    assert_ne!(counts(&other), text);
}

#[test]
fn under_checkpoints_every_word_is_counted_once() {
    let kept = TempDir::new("words");
    for place in [&[][..], &["--data-dir", kept.path()]] {
        for semantic in ["exactly-once", "at-least-once-checkpoints"] {
            let fresh = if place.is_empty() { &[][..] } else { &["--fresh"] };
            let options = [&["--delivery", semantic], place, fresh].concat();
            let end = counted(&options, "");
            end.has_end_line(&["failed=1", "restarts=1"]);
            assert!(end.stderr.contains("going back to the last checkpoint"), "{}", end.stderr);
            assert!(end.stdout.contains("last failure: panic at "), "{}", end.stdout);
            // One source and no link that waits for another: also this is exact.
            assert_eq!(counts(&end), naive(TEXT));
        }
    }
    // It has finished, and says once more what it came to.
    let again = counted(&["--delivery", "exactly-once", "--data-dir", kept.path()], "");
    again.has_end_line(&["events_in=0"]);
    assert_eq!(counts(&again), naive(TEXT));
}

#[test]
fn without_a_failure_every_word_is_counted() {
    for parallelism in ["1", "2", "3"] {
        let options = ["--parallelism", parallelism, "--chaos", "panic:word-counter:1000"];
        assert_eq!(counts(&counted(&options, "")), naive(TEXT));
    }
    let own = "fish  one\nfish\ttwo\n\n";
    let options = ["--input", "-", "--chaos", "panic:reader:2"];
    assert_eq!(counts(&counted(&options, own)), naive(own));
}

#[test]
fn the_text_is_fixed() {
    let end = counted(&["--events", "5"], "");
    end.has_code(2).has_error(&["--events", "fixed"]);
}
