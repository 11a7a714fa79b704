use streamwork::Component;

#[derive(Component)]
struct Replay<'a> {
    lines: &'a [String],
}

fn main() {}
