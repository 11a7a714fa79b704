use serde::{Deserialize, Serialize};
use streamwork::{Component, State};

#[derive(State, Serialize, Deserialize)]
struct Connection;

#[derive(Component)]
struct Counter {
    seen: u64,
    #[state]
    connection: Connection,
}

fn main() {}
