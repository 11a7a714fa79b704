use streamwork::Component;

#[derive(Component)]
#[component(paralelism = 2)]
struct Counter;

fn main() {}
