use streamwork::Component;

#[derive(Component)]
struct Counter {
    #[state]
    #[state(replicated)]
    marked: u64,
    #[state(by_key, replicated)]
    rescaled: u64,
}

fn main() {}
