use streamwork::Event;

#[derive(Event, Clone)]
struct Reading {
    #[event(local)]
    sensor: u32,
}

#[derive(Event, Clone)]
enum Change {
    #[event(weight = size_of_val)]
    Rise(u8),
    Fall(#[event(crate = streamwork)] u8),
}

fn main() {}
