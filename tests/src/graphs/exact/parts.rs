//! What random jobs with state are made of. What each of them emits, all together, depends on what it gets
//! and not on the order of that.

use crate::graphs::parts::{HIGH, mix};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::prelude::*;

/// The key of a number.
pub(super) fn key(v: &u64) -> u64 {
    v % 7
}

/// What is emitted for the n-th of something.
pub(super) fn nth(of: u64, n: u64) -> u64 {
    mix(of.wrapping_mul(1_000_003).wrapping_add(n))
}

/// Numbers the events of each key, in the order in which they come.
pub(super) fn numbered(values: &[u64], key: impl Fn(&u64) -> u64) -> Vec<u64> {
    let mut counts = HashMap::new();
    let number = |v: &u64| {
        let n: &mut u64 = counts.entry(key(v)).or_default();
        *n += 1;
        nth(key(v), *n)
    };
    values.iter().map(number).collect()
}

/// Makes up to two other numbers of each, and some for the channel.
#[derive(Component, Clone)]
#[component(channels = [HIGH])]
pub(super) struct Spread;

impl Spread {
    pub(super) fn low(v: &u64) -> impl Iterator<Item = u64> + use<> {
        let v = *v;
        (0..1 + u64::from(v.is_multiple_of(3))).map(move |i| mix(v.wrapping_add(i + 1)))
    }

    pub(super) fn high(v: &u64) -> impl Iterator<Item = u64> + use<> {
        let v = *v;
        (0..u64::from(v % 4 == 1) * 2).map(move |i| mix(v.wrapping_sub(i + 1)))
    }
}

impl Operator for Spread {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, v: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.extend(Self::low(&v));
        out.to(HIGH).extend(Self::high(&v));
        Ok(())
    }
}

/// What [`Count`] remembers of a key.
#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    count: u64,
    /// Each was seen so often.
    lasts: Vec<(u8, u32)>,
}

/// Numbers the events of each key; forgets a key after so many, and begins again. At the end it says how
/// far each key was.
#[derive(Component, Clone)]
pub(super) struct Count {
    pub(super) forgets_after: u64,
}

impl Count {
    pub(super) fn evaluate(values: &[u64], forgets_after: u64) -> Vec<u64> {
        let mut counts: HashMap<u64, u64> = HashMap::new();
        let mut made = Vec::new();
        for v in values {
            let count = counts.entry(key(v)).or_default();
            *count = *count % forgets_after + 1;
            made.push(nth(key(v), *count));
        }
        let open = counts.iter().filter(|(_, n)| **n < forgets_after);
        made.extend(open.map(|(key, n)| nth(100 + key, *n)));
        made
    }
}

impl KeyedOperator for Count {
    type Key = u64;
    type In = u64;
    type Out = u64;
    type State = Seen;

    fn apply(
        &mut self,
        key: &u64,
        _: u64,
        seen: &mut Keyed<Seen>,
        out: &mut Emitter<u64>,
    ) -> Result<()> {
        seen.count += 1;
        seen.lasts.push((1, 1));
        assert_eq!(seen.lasts.len() as u64, seen.count, "what belongs together stays together");
        out.emit(nth(*key, seen.count));
        if seen.count == self.forgets_after {
            seen.take();
        }
        Ok(())
    }

    fn finish(&mut self, key: &u64, seen: &mut Keyed<Seen>, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(nth(100 + key, seen.count));
        Ok(())
    }
}

/// Numbers the events of each key, from whichever side.
#[derive(Component, Clone)]
pub(super) struct CountBoth;

impl KeyedTwoInput for CountBoth {
    type Key = u64;
    type Left = u64;
    type Right = u64;
    type Out = u64;
    type State = u64;

    fn apply_left(
        &mut self,
        key: &u64,
        _: u64,
        count: &mut Keyed<u64>,
        out: &mut Emitter<u64>,
    ) -> Result<()> {
        **count += 1;
        out.emit(nth(*key, **count));
        Ok(())
    }

    fn apply_right(
        &mut self,
        key: &u64,
        v: u64,
        count: &mut Keyed<u64>,
        out: &mut Emitter<u64>,
    ) -> Result<()> {
        self.apply_left(key, v, count, out)
    }
}

/// Makes another number of each, differently on either side.
#[derive(Component, Clone)]
pub(super) struct Sides;

impl Sides {
    pub(super) fn evaluate(left: &[u64], right: &[u64]) -> Vec<u64> {
        left.iter().map(|v| mix(*v)).chain(right.iter().map(|v| mix(!v))).collect()
    }
}

impl TwoInput for Sides {
    type Left = u64;
    type Right = u64;
    type Out = u64;

    fn apply_left(&mut self, v: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(mix(v));
        Ok(())
    }

    fn apply_right(&mut self, v: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(mix(!v));
        Ok(())
    }
}

/// Numbers the events of each key, in a map of its own.
#[derive(Component, Clone, Default)]
pub(super) struct CountInField {
    #[state(by_key)]
    counts: HashMap<u64, u64>,
}

impl Operator for CountInField {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, v: u64, out: &mut Emitter<u64>) -> Result<()> {
        let count = self.counts.entry(key(&v)).or_default();
        *count += 1;
        out.emit(nth(key(&v), *count));
        Ok(())
    }
}

/// Numbers the events of an instance, and says at the end how many it were.
#[derive(Component, Clone, Default)]
pub(super) struct CountOwn {
    #[state]
    count: u64,
    instance: u64,
}

impl CountOwn {
    pub(super) fn home(v: &u64, instances: usize) -> usize {
        (v % instances as u64) as usize
    }

    pub(super) fn evaluate(values: &[u64], instances: usize) -> Vec<u64> {
        let mut made = numbered(values, |v| Self::home(v, instances) as u64);
        for instance in 0..instances {
            let count = values.iter().filter(|v| Self::home(v, instances) == instance).count();
            made.push(nth(100 + instance as u64, count as u64));
        }
        made
    }
}

impl Operator for CountOwn {
    type In = u64;
    type Out = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index() as u64;
        Ok(())
    }

    fn apply(&mut self, _: u64, out: &mut Emitter<u64>) -> Result<()> {
        self.count += 1;
        out.emit(nth(self.instance, self.count));
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(nth(100 + self.instance, self.count));
        Ok(())
    }
}

/// Each instance counts everything, and one of them says so.
#[derive(Component, Clone, Default)]
pub(super) struct CountEverywhere {
    #[state(replicated)]
    count: u64,
    is_first: bool,
}

impl CountEverywhere {
    pub(super) fn evaluate(values: &[u64]) -> Vec<u64> {
        numbered(values, |_| 7)
    }
}

impl Operator for CountEverywhere {
    type In = u64;
    type Out = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.is_first = ctx.index() == 0;
        Ok(())
    }

    fn apply(&mut self, _: u64, out: &mut Emitter<u64>) -> Result<()> {
        self.count += 1;
        if self.is_first {
            out.emit(nth(7, self.count));
        }
        Ok(())
    }
}

/// A closure that panics once, at the n-th call of it and its clones.
#[derive(Clone)]
pub(super) struct Cue {
    at: Option<u64>,
    calls: Arc<AtomicU64>,
}

impl Cue {
    pub(super) fn new(at: Option<u64>) -> Self {
        Self { at, calls: Arc::default() }
    }

    pub(super) fn call(&self, v: u64) -> u64 {
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(Some(call) != self.at, "a panic on cue at call {call}");
        mix(v)
    }
}
