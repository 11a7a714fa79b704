use streamwork::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
struct Count(u64);

#[derive(Component, Clone)]
struct Counter;

impl KeyedOperator for Counter {
    type Key = u64;
    type In = u64;
    type Out = u64;
    type State = Count;

    fn apply(
        &mut self,
        _: &u64,
        n: u64,
        _: &mut streamwork::Keyed<Count>,
        out: &mut Emitter<u64>,
    ) -> Result<()> {
        out.emit(n);
        Ok(())
    }
}

fn main() {}
