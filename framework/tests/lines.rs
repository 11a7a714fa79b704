//! `Lines`: a file or standard input, line by line.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

mod shaky;

use shaky::Shaky;
use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::{Cause, Splits};

/// How long a test waits for what must come.
const DEADLINE: Duration = Duration::from_secs(60);

/// A path of its own in the directory for temporary files; what is there is removed in the end.
struct TempPath(PathBuf);

impl TempPath {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("streamwork-lines-it-{}-{number}", std::process::id());
        Self(env::temp_dir().join(name))
    }

    fn with(bytes: impl AsRef<[u8]>) -> Self {
        let path = Self::new();
        fs::write(&path.0, bytes).unwrap();
        path
    }

    #[cfg(unix)]
    fn fifo() -> Self {
        let path = Self::new();
        let made = Command::new("mkfifo").arg(&path.0).status().unwrap();
        assert!(made.success());
        path
    }
}

impl AsRef<Path> for TempPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempPath {
    fn drop(&mut self) {
        drop(if self.0.is_dir() { fs::remove_dir(&self.0) } else { fs::remove_file(&self.0) });
    }
}

/// What a job with this source collects.
fn run<S: Source<Out = String> + Clone>(source: S) -> std::result::Result<Vec<String>, Error> {
    let got = Collect::new();
    let job = Job::new("lines");
    job.source(source).sink(got.clone());
    Engine::new().arbiters(1).run(job)?;
    Ok(got.take())
}

#[track_caller]
fn check(input: &[u8], expected: &[&str]) {
    let file = TempPath::with(input);
    assert_eq!(run(Lines::open(&file)).unwrap(), expected);
}

#[test]
fn only_the_line_end_is_removed() {
    check(b"car\nvan\n", &["car", "van"]);
    check(b"car\r\nvan\r\n", &["car", "van"]);
    check(b"\r\r\n a\rb \nC\r", &["\r", " a\rb ", "C"]);
}

#[test]
fn empty_lines_are_lines() {
    check(b"\n\ncar\n\r\n\n", &["", "", "car", "", ""]);
}

#[test]
fn the_last_line_needs_no_end() {
    check(b"car\nvan", &["car", "van"]);
}

#[test]
fn an_empty_file_ends_at_once() {
    check(b"", &[]);
}

#[test]
fn more_lines_than_a_chunk_and_a_batch_hold() {
    let lines: Vec<String> = (0..50_000).map(|n| format!("line {n}")).collect();
    let file = TempPath::with(lines.join("\n"));
    assert_eq!(run(Lines::open(&file)).unwrap(), lines);
}

#[test]
fn further_instances_end_at_once() {
    let file = TempPath::with("a\nb\n");
    let got = Collect::new();
    let job = Job::new("lines");
    job.source(Lines::open(&file)).parallelism(3).sink(got.clone());
    Engine::new().run(job).unwrap();
    assert_eq!(got.take(), ["a", "b"]);
}

#[test]
fn a_missing_file_fails_the_start() {
    let path = TempPath::new();
    let error = run(Lines::open(&path)).unwrap_err();
    assert!(matches!(error.failure().unwrap().cause, Cause::Setup(_)));
    let text = error.to_string();
    let expected = format!("setup failed: cannot read {:?}: No such file or directory", path.0);
    assert!(text.contains(&expected), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_directory_fails_the_start() {
    let path = TempPath::new();
    fs::create_dir(&path).unwrap();
    let text = run(Lines::open(&path)).unwrap_err().to_string();
    let expected = format!("cannot read {:?}: it is a directory, and a file is wanted", path.0);
    assert!(text.contains(&expected), "{text}");
}

/// Calls the source inside only when everything that it emitted has arrived.
#[derive(Clone)]
struct Patient {
    inner: Lines,
    emitted: usize,
    arrived: Collect<String>,
}

impl Component for Patient {
    type Saved = ();

    fn name(&self) -> &str {
        "patient"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl Source for Patient {
    type Out = String;

    fn splits(&self) -> Result<Splits> {
        self.inner.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.inner.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
        std::future::poll_fn(|cx| {
            if self.arrived.len() >= self.emitted {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        let progress = self.inner.next(out).await;
        self.emitted += out.len();
        progress
    }
}

/// What arrives of a file, and the error that ends it.
fn run_into_error(lines: Lines, on_error: OnError) -> (Vec<String>, String) {
    let arrived = Collect::new();
    let job = Job::new("lines");
    job.source(Patient { inner: lines, emitted: 0, arrived: arrived.clone() })
        .on_error(on_error)
        .sink(arrived.clone());
    let error = Engine::new().run(job).unwrap_err();
    (arrived.take(), error.to_string())
}

#[test]
fn a_line_that_is_not_utf_8_is_named_after_those_before_it() {
    let file = TempPath::with(b"car\nvan\nbu\xffs\ntruck\n");
    let (arrived, text) = run_into_error(Lines::open(&file), OnError::Fail);
    assert_eq!(arrived, ["car", "van"]);
    assert!(text.contains(&format!("line 3 of {:?} is not UTF-8", file.0)), "{text}");
}

#[test]
fn lines_that_are_not_utf_8_are_skipped_however_many_they_are() {
    // More than an error in a row may be.
    let bytes = [&b"car\n"[..], &b"\xff\n".repeat(25), b"van\n\xc3"].concat();
    let file = TempPath::with(bytes);
    let got = Collect::new();
    let job = Job::new("lines");
    job.source(Lines::open(&file)).sink(got.clone());
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!((got.take(), outcome.failed()), (vec!["car".to_owned(), "van".into()], 26));
}

#[test]
fn a_line_of_100_mb_is_refused() {
    let file = TempPath::new();
    let mut writer = File::create(&file).unwrap();
    writer.write_all(b"car\n").unwrap();
    // The rest is a hole, which reads as zeros.
    writer.set_len(100_000_000).unwrap();
    let (arrived, text) = run_into_error(Lines::open(&file), OnError::Skip);
    assert_eq!(arrived, ["car"]);
    let expected = format!("line 2 of {:?} is longer than 1048576 bytes (`max_line_bytes`", file.0);
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn the_limit_can_be_raised() {
    let line = "x".repeat(3_000_000);
    let file = TempPath::with(format!("{line}\r\ncar"));
    let lines = Lines::open(&file).max_line_bytes(3_000_000);
    assert_eq!(run(lines).unwrap(), [&line, "car"]);
}

#[test]
fn a_source_that_is_built_anew_goes_on_in_the_file() {
    let lines: Vec<String> = (0..3_000).map(|n| n.to_string()).collect();
    let file = TempPath::with(lines.join("\n"));
    assert_eq!(run(Shaky::new(Lines::open(&file), "2000")).unwrap(), lines);
}

#[cfg(unix)]
#[test]
fn a_source_that_is_built_anew_goes_on_in_the_pipe() {
    let lines: Vec<String> = (0..30_000).map(|n| n.to_string()).collect();
    let fifo = TempPath::fifo();
    let path = fifo.0.clone();
    let text = lines.join("\n");
    let writer = std::thread::spawn(move || {
        File::options().write(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    });
    assert_eq!(run(Shaky::new(Lines::open(&fifo), "20000")).unwrap(), lines);
    writer.join().unwrap();
}

#[cfg(unix)]
#[test]
fn lines_of_a_pipe_arrive_while_it_is_open() {
    let fifo = TempPath::fifo();
    let (tell, told) = mpsc::sync_channel(9);
    let job = Job::new("lines");
    job.source(Lines::open(&fifo)).sink(ForEach::new(move |line: String| tell.send(line).unwrap()));
    let handle = Engine::new().start(job).unwrap();
    let mut writer = File::options().write(true).open(&fifo).unwrap();
    writer.write_all(b"car\nva").unwrap();
    assert_eq!(told.recv_timeout(DEADLINE).unwrap(), "car");
    writer.write_all(b"n\n").unwrap();
    assert_eq!(told.recv_timeout(DEADLINE).unwrap(), "van");
    // The writer is silent, and the job ends all the same.
    handle.drain();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
    drop(writer);
}

#[cfg(unix)]
#[test]
fn waiting_for_a_writer_does_not_keep_a_job_from_ending() {
    let fifo = TempPath::fifo();
    let job = Job::new("lines");
    job.source(Lines::open(&fifo)).sink(Collect::new());
    let handle = Engine::new().start(job).unwrap();
    handle.drain();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
    // Lets the thread go that waits, if it came so far.
    drop(File::options().read(true).write(true).open(&fifo).unwrap());
}

/// What the child process is to do.
const CHILD: &str = "STREAMWORK_LINES_CHILD";

/// Not a test by itself: the other end of those that follow, in a process with a standard input of
/// its own. It tells what it read on standard error, which the test runner leaves alone.
#[test]
fn child() {
    let Ok(task) = env::var(CHILD) else { return };
    let job = Job::new("child");
    let say = ForEach::new(|line: String| {
        std::io::stderr().write_all(format!("line={line}\n").as_bytes()).unwrap()
    });
    match task.as_str() {
        "read" => {
            job.source(Shaky::new(Lines::stdin(), "20000")).sink(say);
            Engine::new().run(job).unwrap();
        }
        "leave" => {
            let (tell, told) = mpsc::sync_channel(9);
            job.source(Lines::stdin()).sink(ForEach::new(move |line: String| {
                tell.send(line).unwrap();
            }));
            let handle = Engine::new().start(job).unwrap();
            assert_eq!(told.recv_timeout(DEADLINE).unwrap(), "car");
            handle.drain();
            handle.wait().unwrap();
        }
        "twice" => {
            job.source(Lines::stdin()).sink(say);
            job.source(Lines::stdin()).named("second").sink(Collect::new());
            let text = Engine::new().run(job).unwrap_err().to_string();
            assert!(text.contains("standard input is being read by another source"), "{text}");
        }
        task => panic!("no task {task}"),
    }
}

fn spawn(task: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(CHILD, task)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn standard_input_loses_nothing_when_the_source_is_built_anew() {
    let lines: Vec<String> = (0..30_000).map(|n| n.to_string()).collect();
    let mut child = spawn("read");
    let mut input = child.stdin.take().unwrap();
    let text = lines.join("\n");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    // Beside it stands the panic, which nobody logs.
    let read: Vec<_> =
        said.lines().filter_map(|line| line.split_once("line=")).map(|(_, n)| n).collect();
    assert!(read == lines, "{} lines of {}", read.len(), lines.len());
}

#[test]
fn a_process_ends_while_standard_input_is_open() {
    let mut child = spawn("leave");
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"car\n").unwrap();
    let (tell, told) = mpsc::sync_channel(1);
    let waiter = std::thread::spawn(move || tell.send(child.wait_with_output().unwrap()).unwrap());
    let output = told.recv_timeout(DEADLINE).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    waiter.join().unwrap();
    drop(input);
}

#[test]
fn standard_input_has_one_reader_at_a_time() {
    let mut child = spawn("twice");
    let input = child.stdin.take().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    drop(input);
}
