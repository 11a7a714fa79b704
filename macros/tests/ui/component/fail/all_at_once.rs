// Every error of the input, and none where the type is used as a component.
use streamwork::Component;

#[derive(Component)]
#[component(nam = "counter", parallelism = 0)]
struct Counter {
    #[state(keyed)]
    seen: u64,
}

fn run(component: impl Component) -> String {
    component.name().to_owned()
}

fn main() {
    run(Counter { seen: 0 });
}
