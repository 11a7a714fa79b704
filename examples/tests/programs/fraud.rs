//! Fraud detection: what is printed for each transaction, what is said of a line that is none, and
//! what becomes of a score that is lost.

use crate::harness::{End, FRAUD_DETECTION, Program, accept, run, send, two_ports};
use std::collections::BTreeMap;

const FIRST_FORM: &str =
    "Input needs to be in this format: {amount},{merchandiseId}. For example: 42.00,3";
const BOTH_FORMS: &str = "Input needs to be in this format: {amount},{merchandiseId} or \
    {account},{epoch_ms},{amount},{lat},{lon}. \
    For example: 42.00,3 or 7,1767225600000,42.00,47.38,8.54";

/// What was said of each transaction, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    changes: Vec<String>,
    pub(crate) decisions: Vec<String>,
}

/// By transaction.
#[track_caller]
pub(crate) fn said(text: &str) -> BTreeMap<String, Said> {
    let mut said = BTreeMap::<String, Said>::new();
    for line in text.lines() {
        if let Some(change) = line.strip_prefix("Transaction score change: ") {
            let (id, total) = change.split_once(" ==> ").expect("it has an arrow");
            said.entry(id.to_owned()).or_default().changes.push(total.to_owned());
        } else if let Some(decision) = line.strip_prefix("Transaction decision: ") {
            let (id, decision) = decision.split_once(" ==> ").expect("it has an arrow");
            said.entry(id.to_owned()).or_default().decisions.push(decision.to_owned());
        } else {
            let is_known = line.is_empty() || line.starts_with("transaction (transaction source) ");
            assert!(is_known || line.starts_with("Input needs "), "{line:?}");
        }
    }
    said
}

/// The ids of the transactions, in the order in which they were read.
fn ids(end: &End) -> Vec<&str> {
    let transactions = end.stdout.split("[transaction:").skip(1);
    transactions.filter_map(|text| text.split(';').next()).collect()
}

/// Sends a line and checks all that is printed for it; gives the id and the time.
#[track_caller]
fn approved(
    program: &mut Program,
    peer: &std::net::TcpStream,
    line: &str,
    amount: &str,
    rest: &str,
) -> (String, String) {
    send(peer, line);
    let text = program.prints_until(" ==> approved [");
    let lines: Vec<&str> = text.lines().collect();
    let [blank, transaction, scores @ .., decision] = &lines[..] else { panic!("{text}") };
    assert_eq!(*blank, "");
    let id = transaction
        .strip_prefix("transaction (transaction source) :: instance 0 --> [transaction:")
        .and_then(|text| text.get(..36));
    let id = id.unwrap_or_else(|| panic!("{transaction:?}"));
    let (head, end) = transaction.split_once("; transactionTime: ").expect("it has a time");
    assert!(head.ends_with(&format!("{id}; amount:{amount}")), "{transaction:?}");
    let (time, end) = end.split_once("; ").expect("something follows");
    assert_eq!(end, rest);
    assert_eq!(scores, vec![format!("Transaction score change: {id} ==> 0.0"); 3]);
    assert_eq!(
        *decision,
        format!(
            "Transaction decision: {id} ==> approved \
             [average ticket: 0.0; proximity: 0.0; frequency: 0.0; total: 0.0]"
        )
    );
    (id.to_owned(), time.to_owned())
}

#[test]
fn lines_are_transactions_and_what_is_none_is_said_and_skipped() {
    let (address, [listener, _]) = two_ports();
    let mut program = Program::start(FRAUD_DETECTION, &["--connect", &address]);
    let peer = accept(listener);

    let rest = "merchandise: 3, user: 1]";
    let (first, time) = approved(&mut program, &peer, "42.00,3\n", "42.000000", rest);
    // As in `2026-11-30 13:35:02+0000`.
    let shape: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00 00:00:00+0000");

    send(&peer, "abc\n");
    program.prints(&format!("{FIRST_FORM}\n"));
    for line in ["", "\r", "100", "42.00@3", ",3", "42,", "42,3.0", "42, 3", "NaN,3", "1e39,3"] {
        send(&peer, &format!("{line}\n"));
        program.prints(&format!("{FIRST_FORM}\n"));
    }
    for line in ["7,0,1,91,0", "x,0,1,0,0", "7,0,inf,0,0", ",,,,", "7,0,1,0,181\r"] {
        send(&peer, &format!("{line}\n"));
        program.prints(&format!("{BOTH_FORMS}\n"));
    }

    let rest = "merchandise: 10, user: 1]";
    let (second, _) = approved(&mut program, &peer, "7.5,10\r\n", "7.500000", rest);
    assert_ne!(first, second);
    let line = "7,1796045702999,16777217,47.38,-8.54\n";
    let rest = "position: 47.380000 -8.540000, user: 7]";
    let (_, time) = approved(&mut program, &peer, line, "16777216.000000", rest);
    assert_eq!(time, "2026-11-30 13:35:02+0000");

    drop(peer);
    let end = program.end();
    end.has_code(0);
    end.has_end_line(&["status=finished", "events_in=19", "failed=16", "events_out=9"]);
}

#[test]
fn a_file_of_nothing_but_malformed_lines_is_no_failure_of_the_source() {
    let end = run(FRAUD_DETECTION, &["--input", "-"], &"x\n".repeat(100));
    end.has_code(0).has_end_line(&["events_in=100", "failed=100", "events_out=0"]);
    assert_eq!(end.stdout, format!("{FIRST_FORM}\n").repeat(100));
}

#[test]
fn a_last_line_that_is_malformed_ends_the_job_too() {
    let end = run(FRAUD_DETECTION, &["--input", "-"], "1,1\nx");
    end.has_code(0).has_end_line(&["events_in=2", "failed=1", "events_out=3"]);
}

#[test]
fn an_impossible_journey_much_money_and_a_burst_are_fraud() {
    let mut lines = vec![
        "1,0,10.00,47.38,8.54".to_owned(),
        // An hour later in Paris, then ten minutes later in Zürich again.
        "1,14400000,10.00,48.86,2.35".to_owned(),
        "1,15000000,10.00,47.38,8.54".to_owned(),
        "1,30000000,1000.00,47.38,8.54".to_owned(),
    ];
    lines.extend((0..15).map(|n| format!("2,{},5,0,0", n * 1_000)));
    let end = run(FRAUD_DETECTION, &["--input", "-"], &(lines.join("\n") + "\n"));
    end.has_code(0).is_quiet().has_end_line(&["events_in=19", "events_out=57", "failed=0"]);
    let said = said(&end.stdout);
    let decisions: Vec<&str> = ids(&end).iter().map(|id| &*said[*id].decisions[0]).collect();
    let approved = "approved [average ticket: 0.0; proximity: 0.0; frequency: 0.0; total: 0.0]";
    assert_eq!(decisions[..2], [approved; 2]);
    assert_eq!(
        decisions[2..4],
        [
            "fraud [average ticket: 0.0; proximity: 1.0; frequency: 0.0; total: 1.0]",
            "fraud [average ticket: 1.0; proximity: 0.0; frequency: 0.0; total: 1.0]",
        ]
    );
    assert_eq!(decisions[4..9], [approved; 5]);
    let burst = "fraud [average ticket: 0.0; proximity: 0.0; frequency: 1.0; total: 1.0]";
    assert_eq!(decisions[18], burst);
}

#[test]
fn the_same_seed_gives_the_same_transactions_and_decisions() {
    let run = |seed: &str, parallelism: &str| {
        let options = ["--events", "500", "--rate", "1e6", "--seed", seed];
        let end =
            run(FRAUD_DETECTION, &[&options[..], &["--parallelism", parallelism]].concat(), "");
        end.has_code(0).is_quiet();
        let decided: Vec<_> =
            said(&end.stdout).into_iter().map(|(id, said)| (id, said.decisions)).collect();
        (ids(&end).join(" "), decided)
    };
    let (ids, decisions) = run("7", "2");
    assert_eq!((&ids, &decisions), (&run("7", "3").0, &run("7", "3").1));
    assert_ne!(ids, run("8", "2").0);
    assert_eq!(decisions.len(), 500);
    let fraud = |said: &&(String, Vec<String>)| said.1[0].starts_with("fraud");
    assert!((1..100).contains(&decisions.iter().filter(fraud).count()));
}

#[test]
fn several_sources_share_the_transactions_out() {
    let options = ["--events", "101", "--rate", "1e6", "--sources", "2"];
    let end = run(FRAUD_DETECTION, &options, "");
    end.has_code(0).is_quiet().has_end_line(&["events_in=101", "events_out=303"]);
    assert!(end.stdout.contains("transaction (transaction source) :: instance 1 --> "));
    let said = said(&end.stdout);
    assert_eq!(said.len(), 101);
    assert!(said.values().all(|said| said.decisions.len() == 1));
}

#[test]
fn a_transaction_that_lost_a_score_is_decided_at_the_end_by_the_others() {
    let lines = "1,0,5,0,0\n".repeat(10);
    let chaos = ["--parallelism", "1", "--chaos", "error:proximity analyzer:3"];
    let end = run(FRAUD_DETECTION, &[&["--input", "-"], &chaos[..]].concat(), &lines);
    end.has_code(0).has_end_line(&["events_in=10", "events_out=29", "failed=1"]);
    let (ids, said) = (ids(&end), said(&end.stdout));
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(said[*id].changes.len(), if number == 2 { 2 } else { 3 });
        assert_eq!(said[*id].decisions.len(), 1);
    }
    let last = end.stdout.lines().last().unwrap();
    assert!(last.contains(ids[2]) && last.contains("proximity: missing"), "{last}");
}

#[test]
fn a_source_that_panics_reads_its_line_again() {
    let lines = (1..=10).map(|n| format!("{n},0,5,0,0\n")).collect::<String>();
    let options = ["--input", "-", "--chaos", "panic:transaction source:4"];
    let end = run(FRAUD_DETECTION, &options, &lines);
    end.has_code(0).has_end_line(&["events_in=10", "events_out=30", "restarts=1"]);
}

#[cfg(unix)]
#[test]
fn a_signal_drains_and_each_transaction_is_decided() {
    for signal in ["TERM", "INT"] {
        let program = Program::start(FRAUD_DETECTION, &["--rate", "1000"]);
        program.prints_something();
        program.signal(signal);
        let end = program.end();
        end.has_code(0).is_quiet().has_end_line(&["status=drained", "dropped=0", "failed=0"]);
        let (ids, said) = (ids(&end), said(&end.stdout));
        assert_eq!(ids.len(), said.len());
        for id in ids {
            assert_eq!((said[id].changes.len(), said[id].decisions.len()), (3, 1));
        }
    }
}
