use streamwork::Component;

#[derive(Component)]
struct Counter {
    #[state(by_key, replicated)]
    seen: u64,
    #[state(default = 7)]
    count: u64,
    #[state(serde, version = 1)]
    foreign: u64,
    #[state(default, default)]
    twice: u64,
}

fn main() {}
