//! Whose directory this is: the format, the job, and the kind of its store.
//!
//! Two lines: JSON, and its CRC-32. That stays so in every later format.

use super::{DataDirError, StoreKind};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The format that this version writes.
pub(super) const FORMAT: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub(super) format: u32,
    pub(super) job: String,
    pub(super) store: StoreKind,
    /// What no other directory has, but for copies of this one.
    #[serde(default)]
    pub(super) unique: Option<String>,
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

impl Identity {
    pub(super) fn new(job: &str, store: StoreKind) -> Self {
        let unique = Some(uuid::Uuid::now_v7().simple().to_string());
        Self { format: FORMAT, job: job.to_owned(), store, unique }
    }

    pub(super) fn to_text(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_string(self)?;
        Ok(format!("{json}\n{:08x}\n", crc32fast::hash(json.as_bytes())))
    }

    pub(super) fn from_text(text: &[u8], path: &Path) -> Result<Self, DataDirError> {
        let damaged = |problem: String| DataDirError::Damaged { path: path.to_owned(), problem };
        let text = std::str::from_utf8(text).map_err(|e| damaged(format!("IDENTITY: {e}")))?;
        let json = text.split_once('\n').map_or(text, |(json, _)| json);
        if text != format!("{json}\n{:08x}\n", crc32fast::hash(json.as_bytes())) {
            return Err(damaged("the checksum in IDENTITY is wrong".to_owned()));
        }
        let parse = |e: serde_json::Error| damaged(format!("IDENTITY: {e}"));
        let Format { format } = serde_json::from_str(json).map_err(parse)?;
        if format > FORMAT {
            let path = path.to_owned();
            return Err(DataDirError::Newer { path, found: format, known: FORMAT });
        }
        serde_json::from_str(json).map_err(parse)
    }
}
