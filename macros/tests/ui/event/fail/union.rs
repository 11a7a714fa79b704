use streamwork::Event;

#[derive(Event, Clone, Copy)]
union Reading {
    celsius: f32,
    fahrenheit: f32,
}

fn main() {}
