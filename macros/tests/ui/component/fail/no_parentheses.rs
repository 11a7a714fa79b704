use streamwork::Component;

#[derive(Component)]
#[component = "counter"]
struct Counter;

fn main() {}
