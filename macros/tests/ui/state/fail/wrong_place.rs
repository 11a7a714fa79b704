use serde::{Deserialize, Serialize};
use streamwork::State;

#[derive(State, Serialize, Deserialize)]
#[state(default)]
struct Visits {
    #[state]
    count: u64,
    #[state(by_key)]
    by_kind: Vec<u64>,
    #[state(keep)]
    last: u64,
}

#[derive(State, Serialize, Deserialize)]
#[state(kept)]
enum Change {
    #[state(default)]
    Rise,
    #[serde(skip)]
    Fall,
}

fn main() {}
