use streamwork::{Event, EventTime};

#[derive(Event, Clone)]
#[event(local)]
enum Reading {
    Car(#[event(time)] EventTime),
    Broken,
}

fn main() {}
