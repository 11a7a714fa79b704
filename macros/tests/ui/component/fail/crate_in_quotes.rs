use streamwork::Component;

#[derive(Component)]
#[component(crate = "streamwork")]
struct Counter;

fn main() {}
