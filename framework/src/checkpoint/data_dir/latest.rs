//! [`Latest`]: which checkpoint was published last, kept beside the store.
//!
//! A store that is damaged can open without complaint and hold less than it held before. This file says
//! what it must hold. It is one line, the number of the checkpoint and the CRC-32 of its manifest, or
//! `none`, and then the CRC-32 of the line up to there.

use crate::id::CheckpointId;

/// Which checkpoint was published last, as the file `LATEST` beside the store says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Latest {
    /// None was published.
    None,
    /// This one.
    Checkpoint {
        /// Its number.
        id: CheckpointId,
        /// The CRC-32 of its manifest.
        checksum: u32,
    },
    /// It cannot be said: why.
    Unknown(String),
}

impl Latest {
    /// The one whose manifest this is.
    pub(crate) fn of(id: CheckpointId, manifest: &[u8]) -> Self {
        Self::Checkpoint { id, checksum: crc32fast::hash(manifest) }
    }

    /// The number of the checkpoint, if one is named.
    #[must_use]
    pub fn id(&self) -> Option<CheckpointId> {
        match self {
            Self::Checkpoint { id, .. } => Some(*id),
            Self::None | Self::Unknown(_) => None,
        }
    }

    /// The line that says so.
    pub(super) fn to_line(&self) -> String {
        let text = match self {
            Self::Checkpoint { id, checksum } => format!("{id} {checksum:08x}"),
            Self::None | Self::Unknown(_) => "none".to_owned(),
        };
        format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()))
    }

    /// What a line says.
    pub(super) fn from_line(line: &[u8]) -> Self {
        let parsed = std::str::from_utf8(line).ok().and_then(|line| {
            let (text, _) = line.rsplit_once(' ')?;
            let latest = match text.split_once(' ') {
                None => Self::None,
                Some((id, checksum)) => Self::Checkpoint {
                    id: CheckpointId(id.parse().ok()?),
                    checksum: u32::from_str_radix(checksum, 16).ok()?,
                },
            };
            // So that there is one way to say it, and each change is noticed.
            (latest.to_line() == line).then_some(latest)
        });
        parsed.unwrap_or_else(|| Self::Unknown("the file LATEST is damaged".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_was_made_of() {
        for latest in
            [Latest::None, Latest::of(CheckpointId(0), b""), Latest::of(CheckpointId(71), b"m")]
        {
            let line = latest.to_line();
            assert_eq!(line.lines().count(), 1);
            assert_eq!(Latest::from_line(line.as_bytes()), latest);
        }
    }

    #[test]
    fn every_flip_and_every_cut_is_noticed() {
        let line = Latest::of(CheckpointId(71), b"m").to_line().into_bytes();
        for length in 0..line.len() {
            assert!(matches!(Latest::from_line(&line[..length]), Latest::Unknown(_)), "{length}");
        }
        for bit in 0..line.len() * 8 {
            let mut line = line.clone();
            line[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(Latest::from_line(&line), Latest::Unknown(_)), "{bit}");
        }
    }
}
