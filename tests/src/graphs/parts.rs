//! What random graphs are made of.

use super::model::Seen;
use std::sync::PoisonError;
use streamwork::grouping::{Target, Targets};
use streamwork::prelude::*;
use streamwork::{Channel, KeyGroups};

/// What operators and sources emit beside their stream.
pub(super) const HIGH: Channel<u64> = Channel::new("high");

/// A number that looks as if it had nothing to do with `v`; `SplitMix64`.
pub(super) fn mix(v: u64) -> u64 {
    let mut z = v.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Draws.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = mix(self.0);
        (self.0 % n as u64) as usize
    }
}

/// Where an event should go.
pub(super) enum Place {
    Exactly(usize),
    Everywhere,
    Somewhere,
    Nowhere,
}

/// Any of the groupings.
#[derive(Clone, Debug)]
pub(super) enum Mixed {
    Shuffle(Shuffle),
    Fields,
    All,
    Global,
    Forward,
    Direct,
}

impl Mixed {
    pub(super) fn any(random: &mut Random) -> Self {
        match random.below(6) {
            0 => Self::Shuffle(Shuffle::new()),
            1 => Self::Fields,
            2 => Self::All,
            3 => Self::Global,
            4 => Self::Forward,
            _ => Self::Direct,
        }
    }

    /// Now and then to an instance that does not exist.
    fn direct(v: u64, instances: usize) -> usize {
        if v % 29 == 3 { instances } else { (v % instances as u64) as usize }
    }

    pub(super) fn place(&self, v: u64, instances: usize) -> Place {
        match self {
            Self::Shuffle(_) | Self::Forward => Place::Somewhere,
            Self::Fields => {
                let groups = KeyGroups::DEFAULT;
                Place::Exactly(groups.instance(groups.of_key(&(v % 7)), instances))
            }
            Self::All => Place::Everywhere,
            Self::Global => Place::Exactly(0),
            Self::Direct => match Self::direct(v, instances) {
                i if i < instances => Place::Exactly(i),
                _ => Place::Nowhere,
            },
        }
    }
}

impl Grouping<u64> for Mixed {
    fn target(&mut self, v: &u64, targets: Targets) -> Target {
        match self {
            Self::Shuffle(shuffle) => shuffle.target(v, targets),
            Self::Fields => Fields::by(|v: &u64| v % 7).target(v, targets),
            Self::All => All.target(v, targets),
            Self::Global => Global.target(v, targets),
            Self::Forward => Forward.target(v, targets),
            Self::Direct => Direct::to(|v: &u64, n| Self::direct(*v, n)).target(v, targets),
        }
    }

    fn sole_target(&self, targets: Targets) -> Option<usize> {
        match self {
            Self::Shuffle(shuffle) => Grouping::<u64>::sole_target(shuffle, targets),
            Self::Fields => Fields::by(|v: &u64| v % 7).sole_target(targets),
            Self::All => Grouping::<u64>::sole_target(&All, targets),
            Self::Global => Grouping::<u64>::sole_target(&Global, targets),
            Self::Forward => Grouping::<u64>::sole_target(&Forward, targets),
            Self::Direct => None,
        }
    }

    fn by_key(&self) -> bool {
        matches!(self, Self::Fields)
    }
}

/// Closures on an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chain {
    Map,
    Filter,
    Several,
    Fails,
    Panics,
    MapFilterSeveral,
    SeveralFailsFilter,
}

fn several(v: &u64) -> Vec<u64> {
    (0..v % 4).map(|i| mix(v ^ i)).collect()
}

fn fails(v: &u64) -> Result<u64> {
    if v % 11 == 5 { Err("a number on cue".into()) } else { Ok(mix(*v)) }
}

fn panics(v: &u64) -> u64 {
    assert!(v % 37 != 5, "a number on cue");
    mix(*v)
}

fn keeps(v: &u64) -> bool {
    !v.is_multiple_of(3)
}

impl Chain {
    pub(super) fn any(random: &mut Random) -> Self {
        match random.below(7) {
            0 => Self::Map,
            1 => Self::Filter,
            2 => Self::Several,
            3 => Self::Fails,
            4 => Self::Panics,
            5 => Self::MapFilterSeveral,
            _ => Self::SeveralFailsFilter,
        }
    }

    pub(super) fn boxed(self, stream: &Stream<u64>) -> Stream<u64> {
        match self {
            Self::Map => stream.map(|v| mix(*v)).boxed(),
            Self::Filter => stream.filter(keeps).boxed(),
            Self::Several => stream.flat_map(several).boxed(),
            Self::Fails => stream.try_map(fails).boxed(),
            Self::Panics => stream.map(panics).boxed(),
            Self::MapFilterSeveral => {
                stream.map(|v| mix(*v)).filter(keeps).flat_map(several).boxed()
            }
            Self::SeveralFailsFilter => {
                stream.flat_map(several).try_map(fails).filter(keeps).boxed()
            }
        }
    }

    pub(super) fn named(self, stream: &Stream<u64>, name: &str) -> Stage<u64> {
        match self {
            Self::Map | Self::Panics => stream.map(|v| mix(*v)).named(name),
            Self::Filter => stream.filter(keeps).named(name),
            Self::Several => stream.flat_map(several).named(name),
            Self::Fails => stream.try_map(fails).named(name),
            Self::MapFilterSeveral => {
                stream.map(|v| mix(*v)).filter(keeps).flat_map(several).named(name)
            }
            Self::SeveralFailsFilter => {
                stream.flat_map(several).try_map(fails).filter(keeps).named(name)
            }
        }
    }

    /// What becomes of a number; `None` if it is lost.
    pub(super) fn call(self, v: u64) -> Option<Vec<u64>> {
        match self {
            Self::Map => Some(vec![mix(v)]),
            Self::Filter => Some(if keeps(&v) { vec![v] } else { Vec::new() }),
            Self::Several => Some(several(&v)),
            Self::Fails => fails(&v).ok().map(|v| vec![v]),
            Self::Panics => (v % 37 != 5).then(|| vec![mix(v)]),
            Self::MapFilterSeveral => {
                Some(if keeps(&mix(v)) { several(&mix(v)) } else { Vec::new() })
            }
            Self::SeveralFailsFilter => {
                let made: Result<Vec<u64>> = several(&v).iter().map(fails).collect();
                made.ok().map(|made| made.into_iter().filter(keeps).collect())
            }
        }
    }
}

/// Emits numbers; those that leave 1 when divided by 4, into the channel.
#[derive(Component, Clone)]
#[component(channels = [HIGH])]
pub(super) struct Numbers {
    first: u64,
    count: u64,
    #[state]
    next: u64,
    index: u64,
    step: u64,
}

impl Numbers {
    pub(super) fn new(first: u64, count: u64) -> Self {
        Self { first, count, next: 0, index: 0, step: 1 }
    }
}

impl Source for Numbers {
    type Out = u64;

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.index = ctx.split().index as u64;
        self.step = ctx.split().count as u64;
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        let n = self.index + self.next * self.step;
        if n >= self.count {
            return Ok(Progress::End);
        }
        self.next += 1;
        match mix(self.first + n) {
            v if v % 4 == 1 => out.to(HIGH).emit(v),
            v => out.emit(v),
        }
        Ok(Progress::More)
    }
}

/// Notes what it sees and makes other numbers of it, into its stream and a channel. Some it fails on,
/// after it has emitted.
#[derive(Component, Clone)]
#[component(channels = [HIGH])]
pub(super) struct Work {
    seen: Seen,
    instance: usize,
}

impl Work {
    pub(super) fn new(seen: Seen) -> Self {
        Self { seen, instance: 0 }
    }

    pub(super) fn fails(v: u64) -> bool {
        v % 17 == 3
    }

    /// What goes into its stream, and what into the channel.
    pub(super) fn evaluate(values: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let fine = || values.iter().filter(|v| !Self::fails(**v));
        (fine().flat_map(Self::low).collect(), fine().flat_map(Self::high).collect())
    }

    fn low(v: &u64) -> impl Iterator<Item = u64> + use<> {
        let v = *v;
        (0..1 + u64::from(v.is_multiple_of(3))).map(move |i| mix(v.wrapping_add(i + 1)))
    }

    fn high(v: &u64) -> impl Iterator<Item = u64> + use<> {
        let v = *v;
        (0..u64::from(v % 4 == 1) * 2).map(move |i| mix(v.wrapping_sub(i + 1)))
    }
}

impl Operator for Work {
    type In = u64;
    type Out = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        Ok(())
    }

    fn apply(&mut self, v: u64, out: &mut Emitter<u64>) -> Result<()> {
        note(&self.seen, self.instance, out.stream(), v);
        out.extend(Self::low(&v));
        if v % 4 == 1 {
            out.to(HIGH).extend(Self::high(&v));
        }
        if Self::fails(v) { Err("a number on cue".into()) } else { Ok(()) }
    }
}

/// Notes what it sees on either side, and makes other numbers of it.
#[derive(Component, Clone)]
pub(super) struct Two {
    seen: Seen,
    instance: usize,
}

impl Two {
    pub(super) fn new(seen: Seen) -> Self {
        Self { seen, instance: 0 }
    }

    pub(super) fn evaluate(left: &[u64], right: &[u64]) -> Vec<u64> {
        let right = right.iter().filter(|v| **v % 2 == 0);
        left.iter().map(|v| mix(*v)).chain(right.map(|v| mix(!v))).collect()
    }
}

impl TwoInput for Two {
    type Left = u64;
    type Right = u64;
    type Out = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        Ok(())
    }

    fn apply_left(&mut self, v: u64, out: &mut Emitter<u64>) -> Result<()> {
        note(&self.seen, self.instance, out.stream(), v);
        out.emit(mix(v));
        Ok(())
    }

    fn apply_right(&mut self, v: u64, out: &mut Emitter<u64>) -> Result<()> {
        note(&self.seen, self.instance, out.stream(), v);
        if v.is_multiple_of(2) {
            out.emit(mix(!v));
        }
        Ok(())
    }
}

/// Notes what it sees.
#[derive(Component, Clone)]
pub(super) struct Keeper {
    seen: Seen,
    instance: usize,
}

impl Keeper {
    pub(super) fn new(seen: Seen) -> Self {
        Self { seen, instance: 0 }
    }
}

impl Sink for Keeper {
    type In = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        Ok(())
    }

    fn write(&mut self, v: u64) -> Result<()> {
        note(&self.seen, self.instance, "", v);
        Ok(())
    }
}

fn note(seen: &Seen, instance: usize, stream: &str, v: u64) {
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    seen.push((instance, stream.to_owned(), v));
}
