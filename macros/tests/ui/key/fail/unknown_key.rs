use streamwork::Key;

#[derive(Key, PartialEq, Eq)]
#[key(hash = "stable")]
enum Zone {
    #[key(crate = streamwork)]
    North,
    South,
}

fn main() {}
