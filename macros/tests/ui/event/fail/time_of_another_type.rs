use streamwork::Event;

#[derive(Event, Clone)]
#[event(local)]
struct Reading {
    #[event(time)]
    at: u64,
}

fn main() {}
