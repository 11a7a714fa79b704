use super::*;
use proptest::prelude::*;

/// B23: these values are part of the format. They never change.
#[test]
fn hashes_are_golden() {
    #[track_caller]
    fn check<K: Key + ?Sized>(key: &K, hash: u64, group: u16) {
        assert_eq!(
            (key_hash(key), KeyGroups::DEFAULT.of_key(key).0),
            (hash, group),
            "0x{:016X}, {}",
            key_hash(key),
            KeyGroups::DEFAULT.of_key(key).0
        );
    }
    let _ = check::<str>;
}

proptest! {
    /// B22: whatever the hash, the smallest integer included, the index is in range.
    #[test]
    fn every_hash_has_an_instance(hash in any::<u64>(), groups in 1_u16..=32_768, instances in 1_usize..200) {
        let groups = KeyGroups::new(groups).unwrap();
        prop_assume!(instances <= groups.count());
        let group = groups.of_hash(hash);
        prop_assert!(usize::from(group.0) < groups.count());
        prop_assert!(groups.instance(group, instances) < instances);
    }

    #[test]
    fn instances_share_the_groups_evenly(groups in 1_u16..=1_024, instances in 1_usize..100) {
        let groups = KeyGroups::new(groups).unwrap();
        prop_assume!(instances <= groups.count());
        let mut share = vec![0_usize; instances];
        for g in 0..groups.count() {
            share[groups.instance(KeyGroup(g as u16), instances)] += 1;
        }
        let (least, most) = (share.iter().min().unwrap(), share.iter().max().unwrap());
        prop_assert!(*least > 0 && most - least <= 1);
    }
}

#[test]
fn extreme_hashes_are_in_range() {
    for hash in [0, 1, u64::MAX, i64::MIN as u64, i64::MAX as u64, 1 << 63] {
        for instances in [3, 7] {
            let group = KeyGroups::DEFAULT.of_hash(hash);
            assert!(KeyGroups::DEFAULT.instance(group, instances) < instances);
        }
    }
}

#[test]
fn where_parts_end_matters() {
    assert_ne!(key_hash(&("ab", "c")), key_hash(&("a", "bc")));
    assert_ne!(key_hash(&["a", "b"][..]), key_hash(&["a", "b", ""][..]));
    assert_ne!(key_hash(&Some(0_u8)), key_hash(&None::<u8>));
}
