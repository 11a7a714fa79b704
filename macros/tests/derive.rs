//! What the derived impls do.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use streamwork::{Component, Event, EventTime, Key, KeyHasher, Rescale, Shape, key_hash};

mod component {
    use super::*;

    #[derive(Component)]
    struct HTTPSource;

    #[derive(Component)]
    #[component(name = "Vehicle counter, 2nd", parallelism = 0x10, blocking)]
    struct VehicleCounter2;

    #[test]
    fn a_plain_struct_has_its_own_name_and_the_defaults_of_the_trait() {
        assert_eq!(HTTPSource.name(), "http-source");
        assert_eq!(HTTPSource.parallelism(), 1);
        const { assert!(!HTTPSource::BLOCKING && HTTPSource::STATE.is_empty()) };
        let () = HTTPSource.save();
        HTTPSource.load(());
    }

    #[test]
    fn the_attribute_has_the_last_word() {
        assert_eq!(VehicleCounter2.name(), "Vehicle counter, 2nd");
        assert_eq!(VehicleCounter2.parallelism(), 16);
        const { assert!(VehicleCounter2::BLOCKING) };
    }

    #[derive(Component, Default)]
    struct Averages {
        #[state(by_key)]
        sums: HashMap<String, (f64, u64)>,
        scratch: Vec<u8>,
        #[state(replicated, default)]
        r#type: String,
        #[state]
        seen: u64,
    }

    #[test]
    fn state_is_described_in_the_order_of_its_fields() {
        let described: Vec<_> = Averages::STATE
            .iter()
            .map(|field| (field.name, field.type_name, field.rescale, field.default))
            .collect();
        let expected = [
            ("sums", "HashMap<String, (f64, u64)>", Rescale::ByKey, false),
            ("type", "String", Rescale::Replicated, true),
            ("seen", "u64", Rescale::Refuse, false),
        ];
        assert_eq!(described, expected);
        let shapes = "{sums: by_key[string: (f64, u64)], type: string, seen: u64}";
        assert_eq!(Averages::state_shape().to_string(), shapes);
    }

    #[test]
    fn saved_state_can_be_loaded_and_the_rest_stays() {
        let sums = HashMap::from([("car".to_owned(), (1.5, 2))]);
        let before = Averages { sums: sums.clone(), scratch: vec![1], r#type: "a".into(), seen: 2 };
        let mut after = Averages { scratch: vec![2], ..Averages::default() };
        after.load(before.save());
        assert_eq!((after.sums, &*after.r#type, after.seen), (sums, "a", 2));
        assert_eq!(after.scratch, [2]);
        assert_eq!(before.scratch, [1], "saving takes nothing away");
    }

    #[derive(Component)]
    struct Pair(#[state] u8, u16, #[state] u32);

    #[test]
    fn fields_of_a_tuple_are_named_by_their_numbers() {
        assert_eq!(Pair::STATE.iter().map(|field| field.name).collect::<Vec<_>>(), ["0", "2"]);
        let mut pair = Pair(1, 2, 3);
        assert_eq!(pair.save(), (1, 3));
        pair.load((4, 5));
        assert_eq!((pair.0, pair.1, pair.2), (4, 2, 5));
    }

    /// Neither `Clone` nor more than `Send` is asked of `F`, which is in no field that is kept.
    #[derive(Component)]
    struct Fold<F, I: Iterator, const N: usize>
    where
        F: FnMut(I::Item) -> u64,
    {
        function: F,
        #[state]
        last: Option<I::Item>,
        #[state]
        recent: [u64; 2],
        scratch: [u8; N],
    }

    #[test]
    fn generics_are_bounded_by_what_is_needed() {
        struct NoClone(u64);
        let factor = NoClone(3);
        let mut fold = Fold::<_, std::vec::IntoIter<u32>, 2> {
            function: move |n| u64::from(n) * factor.0,
            last: Some(7),
            recent: [1, 2],
            scratch: [0; 2],
        };
        assert_eq!((fold.function)(2), 6);
        assert_eq!(fold.save(), (Some(7), [1, 2]));
        fold.load((None, [3, 4]));
        assert_eq!((fold.last, fold.recent, fold.scratch), (None, [3, 4], [0, 0]));
        assert_eq!(fold.name(), "fold");
    }

    #[test]
    fn the_crate_is_found_where_the_attribute_says() {
        use streamwork as flow;
        #[derive(Component)]
        #[component(crate = flow)]
        struct Elsewhere(#[state] u8);
        assert_eq!(Elsewhere(1).save(), (1,));
    }
}

mod event {
    use super::*;

    #[derive(Event, Clone, Serialize, Deserialize)]
    struct Plain {
        name: String,
    }

    #[derive(Event, Clone, Serialize, Deserialize)]
    #[event(weight = heavy)]
    enum Reading<T> {
        Car(T),
        Broken { code: u8 },
        Nothing,
    }

    fn heavy<T>(reading: &Reading<T>) -> usize {
        match reading {
            Reading::Car(_) => 100,
            Reading::Broken { code } => usize::from(*code),
            Reading::Nothing => 0,
        }
    }

    #[derive(Event, Clone)]
    #[event(local, weight = Self::bytes)]
    struct Stamped<T>(T, #[event(time)] EventTime);

    impl<T> Stamped<T> {
        fn bytes(&self) -> usize {
            size_of::<T>()
        }
    }

    #[test]
    fn a_plain_event_weighs_its_size_and_has_no_time() {
        let plain = Plain { name: "x".repeat(1_000) };
        assert_eq!(plain.weight(), size_of::<String>());
        assert_eq!(plain.name.len(), 1_000);
        assert_eq!(plain.time(), None);
    }

    #[test]
    fn a_function_weighs() {
        assert_eq!(Reading::Car(1_u8).weight(), 100);
        assert_eq!(Reading::<u8>::Broken { code: 3 }.weight(), 3);
        assert_eq!(Reading::<u8>::Nothing.weight(), 0);
    }

    #[test]
    fn a_field_holds_the_time_and_a_local_event_needs_no_serde() {
        struct NoSerde;
        impl Clone for NoSerde {
            fn clone(&self) -> Self {
                Self
            }
        }
        let event = Stamped(NoSerde, EventTime::from_millis(-5));
        assert_eq!(event.time(), Some(EventTime::from_millis(-5)));
        assert_eq!(event.weight(), 0);
    }
}

mod key {
    use super::*;

    /// Compares a derived hash with that of fields that are fed by hand.
    #[track_caller]
    fn check(derived: &impl Key, by_hand: impl Fn(&mut KeyHasher)) {
        struct ByHand<F>(F);
        impl<F> PartialEq for ByHand<F> {
            fn eq(&self, _: &Self) -> bool {
                true
            }
        }
        impl<F> Eq for ByHand<F> {}
        impl<F: Fn(&mut KeyHasher)> Key for ByHand<F> {
            fn feed(&self, hasher: &mut KeyHasher) {
                self.0(hasher);
            }

            fn shape() -> Shape {
                Shape::Nothing
            }
        }
        assert_eq!(key_hash(derived), key_hash(&ByHand(by_hand)));
    }

    #[derive(Key, PartialEq, Eq)]
    struct Account<T> {
        bank: u32,
        number: T,
    }

    #[derive(Key, PartialEq, Eq)]
    struct Zone(u8, i64);

    #[derive(Key, PartialEq, Eq)]
    struct Everything;

    #[derive(Key, PartialEq, Eq)]
    enum Payer {
        Account(Account<String>),
        Voucher { zone: Zone, id: u64 },
        Cash,
    }

    /// The same variants in another order.
    #[derive(Key, PartialEq, Eq)]
    enum Reordered {
        Cash,
        Voucher { zone: Zone, id: u64 },
    }

    fn account() -> Account<String> {
        Account { bank: 1, number: "7".into() }
    }

    #[test]
    fn the_fields_of_a_struct_are_fed_in_their_order() {
        check(&account(), |hasher| {
            1_u32.feed(hasher);
            "7".feed(hasher);
        });
        check(&Zone(3, -4), |hasher| {
            hasher.word(3);
            hasher.word(-4_i64 as u64);
        });
        check(&Everything, |_| {});
    }

    #[test]
    fn an_enum_feeds_the_name_of_its_variant_before_the_fields() {
        check(&Payer::Cash, |hasher| hasher.bytes(b"Cash"));
        check(&Payer::Account(account()), |hasher| {
            hasher.bytes(b"Account");
            account().feed(hasher);
        });
        check(&Payer::Voucher { zone: Zone(3, -4), id: 9 }, |hasher| {
            hasher.bytes(b"Voucher");
            Zone(3, -4).feed(hasher);
            hasher.word(9);
        });
    }

    #[test]
    fn the_order_of_variants_means_nothing() {
        assert_eq!(key_hash(&Payer::Cash), key_hash(&Reordered::Cash));
        let payer = Payer::Voucher { zone: Zone(1, 2), id: 3 };
        let reordered = Reordered::Voucher { zone: Zone(1, 2), id: 3 };
        assert_eq!(key_hash(&payer), key_hash(&reordered));
    }

    #[test]
    fn the_hashes_are_fixed_for_ever() {
        assert_eq!(key_hash(&account()), 0xDEB9_3535_61D6_36FB);
        assert_eq!(key_hash(&Payer::Cash), 0x7FEE_457C_85FD_E697);
        assert_eq!(key_hash(&Payer::Account(account())), 0xA6A9_B4FE_55DB_29E3);
    }
}
