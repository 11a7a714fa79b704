use streamwork::Component;

#[derive(Component)]
#[component(name = "counter", parallelism = 2)]
#[component(name = "vehicle-counter")]
struct Counter;

fn main() {}
