//! What a component should get, and what it got.

use super::parts::{Chain, Mixed, Place, Work};
use std::sync::{Arc, Mutex, PoisonError};

/// What a component saw: on which instance, from which stream, which event.
pub(super) type Seen = Arc<Mutex<Vec<(usize, String, u64)>>>;

/// The events of a stream, in any order.
pub(super) struct Model {
    pub(super) name: String,
    /// The source that it comes from, if no other component lies between.
    pub(super) source: Option<usize>,
    pub(super) values: Vec<u64>,
}

impl Model {
    pub(super) fn of(name: &str, source: Option<usize>, values: Vec<u64>) -> Self {
        Self { name: name.to_owned(), source, values }
    }

    pub(super) fn filter(&self, keep: impl Fn(&u64) -> bool) -> Self {
        let values = self.values.iter().copied().filter(|v| keep(v)).collect();
        Self::of(&self.name, self.source, values)
    }

    pub(super) fn through(&self, chain: Chain) -> Self {
        let values = self.values.iter().flat_map(|v| chain.call(*v).unwrap_or_default()).collect();
        Self::of(&self.name, self.source, values)
    }
}

/// One subscription.
pub(super) struct Input {
    pub(super) stream: String,
    pub(super) values: Vec<u64>,
    pub(super) grouping: Mixed,
}

impl Input {
    /// With copies for all instances, and without what was sent nowhere.
    pub(super) fn delivered(&self, parallelism: usize) -> Vec<u64> {
        let copies = |v: &u64| match self.grouping.place(*v, parallelism) {
            Place::Everywhere => parallelism,
            Place::Nowhere => 0,
            Place::Exactly(_) | Place::Somewhere => 1,
        };
        self.values.iter().flat_map(|v| std::iter::repeat_n(*v, copies(v))).collect()
    }
}

/// What a component should get.
pub(super) struct Expected {
    pub(super) name: String,
    pub(super) seen: Seen,
    parallelism: usize,
    inputs: Vec<Input>,
    /// Whether it is an operator that fails on some events.
    fails: bool,
    /// Of a component that can't tell what it sees: how much it should receive and lose.
    counted: Option<(u64, u64)>,
}

impl Expected {
    pub(super) fn new(name: &str, parallelism: usize, inputs: Vec<Input>, fails: bool) -> Self {
        let seen = Seen::default();
        Self { name: name.to_owned(), seen, parallelism, inputs, fails, counted: None }
    }

    pub(super) fn counted(name: &str, received: u64, failed: u64) -> Self {
        let counted = Some((received, failed));
        Self { counted, ..Self::new(name, 1, Vec::new(), false) }
    }

    pub(super) fn delivered(&self) -> Vec<u64> {
        self.inputs.iter().flat_map(|input| input.delivered(self.parallelism)).collect()
    }

    pub(super) fn received(&self) -> u64 {
        self.counted.map_or_else(|| self.delivered().len() as u64, |(received, _)| received)
    }

    pub(super) fn failed(&self) -> u64 {
        let failed = || self.delivered().iter().filter(|v| self.fails && Work::fails(**v)).count();
        self.counted.map_or_else(|| failed() as u64, |(_, failed)| failed)
    }

    /// Compares stream by stream; with the instances where these are certain.
    pub(super) fn check(&self) {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut streams: Vec<&str> = self.inputs.iter().map(|i| i.stream.as_str()).collect();
        streams.sort_unstable();
        streams.dedup();
        let known = seen.iter().filter(|(_, stream, _)| streams.contains(&stream.as_str()));
        assert_eq!(known.count(), seen.len(), "{}: events of unknown streams", self.name);
        for stream in streams {
            let inputs = || self.inputs.iter().filter(|input| input.stream == stream);
            let got = || seen.iter().filter(|(_, of, _)| of == stream);
            let all = inputs().flat_map(|input| input.delivered(self.parallelism));
            let values = got().map(|(_, _, v)| *v);
            assert_eq!(sorted(values), sorted(all), "{}: what came over {stream}", self.name);
            if let Some(places) = inputs().map(|i| self.places(i)).collect::<Option<Vec<_>>>() {
                let placed = got().map(|(i, _, v)| (*i, *v));
                let expected = places.into_iter().flatten();
                assert_eq!(
                    sorted(placed),
                    sorted(expected),
                    "{}: which instance got what of {stream}",
                    self.name
                );
            }
        }
    }

    /// Which instance gets what, if that is certain.
    fn places(&self, input: &Input) -> Option<Vec<(usize, u64)>> {
        let mut places = Vec::new();
        for v in &input.values {
            match input.grouping.place(*v, self.parallelism) {
                Place::Exactly(i) => places.push((i, *v)),
                Place::Everywhere => places.extend((0..self.parallelism).map(|i| (i, *v))),
                Place::Nowhere => {}
                Place::Somewhere => return None,
            }
        }
        Some(places)
    }
}

pub(super) fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_unstable();
    items
}
