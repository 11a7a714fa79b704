use streamwork::State;

#[derive(State)]
struct Visits {
    count: u64,
}

fn main() {}
