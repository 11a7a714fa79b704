//! Runs a program and waits for what it does, never for longer than a deadline.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

pub(crate) const VEHICLE_COUNT: &str = env!("CARGO_BIN_EXE_vehicle-count");
pub(crate) const PARALLEL_VEHICLE_COUNT: &str = env!("CARGO_BIN_EXE_parallel-vehicle-count");
pub(crate) const STREAM_FORK: &str = env!("CARGO_BIN_EXE_stream-fork");
pub(crate) const STREAM_SPLIT: &str = env!("CARGO_BIN_EXE_stream-split");
pub(crate) const STREAM_MERGE: &str = env!("CARGO_BIN_EXE_stream-merge");
pub(crate) const FRAUD_DETECTION: &str = env!("CARGO_BIN_EXE_fraud-detection");
pub(crate) const SYSTEM_USAGE: &str = env!("CARGO_BIN_EXE_system-usage");
pub(crate) const WORKLOAD: &str = env!("CARGO_BIN_EXE_workload");

const DEADLINE: Duration = Duration::from_secs(60);

/// What came out of a pipe so far.
#[derive(Default)]
struct Gathered {
    bytes: Vec<u8>,
    is_over: bool,
}

/// Gathers what comes out of a pipe.
#[derive(Clone, Default)]
struct Gatherer(Arc<(Mutex<Gathered>, Condvar)>);

impl Gatherer {
    fn start(mut pipe: impl Read + Send + 'static) -> Self {
        let this = Self::default();
        let gatherer = this.clone();
        thread::spawn(move || {
            let mut chunk = [0; 4_096];
            loop {
                let length = pipe.read(&mut chunk).unwrap_or(0);
                let (gathered, changed) = &*gatherer.0;
                let mut gathered = gathered.lock().expect("nobody panics with it");
                gathered.bytes.extend(&chunk[..length]);
                gathered.is_over = length == 0;
                changed.notify_all();
                if length == 0 {
                    return;
                }
            }
        });
        this
    }

    /// Waits until `ready`, or the end, or the deadline; gives what there is then.
    #[track_caller]
    fn wait(&self, ready: impl Fn(&str) -> bool) -> String {
        let (gathered, changed) = &*self.0;
        let text = |gathered: &Gathered| String::from_utf8_lossy(&gathered.bytes).into_owned();
        let gathered = gathered.lock().expect("nobody panics with it");
        let waiting = |g: &mut Gathered| !g.is_over && !ready(&text(g));
        let (gathered, time) =
            changed.wait_timeout_while(gathered, DEADLINE, waiting).expect("nobody panics with it");
        assert!(!time.timed_out(), "it did not come; there is:\n{}", text(&gathered));
        text(&gathered)
    }
}

/// A program that runs. Dropping it kills it.
pub(crate) struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<Gatherer>,
    stderr: Gatherer,
    /// How much of its output has been looked at.
    seen: usize,
}

impl Program {
    pub(crate) fn start(program: &str, options: &[&str]) -> Self {
        let mut this = Self::start_unread(program, options);
        this.stdout = this.child.stdout.take().map(Gatherer::start);
        this
    }

    /// Nobody reads its output.
    pub(crate) fn start_unread(program: &str, options: &[&str]) -> Self {
        Self::spawn(Command::new(program).args(options))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .env_remove("RUST_LOG")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cargo has built it");
        let stderr = Gatherer::start(child.stderr.take().expect("it is a pipe"));
        Self { stdin: child.stdin.take(), child, stdout: None, stderr, seen: 0 }
    }

    /// Writes all of its standard input, while its output is being read.
    pub(crate) fn feed(&mut self, input: impl AsRef<[u8]>) {
        let mut stdin = self.stdin.take().expect("it was not fed before");
        let input = input.as_ref().to_owned();
        // It may end without having read it.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }

    /// Waits for exactly this output.
    #[track_caller]
    pub(crate) fn prints(&mut self, expected: &str) {
        let printed = self.printed_to(self.seen + expected.len());
        assert_eq!(&printed[self.seen..], expected);
        self.seen = printed.len();
    }

    /// Waits until `end` is printed, and gives what is new then.
    #[track_caller]
    pub(crate) fn prints_until(&mut self, end: &str) -> String {
        let seen = self.seen;
        let is_there = |text: &str| text.get(seen..).is_some_and(|new| new.contains(end));
        let printed = self.stdout.as_ref().expect("it is read").wait(is_there);
        assert!(is_there(&printed), "{end:?} is wanted in:\n{printed}");
        self.seen = printed.len();
        printed[seen..].to_owned()
    }

    #[track_caller]
    fn printed_to(&self, length: usize) -> String {
        self.stdout.as_ref().expect("it is read").wait(|text| text.len() >= length)
    }

    /// Waits for `head` and a counter's block after it, whatever that has counted. The block comes in
    /// one piece: it is shorter than what is read at once.
    #[track_caller]
    pub(crate) fn prints_counts_after(&mut self, head: &str) {
        let start = self.seen + head.len();
        let stdout = self.stdout.as_ref().expect("it is read");
        let is_there = |text: &str| {
            let block = text.get(start..).unwrap_or_default();
            block.contains("\n  ") && block.ends_with('\n')
        };
        let printed = stdout.wait(is_there);
        let block = printed[self.seen..].strip_prefix(head);
        let counted = block.is_some_and(|block| block.starts_with("VehicleCounter"));
        assert!(counted, "{:?}", &printed[self.seen..]);
        self.seen = printed.len();
    }

    /// Waits for some output.
    #[track_caller]
    pub(crate) fn prints_something(&self) {
        assert_ne!(self.printed_to(self.seen + 1), "");
    }

    /// Reads one byte of an output that nobody reads.
    pub(crate) fn read_one_byte(&mut self) {
        let stdout = self.child.stdout.as_mut().expect("nobody reads it");
        stdout.read_exact(&mut [0]).expect("it prints something");
    }

    /// Its output will never be read.
    pub(crate) fn close_stdout(&mut self) {
        self.child.stdout = None;
    }

    /// Waits for a text in the log.
    #[track_caller]
    pub(crate) fn logs(&self, part: &str) {
        let log = self.stderr.wait(|log| log.contains(part));
        assert!(log.contains(part), "{log}");
    }

    /// Whether it ends within this time; it is waited for no longer.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        let (gathered, changed) = &*self.stderr.0;
        let gathered = gathered.lock().expect("nobody panics with it");
        let runs = |gathered: &mut Gathered| !gathered.is_over;
        changed.wait_timeout_while(gathered, time, runs).expect("nobody panics with it").0.is_over
    }

    /// Kills it as `kill -9` does, and gives its log.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().expect("it is a child of this process");
        self.stderr.wait(|_| false)
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status().expect("there is kill");
        assert!(status.success());
    }

    /// Waits for the end. Its standard input stays open if it was not fed.
    #[track_caller]
    pub(crate) fn end(mut self) -> End {
        let stdout = self.stdout.as_ref().map_or_else(String::new, |out| out.wait(|_| false));
        let stderr = self.stderr.wait(|_| false);
        // It has closed its outputs, so it is about to end.
        let status = self.child.wait().expect("it is a child of this process");
        End { status, stdout, stderr }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has ended already, unless the test has failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs a program to its end.
#[track_caller]
pub(crate) fn run(program: &str, options: &[&str], stdin: &str) -> End {
    let mut program = Program::start(program, options);
    program.feed(stdin);
    program.end()
}

/// Runs a program to its end, with a directory of its own for temporary files.
#[track_caller]
pub(crate) fn run_in(temporary: &TempDir, program: &str, options: &[&str]) -> End {
    std::fs::create_dir_all(temporary.path()).expect("there is room");
    let command = &mut Command::new(program);
    let mut program = Program::spawn(command.args(options).env("TMPDIR", temporary.path()));
    program.stdout = program.child.stdout.take().map(Gatherer::start);
    program.end()
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct End {
    status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl End {
    #[track_caller]
    pub(crate) fn has_code(&self, code: i32) -> &Self {
        assert_eq!(self.status.code(), Some(code), "{}", self.stderr);
        self
    }

    /// There is one line for the user, and all of `parts` are in it.
    #[track_caller]
    pub(crate) fn has_error(&self, parts: &[&str]) -> &Self {
        let is_error = |line: &&str| line.starts_with("error: ");
        let errors: Vec<&str> = self.stderr.lines().filter(is_error).collect();
        let [error] = errors[..] else { panic!("one error is wanted:\n{}", self.stderr) };
        for part in parts {
            assert!(error.contains(part), "{part:?} is wanted in:\n{error}");
        }
        for word in ["panicked", "backtrace"] {
            assert!(!self.stderr.contains(word), "{word:?} is in:\n{}", self.stderr);
        }
        self
    }

    #[track_caller]
    pub(crate) fn is_quiet(&self) -> &Self {
        for word in ["error:", "panicked", "ERROR"] {
            assert!(!self.stderr.contains(word), "{word:?} is in:\n{}", self.stderr);
        }
        self
    }

    /// The log's last line has all of `parts` in it.
    #[track_caller]
    pub(crate) fn has_end_line(&self, parts: &[&str]) -> &Self {
        let lines = self.stderr.lines().filter(|line| line.contains("job ended"));
        let lines: Vec<&str> = lines.collect();
        let [line] = lines[..] else { panic!("one end is wanted:\n{}", self.stderr) };
        for part in parts {
            assert!(line.contains(part), "{part:?} is wanted in:\n{line}");
        }
        self
    }

    /// What was printed, block by block.
    #[track_caller]
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for line in self.stdout.lines() {
            if let Some((kind, count)) = line.strip_prefix("  ").and_then(|l| l.rsplit_once(": ")) {
                let Some(Block::Counter { counts, .. }) = blocks.last_mut() else {
                    panic!("a count outside of a block: {line:?}");
                };
                counts.insert(kind.to_owned(), count.parse().expect("a number"));
            } else if let Some((head, kind)) = line.split_once(" --> ") {
                let (name, instance) = match head.split_once(" :: instance ") {
                    Some((name, instance)) => (name, instance.parse().expect("a number")),
                    None => (head, 0),
                };
                blocks.push(match name {
                    "SensorReader" => Block::Sensor { instance, kind: kind.to_owned() },
                    "VehicleCounter" => Block::Counter { instance, counts: BTreeMap::new() },
                    _ => panic!("{line:?}"),
                });
            } else {
                assert_eq!(line, "");
            }
        }
        blocks
    }

    /// The counter's blocks, in order.
    #[track_caller]
    pub(crate) fn counted(&self) -> Vec<(usize, Counts)> {
        let blocks = self.blocks().into_iter();
        let counted = blocks.filter_map(|block| match block {
            Block::Counter { instance, counts } => Some((instance, counts)),
            Block::Sensor { .. } => None,
        });
        counted.collect()
    }

    /// The last block of each counter.
    #[track_caller]
    pub(crate) fn last_counts(&self) -> BTreeMap<usize, Counts> {
        self.counted().into_iter().collect()
    }

    /// What all counters together have counted in the end.
    #[track_caller]
    pub(crate) fn total(&self) -> Counts {
        let mut total = Counts::new();
        for (kind, count) in self.last_counts().into_values().flatten() {
            *total.entry(kind).or_default() += count;
        }
        total
    }
}

pub(crate) type Counts = BTreeMap<String, u64>;

/// One block of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Sensor { instance: usize, kind: String },
    Counter { instance: usize, counts: Counts },
}

/// Sends a line, as it is.
pub(crate) fn send(mut peer: &TcpStream, line: &str) {
    peer.write_all(line.as_bytes()).expect("the program reads");
}

/// A file that is removed when it is dropped.
pub(crate) struct TempFile(PathBuf);

impl TempFile {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("streamwork-{name}-{}", std::process::id()));
        std::fs::write(&path, text).expect("there is room");
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().expect("it is made of UTF-8")
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // Nothing is lost if it stays.
        drop(std::fs::remove_file(&self.0));
    }
}

/// A directory that is removed when it is dropped. It is not made.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("streamwork-programs-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // One may be left of a process with the same number.
        drop(std::fs::remove_dir_all(&path));
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().expect("it is made of UTF-8")
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // Nothing is lost if it stays.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Random numbers that a seed decides: `SplitMix64`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }
}

/// A number from the environment, for more of a test than everybody has the time for.
pub(crate) fn wanted(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => default,
    }
}

/// Counts lines, naively.
pub(crate) fn naive_counts<'a>(lines: impl IntoIterator<Item = &'a str>) -> Counts {
    let mut counts = Counts::new();
    for line in lines {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

/// `n` lines of several types, each as often as it likes.
pub(crate) fn vehicles(n: usize) -> String {
    const KINDS: [&str; 7] = ["car", "truck", "van", "bus", "", "motorcycle", "two words"];
    (0..n).map(|i| format!("{}\n", KINDS[(i * i + i / 3) % KINDS.len()])).collect()
}

/// Two ports, one after the other, to which a program connects.
pub(crate) fn two_ports() -> (String, [TcpListener; 2]) {
    for _ in 0..100 {
        let first = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = first.local_addr().expect("it is bound");
        let Some(next) = address.port().checked_add(1) else { continue };
        if let Ok(second) = TcpListener::bind(("127.0.0.1", next)) {
            return (address.to_string(), [first, second]);
        }
    }
    panic!("no two free ports in a row");
}

/// Waits for the program to connect.
#[track_caller]
pub(crate) fn accept(listener: TcpListener) -> TcpStream {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(listener.accept()));
    let (peer, _) = told.recv_timeout(DEADLINE).expect("nobody connects").expect("it connects");
    peer.set_nodelay(true).expect("it is a socket");
    peer
}
