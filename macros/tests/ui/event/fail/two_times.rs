use streamwork::{Event, EventTime};

#[derive(Event, Clone)]
#[event(local)]
struct Trip {
    #[event(time)]
    from: EventTime,
    #[event(time)]
    to: EventTime,
}

fn main() {}
