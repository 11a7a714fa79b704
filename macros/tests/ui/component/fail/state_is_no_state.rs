use streamwork::Component;

#[derive(Clone)]
struct Connection;

#[derive(Component)]
struct Counter {
    #[state]
    connection: Connection,
}

fn main() {}
