use streamwork::Component;

#[derive(Component)]
struct Counter {
    #[state(by_key)]
    counts: Vec<(String, u64)>,
}

fn main() {}
