//! `TcpLines`: lines from TCP peers that close, break, come late or say nothing.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

mod log;
mod shaky;

use log::Log;
use shaky::Shaky;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;
use streamwork::Cause;
use streamwork::prelude::*;

/// How long a test waits for what must come.
const DEADLINE: Duration = Duration::from_secs(60);

fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Listeners on two ports that follow each other, and the address of the first.
fn listen_on_two() -> (TcpListener, TcpListener, String) {
    loop {
        let (first, address) = listen();
        let port = first.local_addr().unwrap().port();
        let Some(next) = port.checked_add(1) else { continue };
        if let Ok(second) = TcpListener::bind((Ipv4Addr::LOCALHOST, next)) {
            return (first, second, address);
        }
    }
}

/// A peer that accepts one connection, sends this and closes.
fn send_once(listener: TcpListener, bytes: impl AsRef<[u8]> + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(bytes.as_ref()).unwrap();
    })
}

/// What a job with this source collects.
fn run<S: Source<Out = String> + Clone>(source: S) -> std::result::Result<Vec<String>, Error> {
    let got = Collect::new();
    let job = Job::new("tcp");
    job.source(source).sink(got.clone());
    Engine::new().arbiters(1).run(job)?;
    Ok(got.take())
}

/// A running job that hands on what it reads.
fn start(name: &str, source: TcpLines) -> (JobHandle, Receiver<String>) {
    let (tell, told) = mpsc::sync_channel(100);
    let job = Job::new(name);
    job.source(source).sink(ForEach::new(move |line: String| tell.send(line).unwrap()));
    (Engine::new().arbiters(1).start(job).unwrap(), told)
}

#[track_caller]
fn next(told: &Receiver<String>) -> String {
    told.recv_timeout(DEADLINE).unwrap()
}

/// Closes a connection so that the other side sees it break.
fn reset(stream: TcpStream) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let _inside = runtime.enter();
    stream.set_nonblocking(true).unwrap();
    tokio::net::TcpStream::from_std(stream).unwrap().set_zero_linger().unwrap();
}

#[test]
fn the_end_of_the_connection_ends_the_job() {
    let (listener, address) = listen();
    let peer = send_once(listener, "car\r\n\n van \nbus");
    assert_eq!(run(TcpLines::connect(address)).unwrap(), ["car", "", " van ", "bus"]);
    peer.join().unwrap();
}

#[test]
fn a_peer_that_says_nothing_ends_the_job() {
    let (listener, address) = listen();
    let peer = send_once(listener, "");
    assert_eq!(run(TcpLines::connect(address)).unwrap(), [""; 0]);
    peer.join().unwrap();
}

#[test]
fn a_port_that_closes_at_once_costs_the_other_nothing() {
    let lines: Vec<String> = (0..2_000).map(|n| n.to_string()).collect();
    let text = lines.join("\n");
    for round in 0..100 {
        let (first, second, address) = listen_on_two();
        // By turns, so that the one that closes is the first and the last instance.
        let (quick, slow) = if round % 2 == 0 { (first, second) } else { (second, first) };
        let closed = send_once(quick, "");
        let sent = send_once(slow, text.clone());
        let got = Collect::new();
        let job = Job::new("tcp");
        job.source(TcpLines::connect(address)).parallelism(2).sink(got.clone());
        let outcome = Engine::new().run(job).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "round {round}");
        assert_eq!(got.take(), lines, "round {round}");
        closed.join().unwrap();
        sent.join().unwrap();
    }
}

#[test]
fn each_instance_has_a_port_of_its_own() {
    let (first, second, address) = listen_on_two();
    let peers = [send_once(first, "a\n"), send_once(second, "b\n")];
    let got = Collect::new();
    let job = Job::new("tcp");
    let lines = job.source(TcpLines::connect(address)).parallelism(2);
    lines.group(Forward).sink(got.clone()).parallelism(2);
    Engine::new().run(job).unwrap();
    assert_eq!([got.of_instance(0), got.of_instance(1)], [["a"], ["b"]]);
    for peer in peers {
        peer.join().unwrap();
    }
}

#[test]
fn a_character_may_come_in_pieces() {
    let (listener, address) = listen();
    let (handle, told) = start("pieces", TcpLines::connect(address));
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_nodelay(true).unwrap();
    let euro = "\u{20ac}".as_bytes();
    stream.write_all(&[b"one\n2 ", &euro[..1]].concat()).unwrap();
    // This was read with the first byte of the character, and the others are still to be sent.
    assert_eq!(next(&told), "one");
    stream.write_all(&euro[1..2]).unwrap();
    stream.write_all(&euro[2..]).unwrap();
    stream.write_all(b"\r").unwrap();
    stream.write_all(b"\n").unwrap();
    assert_eq!(next(&told), "2 \u{20ac}");
    drop(stream);
    assert_eq!(handle.wait().unwrap().events_out(), 2);
}

#[test]
fn a_job_drains_while_the_peer_is_silent() {
    let (listener, address) = listen();
    let (handle, told) = start("silent", TcpLines::connect(address));
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(b"car\nva").unwrap();
    assert_eq!(next(&told), "car");
    handle.drain();
    let outcome = handle.wait().unwrap();
    assert_eq!((outcome.status(), outcome.events_out()), (JobStatus::Drained, 1));
    drop(stream);
}

#[test]
fn a_peer_that_refuses_is_given_up() {
    let (listener, address) = listen();
    drop(listener);
    let lines = TcpLines::connect(&*address).give_up_after(Duration::from_millis(120));
    let error = run(lines).unwrap_err();
    assert!(matches!(error.failure().unwrap().cause, Cause::Setup(_)));
    let text = error.to_string();
    let expected = format!("cannot connect to {address} within 120ms: Connection refused");
    assert!(text.contains(&expected), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_peer_may_come_late() {
    let log = Log::get();
    let (listener, address) = listen();
    let at: SocketAddr = address.parse().unwrap();
    drop(listener);
    let (handle, told) = start("late", TcpLines::connect(&*address).give_up_after(DEADLINE));
    log.wait_for(&["WARN", "job=\"late\"", &format!("cannot connect to {address} yet")]);
    let peer = send_once(TcpListener::bind(at).unwrap(), "car\n");
    assert_eq!(next(&told), "car");
    handle.wait().unwrap();
    peer.join().unwrap();
}

#[test]
fn an_unknown_host_is_an_error_at_once() {
    // Longer than any test: it is not tried again.
    let lines = TcpLines::connect("nohost.invalid:9990").give_up_after(Duration::from_secs(10_000));
    let text = run(lines).unwrap_err().to_string();
    assert!(text.contains("setup failed: host \"nohost.invalid\" is unknown: "), "{text}");
}

#[test]
fn a_bad_address_is_an_error_that_says_why() {
    let error = |address: &str| run(TcpLines::connect(address)).unwrap_err().to_string();
    assert!(error("localhost").contains("address \"localhost\" has no port"));
    assert!(
        error("localhost:web").contains("the port of address \"localhost:web\" is not a number")
    );
    assert!(error(":9990").contains("address \":9990\" has no host"));
}

#[test]
fn ports_end_at_65535() {
    // The first instance has a port, and tries it for longer than the test takes.
    let lines = TcpLines::connect("127.0.0.1:65535").give_up_after(DEADLINE);
    let job = Job::new("tcp");
    job.source(lines).parallelism(2).sink(Collect::new());
    let text = Engine::new().run(job).unwrap_err().to_string();
    let expected = "split 1 reads from port 65535 + 1, which is beyond 65535";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_lost_connection_is_got_back() {
    let log = Log::get();
    let (listener, address) = listen();
    let (handle, told) = start("lossy", TcpLines::connect(&*address));
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(b"car\nvan\nbu").unwrap();
    assert_eq!([next(&told), next(&told)], ["car", "van"]);
    reset(stream);
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(b"bus\ntruck").unwrap();
    drop(stream);
    assert_eq!([next(&told), next(&told)], ["bus", "truck"]);
    let outcome = handle.wait().unwrap();
    assert_eq!((outcome.events_in(), outcome.failed(), outcome.restarts()), (4, 0, 0));
    let line = log.wait_for(&["job=\"lossy\"", "lost the connection"]);
    let said = format!("message=lost the connection to {address}: Connection reset by peer");
    assert!(line.starts_with("WARN ") && line.contains(&said), "{line}");
    assert!(line.contains("component=tcp-lines instance=0"), "{line}");
    assert!(line.contains("dropped 2 bytes"), "{line}");
}

#[test]
fn a_connection_that_does_not_come_back_is_given_up() {
    let (listener, address) = listen();
    let lines = TcpLines::connect(&*address).give_up_after(Duration::from_millis(120));
    let (handle, told) = start("gone", lines);
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(b"car\n").unwrap();
    assert_eq!(next(&told), "car");
    drop(listener);
    reset(stream);
    let error = handle.wait().unwrap_err();
    assert!(matches!(error.failure().unwrap().cause, Cause::Error(_)));
    let text = error.to_string();
    let expected = format!(
        "the connection to {address} was lost and is not back within 120ms: Connection refused"
    );
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_peer_that_always_breaks_is_given_up() {
    let (listener, address) = listen();
    let over = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&over);
    let peer = std::thread::spawn(move || {
        while !ended.load(Ordering::SeqCst) {
            reset(listener.accept().unwrap().0);
        }
    });
    let lines = TcpLines::connect(&*address).give_up_after(Duration::from_millis(300));
    let text = run(lines).unwrap_err().to_string();
    // A connection may break while it is being made: then it is none yet.
    assert!(text.contains(&address) && text.contains("within 300ms"), "{text}");
    over.store(true, Ordering::SeqCst);
    drop(TcpStream::connect(&address).unwrap());
    peer.join().unwrap();
}

#[test]
fn a_line_of_100_mb_is_refused() {
    let (listener, address) = listen();
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"car\n").unwrap();
        let piece = vec![b'x'; 1_000_000];
        // The source hangs up long before the end.
        (0..100).take_while(|_| stream.write_all(&piece).is_ok()).count()
    });
    let text = run(TcpLines::connect(&*address)).unwrap_err().to_string();
    let expected = format!("line 2 of {address} is longer than 1048576 bytes (`max_line_bytes`");
    assert!(text.contains(&expected), "{text}");
    assert!(peer.join().unwrap() < 100);
}

#[test]
fn what_is_not_utf_8_is_named_by_its_line() {
    let (listener, address) = listen();
    let peer = send_once(listener, b"a\nb\n\xc3(\nd\n");
    let job = Job::new("lines");
    job.source(TcpLines::connect(&*address)).on_error(OnError::Fail).sink(Collect::new());
    let text = Engine::new().run(job).unwrap_err().to_string();
    assert!(text.contains(&format!("line 3 of {address} is not UTF-8")), "{text}");
    peer.join().unwrap();
}

#[test]
fn what_is_not_utf_8_is_skipped_alone() {
    let (listener, address) = listen();
    let peer = send_once(listener, b"a\nb\n\xc3(\nd\n\xff\n");
    let got = Collect::new();
    let job = Job::new("lines");
    job.source(TcpLines::connect(&*address)).sink(got.clone());
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!((got.take(), outcome.failed()), (["a", "b", "d"].map(str::to_owned).to_vec(), 2));
    peer.join().unwrap();
}

#[test]
fn a_source_that_is_built_anew_keeps_its_connection() {
    let lines: Vec<String> = (0..30_000).map(|n| n.to_string()).collect();
    let (listener, address) = listen();
    let peer = send_once(listener, lines.join("\n"));
    assert_eq!(run(Shaky::new(TcpLines::connect(address), "20000")).unwrap(), lines);
    peer.join().unwrap();
}
