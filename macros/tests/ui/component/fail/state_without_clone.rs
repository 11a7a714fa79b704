use streamwork::Component;

struct Connection;

#[derive(Component)]
struct Counter {
    seen: u64,
    #[state]
    connection: Connection,
}

fn main() {}
