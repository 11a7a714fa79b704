//! What a workload comes to: a checksum over its outputs that their order does not change.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use streamwork::prelude::*;

/// Outputs, summed up so that their order does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) checksum: u64,
    pub(crate) outputs: u64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, output: u64) {
        self.checksum = self.checksum.wrapping_add(output);
        self.outputs += 1;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.outputs += other.outputs;
    }
}

/// An output that knows its share of the checksum.
pub(crate) trait Checked: Event {
    fn check(&self) -> u64;
}

/// The sum over all instances of a sink.
#[derive(Clone, Debug, Default)]
pub(crate) struct Total(Arc<Mutex<Sum>>);

impl Total {
    pub(crate) fn get(&self) -> Sum {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sums up what it gets, and adds it to the total in the end.
#[derive(Component, Debug)]
pub(crate) struct Check<T: 'static> {
    sum: Sum,
    total: Total,
    outputs: PhantomData<fn(T)>,
}

impl<T> Check<T> {
    pub(crate) fn adding_to(total: &Total) -> Self {
        Self { sum: Sum::default(), total: total.clone(), outputs: PhantomData }
    }
}

impl<T> Clone for Check<T> {
    fn clone(&self) -> Self {
        Self { sum: self.sum, total: self.total.clone(), outputs: PhantomData }
    }
}

impl<T: Checked> Sink for Check<T> {
    type In = T;

    #[inline]
    fn write(&mut self, output: T) -> Result<()> {
        self.sum.add(output.check());
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.total.0.lock().unwrap_or_else(PoisonError::into_inner).merge(self.sum);
        Ok(())
    }
}
