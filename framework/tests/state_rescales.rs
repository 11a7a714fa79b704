//! What a component has saved is given to another number of instances by the rule of each field, and to
//! the same number as it was.

#![expect(clippy::unwrap_used, reason = "a test may")]

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use streamwork::{
    Component, FieldReader, FieldWriter, Key, KeyGroups, Redistribute, Rescaling, Shape, State,
    StateError,
};

/// What each instance saved, in bytes.
fn write<C: Component>(name: &str, saved: &[C::Saved]) -> Vec<Vec<u8>> {
    let write = |saved: &C::Saved| {
        let mut fields = FieldWriter::new(name);
        C::encode(saved, &mut fields).unwrap();
        fields.into_bytes()
    };
    saved.iter().map(write).collect()
}

const GROUPS: KeyGroups = KeyGroups::DEFAULT;

/// What instance `index` of `parallelism` goes on with.
fn read<C: Component>(
    (shape, blobs): (&Shape, &[Vec<u8>]),
    index: usize,
    parallelism: usize,
) -> Result<C::Saved, StateError> {
    let olds: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
    let to = Rescaling { index, parallelism, before: blobs.len(), key_groups: GROUPS };
    C::decode(&FieldReader::new("counter", shape, &olds, to)?)
}

#[derive(Component, Clone, Default)]
struct ByKey {
    #[state(by_key)]
    counts: HashMap<(u32, String), u64>,
    #[state(by_key)]
    last: BTreeMap<u64, Option<i8>>,
}

type Both = (HashMap<(u32, String), u64>, BTreeMap<u64, Option<i8>>);

/// Spreads maps over instances as the engine spreads events.
fn spread((counts, last): &Both, parallelism: usize) -> Vec<Both> {
    let home = |group| GROUPS.instance(group, parallelism);
    let mut spread = vec![Both::default(); parallelism];
    for (key, n) in counts {
        spread[home(GROUPS.of_key(key))].0.insert(key.clone(), *n);
    }
    for (key, n) in last {
        spread[home(GROUPS.of_key(key))].1.insert(*key, *n);
    }
    spread
}

proptest! {
    /// Each new instance gets what it would have if the job had always had this parallelism: each key is
    /// with one of them, and with the one that its events go to.
    #[test]
    fn entries_move_with_their_keys(
        counts in prop::collection::hash_map((0_u32..9, "[a-c]{0,2}"), any::<u64>(), 0..40),
        last in prop::collection::btree_map(any::<u64>(), any::<Option<i8>>(), 0..40),
        before in 1_usize..=7,
        now in 1_usize..=7,
    ) {
        let whole = (counts, last);
        let blobs = write::<ByKey>("counter", &spread(&whole, before));
        let shape = ByKey::state_shape();
        let expected = spread(&whole, now);
        for (index, expected) in expected.iter().enumerate() {
            let got = read::<ByKey>((&shape, &blobs), index, now).unwrap();
            prop_assert_eq!(&got, expected, "instance {}", index);
        }
    }
}

#[test]
fn an_entry_in_the_wrong_place_is_an_error_that_names_its_key() {
    let whole = (HashMap::from([((7, "car".to_owned()), 1)]), BTreeMap::new());
    let mut saved = spread(&whole, 2);
    saved.reverse();
    let blobs = write::<ByKey>("counter", &saved);
    for parallelism in [2, 3] {
        let error = read::<ByKey>((&ByKey::state_shape(), &blobs), 0, parallelism).unwrap_err();
        let StateError::Misplaced { field, key, instance, home, before: 2, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!((&**field, &**key), ("counts", "[7,\"car\"]"));
        assert_eq!((*instance, *home), (1 - home, 1 - instance));
        assert!(error.to_string().contains("the key [7,\"car\"] of `counter.counts`"), "{error}");
    }
}

#[derive(Component)]
struct Plain {
    #[state]
    offset: u64,
}

#[test]
fn a_plain_field_keeps_its_instance_and_refuses_another_parallelism() {
    let blobs = write::<Plain>("counter", &[(3,), (4,)]);
    let saved = (&Plain::state_shape(), &blobs[..]);
    assert_eq!(read::<Plain>(saved, 0, 2).unwrap(), (3,));
    assert_eq!(read::<Plain>(saved, 1, 2).unwrap(), (4,));
    let error = read::<Plain>(saved, 0, 3).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`counter.offset` was saved by 2 instances and can't be given to 3"),
        "{text}"
    );
    for way_out in ["#[state(by_key)]", "#[state(replicated)]", "#[state(redistribute)]"] {
        assert!(text.contains(way_out), "{text}");
    }
}

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Seen(u64);

impl Redistribute for Seen {
    fn redistribute(old: Vec<Self>, index: usize, parallelism: usize) -> Self {
        let sum: u64 = old.iter().map(|seen| seen.0).sum();
        Self(sum / parallelism as u64 + u64::from((index as u64) < sum % parallelism as u64))
    }
}

#[derive(Component)]
struct Spread {
    #[state(redistribute)]
    seen: Seen,
    #[state(replicated)]
    limit: String,
}

#[test]
fn others_say_themselves_how_they_are_spread() {
    let saved = [(Seen(3), "ten".to_owned()), (Seen(4), "none".to_owned())];
    let blobs = write::<Spread>("counter", &saved);
    let read = |index, parallelism| {
        read::<Spread>((&Spread::state_shape(), &blobs), index, parallelism).unwrap()
    };
    let of_three: Vec<_> = (0..3).map(|index| read(index, 3)).collect();
    let ten = || "ten".to_owned();
    assert_eq!(of_three, [(Seen(3), ten()), (Seen(2), ten()), (Seen(2), ten())]);
    assert_eq!(read(1, 2), (Seen(4), ten()), "its own, where nothing has changed");
}

mod fields {
    use super::*;

    #[derive(Component)]
    struct Before {
        #[state]
        offset: u64,
        #[state]
        name: String,
    }

    #[derive(Component)]
    struct More {
        #[state]
        name: String,
        #[state]
        seen: Option<u8>,
        #[state(by_key, default)]
        counts: HashMap<String, u64>,
        #[state]
        offset: u64,
    }

    #[derive(Component)]
    struct Other {
        #[state]
        name: u64,
        #[state]
        position: u64,
    }

    #[derive(Component)]
    struct Stateless;

    fn saved() -> Vec<Vec<u8>> {
        write::<Before>("counter", &[(7, "a".to_owned())])
    }

    #[test]
    fn fields_are_added_and_change_places() {
        assert!(More::compare_state(&Before::state_shape()).is_ok());
        let got = read::<More>((&Before::state_shape(), &saved()), 0, 1).unwrap();
        assert_eq!(got, ("a".to_owned(), None, HashMap::new(), 7));
    }

    #[test]
    fn anything_else_is_refused_in_words() {
        let told = "the state of `counter` has changed: `name`: string before, u64 now; the field \
                    `position` is new: mark it `#[state(default)]`, make it an `Option`, or migrate; the \
                    field `offset` is gone: give it its name back, or migrate";
        let error = read::<Other>((&Before::state_shape(), &saved()), 0, 1).unwrap_err();
        assert_eq!(error.to_string(), told);
        assert_eq!(Other::compare_state(&Before::state_shape()).unwrap_err().len(), 3);
    }

    #[test]
    fn a_component_gains_state_and_does_not_lose_it() {
        #[derive(Component)]
        struct Gained(#[state(default)] u64);

        assert_eq!(Stateless::state_shape(), Shape::Nothing);
        let blobs = write::<Stateless>("counter", &[(), ()]);
        let nothing = (&Shape::Nothing, &blobs[..]);
        assert_eq!(read::<Gained>(nothing, 2, 3).unwrap(), (0,));
        assert!(Gained::compare_state(&Shape::Nothing).is_ok());
        read::<Stateless>(nothing, 2, 3).unwrap();

        let lost = Stateless::compare_state(&Before::state_shape()).unwrap_err();
        assert_eq!(lost.len(), 2, "{lost:?}");
    }

    /// Written by hand: saved in one piece.
    struct ByHand(u64);

    impl Component for ByHand {
        type Saved = Seen;

        fn name(&self) -> &str {
            "by-hand"
        }

        fn save(&self) -> Seen {
            Seen(self.0)
        }

        fn load(&mut self, Seen(seen): Seen) {
            self.0 = seen;
        }
    }

    #[test]
    fn what_is_written_by_hand_is_one_piece_of_state() {
        let mut by_hand = ByHand(7);
        let blobs = write::<ByHand>("counter", &[by_hand.save(), Seen(8)]);
        let saved = (&ByHand::state_shape(), &blobs[..]);
        by_hand.load(read::<ByHand>(saved, 1, 2).unwrap());
        assert_eq!(by_hand.0, 8);
        let error = read::<ByHand>(saved, 0, 1).unwrap_err();
        assert!(matches!(error, StateError::Rescaled { before: 2, now: 1, .. }), "{error}");
        assert!(read::<ByHand>((&<String as State>::shape(), &blobs), 0, 2).is_err());
    }

    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Range {
        from: u8,
        to: u8,
    }

    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Reordered {
        to: u8,
        step: Option<u8>,
        from: u8,
    }

    #[derive(Component)]
    struct Ranges<T> {
        #[state]
        own: T,
        #[state(by_key)]
        by_kind: BTreeMap<String, T>,
    }

    #[test]
    fn what_is_inside_a_field_is_read_by_name_too() {
        let kind = || "car".to_owned();
        let range = Range { from: 1, to: 2 };
        let blobs = write::<Ranges<Range>>(
            "counter",
            &[(range.clone(), BTreeMap::from([(kind(), range)]))],
        );
        let shape = Ranges::<Range>::state_shape();
        let got = read::<Ranges<Reordered>>((&shape, &blobs), 0, 1).unwrap();
        let expected = Reordered { to: 2, step: None, from: 1 };
        assert_eq!(got, (expected.clone(), BTreeMap::from([(kind(), expected)])));
    }

    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[state(version = 1, migrate = Self::from_u8)]
    struct Wide(u64);

    impl Wide {
        fn from_u8(old: &streamwork::Old<'_>) -> streamwork::Result<Self> {
            Ok(Self(100 * old.decode::<u64>()?))
        }
    }

    #[derive(Component)]
    struct Narrow {
        #[state]
        total: u8,
        #[state(by_key)]
        by_kind: BTreeMap<String, u8>,
    }

    #[derive(Component)]
    struct Widened {
        #[state]
        total: Wide,
        #[state(by_key)]
        by_kind: BTreeMap<String, Wide>,
    }

    #[test]
    fn a_field_and_the_value_of_a_key_are_migrated() {
        let by_kind = BTreeMap::from([("car".to_owned(), 2)]);
        let blobs = write::<Narrow>("counter", &[(1, by_kind)]);
        let got = read::<Widened>((&Narrow::state_shape(), &blobs), 0, 1).unwrap();
        assert_eq!(got, (Wide(100), BTreeMap::from([("car".to_owned(), Wide(200))])));
    }
}

/// B29: nothing is read, or all of it.
mod holes {
    use super::*;

    #[test]
    fn an_instance_that_is_missing_is_an_error() {
        let blobs = write::<Plain>("counter", &[(3,), (4,)]);
        let to = Rescaling { index: 0, parallelism: 2, before: 2, key_groups: GROUPS };
        let shape = Plain::state_shape();
        let error = FieldReader::new("counter", &shape, &[&blobs[0]], to).unwrap_err();
        assert!(matches!(error, StateError::Incomplete { before: 2, found: 1, .. }), "{error}");
    }

    #[test]
    fn so_is_one_that_is_damaged() {
        let mut blobs = write::<Plain>("counter", &[(3,), (4,)]);
        for bytes in [&b""[..], b"\x02\x90", b"\x01\x91"] {
            blobs[1] = bytes.to_vec();
            let error = read::<Plain>((&Plain::state_shape(), &blobs), 0, 2).unwrap_err();
            assert!(matches!(error, StateError::Damaged { instance: 1, .. }), "{error}");
        }
        blobs[1] = FieldWriter::new("counter").into_bytes();
        let error = read::<Plain>((&Plain::state_shape(), &blobs), 1, 2).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the state field `counter.offset` of instance 1");
        assert_eq!(error.source().unwrap().to_string(), "it was not saved");
    }

    /// Reads no value of 13, as if its bytes were damaged.
    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(bound = "")]
    #[state(version = 1, migrate = Self::check)]
    struct Unlucky(u64);

    impl Unlucky {
        fn check(old: &streamwork::Old<'_>) -> streamwork::Result<Self> {
            match old.decode::<u64>()? {
                13 => Err("13".into()),
                n => Ok(Self(n)),
            }
        }
    }

    #[derive(Component)]
    struct Before {
        #[state(by_key)]
        counts: HashMap<String, u64>,
    }

    #[derive(Component)]
    struct Now {
        #[state(by_key)]
        counts: HashMap<String, Unlucky>,
    }

    #[test]
    fn one_key_of_a_hundred_that_cant_be_read_is_named() {
        let mut counts: HashMap<String, u64> =
            (100..200).map(|n| (format!("key {n}"), n)).collect();
        let shape = Before::state_shape();
        let good = write::<Before>("counter", &[(counts.clone(),)]);
        assert_eq!(read::<Now>((&shape, &good), 0, 1).unwrap().0.len(), 100);
        counts.insert("key 150".to_owned(), 13);
        let bad = write::<Before>("counter", &[(counts,)]);
        let error = read::<Now>((&shape, &bad), 0, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read the state of the key \"key 150\" of `counter.counts`"
        );
    }
}

#[test]
#[expect(dead_code, reason = "types alone are looked at")]
fn keys_that_look_alike_have_the_same_text() {
    #[derive(Key, PartialEq, Eq)]
    struct Account {
        bank: u32,
        number: String,
    }

    #[derive(Key, PartialEq, Eq)]
    struct Borrowed<'a> {
        bank: &'a u32,
        number: &'a str,
    }

    #[derive(Key, PartialEq, Eq)]
    struct Reordered {
        number: String,
        bank: u32,
    }

    #[derive(Key, PartialEq, Eq)]
    enum Payer {
        Cash,
        Account(Account),
    }

    #[derive(Key, PartialEq, Eq)]
    enum Other {
        Account(Account),
        Cash,
    }

    #[derive(Key, PartialEq, Eq)]
    enum Path {
        End,
        Step(Box<Self>),
    }

    #[track_caller]
    fn check<K: Key + ?Sized>(text: &str) {
        assert_eq!(K::shape().to_string(), text);
    }
    check::<str>("string");
    check::<String>("string");
    check::<[u8]>("[u8]");
    check::<Vec<u8>>("[u8]");
    check::<(Option<i64>, bool)>("(i64?, bool)");
    check::<Account>("{bank: u32, number: string}");
    check::<Borrowed<'_>>("{bank: u32, number: string}");
    check::<Reordered>("{number: string, bank: u32}");
    check::<Payer>("<Account({bank: u32, number: string}) | Cash>");
    check::<Other>("<Account({bank: u32, number: string}) | Cash>");
    check::<Path>("<End | Step(^0)>");
}
