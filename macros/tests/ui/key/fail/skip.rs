use streamwork::Key;

#[derive(Key, PartialEq, Eq)]
struct Account {
    number: u32,
    #[key(skip)]
    comment: String,
}

fn main() {}
