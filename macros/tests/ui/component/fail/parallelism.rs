use streamwork::Component;

#[derive(Component)]
#[component(parallelism)]
struct Missing;

#[derive(Component)]
#[component(parallelism = 0)]
struct Zero;

#[derive(Component)]
#[component(parallelism = -2)]
struct Negative;

#[derive(Component)]
#[component(parallelism = "2")]
struct NoInteger;

fn main() {}
