//! The pages of the book: each block of Rust in them is a doc test of this crate.
//!
//! `tests/book.rs` fails if a page of `docs/SUMMARY.md` is missing here.

macro_rules! pages {
    ($($name:ident: $page:literal,)*) => { $(
        #[doc = include_str!(concat!("../../docs/", $page))]
        pub mod $name {}
    )* };
}

pages! {
    introduction: "README.md",
    start: "start.md",
    events_and_jobs: "events-and-jobs.md",
    life_of_an_event: "life-of-an-event.md",
    backpressure: "backpressure.md",
    instances: "instances.md",
    groupings: "groupings.md",
    graphs: "graphs.md",
    closures: "closures.md",
    keyed_state: "keyed-state.md",
    two_inputs: "two-inputs.md",
    failures: "failures.md",
    supervision: "supervision.md",
    ends: "ends.md",
    sharing: "sharing.md",
    state: "state.md",
    checkpoints: "checkpoints.md",
    recovery: "recovery.md",
    delivery: "delivery.md",
    sinks_that_commit: "sinks-that-commit.md",
    upgrading: "upgrading.md",
    connectors: "connectors.md",
    write_a_source: "write-a-source.md",
    write_a_sink: "write-a-sink.md",
    write_a_grouping: "write-a-grouping.md",
    test_your_operator: "test-your-operator.md",
    semantics: "semantics.md",
    file_format: "file-format.md",
    book_map: "book-map.md",
    benchmarks: "benchmarks.md",
    glossary: "glossary.md",
}
