//! What one version of a program has saved, a later one reads, or says in words why it can't.

#![expect(clippy::unwrap_used, reason = "a test may")]

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use streamwork::{Old, Reading, Shape, State};

/// The differences in words.
fn words<A: State, B: State>() -> Vec<String> {
    let compared = Shape::compare(&A::shape(), &B::shape());
    compared.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

#[track_caller]
fn refused<A: State, B: State>(expected: &[&str]) {
    assert_eq!(words::<A, B>(), expected);
}

#[track_caller]
fn accepted<A: State, B: State>() {
    refused::<A, B>(&[]);
}

fn bytes<T: Serialize>(value: &T) -> Vec<u8> {
    rmp_serde::to_vec_named(value).unwrap()
}

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Count {
    count: u64,
}

mod b28 {
    use super::*;

    #[derive(State, Debug, PartialEq, Serialize, Deserialize)]
    struct WithOption {
        last: Option<u32>,
        count: u64,
    }

    #[derive(State, Debug, PartialEq, Serialize, Deserialize)]
    struct WithDefault {
        #[serde(default)]
        #[state(default)]
        kinds: Vec<String>,
        count: u64,
    }

    #[derive(State, Serialize, Deserialize)]
    struct WithoutDefault {
        count: u64,
        kinds: Vec<String>,
    }

    #[derive(State, Serialize, Deserialize)]
    struct Renamed {
        total: u64,
    }

    #[derive(State, Debug, PartialEq, Serialize, Deserialize)]
    struct Aliased {
        #[serde(alias = "count")]
        total: u64,
    }

    #[derive(State, Serialize, Deserialize)]
    struct Narrow {
        count: u32,
    }

    #[derive(State, Serialize, Deserialize)]
    enum Change {
        Rise,
        Fall(u8),
        Jump { from: u8 },
    }

    #[derive(State, Serialize, Deserialize)]
    enum FewerChanges {
        Jump { from: u8 },
        Rise,
    }

    #[derive(State, Serialize, Deserialize)]
    enum MoreChanges {
        Jump {
            #[serde(default)]
            to: u8,
            from: u8,
        },
        Stay,
        Fall(u8),
        Rise,
    }

    #[derive(State, Serialize, Deserialize)]
    enum OtherChanges {
        Rise(u8),
        Fall(u16),
        Jump { origin: u8 },
    }

    #[test]
    fn an_optional_field_or_one_with_a_default_is_added() {
        let saved = bytes(&Count { count: 7 });
        accepted::<Count, WithOption>();
        let reading = Reading::<WithOption>::of(&Count::shape()).unwrap();
        assert_eq!(reading.read(&saved).unwrap(), WithOption { last: None, count: 7 });
        accepted::<Count, WithDefault>();
        let reading = Reading::<WithDefault>::of(&Count::shape()).unwrap();
        assert_eq!(reading.read(&saved).unwrap(), WithDefault { kinds: vec![], count: 7 });
        refused::<Count, WithoutDefault>(&[
            "the field `kinds` is new: mark it `#[state(default)]`, make it an `Option`, or migrate",
        ]);
    }

    #[test]
    fn a_renamed_field_is_refused_unless_it_is_read_under_its_old_name() {
        refused::<Count, Renamed>(&[
            "the field `total` is new: mark it `#[state(default)]`, make it an `Option`, or migrate",
            "the field `count` is gone: give it its name back, or migrate",
        ]);
        accepted::<Count, Aliased>();
        let reading = Reading::<Aliased>::of(&Count::shape()).unwrap();
        assert_eq!(reading.read(&bytes(&Count { count: 7 })).unwrap(), Aliased { total: 7 });
    }

    #[test]
    fn a_removed_field_is_refused_though_serde_would_not_mind() {
        refused::<WithOption, Count>(&[
            "the field `last` is gone: give it its name back, or migrate",
        ]);
        let saved = bytes(&WithOption { last: Some(1), count: 7 });
        assert_eq!(rmp_serde::from_slice::<Count>(&saved).unwrap(), Count { count: 7 });
    }

    #[test]
    fn another_type_is_refused_also_where_the_bytes_would_fit() {
        refused::<Narrow, Count>(&["`count`: u32 before, u64 now"]);
        refused::<Vec<Narrow>, Vec<Count>>(&["`[].count`: u32 before, u64 now"]);
        refused::<u64, Option<u64>>(&["u64 before, an optional u64 now"]);
        refused::<HashMap<u8, (bool, [Narrow; 2])>, BTreeMap<u8, (bool, [Count; 2])>>(&[
            "`[].1[].count`: u32 before, u64 now",
        ]);
        refused::<(u8, u8), (u8, u8, u8)>(&["a tuple of 2 before, a tuple of 3 now"]);
        refused::<BTreeMap<u8, u8>, BTreeMap<u16, u8>>(&["`[key]`: u8 before, u16 now"]);
        refused::<Vec<u8>, BTreeSet<u8>>(&["a list of u8 before, a set of u8 now"]);
        accepted::<VecDeque<String>, Vec<Box<str>>>();
    }

    #[test]
    fn a_variant_may_be_added_and_none_removed_or_changed() {
        accepted::<Change, MoreChanges>();
        refused::<Change, FewerChanges>(&["the variant `::Fall` is gone: keep it, or migrate"]);
        refused::<Change, OtherChanges>(&[
            "`::Rise`: nothing before, one value now",
            "`::Fall`: u8 before, u16 now",
            "the field `::Jump.origin` is new: mark it `#[state(default)]`, make it an `Option`, or \
             migrate",
            "the field `::Jump.from` is gone: give it its name back, or migrate",
        ]);
        refused::<Change, Count>(&["Change before, Count now"]);
    }
}

mod shapes {
    use super::*;

    #[derive(State, Serialize, Deserialize)]
    struct Meters(f64);

    #[derive(State, Serialize, Deserialize)]
    struct Nothing;

    #[derive(State, Debug, PartialEq, Serialize, Deserialize)]
    struct Pair<T>(T, u8);

    #[derive(State, Serialize, Deserialize)]
    struct Tree {
        value: u8,
        children: Vec<Self>,
    }

    #[derive(State, Serialize, Deserialize)]
    struct Wood {
        value: u8,
        children: Vec<Self>,
    }

    #[derive(State, Serialize, Deserialize)]
    struct Bush {
        value: u16,
        children: Vec<Self>,
    }

    #[test]
    fn a_shape_is_what_the_bytes_are_made_of() {
        #[track_caller]
        fn check<T: State>(text: &str) {
            assert_eq!(T::shape().to_string(), text);
        }
        check::<Meters>("f64");
        check::<Nothing>("{}");
        check::<Pair<Option<Meters>>>("(f64?, u8)");
        check::<(HashMap<String, Vec<char>>, [(); 3])>("(map[string: [char]], [(); 3])");
        check::<Tree>("{value: u8, children: [^0]}");
        accepted::<f64, Meters>();
    }

    #[test]
    fn recursive_types_are_compared_to_their_end() {
        accepted::<Tree, Wood>();
        refused::<Tree, Bush>(&["`value`: u8 before, u16 now"]);
    }

    /// A list of lists of lists, in which another type stands between two of the same.
    #[derive(State, Serialize, Deserialize)]
    enum Even {
        End,
        More(Box<Odd>),
    }

    #[derive(State, Serialize, Deserialize)]
    struct Odd {
        rest: Option<Box<Even>>,
    }

    /// The same bytes, with one type in the other's place.
    #[derive(State, Serialize, Deserialize)]
    enum Unrolled {
        End,
        More(Box<Step>),
    }

    #[derive(State, Serialize, Deserialize)]
    struct Step {
        rest: Option<Box<Again>>,
    }

    #[derive(State, Serialize, Deserialize)]
    enum Again {
        End,
        More(Box<Step>),
    }

    #[test]
    fn types_that_hold_each_other_are_the_same_however_they_are_unrolled() {
        assert_eq!(Even::shape().to_string(), "<End | More({rest: ^1?})>");
        assert_eq!(Odd::shape().to_string(), "{rest: <End | More(^1)>?}");
        accepted::<Even, Unrolled>();
        accepted::<Unrolled, Even>();
        let saved = bytes(&Even::More(Box::new(Odd { rest: Some(Box::new(Even::End)) })));
        assert!(rmp_serde::from_slice::<Unrolled>(&saved).is_ok());
    }

    /// No impl of `State`, as if it came from another crate.
    #[derive(Serialize, Deserialize)]
    struct Foreign(u8);

    #[derive(State, Serialize, Deserialize)]
    #[state(serde, version = 1)]
    struct Wrapped(Foreign);

    #[derive(State, Serialize, Deserialize)]
    struct First {
        #[state(serde, version = 1)]
        at: Option<Foreign>,
    }

    #[derive(State, Serialize, Deserialize)]
    struct Second {
        #[state(serde, version = 2)]
        at: Option<Foreign>,
    }

    #[test]
    fn a_foreign_type_is_its_name_and_its_version() {
        assert_eq!(Wrapped::shape().to_string(), "Wrapped v1");
        assert_eq!(Wrapped::VERSION, 1);
        assert_eq!(First::shape().to_string(), "{at: Option<Foreign> v1}");
        refused::<First, Second>(&[
            "`at`: Option<Foreign> in version 1 before, Option<Foreign> in version 2 now",
        ]);
    }

    #[derive(State, Default, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        last_seen: u8,
        #[serde(rename = "KIND")]
        kind: u8,
        #[serde(skip)]
        scratch: u8,
        r#type: u8,
    }

    #[derive(State, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case", rename_all_fields = "kebab-case")]
    enum Variants {
        HasFields { last_seen: u8 },
    }

    #[test]
    fn names_are_those_that_serde_writes() {
        let written = serde_json::to_value(Named::default()).unwrap();
        assert_eq!(Named::default().scratch, 0);
        let written: BTreeSet<&str> =
            written.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(Named::shape().to_string(), "{lastSeen: u8, KIND: u8, type: u8}");
        assert_eq!(written, BTreeSet::from(["KIND", "lastSeen", "type"]));

        let written = serde_json::to_string(&Variants::HasFields { last_seen: 1 }).unwrap();
        assert_eq!(written, r#"{"has_fields":{"last-seen":1}}"#);
        assert_eq!(Variants::shape().to_string(), "<has_fields{last-seen: u8}>");
    }

    #[derive(State, Serialize, Deserialize)]
    struct AtTimes {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        list: Vec<u8>,
    }

    #[derive(State, Serialize, Deserialize)]
    struct Always {
        list: Vec<u8>,
    }

    #[test]
    fn what_is_left_out_at_times_needs_a_default() {
        accepted::<Always, AtTimes>();
        refused::<AtTimes, Always>(&[
            "the field `list` was left out at times: mark it `#[state(default)]`, or migrate",
        ]);
        assert!(rmp_serde::from_slice::<Always>(&bytes(&AtTimes { list: vec![] })).is_err());
    }

    /// A newtype of an option is not missing where it is not written: serde wants it.
    #[derive(State, Serialize, Deserialize)]
    struct Last(Option<u8>);

    #[derive(State, Serialize, Deserialize)]
    struct WithLast {
        count: u64,
        last: Last,
    }

    #[test]
    fn only_a_plain_option_is_its_own_default() {
        assert_eq!(words::<Count, WithLast>().len(), 1);
        assert!(rmp_serde::from_slice::<WithLast>(&bytes(&Count { count: 7 })).is_err());
    }

    #[derive(State, Serialize, Deserialize)]
    struct Both {
        #[serde(alias = "b")]
        a: u8,
    }

    #[derive(State, Serialize, Deserialize)]
    struct Two {
        a: u8,
        b: u8,
    }

    #[test]
    fn two_fields_are_not_read_into_one() {
        refused::<Two, Both>(&["the field `a` has the names of two that there were: migrate"]);
        assert!(rmp_serde::from_slice::<Both>(&bytes(&Two { a: 1, b: 2 })).is_err());
    }

    #[test]
    fn what_is_in_an_option_can_be_told_from_none() {
        #[derive(State, Debug, PartialEq, Serialize, Deserialize)]
        struct Mark;

        #[track_caller]
        fn check<T: State + PartialEq + std::fmt::Debug>(value: T) {
            assert!(!T::NULLABLE);
            let some = Some(value);
            let reading = Reading::<Option<T>>::of(&<Option<T>>::shape()).unwrap();
            assert_eq!(reading.read(&bytes(&some)).unwrap(), some);
        }
        check(Mark);
        check((None::<u8>,));
        check(Vec::<u8>::new());
        check(Pair((), 1));
        const { assert!(<Option<u8>>::NULLABLE && <()>::NULLABLE && Last::NULLABLE) };
        const { assert!(<Box<Option<u8>>>::NULLABLE && !Meters::NULLABLE) };
    }

    #[test]
    fn a_shape_can_be_saved_itself() {
        for shape in [Tree::shape(), Even::shape(), First::shape(), Variants::shape()] {
            assert_eq!(rmp_serde::from_slice::<Shape>(&bytes(&shape)).unwrap(), shape);
        }
    }
}

mod migrations {
    use super::*;

    /// What `Seconds` was made of in version 0.
    #[derive(State, Clone, Serialize, Deserialize)]
    struct Millis {
        millis: u64,
    }

    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[state(version = 2, migrate = Self::from_old)]
    struct Seconds {
        seconds: f64,
    }

    impl Seconds {
        fn from_old(old: &Old<'_>) -> streamwork::Result<Self> {
            match old.version() {
                0 => {
                    let Millis { millis } = old.decode()?;
                    if millis == 13 {
                        return Err("13 is no time".into());
                    }
                    Ok(Self { seconds: millis as f64 / 1_000.0 })
                }
                version => Err(format!("nobody knows version {version}").into()),
            }
        }
    }

    #[derive(State, Serialize, Deserialize)]
    #[state(version = 3)]
    struct NoMigration {
        seconds: f64,
    }

    #[test]
    fn an_old_version_is_migrated() {
        let reading = Reading::<Seconds>::of(&Millis::shape()).unwrap();
        let read = reading.read(&bytes(&Millis { millis: 1_500 })).unwrap();
        assert_eq!(read, Seconds { seconds: 1.5 });
        let error = reading.read(&bytes(&Millis { millis: 13 })).unwrap_err();
        assert_eq!(error.to_string(), "13 is no time");
    }

    #[test]
    fn so_is_what_is_in_an_option_a_box_or_a_tuple_of_one() {
        #[track_caller]
        fn check<A: State, B: State + PartialEq + std::fmt::Debug>(saved: &A, expected: &B) {
            let reading = Reading::<B>::of(&A::shape()).unwrap();
            assert_eq!(reading.read(&bytes(saved)).unwrap(), *expected);
        }
        let (old, new) = (Millis { millis: 1_500 }, Seconds { seconds: 1.5 });
        check(&Some(old.clone()), &Some(new.clone()));
        check(&None::<Millis>, &None::<Seconds>);
        check(&Box::new(old.clone()), &Box::new(new.clone()));
        check(&(old.clone(),), &(new.clone(),));
        check(&Some((old,)), &Some((new,)));
    }

    #[test]
    fn the_same_version_is_read_as_it_is() {
        let reading = Reading::<Seconds>::of(&Seconds::shape()).unwrap();
        let saved = bytes(&Seconds { seconds: 2.5 });
        assert_eq!(reading.read(&saved).unwrap(), Seconds { seconds: 2.5 });
    }

    #[test]
    fn without_a_migration_and_from_a_newer_program_nothing_is_read() {
        refused::<Seconds, NoMigration>(&["version 2 before, 3 now, and no migration"]);
        assert!(Reading::<NoMigration>::of(&Seconds::shape()).is_err());
        let newer = Reading::<Seconds>::of(&NoMigration::shape()).unwrap_err();
        assert_eq!(
            newer[0].to_string(),
            "written in version 3, which is newer than 2, the program's"
        );
    }

    #[test]
    fn inside_another_type_nobody_migrates() {
        refused::<Vec<Millis>, Vec<Seconds>>(&["`[]`: version 0 before, 2 now, and no migration"]);
        assert!(Reading::<Vec<Seconds>>::of(&<Vec<Millis>>::shape()).is_err());
    }
}

mod accepted_bytes {
    use super::*;

    /// A type with what it is read as, where that is accepted: which fields the two share.
    trait Reads<B> {
        fn shares(&self, read: &B) -> bool;
    }

    macro_rules! version {
        ($name:ident { $($(#[$attr:meta])* $field:ident: $ty:ty),* $(,)? }) => {
            #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
            struct $name { $($(#[$attr])* $field: $ty),* }
        };
    }

    version!(V0 { count: u32, kind: String, last: Option<i64>, at: (u8, f64), change: Change0 });
    version!(V1 {
        change: Change1,
        last: Option<i64>,
        #[serde(default)] by_kind: BTreeMap<String, u64>,
        kind: Box<str>,
        seen: Option<bool>,
        at: At,
        #[serde(alias = "count")] total: u32,
    });
    version!(V2 { count: u64, kind: String, last: Option<i64>, at: (u8, f64), change: Change0 });
    version!(V3 { count: u32, kind: String, at: (u8, f64), change: Change0 });
    version!(V4 { count: u32, kind: String, last: i64, at: (u8, f64), change: Change0 });
    version!(V5 {
        count: u32,
        kind: String,
        last: Option<i64>,
        at: (u8, f64),
        change: Change0,
        more: u8,
    });
    version!(V6 { count: u32, kind: String, last: Option<i64>, at: (u8, f64), change: Change2 });

    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct At(u8, f64);

    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Change0 {
        Rise,
        Fall(u8),
        Jump { to: i16 },
    }

    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Change1 {
        Stay(bool),
        Jump { by: Option<u8>, to: i16 },
        Fall(u8),
        Rise,
    }

    #[derive(State, Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Change2 {
        Rise,
        Jump { to: i16 },
    }

    fn change() -> impl Strategy<Value = Change0> {
        prop_oneof![
            Just(Change0::Rise),
            any::<u8>().prop_map(Change0::Fall),
            any::<i16>().prop_map(|to| Change0::Jump { to }),
        ]
    }

    prop_compose! {
        fn v0()(
            count: u32,
            kind in ".{0,5}",
            last: Option<i64>,
            at in (any::<u8>(), -1e9..1e9),
            change in change(),
        ) -> V0 {
            V0 { count, kind, last, at, change }
        }
    }

    impl Reads<V1> for V0 {
        fn shares(&self, read: &V1) -> bool {
            let changed = match (&self.change, &read.change) {
                (Change0::Rise, Change1::Rise) => true,
                (Change0::Fall(a), Change1::Fall(b)) => a == b,
                (Change0::Jump { to }, Change1::Jump { by: None, to: now }) => to == now,
                _ => false,
            };
            changed
                && (self.count, &*self.kind, self.last) == (read.total, &*read.kind, read.last)
                && self.at == (read.at.0, read.at.1)
                && read.by_kind.is_empty()
                && read.seen.is_none()
        }
    }

    impl Reads<Self> for V0 {
        fn shares(&self, read: &Self) -> bool {
            self == read
        }
    }

    /// Where the two shapes agree, the bytes are read.
    fn check<B: State>(saved: &V0) -> Option<B> {
        Shape::compare(&V0::shape(), &B::shape()).ok()?;
        Some(rmp_serde::from_slice(&bytes(saved)).unwrap())
    }

    proptest! {
        #[test]
        fn what_is_accepted_is_read_without_loss(saved in v0()) {
            prop_assert!(saved.shares(&check::<V0>(&saved).unwrap()));
            prop_assert!(saved.shares(&check::<V1>(&saved).unwrap()));
            prop_assert!(check::<V2>(&saved).is_none(), "u32 to u64");
            prop_assert!(check::<V3>(&saved).is_none(), "a field is gone");
            prop_assert!(check::<V4>(&saved).is_none(), "no option any more");
            prop_assert!(check::<V5>(&saved).is_none(), "new without a default");
            prop_assert!(check::<V6>(&saved).is_none(), "a variant is gone");
        }
    }
}
