use serde::{Deserialize, Serialize};
use streamwork::State;

#[derive(State, Serialize, Deserialize)]
struct Visits {
    #[state(default)]
    count: u64,
}

fn main() {}
