//! The graphs of chapter 4: fork, split and merge. Each line is sent when the blocks of the one before
//! are there, and the blocks are checked byte for byte; which instance of a booth prints is checked by
//! what has to hold of it.

use crate::harness::{
    Counts, End, Program, STREAM_FORK, STREAM_MERGE, STREAM_SPLIT, TempFile, accept, naive_counts,
    run, send, two_ports, vehicles,
};
use std::collections::BTreeMap;

const TURNS: &str = "booth/shuffle grouping";
const TYPES: &str = "booth clone/fields grouping";
const LINES: [&str; 5] = ["car", "truck", "car", "van", "car"];

/// What was printed, by the name of who did.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    /// The vehicles that passed each bridge.
    passed: BTreeMap<String, Vec<String>>,
    /// Each booth's blocks: instance and counts.
    counted: BTreeMap<String, Vec<(usize, Counts)>>,
}

impl Printed {
    #[track_caller]
    fn read(text: &str) -> Self {
        let mut this = Self::default();
        let mut booth = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.is_empty() {
                let passed = lines.next().expect("a blank line begins a block");
                let parts = passed.strip_prefix("bridge (").and_then(|l| l.split_once(") :: "));
                let (name, rest) = parts.unwrap_or_else(|| panic!("{passed:?}"));
                let vehicle = rest.strip_prefix("instance 0 --> ").expect("there is one instance");
                this.passed.entry(name.to_owned()).or_default().push(vehicle.to_owned());
            } else if let Some(head) = line.strip_prefix("toll booth (") {
                let (name, rest) = head.split_once(") :: instance ").expect("it has a number");
                let instance = rest.strip_suffix(" -->").expect("no space is behind the arrow");
                name.clone_into(&mut booth);
                let blocks = this.counted.entry(booth.clone()).or_default();
                blocks.push((instance.parse().expect("a number"), Counts::new()));
            } else {
                let (kind, count) = line[2..].rsplit_once(": ").expect("it is a count");
                assert!(line.starts_with("  "), "{line:?}");
                let blocks = this.counted.get_mut(&booth).expect("a block has a head");
                let (_, counts) = blocks.last_mut().expect("a block has a head");
                counts.insert(kind.to_owned(), count.parse().expect("a number"));
            }
        }
        this
    }

    #[track_caller]
    pub(crate) fn of(end: &End) -> Self {
        Self::read(&end.stdout)
    }

    /// Which instances of a booth printed, in order.
    fn instances(&self, booth: &str) -> Vec<usize> {
        self.counted[booth].iter().map(|(instance, _)| *instance).collect()
    }

    /// The blocks of a booth are those of somebody who counts `kinds` one after the other.
    #[track_caller]
    fn counts(&self, booth: &str, kinds: &[String]) {
        let mut counts = BTreeMap::<usize, Counts>::new();
        assert_eq!(self.counted[booth].len(), kinds.len());
        for ((instance, printed), kind) in self.counted[booth].iter().zip(kinds) {
            let counts = counts.entry(*instance).or_default();
            *counts.entry(kind.clone()).or_default() += 1;
            assert_eq!(printed, counts, "{booth}[{instance}]");
        }
    }

    /// All of a kind are counted by one instance.
    #[track_caller]
    fn counts_each_kind_in_one_place(&self, booth: &str) {
        let mut home = BTreeMap::new();
        for (instance, counts) in &self.counted[booth] {
            for kind in counts.keys() {
                assert_eq!(home.entry(kind).or_insert(instance), &instance, "{kind}");
            }
        }
    }

    /// What all instances of a booth have counted in the end.
    pub(crate) fn total(&self, booth: &str) -> Counts {
        let last: BTreeMap<_, _> = self.counted[booth].iter().cloned().collect();
        let mut total = Counts::new();
        for (kind, count) in last.into_values().flatten() {
            *total.entry(kind).or_default() += count;
        }
        total
    }
}

fn owned(kinds: &[&str], behind: &str) -> Vec<String> {
    kinds.iter().map(|kind| format!("{kind}{behind}")).collect()
}

/// A booth's block without the number of its instance, which is one digit.
fn block(booth: &str, counts: &Counts) -> usize {
    let lines: usize = counts.iter().map(|(kind, n)| format!("  {kind}: {n}\n").len()).sum();
    format!("toll booth ({booth}) :: instance 0 -->\n").len() + lines
}

/// Sends the lines one by one to a program with one bridge and two booths of two instances.
fn two_booths(program: &str, behind: &str) -> Printed {
    let (address, [listener, _]) = two_ports();
    let mut program = Program::start(program, &["--connect", &address]);
    let peer = accept(listener);
    for kind in LINES {
        send(&peer, &format!("{kind}\n"));
        let head = format!("\nbridge (bridge) :: instance 0 --> {kind}\n");
        let mut text = program.prints_until("\n  ");
        while Printed::read(&text).counted.len() < 2 {
            text += &program.prints_until("\n  ");
        }
        // Both booths have printed one block, each in one write, and nothing else.
        let blocks = text.strip_prefix(&head).unwrap_or_else(|| panic!("{text:?}"));
        let printed = Printed::read(blocks);
        let sizes = printed.counted.iter().map(|(booth, blocks)| block(booth, &blocks[0].1));
        assert_eq!(sizes.sum::<usize>(), blocks.len(), "{text:?}");
    }
    drop(peer);
    let end = program.end();
    end.has_code(0).is_quiet().has_end_line(&["status=finished", "events_out=10", "dropped=0"]);
    let printed = Printed::of(&end);
    assert_eq!(printed.passed["bridge"], LINES);
    printed.counts(TURNS, &owned(&LINES, ""));
    printed.counts(TYPES, &owned(&LINES, behind));
    let turns = printed.instances(TURNS);
    assert!(turns.windows(2).all(|two| two[0] != two[1]), "{turns:?}");
    printed.counts_each_kind_in_one_place(TYPES);
    printed
}

#[test]
fn fork_gives_each_booth_every_vehicle() {
    two_booths(STREAM_FORK, "");
}

#[test]
fn split_gives_the_clones_to_the_booth_that_reads_the_channel() {
    two_booths(STREAM_SPLIT, " clone");
}

/// The six lines of the book; a booth of one instance, so that the blocks are known to the byte.
#[test]
fn merge_counts_the_vehicles_of_one_bridge_and_the_clones_of_the_other() {
    let (address, [first, second]) = two_ports();
    let options = ["--connect", &address, "--parallelism", "1"];
    let mut program = Program::start(STREAM_MERGE, &options);
    let peers = [accept(first), accept(second)];

    let mut check = |peer: usize, kind: &str, counts: &str| {
        send(&peers[peer], &format!("{kind}\r\n"));
        program.prints(&format!(
            "\nbridge (bridge{}) :: instance 0 --> {kind}\n\
             toll booth (booth) :: instance 0 -->\n{counts}",
            peer + 1
        ));
    };
    check(0, "car", "  car: 1\n");
    check(1, "truck", "  car: 1\n  truck clone: 1\n");
    check(0, "car", "  car: 2\n  truck clone: 1\n");
    check(1, "van", "  car: 2\n  truck clone: 1\n  van clone: 1\n");
    check(0, "bus", "  bus: 1\n  car: 2\n  truck clone: 1\n  van clone: 1\n");
    check(1, "car", "  bus: 1\n  car: 2\n  car clone: 1\n  truck clone: 1\n  van clone: 1\n");

    drop(peers);
    program.end().has_code(0).is_quiet().has_end_line(&["status=finished", "events_out=6"]);
}

#[test]
fn a_bridge_whose_peer_leaves_costs_the_other_nothing() {
    for leaves in [0, 1] {
        let (address, [first, second]) = two_ports();
        let program = Program::start(STREAM_MERGE, &["--connect", &address]);
        let mut peers = [Some(accept(first)), Some(accept(second))];
        drop(peers[leaves].take());
        let stays = peers[1 - leaves].take().unwrap();
        send(&stays, &"car\n".repeat(100));
        drop(stays);
        let end = program.end();
        end.has_code(0).is_quiet().has_end_line(&["events_out=100", "dropped=0"]);
        let kind = ["car clone", "car"][leaves];
        assert_eq!(Printed::of(&end).total("booth"), Counts::from([(kind.to_owned(), 100)]));
    }
}

#[test]
fn merge_reads_one_file_with_both_bridges() {
    let lines = vehicles(1_000);
    let file = TempFile::new("both-bridges", &lines);
    let end = run(STREAM_MERGE, &["--input", file.path(), "--parallelism", "3"], "");
    end.has_code(0).is_quiet().has_end_line(&["events_out=2000", "failed=0", "dropped=0"]);
    let printed = Printed::of(&end);
    assert_eq!(printed.passed["bridge1"], printed.passed["bridge2"]);
    let mut expected = naive_counts(lines.lines());
    let clones = expected.iter().map(|(kind, n)| (format!("{kind} clone"), *n));
    let clones: Counts = clones.collect();
    expected.extend(clones);
    assert_eq!(printed.total("booth"), expected);
    printed.counts_each_kind_in_one_place("booth");
}

/// Neither bridge takes lines away from the other without a word.
#[cfg(unix)]
#[test]
fn merge_refuses_a_pipe_that_both_bridges_would_read() {
    for input in ["-", "/dev/stdin"] {
        let end = run(STREAM_MERGE, &["--input", input], "car\nvan\n");
        end.has_code(2).has_error(&[input, "can't be read by both", "--connect"]);
        assert_eq!(end.stdout, "");
    }
    let empty = run(STREAM_MERGE, &["--input", "/dev/null"], "");
    empty.has_code(0).is_quiet().has_end_line(&["status=finished", "events_in=0"]);
    run(STREAM_MERGE, &["--input", "no-such-file"], "").has_code(1).has_error(&["no-such-file"]);
}

#[test]
fn merge_simulates_half_of_the_vehicles_on_each_bridge() {
    let passed = |events: &str, seed: &str| {
        let options = ["--events", events, "--seed", seed, "--rate", "1e6"];
        let end = run(STREAM_MERGE, &options, "");
        end.has_code(0).is_quiet();
        let mut passed = Printed::of(&end).passed;
        ["bridge1", "bridge2"].map(|bridge| passed.remove(bridge).unwrap_or_default())
    };
    let [first, second] = passed("41", "7");
    assert_eq!((first.len(), second.len()), (21, 20));
    assert_ne!(first[..20], second);
    assert_eq!(passed("41", "7"), [first, second]);
    assert_ne!(passed("41", "8"), passed("41", "7"));
    let [first, second] = passed("1", "7");
    assert_eq!((first.len(), second.len()), (1, 0));
}

#[test]
fn nothing_is_lost_and_nothing_is_counted_twice() {
    let lines = vehicles(10_000);
    let kinds: Vec<&str> = lines.lines().collect();
    for (program, behind) in [(STREAM_FORK, ""), (STREAM_SPLIT, " clone")] {
        let end = run(program, &["--input", "-", "--parallelism", "3"], &lines);
        end.has_code(0).is_quiet().has_end_line(&["events_out=20000", "failed=0", "dropped=0"]);
        let printed = Printed::of(&end);
        assert_eq!(printed.passed["bridge"], kinds);
        assert_eq!(printed.total(TURNS), naive_counts(lines.lines()));
        let clones = owned(&kinds, behind);
        assert_eq!(printed.total(TYPES), naive_counts(clones.iter().map(String::as_str)));
        printed.counts_each_kind_in_one_place(TYPES);
        let mut shares = [0; 3];
        printed.instances(TURNS).into_iter().for_each(|instance| shares[instance] += 1);
        shares.sort_unstable();
        assert_eq!(shares, [3_333, 3_333, 3_334]);
    }
}

#[test]
fn a_failure_on_cue_is_that_of_one_component() {
    let cars = "car\n".repeat(10);
    let one = |chaos: &str| {
        let options = ["--input", "-", "--parallelism", "1", "--chaos", chaos];
        let end = run(STREAM_SPLIT, &options, &cars);
        end.has_code(0);
        let printed = Printed::of(&end);
        (printed.total(TURNS)["car"], printed.total(TYPES)["car clone"])
    };
    assert_eq!(one("error:booth/shuffle grouping:3"), (9, 10));
    assert_eq!(one("error:booth clone/fields grouping:3"), (10, 9));
    // With a vehicle its clone is lost, or comes again.
    assert_eq!(one("error:bridge:3"), (9, 9));
    assert_eq!(one("panic:bridge:3"), (10, 10));

    let file = TempFile::new("ten-cars", &cars);
    let options = ["--input", file.path(), "--chaos", "error:bridge2:3"];
    let printed = Printed::of(run(STREAM_MERGE, &options, "").has_code(0));
    let total = printed.total("booth");
    assert_eq!((total["car"], total["car clone"]), (10, 9));
}

#[test]
fn a_booth_that_panics_always_fails_the_job() {
    let chaos = ["--chaos", "panic:booth:1:always", "--parallelism", "1"];
    let end = run(STREAM_MERGE, &[&["--events", "30", "--rate", "1e6"], &chaos[..]].concat(), "");
    end.has_code(1).has_error(&["stream-merge", "booth[0]", "a panic on cue", "used up"]);
}

#[cfg(unix)]
#[test]
fn a_signal_drains_and_every_vehicle_is_counted() {
    for program in [STREAM_FORK, STREAM_SPLIT, STREAM_MERGE] {
        for signal in ["TERM", "INT"] {
            let program = Program::start(program, &["--rate", "1000"]);
            program.prints_something();
            program.signal(signal);
            let end = program.end();
            end.has_code(0).is_quiet().has_end_line(&["status=drained", "dropped=0"]);
            let printed = Printed::of(&end);
            let passed: usize = printed.passed.values().map(Vec::len).sum();
            for booth in printed.counted.keys() {
                assert_eq!(printed.total(booth).values().sum::<u64>(), passed as u64);
            }
        }
    }
}
