use streamwork::{Event, EventTime};

#[derive(Event, Clone)]
#[event(local, time)]
struct Reading {
    at: EventTime,
}

fn main() {}
