//! Random jobs with state, to be disturbed: each result comes once.

mod parts;

use super::model::sorted;
use super::parts::{HIGH, Numbers, Random, mix};
use parts::{Count, CountBoth, CountEverywhere, CountInField, CountOwn, Cue, Sides, Spread};
use parts::{key, nth, numbered};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;
use streamwork::Checkpoints;
use streamwork::prelude::*;
use streamwork::testing::{Fault, Faulty};

/// A graph that can be run again and again, disturbed each time in another way, with what its sinks should
/// have collected in the end.
pub struct ExactGraph {
    seed: u64,
    /// The highest parallelism.
    most: usize,
    sinks: BTreeMap<String, (Collect<u64>, Vec<u64>)>,
    text: String,
}

impl ExactGraph {
    /// The graph of a seed, with at most `most` instances of each component.
    #[must_use]
    pub fn seeded(seed: u64, most: usize) -> Self {
        Self { seed, most, sinks: BTreeMap::new(), text: String::new() }
    }

    /// The job of run `run`: from the second on, components have other parallelisms where their state allows
    /// it, and with `is_faulty` one of them fails once.
    #[must_use]
    pub fn job(&mut self, run: u64, is_faulty: bool, checkpoints: Checkpoints) -> Job {
        let mut job = Job::new("exact").delivery(Delivery::exactly_once(checkpoints));
        if self.seed.is_multiple_of(3) {
            let limits = LinkLimits { frames: 1, bytes: 64, delay: Duration::from_millis(200) };
            job = job.link_limits(limits);
        }
        self.text = format!("\nseed {}, run {run}, faulty: {is_faulty}\n", self.seed);
        let seed = self.seed.wrapping_mul(31);
        let mut disturbance = Random(mix(seed) ^ run);
        let fails = is_faulty.then(|| disturbance.below(9));
        let (streams, structure) = (Vec::new(), Random(seed));
        let growth = Growth {
            graph: self,
            structure,
            disturbance,
            streams,
            components: 0,
            grows_sources: true,
            fails,
        };
        growth.grow(&job);
        job
    }

    /// What a sink got, and what it should have got, if these are not the same.
    #[must_use]
    pub fn difference(&self) -> Option<String> {
        self.sinks.iter().find_map(|(name, (got, expected))| {
            let (got, expected) = (sorted(got.take()), sorted(expected.iter().copied()));
            let (n, all) = (got.len(), expected.len());
            (got != expected).then(|| format!("{name}: {n} results of {all}\n{}", self.text))
        })
    }

    /// How many results there should be.
    #[must_use]
    pub fn results(&self) -> usize {
        self.sinks.values().map(|(_, expected)| expected.len()).sum()
    }
}

impl std::fmt::Debug for ExactGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

struct Growth<'a> {
    graph: &'a mut ExactGraph,
    /// Draws the same in every run.
    structure: Random,
    disturbance: Random,
    streams: Vec<(Stream<u64>, Vec<u64>)>,
    components: usize,
    grows_sources: bool,
    /// Which component is to fail.
    fails: Option<usize>,
}

impl Growth<'_> {
    fn grow(mut self, job: &Job) {
        for _ in 0..=self.structure.below(3) {
            self.source(job);
        }
        self.grows_sources = false;
        let sources = self.streams.len();
        for _ in 0..3 + self.structure.below(5) {
            match self.structure.below(10) {
                0 => self.spread(),
                1 | 2 => self.count(),
                3 => self.count_both(),
                4 => self.sides(),
                5 => self.count_in_field(),
                6 => self.count_own(),
                7 => self.count_everywhere(),
                8 => self.fold(),
                _ => self.closures(),
            }
        }
        self.sink(None);
        // Every source is read, and so is what was added last.
        for stream in (0..sources).chain([self.streams.len() - 1]) {
            self.sink(Some(stream));
        }
    }

    fn note(&mut self, line: &str) {
        writeln!(self.graph.text, "  {line}").expect("a text takes any line");
    }

    /// A name, how many instances there were in the first run and are in this one, and what fails.
    fn component(&mut self, what: &str) -> (String, usize, usize) {
        let name = format!("{what}-{}", self.components);
        self.components += 1;
        let first = 1 + self.structure.below(self.graph.most);
        let now = 1 + self.disturbance.below(self.graph.most);
        (name, first, now)
    }

    /// Wraps a component, which fails once if it is its turn. A source panics: what it cannot read is lost.
    fn faulty<C: Component>(&mut self, component: C) -> Faulty<C> {
        let event = 1 + self.disturbance.below(200) as u64;
        let panics = self.disturbance.below(2) == 0 || self.grows_sources;
        let is_turn = self.fails == Some(self.components - 1);
        let name = component.name().to_owned();
        let fault = if panics { Fault::panic(&name, event) } else { Fault::error(&name, event) };
        if is_turn {
            self.note(&format!("  {fault} (component {})", self.components - 1));
        }
        Faulty::new(component, is_turn.then_some(fault))
    }

    fn add(&mut self, stream: Stream<u64>, values: Vec<u64>) {
        // A graph must not multiply its events without end.
        let (stream, values) = if values.len() > 1_200 {
            let kept = values.into_iter().filter(|v| v % 8 == 0).collect();
            (stream.filter(|v| v % 8 == 0).boxed(), kept)
        } else {
            (stream, values)
        };
        self.note(&format!("  -> stream {}: {}", self.streams.len(), values.len()));
        self.streams.push((stream, values));
    }

    fn source(&mut self, job: &Job) {
        let (name, fixed, now) = self.component("source");
        let (first, count) = (1_000 * self.streams.len() as u64, 50 + self.structure.below(250));
        let (splits, values) = (1 + self.structure.below(6), first..first + count as u64);
        let values: Vec<u64> = values.map(mix).collect();
        let kind = self.structure.below(3);
        // Slow ones see checkpoints come and go.
        let rate = if self.graph.seed % 3 == 1 { 1e9 } else { 2_000.0 };
        self.note(&format!("{name} x {now}: {count} numbers, kind {kind}, {splits} splits"));
        match kind {
            0 => {
                let source = self.faulty(Numbers::new(first, count as u64));
                let stage = job.source(source).named(&name).parallelism(fixed).rate(rate);
                let (high, low) = values.iter().partition::<Vec<u64>, _>(|v| **v % 4 == 1);
                self.add(stage.clone(), low);
                self.add(stage.channel(HIGH), high);
            }
            1 => {
                let source = self.faulty(FromIter::new(values.clone()).splits(splits));
                self.add(
                    job.source(source).named(&name).parallelism(now).rate(rate).clone(),
                    values,
                );
            }
            _ => {
                let make = move |n| mix(first + n);
                let source = Generator::indexed(make).events(count as u64).splits(splits);
                let source = self.faulty(source);
                self.add(
                    job.source(source).named(&name).parallelism(now).rate(rate).clone(),
                    values,
                );
            }
        }
    }

    /// Up to three streams, with their events.
    fn choose(&mut self) -> (Vec<usize>, Vec<u64>) {
        let mut chosen: Vec<usize> = (0..=self.structure.below(3))
            .map(|_| self.structure.below(self.streams.len()))
            .collect();
        chosen.sort_unstable();
        chosen.dedup();
        let values = chosen.iter().flat_map(|s| self.streams[*s].1.clone()).collect();
        (chosen, values)
    }

    fn streams(&self, chosen: &[usize]) -> Streams<u64> {
        Streams::of(chosen.iter().map(|s| self.streams[*s].0.clone()).collect::<Vec<_>>())
    }

    /// With a grouping that leaves each event to one instance.
    fn grouped(&mut self, chosen: &[usize]) -> Streams<u64> {
        let streams = self.streams(chosen);
        match self.structure.below(4) {
            0 => streams,
            1 => streams.group(Fields::by(key)),
            2 => streams.group(Global),
            _ => streams.group(Forward),
        }
    }

    fn spread(&mut self) {
        let (name, _, now) = self.component("spread");
        let (chosen, values) = self.choose();
        self.note(&format!("{name} x {now} reads {chosen:?}"));
        let (streams, spread) = (self.grouped(&chosen), self.faulty(Spread));
        let stage = streams.apply(spread).named(&name).parallelism(now);
        self.add(stage.clone(), values.iter().flat_map(Spread::low).collect());
        self.add(stage.channel(HIGH), values.iter().flat_map(Spread::high).collect());
    }

    fn count(&mut self) {
        let (name, _, now) = self.component("count");
        let (chosen, values) = self.choose();
        let forgets_after = 3 + self.structure.below(20) as u64;
        self.note(&format!("{name} x {now} reads {chosen:?}, forgets after {forgets_after}"));
        let count = self.faulty(Count { forgets_after });
        let stream = self.streams(&chosen).key_by_value(key).apply(count);
        let stream = stream.named(&name).parallelism(now).clone();
        self.add(stream, Count::evaluate(&values, forgets_after));
    }

    fn count_both(&mut self) {
        let (name, _, now) = self.component("count-both");
        let ((left, mut values), (right, more)) = (self.choose(), self.choose());
        self.note(&format!("{name} x {now} reads {left:?} and {right:?}"));
        values.extend(more);
        let (left, right) = (self.streams(&left), self.streams(&right));
        let (left, right) = (left.key_by_value(key), right.key_by_value(key));
        let count = self.faulty(CountBoth);
        let stream = left.connect(right).apply(count).named(&name).parallelism(now).clone();
        self.add(stream, numbered(&values, key));
    }

    fn sides(&mut self) {
        let (name, _, now) = self.component("sides");
        let (left, right) =
            (self.structure.below(self.streams.len()), self.structure.below(self.streams.len()));
        self.note(&format!("{name} x {now} reads {left} and {right}"));
        let sides = self.faulty(Sides);
        let (lefts, rights) = (&self.streams[left], &self.streams[right]);
        let pair = lefts.0.connect(rights.0.group(Fields::by(key)));
        let stream = pair.apply(sides).named(&name).parallelism(now).clone();
        self.add(stream, Sides::evaluate(&self.streams[left].1, &self.streams[right].1));
    }

    fn count_in_field(&mut self) {
        let (name, _, now) = self.component("count-in-field");
        let (chosen, values) = self.choose();
        self.note(&format!("{name} x {now} reads {chosen:?}"));
        let count = self.faulty(CountInField::default());
        let streams = self.streams(&chosen).group(Fields::by(key));
        let stream = streams.apply(count).named(&name).parallelism(now).clone();
        self.add(stream, numbered(&values, key));
    }

    fn count_own(&mut self) {
        let (name, fixed, _) = self.component("count-own");
        let (chosen, values) = self.choose();
        self.note(&format!("{name} x {fixed}, always, reads {chosen:?}"));
        let count = self.faulty(CountOwn::default());
        let streams = self.streams(&chosen).group(Direct::to(CountOwn::home));
        let stream = streams.apply(count).named(&name).parallelism(fixed).clone();
        self.add(stream, CountOwn::evaluate(&values, fixed));
    }

    fn count_everywhere(&mut self) {
        let (name, _, now) = self.component("count-everywhere");
        let (chosen, values) = self.choose();
        self.note(&format!("{name} x {now} reads all of {chosen:?}"));
        let count = self.faulty(CountEverywhere::default());
        let streams = self.streams(&chosen).group(All);
        let stream = streams.apply(count).named(&name).parallelism(now).clone();
        self.add(stream, CountEverywhere::evaluate(&values));
    }

    fn fold(&mut self) {
        let (name, _, now) = self.component("fold");
        let (chosen, values) = self.choose();
        self.note(&format!("{name} x {now} reads {chosen:?}"));
        let streams = self.streams(&chosen).key_by_value(key);
        let folded = streams.fold(0_u64, |n, _| *n += 1).named(&name).parallelism(now);
        self.add(folded.map(|(key, n)| nth(*key, *n)).boxed(), numbered(&values, key));
    }

    /// Closures, as a component of their own or on an edge.
    fn closures(&mut self) {
        let (name, _, now) = self.component("closures");
        let (s, is_named) = (self.structure.below(self.streams.len()), self.structure.below(2));
        let at = 1 + self.disturbance.below(40) as u64;
        // What fails on an edge is left out.
        let is_turn = is_named == 1 && self.fails == Some(self.components - 1);
        let cue = Cue::new(is_turn.then_some(at));
        self.note(&format!("{name} x {now} behind {s}, panics: {is_turn} at {at}"));
        let (stream, values) = &self.streams[s];
        let kept = |v: &u64| !v.is_multiple_of(5);
        let piped = stream.filter(kept).map(move |v| cue.call(*v)).flat_map(|v| [*v, !v]);
        let stream = match is_named {
            0 => piped.boxed(),
            _ => piped.named(&name).parallelism(now).clone(),
        };
        let made = values.iter().filter(|v| kept(v)).map(|v| mix(*v));
        let made = made.flat_map(|v| [v, !v]).collect();
        self.add(stream, made);
    }

    fn sink(&mut self, stream: Option<usize>) {
        let (name, _, now) = self.component("sink");
        let (chosen, values) = match stream {
            Some(stream) => (vec![stream], self.streams[stream].1.clone()),
            None => self.choose(),
        };
        self.note(&format!("{name} x {now} reads {chosen:?}"));
        let kept = self.graph.sinks.entry(name.clone());
        let got = kept.or_insert_with(|| (Collect::new(), values)).0.clone();
        let (streams, sink) = (self.grouped(&chosen), self.faulty(got));
        streams.sink(sink).named(&name).parallelism(now);
    }
}
