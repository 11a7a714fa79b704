use streamwork::State;

#[derive(State, Clone, Copy)]
union Bits {
    word: u64,
    float: f64,
}

fn main() {}
