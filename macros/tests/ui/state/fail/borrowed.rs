use serde::{Deserialize, Serialize};
use streamwork::State;

#[derive(State, Serialize, Deserialize)]
struct Visits<'a> {
    page: &'a str,
}

fn main() {}
