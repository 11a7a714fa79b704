use streamwork::Component;

#[derive(Component)]
union Counter {
    signed: i64,
    unsigned: u64,
}

fn main() {}
