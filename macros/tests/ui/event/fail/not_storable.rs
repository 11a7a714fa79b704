use streamwork::Event;

#[derive(Event, Clone)]
struct Reading {
    sensor: u32,
}

fn main() {}
