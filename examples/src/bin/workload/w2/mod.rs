//! W2 as a job: `generator`, two closures behind it, `check`.

pub(crate) mod by_hand;

use crate::mix;
use crate::sum::{Check, Checked, Total};
use serde::{Deserialize, Serialize};
use streamwork::prelude::*;

/// Bids in a millisecond.
const PER_MS: u64 = 10;

/// When the first is made, in milliseconds.
const FIRST_MS: u64 = 1_000_000;

/// Somebody has bid for an auction, as in NEXMark.
#[derive(Event, Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Bid {
    auction: u64,
    bidder: u64,
    price: u64,
    at: u64,
}

impl Bid {
    /// Bid `i` of the input.
    #[inline(always)]
    pub(crate) fn nth(i: u64) -> Self {
        let random = mix(i);
        Self {
            auction: random >> 32,
            bidder: random & 0xFFFF,
            price: (random & 0xFF_FFFF) + 1,
            at: FIRST_MS + i / PER_MS,
        }
    }

    /// NEXMark's first query: the price in euros.
    #[inline(always)]
    pub(crate) fn in_euros(&self) -> Self {
        Self { price: self.price * 908 / 1_000, ..*self }
    }

    /// NEXMark's second query: a selection of auctions.
    #[inline(always)]
    pub(crate) fn is_selected(&self) -> bool {
        self.auction.is_multiple_of(123)
    }
}

impl Checked for Bid {
    #[inline(always)]
    fn check(&self) -> u64 {
        let hash = self
            .auction
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .wrapping_add(self.bidder.wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
            .wrapping_add(self.price.wrapping_mul(0x1656_67B1_9E37_79F9))
            .wrapping_add(self.at.wrapping_mul(0x27D4_EB2F_1656_67C5));
        (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    }
}

/// The job.
pub(crate) fn job(parallelism: usize, events: u64, total: &Total) -> Job {
    let job = Job::new("w2");
    job.source(Generator::indexed(Bid::nth).events(events))
        .parallelism(parallelism)
        .map(Bid::in_euros)
        .filter(Bid::is_selected)
        .group(Forward)
        .sink(Check::adding_to(total))
        .may_repeat()
        .parallelism(parallelism);
    job
}
