use streamwork::Event;

#[derive(Event, Clone)]
#[event(local, weight)]
struct Missing(Vec<u8>);

#[derive(Event, Clone)]
#[event(local, weight = "Self::bytes")]
struct NoPath(Vec<u8>);

fn megabytes(_: &NoUsize) -> f64 {
    1.0
}

#[derive(Event, Clone)]
#[event(local, weight = megabytes)]
struct NoUsize(Vec<u8>);

fn main() {}
