use streamwork::Event;

#[derive(Event)]
#[event(local)]
struct Reading {
    sensor: u32,
}

fn main() {}
