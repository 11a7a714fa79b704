use streamwork::Component;

#[derive(Component)]
struct Counter {
    #[state(redistribute)]
    seen: u64,
}

fn main() {}
