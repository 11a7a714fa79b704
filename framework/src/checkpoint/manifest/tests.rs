//! The encoding of manifests: what was written long ago is read, and nothing else is taken for one.

use super::*;
use crate::key::Key;
use crate::state::State;

/// One with something in every field, as it lies in `golden.swmf`.
fn example() -> Manifest {
    let id = |checkpoint, number| SegmentId { checkpoint: CheckpointId(checkpoint), number };
    let base = SegmentRef { id: id(5, 0), bytes: 1000, checksum: 0xdead_beef };
    let delta = SegmentRef { id: id(7, 2), bytes: 10, checksum: 1 };
    Manifest {
        job: "vehicle-count".to_owned(),
        id: CheckpointId(7),
        kind: ManifestKind::Savepoint("before the release".to_owned()),
        taken_at: 1_700_000_000_123,
        run: "0190f3a0".to_owned(),
        delivery: "exactly-once".to_owned(),
        key_groups: 128,
        components: vec![
            ComponentManifest {
                name: "reader".to_owned(),
                role: "source".to_owned(),
                parallelism: 1,
                fields: Shape::Nothing,
                keyed: None,
                parts: vec![PartManifest { part: Part::Split(0), chain: vec![base] }],
            },
            ComponentManifest {
                name: "counter".to_owned(),
                role: "operator".to_owned(),
                parallelism: 4,
                fields: Shape::Nothing,
                keyed: Some((<String as Key>::shape(), <Option<u64> as State>::shape())),
                parts: vec![
                    PartManifest { part: Part::Instance(3), chain: Vec::new() },
                    PartManifest { part: Part::Group(127), chain: vec![base, delta] },
                ],
            },
        ],
        commits: vec![PendingCommit {
            checkpoint: CheckpointId(6),
            component: "files".to_owned(),
            instance: 1,
            events: 3,
            handle: ByteBuf::from(vec![0, 255, 1]),
        }],
    }
}

/// Rewrites the checksum, as somebody would who writes another version.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = checksum(&bytes[4..14], &bytes[HEADER..]);
    bytes[14..HEADER].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

#[test]
fn a_manifest_of_the_first_format_is_read() {
    let golden = include_bytes!("golden.swmf");
    assert_eq!(Manifest::decode(golden).unwrap(), example());
}

#[test]
fn what_is_encoded_is_decoded() {
    let bytes = example().encode().unwrap();
    assert_eq!(Manifest::decode(&bytes).unwrap(), example());
}

#[test]
fn every_flip_and_every_cut_is_noticed() {
    let bytes = example().encode().unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let error = Manifest::decode(&bytes).unwrap_err();
        assert!(matches!(error, ManifestError::Damaged(_)), "{bit}: {error}");
    }
    for length in 0..bytes.len() {
        assert!(Manifest::decode(&bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn what_follows_is_noticed() {
    let mut bytes = example().encode().unwrap();
    bytes.push(0xc0);
    let text = Manifest::decode(&bytes).unwrap_err().to_string();
    assert_eq!(text, "the manifest is damaged: it is not as long as it says");
    // Also if it counts it in.
    let length = (bytes.len() - HEADER) as u64;
    bytes[6..14].copy_from_slice(&length.to_be_bytes());
    let text = Manifest::decode(&sealed(bytes)).unwrap_err().to_string();
    assert_eq!(text, "the manifest is damaged: something follows it");
}

#[test]
fn a_newer_version_is_named() {
    let mut bytes = example().encode().unwrap();
    bytes[5] = 2;
    let error = Manifest::decode(&sealed(bytes)).unwrap_err();
    assert_eq!(error, ManifestError::Version { found: 2, known: 1 });
}

#[test]
fn what_is_no_manifest_inside_is_damage() {
    let mut bytes = example().encode().unwrap()[..HEADER].to_vec();
    bytes.extend([0x93, 1, 2, 3]);
    bytes[6..14].copy_from_slice(&4_u64.to_be_bytes());
    let error = Manifest::decode(&sealed(bytes)).unwrap_err();
    assert!(matches!(error, ManifestError::Damaged(_)), "{error}");
}

#[test]
fn all_segments_are_named() {
    let named: Vec<_> = example().segments().map(|segment| segment.id.number).collect();
    assert_eq!(named, [0, 0, 2]);
}
