use streamwork::Key;

#[derive(Key)]
struct Account {
    number: u32,
}

fn main() {}
