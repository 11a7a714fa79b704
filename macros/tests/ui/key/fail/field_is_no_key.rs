use streamwork::Key;

#[derive(PartialEq, Eq)]
struct Bank;

#[derive(Key, PartialEq, Eq)]
struct Account {
    number: u32,
    bank: Option<Bank>,
}

fn main() {}
