//! Ends that are no failure: nobody listens any more, or somebody asks.

use crate::harness::{
    FRAUD_DETECTION, PARALLEL_VEHICLE_COUNT, Program, STREAM_FORK, STREAM_MERGE, STREAM_SPLIT,
    VEHICLE_COUNT,
};

#[test]
fn a_broken_pipe_ends_quietly() {
    let counts = [VEHICLE_COUNT, PARALLEL_VEHICLE_COUNT];
    let graphs = [STREAM_FORK, STREAM_SPLIT, STREAM_MERGE, FRAUD_DETECTION];
    for program in counts.into_iter().chain(graphs) {
        let mut program = Program::start_unread(program, &["--rate", "10000"]);
        program.read_one_byte();
        program.close_stdout();
        program.end().has_code(0).is_quiet();
    }
}

#[cfg(unix)]
mod signals {
    use super::*;
    use crate::harness::{accept, two_ports};
    use std::fs;

    #[test]
    fn the_first_one_drains() {
        for signal in ["TERM", "INT"] {
            let program = Program::start(VEHICLE_COUNT, &["--rate", "1000"]);
            program.prints_something();
            program.signal(signal);
            let end = program.end();
            end.has_code(0).is_quiet().has_end_line(&["status=drained", "dropped=0"]);
            // What was read was counted.
            let vehicles = end.blocks().len() - end.counted().len();
            assert_eq!(end.total().values().sum::<u64>(), vehicles as u64);
        }
    }

    #[test]
    fn the_first_one_drains_also_while_there_is_nothing_to_read() {
        let (address, [listener, _]) = two_ports();
        let program = Program::start(VEHICLE_COUNT, &["--connect", &address]);
        let peer = accept(listener);
        program.signal("TERM");
        program.end().has_code(0).has_end_line(&["status=drained", "events_in=0"]);
        drop(peer);

        let program = Program::start(VEHICLE_COUNT, &["--input", "-"]);
        program.logs("vehicle-count: running");
        program.signal("TERM");
        program.end().has_code(0).has_end_line(&["status=drained", "events_in=0"]);
    }

    #[test]
    fn the_second_one_kills_also_where_output_is_stuck() {
        // The first line that is read makes more output than a pipe holds.
        let name = format!("streamwork-long-names-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let lines = (0..10).map(|_| "x".repeat(200_000) + "\n");
        fs::write(&path, lines.collect::<String>()).unwrap();
        let input = path.to_str().unwrap();

        for program in [VEHICLE_COUNT, STREAM_FORK, STREAM_SPLIT, STREAM_MERGE] {
            let mut program = Program::start_unread(program, &["--input", input]);
            program.read_one_byte();
            program.signal("TERM");
            program.logs("a second signal kills");
            program.signal("INT");
            program.end().has_code(130).has_end_line(&["status=killed"]);
        }
        fs::remove_file(&path).unwrap();
    }
}
