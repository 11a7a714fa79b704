//! The standard library's types as keys.

use super::{Key, KeyHasher};
use crate::shape::Shape;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

macro_rules! word {
    ($($t:ident as $via:ty),* $(,)?) => { $(impl Key for $t {
        fn shape() -> Shape {
            Shape::plain(stringify!($t))
        }


        #[inline]
        fn feed(&self, hasher: &mut KeyHasher) {
            #[expect(
                clippy::allow_attributes,
                reason = "which of the casts lose a sign differs by the type"
            )]
            #[allow(clippy::cast_sign_loss, clippy::cast_lossless, trivial_numeric_casts, reason = "bits, not values")]
            hasher.word(*self as $via as u64);
        }
    })* };
}

// Signed types widen with their sign, so that -1 is the same key in every width.
word!(bool as u64, char as u64, u8 as u64, u16 as u64, u32 as u64, u64 as u64, usize as u64);
word!(i8 as i64, i16 as i64, i32 as i64, i64 as i64, isize as i64);

impl Key for u128 {
    fn shape() -> Shape {
        Shape::plain("u128")
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        hasher.word(*self as u64);
        hasher.word((*self >> 64) as u64);
    }
}

impl Key for i128 {
    fn shape() -> Shape {
        Shape::plain("i128")
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        self.cast_unsigned().feed(hasher);
    }
}

impl Key for () {
    fn shape() -> Shape {
        Shape::Nothing
    }

    fn feed(&self, _: &mut KeyHasher) {}
}

impl Key for str {
    fn shape() -> Shape {
        Shape::plain("string")
    }

    #[inline]
    fn feed(&self, hasher: &mut KeyHasher) {
        hasher.bytes(self.as_bytes());
    }
}

impl Key for String {
    fn shape() -> Shape {
        Shape::plain("string")
    }

    #[inline]
    fn feed(&self, hasher: &mut KeyHasher) {
        self.as_str().feed(hasher);
    }
}

impl Key for uuid::Uuid {
    fn shape() -> Shape {
        Shape::plain("uuid")
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        self.as_u128().feed(hasher);
    }
}

impl Key for crate::time::EventTime {
    fn shape() -> Shape {
        Shape::plain("event-time")
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        self.as_millis().feed(hasher);
    }
}

impl<K: Key> Key for [K] {
    fn shape() -> Shape {
        Shape::List(Box::new(K::shape()))
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        hasher.word(self.len() as u64);
        self.iter().for_each(|k| k.feed(hasher));
    }
}

impl<K: Key, const N: usize> Key for [K; N] {
    fn shape() -> Shape {
        Shape::Array(Box::new(K::shape()), N)
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        self.as_slice().feed(hasher);
    }
}

impl<K: Key> Key for Vec<K> {
    fn shape() -> Shape {
        <[K]>::shape()
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        self.as_slice().feed(hasher);
    }
}

impl<K: Key> Key for Option<K> {
    fn shape() -> Shape {
        Shape::Option(Box::new(K::shape()))
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        hasher.word(u64::from(self.is_some()));
        if let Some(key) = self {
            key.feed(hasher);
        }
    }
}

macro_rules! pointer {
    ($($t:ty),*) => { $(impl<K: Key + ?Sized> Key for $t {
        fn shape() -> Shape {
            K::shape()
        }

        #[inline]
        fn feed(&self, hasher: &mut KeyHasher) {
            (**self).feed(hasher);
        }
    })* };
}

pointer!(&K, Box<K>, Rc<K>, Arc<K>);

impl<K: Key + ToOwned + ?Sized> Key for Cow<'_, K> {
    fn shape() -> Shape {
        K::shape()
    }

    fn feed(&self, hasher: &mut KeyHasher) {
        (**self).feed(hasher);
    }
}

macro_rules! tuple {
    ($($name:ident)+) => {
        impl<$($name: Key),+> Key for ($($name,)+) {
            fn shape() -> Shape {
                Shape::Tuple(vec![$($name::shape()),+])
            }

            #[inline]
            fn feed(&self, hasher: &mut KeyHasher) {
                #[expect(non_snake_case, reason = "the type's name serves as the variable's")]
                let ($($name,)+) = self;
                $($name.feed(hasher);)+
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
