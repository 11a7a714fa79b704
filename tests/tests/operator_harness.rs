//! A harness calls an operator as the engine does, and makes what it did visible.

use std::time::Duration;
use streamwork::Moment;
use streamwork::prelude::*;
use streamwork::testing::{Faulty, Harness, KeyedHarness, KeyedTwoInputHarness, TwoInputHarness};

/// Emits what the context says, and fails or panics for some numbers after it has emitted.
#[derive(Component, Clone, Debug, Default)]
#[component(channels = [Fragile::COPIES])]
struct Fragile {
    ctx: Option<Context>,
    setups: u64,
}

impl Fragile {
    const COPIES: Channel<u64> = Channel::new("copies");
    const OTHERS: Channel<u64> = Channel::new("others");
}

impl Operator for Fragile {
    type In = u64;
    type Out = u64;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        if ctx.index() == 9 {
            return Err("no instance nine".into());
        }
        self.ctx = Some(ctx.clone());
        self.setups += 1;
        Ok(())
    }

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(n);
        out.to(Self::COPIES).emit(n);
        match n {
            13 => Err("thirteen".into()),
            14 => panic!("fourteen"),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(99);
        if self.setups == 1 { Ok(()) } else { Err("set up more than once".into()) }
    }
}

#[test]
fn a_call_that_fails_leaves_no_outputs_and_takes_none_away() {
    let mut harness = Harness::new(Fragile::default());
    harness.apply(1).unwrap();
    assert_eq!(harness.apply(13).unwrap_err().to_string(), "thirteen");
    let panics = std::panic::AssertUnwindSafe(|| drop(harness.apply(14)));
    assert!(std::panic::catch_unwind(panics).is_err());
    harness.apply(2).unwrap();
    assert_eq!(harness.take(), [1, 2]);
    assert_eq!(harness.take_channel(Fragile::COPIES), [1, 2]);
    assert!(harness.take().is_empty() && harness.take_channel(Fragile::COPIES).is_empty());
    harness.apply(3).unwrap();
    assert_eq!(harness.take_channel(Fragile::COPIES), [3]);
}

#[test]
fn setup_comes_before_the_first_event_and_once() {
    let mut harness = Harness::new(Fragile::default());
    harness.instance(2, 4).apply(1).unwrap();
    harness.apply(2).unwrap();
    let fragile = harness.operator();
    let ctx = fragile.ctx.as_ref().unwrap();
    assert_eq!((fragile.setups, ctx.index(), ctx.parallelism()), (1, 2, 4));
    assert_eq!((ctx.split().index, ctx.instance().to_string()), (2, "fragile[2]".to_owned()));
    harness.finish().unwrap();
    assert_eq!(harness.take(), [1, 2, 99]);

    let mut harness = Harness::new(Fragile::default());
    harness.setup().unwrap();
    harness.apply(1).unwrap();
    assert_eq!(harness.operator().setups, 1);

    let mut ninth = Harness::new(Fragile::default());
    assert_eq!(ninth.instance(9, 10).apply(1).unwrap_err().to_string(), "no instance nine");
    assert!(ninth.take().is_empty());
}

#[test]
#[should_panic(expected = "the instance is set up already")]
fn which_instance_it_is_is_said_before_the_setup() {
    let mut harness = Harness::new(Fragile::default());
    harness.apply(1).unwrap();
    harness.instance(2, 4);
}

#[test]
#[should_panic(expected = "there is no instance 4 of 4")]
fn there_is_no_instance_beyond_the_last() {
    Harness::new(Fragile::default()).instance(4, 4);
}

/// Adds up by key: the left adds, the right takes away.
#[derive(Component, Clone, Debug)]
struct Balance;

impl KeyedTwoInput for Balance {
    type Key = u64;
    type Left = u64;
    type Right = u64;
    type Out = (u64, i64);
    type State = i64;

    fn apply_left(
        &mut self,
        _: &u64,
        _: u64,
        balance: &mut Keyed<i64>,
        _: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        **balance += 1;
        Ok(())
    }

    fn apply_right(
        &mut self,
        _: &u64,
        n: u64,
        balance: &mut Keyed<i64>,
        _: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        **balance -= 1;
        if n == 13 { Err("thirteen".into()) } else { Ok(()) }
    }

    fn finish(
        &mut self,
        key: &u64,
        balance: &mut Keyed<i64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        out.emit((*key, balance.take()));
        Ok(())
    }
}

#[test]
fn a_harness_with_two_sides_shows_the_states_of_its_keys() {
    let by = |n: &u64| n % 5;
    let mut harness = KeyedTwoInputHarness::key_by_value(Balance, by, by);
    harness.apply_left(3).unwrap();
    harness.apply_left(8).unwrap();
    harness.apply_right(13).unwrap_err();
    harness.apply_right(4).unwrap();
    assert_eq!((harness.keys(), harness.state(&3), harness.state(&4)), (2, Some(&1), Some(&-1)));
    assert_eq!(harness.state(&0), None);
    harness.finish().unwrap();
    let mut rows = harness.take();
    rows.sort_unstable();
    assert_eq!((rows, harness.keys()), (vec![(3, 1), (4, -1)], 0));
}

#[test]
fn a_finish_that_fails_leaves_no_outputs() {
    let mut harness = Harness::new(Fragile::default());
    harness.setup().unwrap();
    harness.setup().unwrap();
    assert_eq!(harness.finish().unwrap_err().to_string(), "set up more than once");
    assert!(harness.take().is_empty());
}

#[test]
fn the_clock_moves_when_it_is_told_to() {
    let mut harness = Harness::new(Fragile::default());
    harness.setup().unwrap();
    harness.clock().advance(Duration::from_secs(90));
    let ctx = harness.operator().ctx.as_ref().unwrap();
    assert_eq!(ctx.clock().now(), Moment::START + Duration::from_secs(90));
}

#[test]
#[should_panic(expected = "fragile declares no channel others (u64)")]
fn a_channel_that_is_not_declared_is_not_there() {
    drop(Harness::new(Fragile::default()).take_channel(Fragile::OTHERS));
}

#[test]
#[should_panic(expected = "no event follows the end of data")]
fn no_event_follows_the_end() {
    let mut harness = Harness::new(Fragile::default());
    harness.finish().unwrap();
    drop(harness.apply(1));
}

/// Counts by key; a key's last word at the end is long.
#[derive(Component, Clone, Debug)]
struct Count;

impl KeyedOperator for Count {
    type Key = u64;
    type In = u64;
    type Out = (u64, u64);
    type State = u64;

    fn apply(
        &mut self,
        _: &u64,
        n: u64,
        seen: &mut Keyed<u64>,
        _: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        **seen += 1;
        if n == 13 { Err("thirteen".into()) } else { Ok(()) }
    }

    fn finish(
        &mut self,
        key: &u64,
        seen: &mut Keyed<u64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        let seen = seen.take();
        out.extend((0..700).map(|_| (*key, seen)));
        Ok(())
    }
}

/// More outputs than an emitter calls room: the keys leave in several calls, and all of them do.
#[test]
fn at_the_end_every_key_leaves() {
    let mut harness = KeyedHarness::key_by_value(Count, |n: &u64| n % 5);
    for n in 0..10 {
        harness.apply(n).unwrap();
    }
    assert_eq!((harness.keys(), harness.state(&3), harness.state(&7)), (5, Some(&2), None));
    harness.finish().unwrap();
    let rows = harness.take();
    assert_eq!(rows.len(), 5 * 700);
    for key in 0..5 {
        assert_eq!(rows.iter().filter(|row| **row == (key, 2)).count(), 700);
    }
    assert_eq!((harness.keys(), harness.state(&3)), (0, None));
}

/// As in a job, an error takes the outputs back, and the state stays as it was left.
#[test]
fn a_key_keeps_what_a_failing_call_left() {
    let mut harness = KeyedHarness::key_by_value(Count, |n: &u64| n % 5);
    harness.apply(13).unwrap_err();
    assert_eq!(harness.state(&3), Some(&1));
}

/// Says which side and which stream an event came from.
#[derive(Component, Clone, Debug)]
struct Sides;

impl TwoInput for Sides {
    type Left = u64;
    type Right = char;
    type Out = String;

    fn apply_left(&mut self, n: u64, out: &mut Emitter<String>) -> Result<()> {
        out.emit(format!("{n} of {}", out.stream()));
        Ok(())
    }

    fn apply_right(&mut self, c: char, out: &mut Emitter<String>) -> Result<()> {
        out.emit(format!("{c} of {}", out.stream()));
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<String>) -> Result<()> {
        out.emit("end".to_owned());
        Ok(())
    }
}

#[test]
fn both_sides_have_their_streams_and_faults_strike_in_a_harness_too() {
    let mut harness = TwoInputHarness::new(Faulty::error_at(Sides, 3));
    harness.stream("numbers").apply_left(7).unwrap();
    harness.stream("letters").apply_right('a').unwrap();
    harness.apply_right('b').unwrap_err();
    harness.apply_right('c').unwrap();
    harness.finish().unwrap();
    assert_eq!(harness.take(), ["7 of numbers", "a of letters", "c of letters", "end"]);
}
