//! Input that cannot be read: code 1, and one line that says what and where.

use crate::harness::{PARALLEL_VEHICLE_COUNT, Program, VEHICLE_COUNT, accept, run, two_ports};
use std::io::Write;

#[test]
fn a_file_that_is_missing() {
    let end = run(VEHICLE_COUNT, &["--input", "no-such-file"], "");
    end.has_code(1).has_error(&[
        "vehicle-count",
        "sensor-reader[0]",
        "no-such-file",
        "No such file",
    ]);
}

#[test]
fn a_directory() {
    run(VEHICLE_COUNT, &["--input", "."], "").has_code(1).has_error(&["\".\"", "directory"]);
}

#[test]
fn lines_that_are_not_utf_8() {
    let mut program = Program::start(VEHICLE_COUNT, &["--input", "-", "--log", "warn"]);
    program.feed(b"car\nvan\nb\xff\xfes\ntruck\n");
    let end = program.end();
    let logged = &end.has_code(0).stderr;
    assert!(logged.contains("sensor-reader[0]") && logged.contains("line 3"), "{logged}");
    assert_eq!(end.total().values().sum::<u64>(), 3);
}

#[test]
fn a_line_that_is_too_long() {
    let input = format!("car\n{}\n", "x".repeat(2 << 20));
    let end = run(VEHICLE_COUNT, &["--input", "-"], &input);
    end.has_code(1).has_error(&["sensor-reader[0]", "line 2", "longer than 1048576 bytes"]);
}

#[test]
fn a_peer_that_sends_no_utf_8() {
    let (address, [listener, _]) = two_ports();
    let program = Program::start(VEHICLE_COUNT, &["--connect", &address]);
    let mut peer = accept(listener);
    peer.write_all(b"car\n\xff\nvan\n").unwrap();
    drop(peer);
    let end = program.end();
    let logged = &end.has_code(0).stderr;
    assert!(logged.contains("sensor-reader[0]") && logged.contains("UTF-8"), "{logged}");
    assert!(logged.contains("failed=1"), "{logged}");
    assert_eq!(end.total().values().sum::<u64>(), 2);
}

#[test]
fn a_peer_that_is_not_there_is_given_up() {
    let (address, listeners) = two_ports();
    drop(listeners);
    let end = run(PARALLEL_VEHICLE_COUNT, &["--connect", &address], "");
    end.has_code(1).has_error(&["sensor-reader[", "cannot connect", "refused"]);
    assert!(end.stderr.contains(&address), "{}", end.stderr);
}

#[test]
fn a_host_that_does_not_exist() {
    let end = run(VEHICLE_COUNT, &["--connect", "no-such-host.invalid:9990"], "");
    end.has_code(1).has_error(&["sensor-reader[0]", "no-such-host.invalid", "unknown"]);
}
