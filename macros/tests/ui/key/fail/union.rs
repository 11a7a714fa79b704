use streamwork::Key;

#[derive(Key)]
union Account {
    number: u32,
    code: [u8; 4],
}

fn main() {}
