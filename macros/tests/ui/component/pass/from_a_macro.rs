// What a `macro_rules!` fills in is understood like what is written by hand.
#![deny(warnings)]

use std::collections::BTreeMap;
use streamwork::{Component, Rescale};

macro_rules! counter {
    ($type:ident, $name:expr, $count:literal, $kept:ident: $state:ty) => {
        #[derive(Component, Default)]
        #[component(name = $name, parallelism = $count)]
        struct $type {
            #[state(by_key)]
            $kept: $state,
            #[state]
            own: u64,
        }
    };
}

counter!(Counter, "counter", 3, by_kind: BTreeMap<String, u64>);

fn main() {
    let mut counter = Counter::default();
    assert_eq!((counter.name(), counter.parallelism()), ("counter", 3));
    assert_eq!(Counter::STATE[0].name, "by_kind");
    assert_eq!(Counter::STATE[0].type_name, "BTreeMap<String, u64>");
    assert_eq!(Counter::STATE[0].rescale, Rescale::ByKey);
    let by_kind = BTreeMap::from([("car".to_owned(), 1)]);
    counter.load((by_kind.clone(), 2));
    assert_eq!(counter.save(), (by_kind, 2));
}
