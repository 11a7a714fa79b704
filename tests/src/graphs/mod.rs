//! Random jobs, with a naive evaluation beside each.

mod exact;
mod model;
mod parts;

pub use exact::ExactGraph;

use model::{Expected, Input, Model};
use parts::{Chain, HIGH, Keeper, Mixed, Numbers, Random, Two, Work, mix};
use std::fmt::Write as _;
use std::time::Duration;
use streamwork::prelude::*;

/// A job of up to a dozen components, and what each of them should get.
///
/// Its events are numbers, and what becomes of a number depends on nothing else: so the naive
/// evaluation needs neither time nor order.
pub struct RandomGraph {
    job: Option<Job>,
    text: String,
    streams: Vec<(Stream<u64>, Model)>,
    sources: Vec<(usize, bool)>,
    expected: Vec<Expected>,
    random: Random,
    parallelism: usize,
}

impl RandomGraph {
    /// The graph of a seed, with at most `parallelism` instances of each component. Every other seed
    /// has links that hold eight events.
    #[must_use]
    pub fn seeded(seed: u64, parallelism: usize) -> Self {
        let mut job = Job::new("random");
        let tiny = seed.is_multiple_of(2);
        if tiny {
            let limits = LinkLimits { frames: 1, bytes: 64, delay: Duration::from_millis(200) };
            job = job.link_limits(limits);
        }
        let mut this = Self {
            job: None,
            text: format!("\nseed {seed}, parallelism {parallelism}, tiny links: {tiny}\n"),
            streams: Vec::new(),
            sources: Vec::new(),
            expected: Vec::new(),
            random: Random(seed.wrapping_mul(31).wrapping_add(parallelism as u64)),
            parallelism,
        };
        this.grow(&job);
        this.job = Some(job);
        this
    }

    /// The job, once.
    ///
    /// # Panics
    /// The second time.
    pub fn job(&mut self) -> Job {
        self.job.take().expect("a job runs once")
    }

    /// Whether every component got what the naive evaluation says, on the instances that it says, and
    /// whether everything adds up.
    ///
    /// # Panics
    /// If not.
    pub fn check(&self, outcome: &Outcome) {
        assert_eq!(outcome.status(), JobStatus::Finished);
        assert_eq!((outcome.restarts(), outcome.dropped()), (0, 0));
        crate::assert_adds_up(outcome, "");
        for expected in &self.expected {
            let counts = outcome.component(&expected.name).expect("each component is listed");
            assert_eq!(counts.received, expected.received(), "{}: received", expected.name);
            assert_eq!(counts.failed, expected.failed(), "{}: failed", expected.name);
            expected.check();
        }
    }

    fn grow(&mut self, job: &Job) {
        for i in 0..=self.random.below(3) {
            self.source(job, i);
        }
        let components = 3 + self.random.below(7);
        for i in self.sources.len()..components {
            for _ in 0..self.random.below(3) {
                self.chain();
            }
            match self.random.below(6) {
                0 | 1 => self.operator(i),
                2 => self.two_input(i),
                3 => self.fold(i),
                4 => self.named_chain(i),
                _ => self.sink(i),
            }
        }
        self.sink(components);
        for source in 0..self.sources.len() {
            if let (stream, false) = self.sources[source] {
                self.sink_of(&[stream], 100 + source);
            }
        }
    }

    fn instances(&mut self) -> usize {
        match self.random.below(2) {
            0 => self.parallelism,
            _ => 1 + self.random.below(self.parallelism),
        }
    }

    fn note(&mut self, line: &str) {
        writeln!(self.text, "  {line}").expect("a text takes any line");
    }

    fn add(&mut self, stream: Stream<u64>, model: Model) -> usize {
        // A graph must not multiply its events without end.
        let (stream, model) = if model.values.len() > 400 {
            (stream.filter(|v| v % 8 == 0).boxed(), model.filter(|v| v % 8 == 0))
        } else {
            (stream, model)
        };
        self.note(&format!("    -> stream {}: {}", self.streams.len(), model.values.len()));
        self.streams.push((stream, model));
        self.streams.len() - 1
    }

    fn source(&mut self, job: &Job, i: usize) {
        let (name, p) = (format!("source-{i}"), self.instances());
        let (first, count) = (1_000 * i as u64, 20 + self.random.below(60) as u64);
        self.note(&format!("{name} x {p}: {count} numbers"));
        let numbers = Numbers::new(first, count);
        let stage = job.source(numbers).named(&name).parallelism(p);
        let (low, high): (Vec<u64>, Vec<u64>) =
            (first..first + count).map(mix).partition(|v| v % 4 != 1);
        let of = self.sources.len();
        let from = self.add(stage.clone(), Model::of(&name, Some(of), low));
        let mut channel = Model::of(&name, Some(of), high);
        channel.name = format!("{name}/high");
        self.add(stage.channel(HIGH), channel);
        self.sources.push((from, false));
    }

    /// Closures behind some stream.
    fn chain(&mut self) {
        let (i, chain) = (self.random.below(self.streams.len()), Chain::any(&mut self.random));
        self.note(&format!("{chain:?} behind stream {i}"));
        let (stream, model) = &self.streams[i];
        let (stream, model) = (chain.boxed(stream), model.through(chain));
        self.add(stream, model);
    }

    fn named_chain(&mut self, i: usize) {
        let (name, p) = (format!("chain-{i}"), self.instances());
        let (s, chain) = (self.random.below(self.streams.len()), Chain::any(&mut self.random));
        self.note(&format!("{name} x {p}: {chain:?} reads stream {s}"));
        let (stream, model) = &self.streams[s];
        // As a component a closure that panics would restart it.
        let chain = if chain == Chain::Panics { Chain::Map } else { chain };
        let (stage, made) = (chain.named(stream, &name).parallelism(p), model.through(chain));
        let root = model.source;
        let received = model.values.len() as u64;
        let failed = model.values.iter().filter(|v| chain.call(**v).is_none()).count() as u64;
        self.expected.push(Expected::counted(&name, received, failed));
        self.mark(root);
        self.add(stage.clone(), Model::of(&name, None, made.values));
    }

    fn mark(&mut self, source: Option<usize>) {
        if let Some(source) = source {
            self.sources[source].1 = true;
        }
    }

    /// Subscribes to these streams, each with a grouping of its own and perhaps an alias.
    fn inputs(&mut self, streams: &[usize]) -> (Vec<streamwork::Grouped<u64, Mixed>>, Vec<Input>) {
        let mut inputs = (Vec::new(), Vec::new());
        for &s in streams {
            let grouping = Mixed::any(&mut self.random);
            let alias = (self.random.below(2) == 0).then(|| format!("alias-of-{s}"));
            self.note(&format!("    reads stream {s} by {grouping:?} as {alias:?}"));
            let (stream, model) = &self.streams[s];
            let (source, values) = (model.source, model.values.clone());
            let name = alias.clone().unwrap_or_else(|| model.name.clone());
            let stream = alias.map_or_else(|| stream.clone(), |alias| stream.alias(&alias));
            inputs.0.push(stream.group(grouping.clone()));
            inputs.1.push(Input { stream: name, values, grouping });
            self.mark(source);
        }
        inputs
    }

    fn choose(&mut self) -> Vec<usize> {
        let mut chosen: Vec<usize> =
            (0..=self.random.below(4)).map(|_| self.random.below(self.streams.len())).collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    fn operator(&mut self, i: usize) {
        let (name, p) = (format!("operator-{i}"), self.instances());
        self.note(&format!("{name} x {p}"));
        let chosen = self.choose();
        let (streams, inputs) = self.inputs(&chosen);
        let expected = Expected::new(&name, p, inputs, true);
        let work = Work::new(expected.seen.clone());
        let stage = Streams::of(streams).apply(work).named(&name).parallelism(p);
        let delivered = expected.delivered();
        let (low, high) = Work::evaluate(&delivered);
        self.expected.push(expected);
        self.add(stage.clone(), Model::of(&name, None, low));
        self.add(stage.channel(HIGH), Model::of(&format!("{name}/high"), None, high));
    }

    fn two_input(&mut self, i: usize) {
        let (name, p) = (format!("two-input-{i}"), self.instances());
        let left = self.random.below(self.streams.len());
        let right = (left + 1 + self.random.below(self.streams.len() - 1)) % self.streams.len();
        self.note(&format!("{name} x {p}"));
        let (mut streams, inputs) = self.inputs(&[left, right]);
        let (right, left) = (streams.pop(), streams.pop());
        let (left, right) = left.zip(right).expect("there are two");
        let sides: Vec<Vec<u64>> = inputs.iter().map(|input| input.delivered(p)).collect();
        let expected = Expected::new(&name, p, inputs, false);
        let two = Two::new(expected.seen.clone());
        let stage = left.connect(right).apply(two).named(&name).parallelism(p);
        self.expected.push(expected);
        self.add(stage.clone(), Model::of(&name, None, Two::evaluate(&sides[0], &sides[1])));
    }

    fn fold(&mut self, i: usize) {
        let (name, p) = (format!("fold-{i}"), self.instances());
        let chosen = self.choose();
        self.note(&format!("{name} x {p}: counts streams {chosen:?} by key"));
        let streams: Vec<_> = chosen.iter().map(|s| self.streams[*s].0.clone()).collect();
        let values: Vec<u64> =
            chosen.iter().flat_map(|s| self.streams[*s].1.values.clone()).collect();
        let sources: Vec<_> = chosen.iter().map(|s| self.streams[*s].1.source).collect();
        sources.into_iter().for_each(|source| self.mark(source));
        let counts = Streams::of(streams)
            .key_by_value(|v: &u64| v % 5)
            .fold(0_u64, |n, _| *n += 1)
            .named(&name)
            .parallelism(p);
        self.expected.push(Expected::counted(&name, values.len() as u64, 0));
        let mut made = Vec::new();
        let mut count = [0; 5];
        for v in values {
            let key = v % 5;
            count[key as usize] += 1;
            made.push(mix(1_000 * key + count[key as usize]));
        }
        let stream = counts.map(|(key, n)| mix(1_000 * key + n)).boxed();
        self.add(stream, Model::of(&name, None, made));
    }

    fn sink(&mut self, i: usize) {
        let chosen = self.choose();
        self.sink_of(&chosen, i);
    }

    fn sink_of(&mut self, streams: &[usize], i: usize) {
        let (name, p) = (format!("sink-{i}"), self.instances());
        self.note(&format!("{name} x {p}"));
        let (streams, mut inputs) = self.inputs(streams);
        // A sink is not told where an event came from.
        inputs.iter_mut().for_each(|input| input.stream = String::new());
        let expected = Expected::new(&name, p, inputs, false);
        let keeper = Keeper::new(expected.seen.clone());
        Streams::of(streams).sink(keeper).named(&name).parallelism(p);
        self.expected.push(expected);
    }
}

/// Says which graph it was.
impl Drop for RandomGraph {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.text);
        }
    }
}

impl std::fmt::Debug for RandomGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
