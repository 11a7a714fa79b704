//! Counting without the framework: what a careful programmer would write for this one job.

use super::{Count, Vehicle};
use crate::Sum;
use crate::sum::Checked;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::mem;
use std::thread;
use streamwork::Component;

/// Vehicles that travel together.
const BATCH: usize = 1_024;

/// Batches that wait for a thread before others have to.
const WAITING: usize = 16;

type Batch = Vec<Vehicle>;

/// A hash of one multiplication, whose two halves are folded into one: enough for small integers.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Fold(u64);

impl Hasher for Fold {
    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline(always)]
    fn write_u32(&mut self, word: u32) {
        let product = u128::from(self.0 ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }
}

/// Counts by kind.
#[derive(Component, Clone, Default, Debug)]
pub(crate) struct Counter {
    counts: HashMap<u32, u64, BuildHasherDefault<Fold>>,
}

impl Counter {
    #[inline(always)]
    pub(crate) fn count(&mut self, vehicle: Vehicle) -> Count {
        let count = self.counts.entry(vehicle.kind).or_insert(0);
        *count += 1;
        Count { sensor: vehicle.sensor, kind: vehicle.kind, count: *count }
    }
}

/// Counts the vehicles that `make` makes.
pub(crate) fn run(threads: usize, events: u64, make: impl Fn(u64) -> Vehicle + Copy + Send) -> Sum {
    if threads == 1 { alone(events, make) } else { exchanging(threads, events, make) }
}

/// One thread has all counts: nothing is to be exchanged.
fn alone(events: u64, make: impl Fn(u64) -> Vehicle) -> Sum {
    let mut counter = Counter::default();
    let mut sum = Sum::default();
    for i in 0..events {
        sum.add(counter.count(make(i)).check());
    }
    sum
}

/// Each thread makes its share of the vehicles, and counts those whose kind is its own.
fn exchanging(threads: usize, events: u64, make: impl Fn(u64) -> Vehicle + Copy + Send) -> Sum {
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..threads).map(|_| bounded(WAITING)).unzip();
    let workers: Vec<Worker> = inboxes
        .into_iter()
        .enumerate()
        .map(|(number, inbox)| Worker::new(number, &senders, inbox))
        .collect();
    drop(senders);
    thread::scope(|scope| {
        let running: Vec<_> = workers
            .into_iter()
            .map(|worker| scope.spawn(move || worker.run(events, make)))
            .collect();
        let mut sum = Sum::default();
        for thread in running {
            sum.merge(thread.join().expect("the loop has nothing in it that panics"));
        }
        sum
    })
}

struct Worker {
    number: usize,
    /// The way to each thread; the own one is not used, and kept closed.
    ways: Vec<Way>,
    inbox: Receiver<Batch>,
    /// Emptied batches, to be filled again.
    spare: Vec<Batch>,
    counter: Counter,
    sum: Sum,
}

struct Way {
    sender: Option<Sender<Batch>>,
    /// What is being gathered for it.
    batch: Batch,
}

impl Worker {
    fn new(number: usize, senders: &[Sender<Batch>], inbox: Receiver<Batch>) -> Self {
        let way = |(to, sender): (usize, &Sender<Batch>)| Way {
            sender: (to != number).then(|| sender.clone()),
            batch: Vec::with_capacity(BATCH),
        };
        Self {
            number,
            ways: senders.iter().enumerate().map(way).collect(),
            inbox,
            spare: Vec::new(),
            counter: Counter::default(),
            sum: Sum::default(),
        }
    }

    fn run(mut self, events: u64, make: impl Fn(u64) -> Vehicle) -> Sum {
        let threads = self.ways.len();
        let mut next = self.number as u64;
        while next < events {
            let end = events.min(next + (BATCH * threads) as u64);
            for i in (next..end).step_by(threads) {
                let vehicle = make(i);
                let to = owner(vehicle.kind, threads);
                let batch = &mut self.ways[to].batch;
                batch.push(vehicle);
                if batch.len() == BATCH {
                    self.send(to);
                }
            }
            next += (BATCH * threads) as u64;
            // As much as the others make meanwhile: who took all there is would fall behind.
            for _ in 1..threads {
                let Ok(batch) = self.inbox.try_recv() else { break };
                self.receive(batch);
            }
        }
        (0..threads).for_each(|to| self.send(to));
        self.ways.clear();
        while let Ok(batch) = self.inbox.recv() {
            self.receive(batch);
        }
        self.sum
    }

    /// Sends what was gathered for a thread. While that one has no room it may be waiting for room
    /// here: so batches that arrive are counted meanwhile.
    fn send(&mut self, to: usize) {
        let empty = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(BATCH));
        let mut full = mem::replace(&mut self.ways[to].batch, empty);
        let Some(sender) = self.ways[to].sender.clone() else { return self.receive(full) };
        loop {
            full = match sender.try_send(full) {
                Err(TrySendError::Full(batch)) => batch,
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
            };
            select! {
                recv(self.inbox) -> batch => if let Ok(batch) = batch { self.receive(batch) },
                send(sender, mem::take(&mut full)) -> _ => return,
            }
        }
    }

    fn receive(&mut self, mut batch: Batch) {
        let (counter, mut sum) = (&mut self.counter, self.sum);
        for vehicle in batch.drain(..) {
            sum.add(counter.count(vehicle).check());
        }
        self.sum = sum;
        if self.spare.len() < WAITING {
            self.spare.push(batch);
        }
    }
}

/// The thread that counts a kind: a multiply hash, scaled to the number of threads.
#[inline(always)]
fn owner(kind: u32, threads: usize) -> usize {
    let hash = u64::from(kind.wrapping_mul(0x9E37_79B1));
    ((hash * threads as u64) >> 32) as usize
}
