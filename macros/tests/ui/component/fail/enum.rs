use streamwork::Component;

#[derive(Component)]
enum Counter {
    Idle,
    Counting(u64),
}

fn main() {}
