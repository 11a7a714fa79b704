//! [`StateError`]: state that cannot be saved or restored.

/// Why state could not be saved or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A value could not be encoded.
    #[error("the state cannot be encoded")]
    Encode(#[source] rmp_serde::encode::Error),
    /// The state of a key could not be decoded.
    #[error("the state of the key {key} cannot be decoded")]
    Key {
        /// The key, or its bytes where it is the key itself.
        key: String,
        /// Why not.
        #[source]
        source: rmp_serde::decode::Error,
    },
    /// A segment is not what it should be.
    #[error("a segment cannot be read: {problem}")]
    Segment {
        /// What is wrong.
        problem: String,
    },
    /// A key lies where it does not belong.
    #[error("the key {key} lies in key group {found}, but belongs into {right}")]
    Misplaced {
        /// The key.
        key: String,
        /// The group in whose segment it was.
        found: u16,
        /// The group that it hashes to.
        right: u16,
    },
}

impl StateError {
    pub(super) fn encode(source: rmp_serde::encode::Error) -> Self {
        Self::Encode(source)
    }

    pub(super) fn segment(problem: &str) -> Self {
        Self::Segment { problem: problem.to_owned() }
    }
}
