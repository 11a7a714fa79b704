use streamwork::Component;

#[derive(Component)]
#[component(name)]
struct Missing;

#[derive(Component)]
#[component(name = counter)]
struct NoLiteral;

#[derive(Component)]
#[component(name = " ")]
struct Empty;

#[derive(Component)]
#[component(name = "vehicle\ncounter")]
struct Control;

fn main() {}
