use streamwork::Component;

#[derive(Component)]
struct Counter {
    #[state(keyed)]
    seen: u64,
}

fn main() {}
