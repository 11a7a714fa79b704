use std::collections::BTreeMap;
use streamwork::Component;

#[derive(Component)]
struct Counter {
    #[state(by_key)]
    counts: Vec<(String, u64)>,
    #[state(by_key, default)]
    averages: BTreeMap<(), u64>,
}

fn main() {}
