use serde::{Deserialize, Serialize};
use streamwork::State;

#[derive(Serialize, Deserialize)]
struct Page;

#[derive(State, Serialize, Deserialize)]
struct Visits {
    last: Page,
}

fn main() {}
