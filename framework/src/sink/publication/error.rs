//! What can go wrong with files.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(super) enum PublicationError {
    #[error("cannot make the directory {path:?}")]
    Directory { path: PathBuf, source: io::Error },
    #[error("cannot write {path:?}")]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read {path:?}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot remove {path:?}")]
    Remove { path: PathBuf, source: io::Error },
    #[error("cannot publish {hidden:?} in its directory")]
    Publish { hidden: PathBuf, source: io::Error },
    #[error("cannot publish {draft:?} as {target:?}: neither of them is there")]
    Vanished { draft: PathBuf, target: PathBuf },
    #[error("cannot publish {draft:?}: {target:?} is there, and is not what was prepared")]
    Taken { draft: PathBuf, target: PathBuf },
    #[error("cannot publish {draft:?}: it is not what was prepared any more")]
    Damaged { draft: PathBuf },
}
