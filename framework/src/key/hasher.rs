//! The hash itself.

const SEED: u64 = 0x5354_5245_414D_574B; // "STREAMWK"
const STEP: u64 = 0x9E37_79B9_7F4A_7C15; // 2^64 / golden ratio, odd

/// Builds the stable hash of a key from its parts.
///
/// Words of 64 bits are folded in one after the other; each step is the finalizer of `SplitMix64`
/// (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with the
/// constants of Stafford's variant 13), which is a bijection: two keys of one word never share a
/// hash. It is no defence against keys chosen to collide.
///
/// A type whose equality is not that of its fields implements [`Key`](crate::Key) by hand:
///
/// ```
/// use streamwork::{Field, Key, KeyHasher, Shape, key_hash};
///
/// /// A place on a round track of 400 m, in metres.
/// struct Place {
///     track: String,
///     metres: u64,
/// }
///
/// impl PartialEq for Place {
///     fn eq(&self, other: &Self) -> bool {
///         self.track == other.track && self.metres % 400 == other.metres % 400
///     }
/// }
///
/// impl Eq for Place {}
///
/// impl Key for Place {
///     fn feed(&self, hasher: &mut KeyHasher) {
///         hasher.bytes(self.track.as_bytes());
///         hasher.word(self.metres % 400);
///     }
///
///     fn shape() -> Shape {
///         Shape::Struct(vec![
///             Field::new("track", <String as Key>::shape()),
///             Field::new("metres", <u64 as Key>::shape()),
///         ])
///     }
/// }
///
/// let at = |metres| Place { track: "north".into(), metres };
/// assert!(at(10) == at(410));
/// assert_eq!(key_hash(&at(10)), key_hash(&at(410)));
/// assert_ne!(key_hash(&at(10)), key_hash(&at(11)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KeyHasher(u64);

impl KeyHasher {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self(SEED)
    }

    /// Folds in one word.
    #[inline]
    pub const fn word(&mut self, word: u64) {
        let mut z = (self.0 ^ word).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.0 = z ^ (z >> 31);
    }

    /// Folds in a run of bytes and its length, so that `("ab", "c")` and `("a", "bc")` differ.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(last));
        }
    }

    #[inline]
    pub(crate) const fn finish(self) -> u64 {
        self.0
    }
}
