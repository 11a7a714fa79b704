use super::*;
use proptest::prelude::*;

/// B23: these values are part of the format and never change. They were worked out by a second
/// implementation of the hash.
#[test]
fn hashes_are_golden() {
    #[track_caller]
    fn check<K: Key + std::fmt::Debug>(golden: [(K, u64, u16); 20]) {
        for (key, hash, group) in golden {
            assert_eq!(key_hash(&key), hash, "{key:?}");
            assert_eq!(KeyGroups::DEFAULT.of_key(&key), KeyGroup(group), "{key:?}");
        }
    }
    let strings: [(&str, u64, u16); 20] = [
        ("", 0x88A9_6B7B_551F_A7AD, 68),
        ("a", 0xD7BC_D3A6_A7DC_CBFD, 107),
        ("b", 0xC464_C6C5_2E29_0F52, 98),
        ("car", 0x655B_67E9_909B_276B, 50),
        ("van", 0x2C0D_902C_37A4_BFA7, 22),
        ("truck", 0xFF81_4B6F_1075_9EF7, 127),
        ("bus", 0x9853_9774_E5B6_1F37, 76),
        ("bike", 0x1988_7D75_3A5F_DC75, 12),
        ("motorcycle", 0x7060_9F92_200B_FBB8, 56),
        ("car clone", 0xAF29_FCD3_BCE6_F742, 87),
        ("polygenelubricants", 0x59F0_1CBA_3591_35C7, 44),
        ("camión", 0x894A_B9FC_1248_0472, 68),
        ("12345678", 0xF925_A19B_EC3F_7ADA, 124),
        ("123456789", 0x4396_393E_85E2_8E5C, 33),
        ("Car", 0x3D18_FA12_6544_3A2C, 30),
        (" car", 0xA5EC_8BDE_35A6_81F3, 82),
        ("zone-1", 0x42A3_75FF_18CB_3A30, 33),
        ("zone-2", 0x14DC_310A_D606_F589, 10),
        ("transaction", 0xBFD1_B27D_76DC_D8CD, 95),
        ("the quick brown fox jumps over the lazy dog", 0xE2A1_33EB_7402_25CF, 113),
    ];
    let integers: [(i64, u64, u16); 20] = [
        (0, 0x88A9_6B7B_551F_A7AD, 68),
        (1, 0x32B9_F280_F2D5_8605, 25),
        (-1, 0xC1E6_B40C_02F7_B3FB, 96),
        (2, 0xA73E_F929_2743_76CB, 83),
        (3, 0xAB71_7A45_27DB_786A, 85),
        (7, 0x723C_FD3B_BD02_F58C, 57),
        (10, 0xA55C_4E8C_3956_43DE, 82),
        (42, 0x6224_4B42_6430_7C95, 49),
        (100, 0x07B0_1F87_C587_D520, 3),
        (127, 0x45BB_955F_D4D2_878D, 34),
        (128, 0x0AD8_E4D9_50D0_10A1, 5),
        (255, 0x4E6F_CD4D_186E_73DE, 39),
        (256, 0x30FB_45FD_0204_5B58, 24),
        (1_000, 0x1E7F_0087_FFEC_5016, 15),
        (65_536, 0x7AC1_5910_1071_F283, 61),
        (-1_000, 0xCB96_1948_233C_F3CF, 101),
        (2_147_483_647, 0xC0B5_8D5E_D2AA_2CDC, 96),
        (-2_147_483_648, 0x171A_0685_7554_4301, 11),
        (i64::MAX, 0x18B6_9F3A_A0B4_6ED5, 12),
        (i64::MIN, 0xEA62_5C5C_E149_24A3, 117),
    ];
    let tuples: [((u32, &str), u64, u16); 20] = [
        ((0, ""), 0xD874_8D64_F38F_201F, 108),
        ((37, "a"), 0xD6AE_D0C1_405C_3005, 107),
        ((74, "b"), 0x068F_F73B_2D3C_30F6, 3),
        ((111, "car"), 0xD553_90D9_F3AD_62D9, 106),
        ((148, "van"), 0x01F6_296E_616D_5A18, 0),
        ((185, "truck"), 0x9FD3_BF49_6040_04DC, 79),
        ((222, "bus"), 0xE269_D96F_C850_787A, 113),
        ((259, "bike"), 0xCE3E_80F5_6610_9765, 103),
        ((296, "motorcycle"), 0x205F_714C_EA73_A19D, 16),
        ((333, "car clone"), 0xA232_CE79_79E8_D668, 81),
        ((370, "polygenelubricants"), 0x0E80_58E0_76F5_E23A, 7),
        ((407, "camión"), 0xECF8_FEFF_88E4_E994, 118),
        ((444, "12345678"), 0xACDE_D2E0_DD4E_54F1, 86),
        ((481, "123456789"), 0x3AE1_3A7E_CE83_61DE, 29),
        ((518, "Car"), 0x1798_0D89_05F8_4AC3, 11),
        ((555, " car"), 0xD10A_B614_BADE_9875, 104),
        ((592, "zone-1"), 0xDC80_07F5_C425_EF80, 110),
        ((629, "zone-2"), 0xB4D1_4E35_15DF_6692, 90),
        ((666, "transaction"), 0x78CE_DB35_CF21_DACC, 60),
        ((703, "the quick brown fox jumps over the lazy dog"), 0x4D42_9BD4_9E39_8DF5, 38),
    ];
    let bytes: [(Vec<u8>, u64, u16); 20] = [
        (vec![], 0x88A9_6B7B_551F_A7AD, 68),
        (vec![7], 0xBE43_60AD_060D_8DAB, 95),
        (vec![14, 15], 0xD330_EF40_8ED2_A766, 105),
        (vec![21, 22, 23], 0x16AD_9908_196A_9DAB, 11),
        (vec![28, 29, 30, 31], 0x4491_9375_E547_8350, 34),
        (vec![35, 36, 37, 38, 39], 0x18E1_DF3C_2FEA_B70C, 12),
        (vec![42, 43, 44, 45, 46, 47], 0xFEEA_FD1C_A46E_8C12, 127),
        (vec![49, 50, 51, 52, 53, 54, 55], 0x3EAD_0BA2_2987_49C8, 31),
        (vec![56, 57, 58, 59, 60, 61, 62, 63], 0x9C39_45C0_6140_5021, 78),
        (vec![63, 64, 65, 66, 67, 68, 69, 70, 71], 0x5A7C_6B5B_536D_0663, 45),
        (vec![70, 71, 72, 73, 74, 75, 76, 77, 78, 79], 0xC334_33D5_CACB_C17C, 97),
        (vec![77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87], 0x0971_9BEF_A7A6_3A42, 4),
        (vec![84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95], 0xBD7F_C7A1_2B3A_4909, 94),
        (vec![91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103], 0x40C3_33E4_E4D4_C266, 32),
        (
            vec![98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111],
            0xC9BC_C212_93A3_03AF,
            100,
        ),
        (
            vec![105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119],
            0x2E2B_3A10_CBF0_2288,
            23,
        ),
        (
            vec![112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127],
            0x0883_6065_C85A_10FF,
            4,
        ),
        (
            vec![
                119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135,
            ],
            0x5C38_C873_697E_A454,
            46,
        ),
        (
            vec![
                126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141,
                142, 143,
            ],
            0x552C_85F4_E72F_6239,
            42,
        ),
        (
            vec![
                133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148,
                149, 150, 151,
            ],
            0x90BD_E160_E9C2_94C7,
            72,
        ),
    ];
    check(strings);
    check(integers);
    check(tuples);
    check(bytes);
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
