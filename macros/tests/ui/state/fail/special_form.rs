use serde::{Deserialize, Serialize};
use streamwork::State;

#[derive(State, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Change {
    Rise { by: u64 },
    #[serde(other)]
    Other,
}

#[derive(State, Serialize, Deserialize)]
struct Visits {
    #[serde(flatten)]
    change: Change,
    #[serde(rename(serialize = "n"))]
    count: u64,
}

fn main() {}
