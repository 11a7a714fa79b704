//! The standard library's types as state.

use super::value::{Migration, Old, State};
use crate::shape::Shape;
use crate::time::EventTime;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::hash::{BuildHasher, Hash};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

macro_rules! plain {
    ($($t:ty = $name:literal),* $(,)?) => { $(impl State for $t {
        fn shape() -> Shape {
            Shape::plain($name)
        }
    })* };
}

plain!(u8 = "u8", u16 = "u16", u32 = "u32", u64 = "u64", u128 = "u128", usize = "usize");
plain!(i8 = "i8", i16 = "i16", i32 = "i32", i64 = "i64", i128 = "i128", isize = "isize");
plain!(f32 = "f32", f64 = "f64", bool = "bool", char = "char");
plain!(String = "string", Box<str> = "string", OsString = "os-string", PathBuf = "path");
plain!(Duration = "duration", SystemTime = "system-time", EventTime = "event-time");
plain!(serde_bytes::ByteBuf = "bytes");

impl State for () {
    const NULLABLE: bool = true;

    fn shape() -> Shape {
        Shape::Nothing
    }
}

/// A value is written as without the option, so it is migrated like one.
impl<T: State> State for Option<T> {
    const VERSION: u32 = T::VERSION;
    const NULLABLE: bool = true;

    fn shape() -> Shape {
        const {
            assert!(
                !T::NULLABLE,
                "an option in an option (or one of nothing) reads back as `None`: put what is inside into \
                 a tuple of one or a struct with a named field"
            );
        }
        Shape::Option(Box::new(T::shape()))
    }

    fn migration() -> Option<Migration<Self>> {
        T::migration()?;
        Some(|old| {
            let Shape::Option(inner) = old.shape() else { return Err("it was no option".into()) };
            if old.bytes() == [NIL] {
                return Ok(None);
            }
            let Some(migrate) = T::migration() else { return Err("no migration".into()) };
            Ok(Some(migrate(&Old::new(inner, old.bytes()))?))
        })
    }
}

/// How MessagePack writes that there is nothing.
pub(super) const NIL: u8 = 0xC0;

/// How MessagePack begins a list of one.
const ONE: u8 = 0x91;

impl<T: State> State for Box<T> {
    const VERSION: u32 = T::VERSION;
    const NULLABLE: bool = T::NULLABLE;

    fn shape() -> Shape {
        T::shape()
    }

    fn migration() -> Option<Migration<Self>> {
        T::migration()?;
        Some(|old| {
            let Some(migrate) = T::migration() else { return Err("no migration".into()) };
            Ok(Self::new(migrate(old)?))
        })
    }
}

macro_rules! many {
    ($shape:ident: $($t:ty $(where T: $bound:path)?),*) => { $(impl<T: State $(+ $bound)?> State for $t {
        fn shape() -> Shape {
            Shape::$shape(Box::new(T::shape()))
        }
    })* };
}

many!(List: Vec<T>, VecDeque<T>, BinaryHeap<T> where T: Ord, Box<[T]>);
many!(Set: BTreeSet<T> where T: Ord);

impl<T, S> State for HashSet<T, S>
where
    T: State + Eq + Hash,
    S: BuildHasher + Default + Send + 'static,
{
    fn shape() -> Shape {
        Shape::Set(Box::new(T::shape()))
    }
}

impl<K: State + Ord, V: State> State for BTreeMap<K, V> {
    fn shape() -> Shape {
        Shape::Map(Box::new(K::shape()), Box::new(V::shape()))
    }
}

impl<K, V, S> State for HashMap<K, V, S>
where
    K: State + Eq + Hash,
    V: State,
    S: BuildHasher + Default + Send + 'static,
{
    fn shape() -> Shape {
        Shape::Map(Box::new(K::shape()), Box::new(V::shape()))
    }
}

/// Of the lengths that serde has: up to 32.
impl<T: State, const N: usize> State for [T; N]
where
    Self: Serialize + for<'de> Deserialize<'de>,
{
    fn shape() -> Shape {
        Shape::Array(Box::new(T::shape()), N)
    }
}

/// A tuple of one is migrated like what is in it: a struct can wrap a value without a name.
impl<T: State> State for (T,) {
    const VERSION: u32 = T::VERSION;

    fn shape() -> Shape {
        Shape::Tuple(vec![T::shape()])
    }

    fn migration() -> Option<Migration<Self>> {
        T::migration()?;
        Some(|old| {
            let (Shape::Tuple(parts), [ONE, bytes @ ..]) = (old.shape(), old.bytes()) else {
                return Err("it was no tuple of one".into());
            };
            let ([inner], Some(migrate)) = (&parts[..], T::migration()) else {
                return Err("it was no tuple of one".into());
            };
            Ok((migrate(&Old::new(inner, bytes))?,))
        })
    }
}

macro_rules! tuple {
    ($($name:ident)+) => {
        impl<$($name: State),+> State for ($($name,)+) {
            fn shape() -> Shape {
                Shape::Tuple(vec![$($name::shape()),+])
            }
        }
    };
}

tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);
tuple!(A B C D E F G);
tuple!(A B C D E F G H);
tuple!(A B C D E F G H I);
tuple!(A B C D E F G H I J);
tuple!(A B C D E F G H I J K);
tuple!(A B C D E F G H I J K L);
