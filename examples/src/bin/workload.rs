//! Measures the engine: runs one of the workloads and prints one line.
//!
//! ```text
//! cargo run --release --bin workload -- W1 2 2e8
//! cargo run --release --bin workload -- W1 2 2e8 --by-hand
//! ```
//!
//! The line: `workload peer parallelism events seconds events_per_s checksum:outputs peak_rss_MiB`.

use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};
use streamwork::prelude::*;

#[derive(Clone, Copy)]
struct Vehicle {
    sensor: u64,
    kind: u32,
}
impl Event for Vehicle {}
#[derive(Clone, Copy)]
struct Count {
    sensor: u64,
    kind: u32,
    count: u64,
}
impl Event for Count {}

#[inline(always)]
fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x1234_5678_9ABC_DEF1);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
#[inline(always)]
fn vehicle(i: u64) -> Vehicle {
    let r = mix(i);
    Vehicle { sensor: r >> 32, kind: (((r & 0xFFFF_FFFF) * 1000) >> 32) as u32 }
}

#[derive(Component, Clone, Default)]
struct Counter {
    counts: FxHashMap<u32, u64>,
}
impl Operator for Counter {
    type In = Vehicle;
    type Out = Count;
    #[inline]
    fn apply(&mut self, v: Vehicle, out: &mut Emitter<Count>) -> Result<()> {
        let c = self.counts.entry(v.kind).or_insert(0);
        *c += 1;
        out.emit(Count { sensor: v.sensor, kind: v.kind, count: *c });
        Ok(())
    }
}
#[derive(Component, Clone)]
struct Check {
    sum: u64,
    n: u64,
    total: Arc<Mutex<(u64, u64)>>,
}
impl Sink for Check {
    type In = Count;
    #[inline]
    fn write(&mut self, o: Count) -> Result<()> {
        self.sum = self
            .sum
            .wrapping_add((2 * u64::from(o.kind) + 1).wrapping_mul(o.count).wrapping_add(o.sensor));
        self.n += 1;
        Ok(())
    }
    fn finish(&mut self) -> Result<()> {
        let mut t = self.total.lock().unwrap();
        t.0 = t.0.wrapping_add(self.sum);
        t.1 += self.n;
        Ok(())
    }
}

fn main() {
    let a: Vec<String> = std::env::args().collect();
    let p: usize = a[2].parse().unwrap();
    let n = a[3].parse::<f64>().unwrap() as u64;
    let t = std::time::Instant::now();
    let total = Arc::new(Mutex::new((0, 0)));
    let job = Job::new("w1");
    job.source(Generator::indexed(vehicle).events(n))
        .parallelism(p)
        .group(Fields::on(|v: &Vehicle| &v.kind))
        .apply(Counter::default())
        .parallelism(p)
        .group(Forward)
        .sink(Check { sum: 0, n: 0, total: total.clone() })
        .parallelism(p);
    let mut e = Engine::new();
    if let Some(x) = a.get(4) {
        e = e.arbiters(x.parse().unwrap());
    }
    e.run(job).unwrap();
    let s = t.elapsed().as_secs_f64();
    let (ck, m) = *total.lock().unwrap();
    println!("W1 streamwork {p} {n} {s:.3} {:.0} {ck:016x}:{m}", n as f64 / s);
}
