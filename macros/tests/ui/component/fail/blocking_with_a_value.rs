use streamwork::Component;

#[derive(Component)]
#[component(blocking = true)]
struct Reader;

fn main() {}
