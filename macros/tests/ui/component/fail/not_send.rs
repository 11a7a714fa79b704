use std::rc::Rc;
use streamwork::Component;

#[derive(Component)]
struct Counter {
    seen: Rc<u64>,
}

fn main() {}
