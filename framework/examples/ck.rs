use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
fn main() {

    let engine = Engine::new().store(MemoryStore::new());
    let numbers = |got: &Collect<(u64,u64)>| {
        let job = Job::new("numbers").delivery(Delivery::exactly_once(Duration::from_millis(20)));
        job.source(Generator::indexed(|n| n).events(1_000_000)).key_by_value(|n: &u64| n % 10).fold(0_u64, |s, _| *s += 1).parallelism(2).sink(got.clone()).parallelism(2);
        job
    };
    let got = Collect::new();
    let o = engine.run(numbers(&got)).unwrap();
    println!("{:?} {} {}", o.status(), o.events_in(), o.events_out());
    let t = got.take();
    println!("{} max {:?}", t.len(), t.iter().max_by_key(|x| x.1));
    let o = engine.run(numbers(&got)).unwrap();
    println!("{:?} {}", o.status(), got.len());
}
