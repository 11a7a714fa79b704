//! W2 without the framework: one loop, in as many threads as are asked for.

use super::Bid;
use crate::Sum;
use crate::sum::Checked;
use std::thread;

pub(crate) fn run(threads: usize, events: u64) -> Sum {
    thread::scope(|scope| {
        let share = |first| move || share(first, threads, events);
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(share(first))).collect();
        let mut sum = Sum::default();
        for thread in running {
            sum.merge(thread.join().expect("the loop has nothing in it that panics"));
        }
        sum
    })
}

/// Every bid of which the number is `first`, `first + threads`, and so on.
fn share(first: usize, threads: usize, events: u64) -> Sum {
    let mut sum = Sum::default();
    for i in (first as u64..events).step_by(threads) {
        let bid = Bid::nth(i).in_euros();
        if bid.is_selected() {
            sum.add(bid.check());
        }
    }
    sum
}
