//! One claim each, of every kind of store.

use super::{bytes, id, segment, with_each};
use streamwork::{Generation, StoreError};

#[test]
fn what_is_published_is_read_as_it_was_written() {
    with_each(|place| {
        let mut store = place.open();
        let generation = store.begin().unwrap();
        let lengths = [0, 1, 1000, (6 << 10) - 8, (6 << 10) - 7, 200_000];
        for (number, length) in (0..).zip(lengths) {
            store.put(segment(1, number), &bytes(length, u64::from(number))).unwrap();
        }
        store.publish(generation, id(1), &bytes(50_000, 99)).unwrap();
        for _ in 0..2 {
            assert_eq!(store.manifests().unwrap(), [id(1)]);
            assert_eq!(store.manifest(id(1)).unwrap(), bytes(50_000, 99));
            let all: Vec<_> = (0..6).map(|number| segment(1, number)).collect();
            assert_eq!(store.segments().unwrap(), all);
            for (number, length) in (0..).zip(lengths) {
                let expected = bytes(length, u64::from(number));
                assert_eq!(store.segment(segment(1, number)).unwrap(), expected);
            }
            drop(store);
            store = place.open();
        }
    });
}

#[test]
fn lists_are_in_order() {
    with_each(|place| {
        let mut store = place.open();
        let generation = store.begin().unwrap();
        for checkpoint in [300, 2, 256, 1] {
            store.put(segment(checkpoint, 7), b"b").unwrap();
            store.put(segment(checkpoint, 3), b"a").unwrap();
            store.publish(generation, id(checkpoint), b"m").unwrap();
        }
        assert_eq!(store.manifests().unwrap(), [id(1), id(2), id(256), id(300)]);
        let expected = [1, 2, 256, 300].map(|n| [segment(n, 3), segment(n, 7)]).concat();
        assert_eq!(store.segments().unwrap(), expected);
    });
}

#[test]
fn what_is_missing_is_damage_that_names_it() {
    with_each(|place| {
        let store = place.open();
        let error = store.segment(segment(7, 3)).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        let text = error.to_string();
        assert_eq!(text, "segment 3 of checkpoint 7 is damaged: it is missing");
        let error = store.manifest(id(7)).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
        let text = error.to_string();
        assert_eq!(text, "the manifest of checkpoint 7 is damaged: it is missing");
    });
}

#[test]
fn what_is_removed_is_gone_and_may_be_removed_again() {
    with_each(|place| {
        let mut store = place.open();
        let generation = store.begin().unwrap();
        for checkpoint in 1..=2 {
            store.put(segment(checkpoint, 0), &bytes(40_000, checkpoint)).unwrap();
            store.publish(generation, id(checkpoint), &bytes(40_000, checkpoint)).unwrap();
        }
        for _ in 0..2 {
            store.remove_manifest(id(1)).unwrap();
            store.remove_segment(segment(1, 0)).unwrap();
        }
        drop(store);
        let store = place.open();
        assert_eq!(store.manifests().unwrap(), [id(2)]);
        assert_eq!(store.segments().unwrap(), [segment(2, 0)]);
        assert!(store.segment(segment(1, 0)).is_err() && store.manifest(id(1)).is_err());
        assert_eq!(store.segment(segment(2, 0)).unwrap(), bytes(40_000, 2));
    });
}

#[test]
fn only_the_newest_generation_publishes() {
    with_each(|place| {
        let mut store = place.open();
        let first = store.begin().unwrap();
        store.publish(first, id(1), b"m").unwrap();
        let second = store.begin().unwrap();
        assert!(second > first);
        let error = store.publish(first, id(2), b"m").unwrap_err();
        assert!(matches!(error, StoreError::Fenced { .. }), "{error:?}");
        // A bad publication leaves nothing, and does not break the store.
        assert_eq!(store.manifests().unwrap(), [id(1)]);
        store.publish(second, id(2), b"m").unwrap();
        drop(store);

        let mut store = place.open();
        assert_eq!(store.begin().unwrap(), Generation(second.0 + 1));
        let error = store.publish(second, id(3), b"m").unwrap_err();
        assert!(matches!(error, StoreError::Fenced { .. }), "{error:?}");
        assert_eq!(store.manifests().unwrap(), [id(1), id(2)]);
    });
}

#[test]
fn numbers_are_never_reserved_twice() {
    with_each(|place| {
        let mut store = place.open();
        assert_eq!(store.reserve(10).unwrap(), id(1));
        assert_eq!(store.reserve(1).unwrap(), id(11));
        store.reopen().unwrap();
        assert_eq!(store.reserve(5).unwrap(), id(12));
        drop(store);
        assert_eq!(place.open().reserve(1).unwrap(), id(17));
    });
}

#[test]
fn what_is_published_survives_an_opening_anew() {
    with_each(|place| {
        let mut store = place.open();
        let generation = store.begin().unwrap();
        store.put(segment(1, 0), b"one").unwrap();
        store.publish(generation, id(1), b"m").unwrap();
        store.put(segment(2, 0), b"two").unwrap();
        store.reopen().unwrap();
        assert_eq!(store.manifests().unwrap(), [id(1)]);
        assert_eq!(store.segment(segment(1, 0)).unwrap(), b"one");
        // Its generation is what it was.
        store.put(segment(3, 0), b"three").unwrap();
        store.publish(generation, id(3), b"m").unwrap();
        assert_eq!(store.manifests().unwrap(), [id(1), id(3)]);
    });
}

#[cfg(feature = "sled")]
#[test]
fn sled_makes_no_files_of_large_pages() {
    let place = super::Place::new(super::Kind::Sled);
    let mut store = place.open();
    let generation = store.begin().unwrap();
    for checkpoint in 1..=20 {
        // Into one another, as key groups come, and with removals, after which pages are joined.
        for number in [0, 2, 4, 6, 1, 3, 5, 7] {
            store.put(segment(checkpoint, number), &bytes(120_000, checkpoint)).unwrap();
        }
        store.publish(generation, id(checkpoint), &bytes(50_000, 0)).unwrap();
        for number in (0..8).filter(|number| checkpoint > 2 && number % 3 != 0) {
            store.remove_segment(segment(checkpoint - 2, number)).unwrap();
        }
    }
    drop(store);
    let blobs = place.directory.file("s").join("blobs");
    assert_eq!(blobs.read_dir().unwrap().count(), 0);
}
