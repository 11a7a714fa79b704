//! W1, W7 and W8: vehicles are counted by kind.

pub(crate) mod by_hand;
pub(crate) mod w1;
pub(crate) mod w7;

use crate::mix;
use crate::sum::Checked;
use serde::{Deserialize, Serialize};
use streamwork::prelude::*;

/// A sensor has seen a vehicle.
#[derive(Event, Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Vehicle {
    sensor: u64,
    kind: u32,
}

impl Vehicle {
    /// How many kinds there are, if there are few.
    const FEW: u64 = 1_000;
    /// How many there are, if there are many.
    const MANY: u64 = 1_000_000;
    /// How many of the many are hot ...
    const HOT: u64 = Self::MANY / 20;
    /// ... and have this share of the vehicles, of 2^32: 95 in 100.
    const HOT_SHARE: u64 = (95 << 32) / 100;

    /// Vehicle `i` of 1,000 kinds, each as frequent as the other.
    #[inline(always)]
    pub(crate) fn of_few(i: u64) -> Self {
        Self::nth(i, |low| (low * Self::FEW) >> 32)
    }

    /// Vehicle `i` of 1,000,000 kinds, each as frequent as the other.
    #[inline(always)]
    pub(crate) fn of_many(i: u64) -> Self {
        Self::nth(i, |low| (low * Self::MANY) >> 32)
    }

    /// Vehicle `i` of 1,000,000 kinds, of which 50,000 have 95 in 100 vehicles.
    #[inline(always)]
    pub(crate) fn of_hot(i: u64) -> Self {
        Self::nth(i, |low| match low.checked_sub(Self::HOT_SHARE) {
            None => low * Self::HOT / Self::HOT_SHARE,
            Some(above) => {
                let (cold, share) = (Self::MANY - Self::HOT, (1 << 32) - Self::HOT_SHARE);
                Self::HOT + above * cold / share
            }
        })
    }

    /// Vehicle `i`, of the kind that `kind` makes of 32 random bits.
    #[inline(always)]
    fn nth(i: u64, kind: impl Fn(u64) -> u64) -> Self {
        let random = mix(i);
        let (high, low) = (random >> 32, random & u64::from(u32::MAX));
        Self { sensor: high, kind: kind(low) as u32 }
    }
}

/// How many vehicles of a kind there have been, with the last one's sensor.
#[derive(Event, Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Count {
    sensor: u64,
    kind: u32,
    count: u64,
}

impl Checked for Count {
    #[inline(always)]
    fn check(&self) -> u64 {
        (2 * u64::from(self.kind) + 1).wrapping_mul(self.count).wrapping_add(self.sensor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn hot_kinds_have_their_share_and_all_kinds_come_up() {
        let mut counts = HashMap::<u32, u64>::new();
        (0..2_000_000).for_each(|i| *counts.entry(Vehicle::of_hot(i).kind).or_default() += 1);
        let hot = counts.iter().filter(|(kind, _)| u64::from(**kind) < Vehicle::HOT);
        let hot: Vec<u64> = hot.map(|(_, count)| *count).collect();
        assert_eq!(hot.len(), 50_000);
        let vehicles: u64 = hot.into_iter().sum();
        assert!((1_899_000..1_901_000).contains(&vehicles), "{vehicles}");
        let ends = [0, u64::from(u32::MAX)].map(|low| (low * Vehicle::MANY) >> 32);
        assert_eq!(ends, [0, Vehicle::MANY - 1]);
        assert!(counts.keys().all(|kind| u64::from(*kind) < Vehicle::MANY));
        assert!(counts.keys().max().is_some_and(|kind| u64::from(*kind) > Vehicle::MANY - 100));
    }
}
