use serde::{Deserialize, Serialize};
use streamwork::State;

#[derive(State, Serialize, Deserialize)]
#[state(version = 0)]
struct Zero;

#[derive(State, Serialize, Deserialize)]
#[state(serde)]
struct Uncounted(u8);

#[derive(State, Serialize, Deserialize)]
#[state(migrate = from_old)]
struct Unversioned(u8);

#[derive(State, Serialize, Deserialize)]
#[state(version = 1, migrate = "from_old")]
struct InQuotes(u8);

#[derive(State, Serialize, Deserialize)]
struct OfAField {
    #[state(version = 1)]
    count: u64,
}

fn main() {}
