use streamwork::Component;

#[derive(Component)]
#[state]
struct Counter {
    #[component(name = "counter")]
    seen: u64,
}

fn main() {}
