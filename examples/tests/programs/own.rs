//! The programs that show one thing each print what their first lines say.

use crate::harness::run;

const OWN_SOURCE: &str = env!("CARGO_BIN_EXE_own-source");
const OWN_SINK: &str = env!("CARGO_BIN_EXE_own-sink");
const OWN_GROUPING: &str = env!("CARGO_BIN_EXE_own-grouping");
const INSIDE_TOKIO: &str = env!("CARGO_BIN_EXE_inside-tokio");
const SEVERAL_JOBS: &str = env!("CARGO_BIN_EXE_several-jobs");

pub(crate) const OWN: [&str; 5] = [OWN_SOURCE, OWN_SINK, OWN_GROUPING, INSIDE_TOKIO, SEVERAL_JOBS];

#[track_caller]
fn prints(program: &str, options: &[&str], expected: &str) {
    let end = run(program, &[options, &["--log", "warn"]].concat(), "");
    assert_eq!(end.has_code(0).stdout, expected);
    assert!(!end.stderr.contains("panicked"), "{}", end.stderr);
}

#[test]
fn a_source_goes_on_at_its_position() {
    prints(
        OWN_SOURCE,
        &[],
        "orders 1 2 3 4 5 6 7 8 9\npages asked for: 0 1 1 2 2 3\nfailed reads 1, restarts 1\n",
    );
}

/// Where the parcels are cut is not said.
#[test]
fn a_sink_writes_all_that_it_gathered() {
    let end = run(OWN_SINK, &[], "");
    let lines: Vec<&str> = end.has_code(0).is_quiet().stdout.lines().collect();
    let [parcels @ .., "written 10"] = &lines[..] else { panic!("{}", end.stdout) };
    let mut orders = Vec::new();
    for parcel in parcels {
        let (head, content) = parcel.split_once(": ").unwrap();
        let before = orders.len();
        orders.extend(content.split(' ').map(|order| order.parse::<u64>().unwrap()));
        let size = orders.len() - before;
        assert_eq!(head, format!("parcel of {size}"));
        assert!((1..=4).contains(&size), "{parcel}");
    }
    assert_eq!(orders, (1..=10).collect::<Vec<_>>());
}

#[test]
fn a_grouping_keeps_one_instance_for_what_is_large() {
    let three = "packer 0: 5 7 9\npacker 1: 6 8\npacker 2: 1200 4000\n";
    prints(OWN_GROUPING, &[], three);
    prints(OWN_GROUPING, &["2"], "packer 0: 5 6 7 8 9\npacker 1: 1200 4000\n");
    prints(OWN_GROUPING, &["1"], "packer 0: 5 1200 6 7 4000 8 9\n");
    run(OWN_GROUPING, &["0"], "").has_code(2).has_error(&["from 1"]);
}

#[test]
fn a_job_does_not_block_the_program_that_waits_for_it() {
    prints(
        INSIDE_TOKIO,
        &[],
        "20 readings have come\nthe job has ended: Drained\n\
         the other task was never held up: true\n",
    );
}

#[test]
fn a_job_that_fails_leaves_the_others_alone() {
    prints(
        SEVERAL_JOBS,
        &[],
        "north: finished, 3 readings\n\
         south: failed, no number: \"1O\"\n\
         east: finished, 3 readings\n",
    );
}
