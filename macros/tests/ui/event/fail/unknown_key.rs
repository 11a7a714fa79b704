use streamwork::{Event, EventTime};

#[derive(Event, Clone)]
#[event(locale)]
struct Reading {
    #[event(timestamp)]
    at: EventTime,
}

fn main() {}
