//! The standard library's types as events, with their weight on the heap.

use super::Event;
use super::encoded::{encode, header, list};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

macro_rules! plain {
    ($($t:ty),* $(,)?) => {
        $(impl Event for $t {
            fn encoded(&self) -> Option<Vec<u8>> {
                encode(self)
            }
        })*
    };
}

plain!((), bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64);
plain!(std::time::Duration, crate::time::EventTime, &'static str);

impl Event for crate::time::Moment {}

impl Event for uuid::Uuid {
    fn encoded(&self) -> Option<Vec<u8>> {
        encode(self.as_bytes())
    }
}

impl Event for String {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.capacity()
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        encode(self)
    }
}

fn each<'a, T: Event>(items: impl IntoIterator<Item = &'a T>) -> usize {
    items.into_iter().map(T::weight).sum()
}

impl<T: Event> Event for Vec<T> {
    fn weight(&self) -> usize {
        size_of::<Self>() + each(self)
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        list(self.iter())
    }
}

impl<T: Event> Event for Box<T> {
    fn weight(&self) -> usize {
        size_of::<Self>() + (**self).weight()
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        (**self).encoded()
    }
}

/// A shared payload weighs what it points to: a link that holds it keeps all of it alive.
impl<T: Event + Sync> Event for Arc<T> {
    fn weight(&self) -> usize {
        size_of::<Self>() + (**self).weight()
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        (**self).encoded()
    }
}

impl Event for Arc<str> {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.len()
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        encode(&**self)
    }
}

impl<T: Event> Event for Option<T> {
    fn weight(&self) -> usize {
        let inner = self.as_ref().map_or(0, |x| x.weight().saturating_sub(size_of::<T>()));
        size_of::<Self>() + inner
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        match self {
            Some(event) => event.encoded(),
            None => encode(&()),
        }
    }
}

impl<T: Event, const N: usize> Event for [T; N] {
    fn weight(&self) -> usize {
        each(self)
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        list(self.iter())
    }
}

impl<K, V, S> Event for HashMap<K, V, S>
where
    K: Event + Eq + Hash,
    V: Event,
    S: BuildHasher + Clone + Send + 'static,
{
    fn weight(&self) -> usize {
        size_of::<Self>() + each(self.keys()) + each(self.values())
    }
}

impl<K: Event + Ord, V: Event> Event for BTreeMap<K, V> {
    fn weight(&self) -> usize {
        size_of::<Self>() + each(self.keys()) + each(self.values())
    }
}

macro_rules! tuple {
    ($($name:ident)+) => {
        impl<$($name: Event),+> Event for ($($name,)+) {
            fn weight(&self) -> usize {
                #[expect(non_snake_case, reason = "the type's name serves as the variable's")]
                let ($($name,)+) = self;
                let heap = 0 $(+ $name.weight().saturating_sub(size_of::<$name>()))+;
                size_of::<Self>() + heap
            }

            fn encoded(&self) -> Option<Vec<u8>> {
                #[expect(non_snake_case, reason = "the type's name serves as the variable's")]
                let ($($name,)+) = self;
                let parts = [$($name.encoded()?),+];
                Some([&[header(parts.len()), parts.concat()][..]].concat().concat())
            }
        }
    };
}

tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<E: Event>(event: &E, expected: usize) {
        assert_eq!(event.weight(), expected);
    }

    #[test]
    fn heap_counts_and_plain_types_are_their_size() {
        check(&7_u32, 4);
        check(&String::with_capacity(100), 24 + 100);
        check(&(1_u64, String::with_capacity(10)), 32 + 10);
        check(&vec![1_u16, 2, 3], 24 + 6);
        check(&Some(String::with_capacity(5)), 24 + 5);
        check(&Arc::new([0_u8; 1_024]), 8 + 1_024);
    }
}
