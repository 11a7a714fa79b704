//! A data directory that an earlier version has written is gone on from, exactly.
//!
//! `tests/fixtures/data-directory-1` is one, with the files that its sink had written: in the middle of the
//! input, and with files that its last checkpoint holds and that nobody has published yet. Its README says
//! how it was made.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{self, Poll};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::{CheckpointId, Effect, Handle};

const NUMBERS: u64 = 20_000;
const KEYS: u64 = 50;

/// Set to a directory that is not there, the test makes a fixture in it instead.
const MAKE: &str = "STREAMWORK_MAKE_FIXTURE";

/// A count, of several kinds of fields.
#[derive(Event, State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Counted {
    key: String,
    count: u64,
    largest: Option<u64>,
}

/// Counts by key.
#[derive(Component, Clone)]
#[component(name = "count")]
struct Count;

impl KeyedOperator for Count {
    type Key = String;
    type In = u64;
    type Out = Counted;
    type State = Counted;

    fn apply(
        &mut self,
        key: &String,
        n: u64,
        counted: &mut Keyed<Counted>,
        out: &mut Emitter<Counted>,
    ) -> Result<()> {
        counted.key.clone_from(key);
        counted.count += 1;
        counted.largest = counted.largest.max(Some(n));
        out.emit((**counted).clone());
        Ok(())
    }
}

/// Sums, in a field.
#[derive(Component, Clone, Default)]
#[component(name = "sum")]
struct Sum {
    #[state]
    sum: u64,
    #[state]
    by_parity: BTreeMap<bool, u64>,
}

impl Operator for Sum {
    type In = u64;
    type Out = Nothing;

    fn apply(&mut self, n: u64, _: &mut Emitter<Nothing>) -> Result<()> {
        self.sum += n;
        *self.by_parity.entry(n.is_multiple_of(2)).or_default() += 1;
        Ok(())
    }
}

/// Files, of which only the first are published: what comes then stays prepared.
#[derive(Clone)]
struct Refusing {
    files: NdjsonFiles<Counted>,
    published: Arc<AtomicU64>,
    most: u64,
}

impl Component for Refusing {
    type Saved = ();

    fn name(&self) -> &str {
        "files"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl Sink for Refusing {
    type In = Counted;

    const EFFECT: Effect = Effect::Committing;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.files.setup(ctx)
    }

    fn write(&mut self, event: Counted) -> Result<()> {
        self.files.write(event)
    }

    fn flush(&mut self) -> Result<()> {
        self.files.flush()
    }

    fn poll_finish(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.files.poll_finish(cx)
    }

    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Handle>> {
        self.files.prepare(checkpoint)
    }

    fn commit(&mut self, handle: Handle) -> Result<()> {
        if self.published.fetch_add(1, Ordering::Relaxed) >= self.most {
            return Err(Fatal::new("enough is published").into());
        }
        self.files.commit(handle)
    }

    fn clean_up(&mut self, job: &str, component: &str) -> Result<()> {
        self.files.clean_up(job, component)
    }
}

/// The job, of which at most so many files are published.
fn job(output: &Path, most: u64) -> Job {
    let published = Arc::default();
    let files = Refusing { files: NdjsonFiles::in_dir(output), published, most };
    let job = Job::new("fixture").delivery(Delivery::exactly_once(Duration::from_millis(20)));
    let numbers = job.source(FromIter::new(0..NUMBERS).splits(3)).parallelism(2);
    let numbers = if most == u64::MAX { numbers } else { numbers.rate(4_000.0) };
    numbers.group(Global).apply(Sum::default());
    numbers
        .key_by_value(|n: &u64| format!("key {}", n % KEYS))
        .apply(Count)
        .parallelism(2)
        .group(Forward)
        .sink(files)
        .parallelism(2);
    job
}

/// The lines of the files that can be seen, and how many files are hidden.
fn lines(output: &Path) -> (Vec<String>, usize) {
    let (mut lines, mut hidden) = (Vec::new(), 0);
    for entry in fs::read_dir(output).expect("it was made") {
        let path = entry.expect("it is there").path();
        if path.file_name().expect("it is a file").to_string_lossy().starts_with('.') {
            hidden += 1;
        } else {
            lines
                .extend(fs::read_to_string(path).expect("it is a file").lines().map(str::to_owned));
        }
    }
    lines.sort();
    (lines, hidden)
}

/// What an undisturbed run comes to: a line for each number, and the state of each key.
fn expected() -> (Vec<String>, BTreeMap<String, u64>) {
    let (mut lines, mut counts) = (Vec::new(), BTreeMap::new());
    for n in 0..NUMBERS {
        let key = format!("key {}", n % KEYS);
        let count = counts.entry(key.clone()).or_insert(0);
        *count += 1;
        // Only the sums and counts are the same in any order.
        lines.push(format!("{key} {count}"));
    }
    lines.sort();
    (lines, counts)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("there is room");
    for entry in fs::read_dir(from).expect("it is a directory") {
        let entry = entry.expect("it is there");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("there is room");
        }
    }
}

fn make(fixture: &Path) {
    fs::create_dir(fixture).expect("it is not there yet");
    let engine = Engine::new().data_dir(fixture.join("kept"));
    let error = engine.run(job(&fixture.join("output"), 6)).expect_err("it cannot end");
    assert!(error.to_string().contains("enough is published"), "{error}");
}

#[test]
fn what_an_earlier_version_has_kept_is_gone_on_from() {
    if let Some(fixture) = std::env::var_os(MAKE) {
        return make(Path::new(&fixture));
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/data-directory-1");
    let directory: PathBuf =
        std::env::temp_dir().join(format!("streamwork-format-1-{}", std::process::id()));
    copy(&fixture, &directory);
    let output = directory.join("output");
    let (before, hidden) = lines(&output);
    assert!(!before.is_empty() && before.len() < 10_000 && hidden == 2, "{hidden} are hidden");

    let engine = Engine::new().data_dir(directory.join("kept"));
    let outcome = engine.run(job(&output, u64::MAX)).unwrap();
    assert_eq!(outcome.status(), JobStatus::Finished);
    assert_eq!(outcome.checkpoints().restored, Some(CheckpointId(4)));
    // It has not read again what the checkpoint has.
    assert!(outcome.events_in() < NUMBERS, "{}", outcome.events_in());

    let (after, hidden) = lines(&output);
    let is_there = |line: &String| after.binary_search(line).is_ok();
    assert!(before.iter().all(is_there), "what was published is gone");
    let counted = after.iter().map(|line| {
        let Counted { key, count, .. } = read(line);
        format!("{key} {count}")
    });
    let mut counted: Vec<String> = counted.collect();
    counted.sort();
    let (lines, counts) = expected();
    assert!(counted == lines, "{} lines of {}", counted.len(), lines.len());
    assert_eq!(hidden, 0);

    let state = outcome.saved_state().unwrap().unwrap();
    let kept: Vec<(String, Counted)> = state.keyed("count").unwrap();
    let largest = |key: &String| kept.iter().find(|(k, _)| k == key).unwrap().1.largest;
    for (key, count) in &counts {
        let n: u64 = key["key ".len()..].parse().unwrap();
        assert_eq!(largest(key), Some(NUMBERS - KEYS + n));
        assert!(kept.iter().any(|(k, counted)| k == key && counted.count == *count), "{key}");
    }
    let sum = state.instances::<Sum>("sum").unwrap();
    let half = NUMBERS / 2;
    let by_parity = BTreeMap::from([(false, half), (true, half)]);
    assert_eq!(sum, [(NUMBERS * (NUMBERS - 1) / 2, by_parity)]);
    fs::remove_dir_all(directory).unwrap();
}

/// A line that a sink has written.
#[track_caller]
fn read(line: &str) -> Counted {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}
