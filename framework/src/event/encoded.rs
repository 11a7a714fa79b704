//! Events as bytes: to know one again, and to keep it.

use super::{Event, Storable};
use serde::Serialize;

/// An event as MessagePack with the names of its fields; `None` if serde refuses.
#[doc(hidden)]
pub fn encode_event<T: Storable>(event: &T) -> Option<Vec<u8>> {
    encode(event)
}

/// As [`encode_event`], of what is only written.
pub(super) fn encode<T: Serialize + ?Sized>(event: &T) -> Option<Vec<u8>> {
    rmp_serde::to_vec_named(event).ok()
}

/// The encodings of several events as one list; `None` if one of them has none.
pub(super) fn list<'a, T: Event>(items: impl ExactSizeIterator<Item = &'a T>) -> Option<Vec<u8>> {
    let mut bytes = header(items.len());
    for item in items {
        bytes.extend(item.encoded()?);
    }
    Some(bytes)
}

/// What a list of so many elements begins with.
pub(super) fn header(length: usize) -> Vec<u8> {
    match length {
        0..16 => vec![0x90 | length as u8],
        16..0x1_0000 => [&[0xdc][..], &(length as u16).to_be_bytes()].concat(),
        _ => [&[0xdd][..], &(length as u32).to_be_bytes()].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check<E: Event + Serialize>(event: &E) {
        assert_eq!(event.encoded(), encode(event));
    }

    proptest! {
        #[test]
        fn what_is_put_together_is_as_serde_has_it(
            numbers in prop::collection::vec(any::<i32>(), 0..300),
            text in any::<String>(),
            number in any::<Option<u64>>(),
        ) {
            check(&(numbers.clone(), text.clone(), number));
            check(&Box::new([Some(numbers), None]));
        }
    }

    #[test]
    fn a_long_list_has_a_long_header() {
        check(&vec![true; 70_000]);
    }
}
