//! What all sources of files share: which input, how far it was emitted, and what is open of it.

use super::cutter::{Cutter, Position};
use super::directory::files_in;
use super::feed::{Feed, Lease, SharedShelf, Shelf, lock};
use super::gate::{Gate, Gates, Permit};
use super::not_set_up::NotSetUp;
use super::reader;
use super::{Progress, Splits};
use crate::component::{BoxError, Context, Fatal, Rescale, Result, StateField};
use crate::emitter::Emitter;
use crate::state::{FieldReader, FieldWriter, StateError};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

#[derive(Clone, Debug)]
enum Input {
    File(PathBuf),
    Stdin,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{path:?}"),
            Self::Stdin => f.write_str("standard input"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum IntakeError {
    #[error("cannot list the files of {directory:?}")]
    List { directory: PathBuf, source: io::Error },
    #[error("cannot list the files of {directory:?}: it is no directory")]
    NoDirectory { directory: PathBuf },
    #[error("cannot read split {split}: {directory:?} has only {count} files")]
    NoSuchSplit { split: usize, directory: PathBuf, count: usize },
    #[error("cannot read {input}")]
    Open { input: Input, source: io::Error },
    #[error("cannot read {input}: it is a directory, and a file is wanted")]
    Directory { input: Input },
    #[error(
        "cannot go on at byte {offset} of {input}: it has only {length}; name the input of before, or begin \
         anew"
    )]
    Shrunk { input: Input, offset: u64, length: u64 },
    #[error(
        "cannot go on at byte {offset} of {input}: no line begins there; name the input of before, or begin \
         anew"
    )]
    Replaced { input: Input, offset: u64 },
    #[error("{input} is being read by another source")]
    InUse { input: Input },
}

/// Where the input is, or the inputs.
#[derive(Clone, Debug)]
enum Place {
    One(Input),
    Directory {
        path: PathBuf,
        /// The files, listed once for all clones.
        list: Arc<OnceLock<Vec<OsString>>>,
        gates: Gates,
    },
}

/// The position of a split: the name of its file, if it is one of a directory; bytes; lines.
pub(super) type Saved = (Option<OsString>, u64, u64);

/// The fields of [`Saved`].
pub(super) const STATE: &[StateField] = &[
    StateField::new::<Option<OsString>>("file", "Option<OsString>", Rescale::Refuse),
    StateField::new::<u64>("offset", "u64", Rescale::Refuse),
    StateField::new::<u64>("lines", "u64", Rescale::Refuse),
];

/// Writes a position.
pub(super) fn encode(saved: &Saved, fields: &mut FieldWriter) -> Result<(), StateError> {
    fields.put("file", &saved.0)?;
    fields.put("offset", &saved.1)?;
    fields.put("lines", &saved.2)
}

/// Reads a position.
pub(super) fn decode(fields: &FieldReader<'_>) -> Result<Saved, StateError> {
    fields.check(STATE)?;
    let [file, offset, lines] = STATE else { unreachable!("STATE has three fields") };
    Ok((fields.plain(file, None)?, fields.plain(offset, None)?, fields.plain(lines, None)?))
}

/// An input on its way into a source: bytes come in through a thread, pieces go out.
///
/// Clones have the same place, limit and position, and are not open. They share what can be read only
/// once, and one of them at a time has it.
pub(super) struct Intake {
    place: Place,
    limit: usize,
    /// Which file of the directory, once that is settled.
    file: Option<OsString>,
    position: Position,
    /// Once it is set up.
    input: Option<Input>,
    /// To be entered before the input is opened.
    gate: Option<Gate>,
    permit: Option<Permit>,
    feed: Option<Lease>,
    shelf: SharedShelf,
}

impl Intake {
    const LIMIT: usize = 1024 * 1024;

    /// From a file.
    pub(super) fn file(path: &Path) -> Self {
        Self::new(Place::One(Input::File(path.to_owned())), SharedShelf::default())
    }

    /// From each file of a directory.
    pub(super) fn directory(path: &Path) -> Self {
        let path = path.to_owned();
        let place = Place::Directory { path, list: Arc::default(), gates: Gates::default() };
        Self::new(place, SharedShelf::default())
    }

    /// From standard input.
    pub(super) fn stdin() -> Self {
        // A process has one, whoever reads it.
        static SHELF: LazyLock<SharedShelf> = LazyLock::new(SharedShelf::default);
        Self::new(Place::One(Input::Stdin), Arc::clone(&SHELF))
    }

    fn new(place: Place, shelf: SharedShelf) -> Self {
        Self {
            place,
            limit: Self::LIMIT,
            file: None,
            position: Position::default(),
            input: None,
            gate: None,
            permit: None,
            feed: None,
            shelf,
        }
    }

    /// Sets how long a piece may be, in bytes.
    pub(super) fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    pub(super) fn save(&self) -> Saved {
        (self.file.clone(), self.position.offset, self.position.lines)
    }

    pub(super) fn load(&mut self, (file, offset, lines): Saved) {
        self.file = file;
        self.position = Position { offset, lines };
    }

    /// Whether a later program finds at a position what was there. A file is, as long as it is one: what
    /// came through a pipe is gone. What can't be read at all is told when it is opened.
    pub(super) fn replays(&self) -> bool {
        match &self.place {
            Place::One(Input::Stdin) => false,
            Place::One(Input::File(path)) => {
                path.metadata().map_or(true, |found| found.is_file() || found.is_dir())
            }
            Place::Directory { .. } => true,
        }
    }

    /// One split for each file.
    pub(super) fn splits(&self) -> Result<Splits> {
        let count = match &self.place {
            Place::One(_) => 1,
            Place::Directory { path, list, .. } => list_once(path, list)?.len(),
        };
        Ok(Splits::Fixed(count))
    }

    /// Which input this split is: the one that the position is of, else that of its number.
    fn find(&mut self, ctx: &Context) -> Result<Input, IntakeError> {
        let (path, list) = match &self.place {
            Place::One(input) => return Ok(input.clone()),
            Place::Directory { path, list, .. } => (path, list),
        };
        if self.file.is_none() {
            let files = list_once(path, list)?;
            let split = ctx.split().index;
            let missing =
                || IntakeError::NoSuchSplit { split, directory: path.clone(), count: files.len() };
            self.file = Some(files.get(split).ok_or_else(missing)?.clone());
        }
        let name = self.file.as_deref().unwrap_or_default();
        Ok(Input::File(path.join(name)))
    }

    /// Settles which input it is, and opens it; one of a directory is opened when it is asked for data.
    pub(super) async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.feed = None;
        self.permit = None;
        self.input = Some(self.find(ctx).map_err(Fatal::new)?);
        self.gate = match &self.place {
            Place::One(_) => None,
            Place::Directory { gates, .. } => Some(gates.of(ctx)),
        };
        if self.gate.is_none() { self.open().await } else { Ok(()) }
    }

    /// Opens the input at the position, or goes on with what a source before this one has left; does
    /// nothing if it is open. One of a directory waits for its turn.
    ///
    /// # Cancel safety
    /// Dropping the future leaves it to the next call.
    pub(super) async fn open(&mut self) -> Result<()> {
        if self.feed.is_some() {
            return Ok(());
        }
        let input = self.set_up()?.clone();
        if let Some(gate) = &self.gate
            && self.permit.is_none()
        {
            self.permit = Some(gate.enter().await?);
        }
        let mut lease = match self.inherit(&input)? {
            Some(lease) => lease,
            None => self.open_feed(&input, self.position).await?,
        };
        if let Some(feed) = &mut lease.feed {
            feed.cutter.set_limit(self.limit);
            self.position = feed.cutter.position();
        }
        self.feed = Some(lease);
        Ok(())
    }

    fn set_up(&self) -> Result<&Input> {
        self.input.as_ref().ok_or_else(|| Fatal::new(NotSetUp).into())
    }

    /// The same input, read from its beginning, if it has places. What is open stays as it is.
    pub(super) async fn beginning(&self) -> Result<Feed> {
        let mut lease = self.open_feed(self.set_up()?, Position::default()).await?;
        lease.feed.take().ok_or_else(|| Fatal::new(NotSetUp).into())
    }

    /// Whether what is open can be read once more from its beginning.
    pub(super) fn is_seekable(&self) -> bool {
        self.feed.as_ref().is_some_and(|lease| lease.shelf.is_none())
    }

    /// What is open.
    pub(super) fn feed(&mut self) -> Result<&mut Feed> {
        let feed = self.feed.as_mut().and_then(|lease| lease.feed.as_mut());
        feed.ok_or_else(|| Fatal::new(NotSetUp).into())
    }

    /// Emits what `cut` makes of the bytes, which it takes from the cutter; waits for more of them only
    /// while nothing was emitted. An error of `cut` is passed on.
    pub(super) async fn next<T: Send>(
        &mut self,
        out: &mut Emitter<T>,
        mut cut: impl FnMut(&mut Feed, &mut Emitter<T>) -> Result<()> + Send,
    ) -> Result<Progress> {
        self.open().await?;
        self.feed()?.cutter.settle();
        let before = out.len();
        loop {
            let feed = self.feed()?;
            let outcome = cut(feed, out);
            let (position, done) = (feed.cutter.position(), feed.cutter.is_done());
            self.position = position;
            outcome?;
            if done {
                self.permit = None;
                return Ok(Progress::End);
            }
            if out.len() > before || out.is_full() {
                return Ok(Progress::More);
            }
            self.feed()?.fill().await?;
        }
    }

    /// The feed that a source before this one has left, if it can go on with it.
    fn inherit(&self, input: &Input) -> Result<Option<Lease>> {
        let mut shelf = lock(&self.shelf);
        match std::mem::take(&mut *shelf) {
            Shelf::Empty => Ok(None),
            Shelf::Lent => {
                *shelf = Shelf::Lent;
                Err(in_use(input))
            }
            Shelf::Left(feed) => {
                *shelf = Shelf::Lent;
                Ok(Some(Lease { feed: Some(feed), shelf: Some(Arc::clone(&self.shelf)) }))
            }
        }
    }

    /// Opens the input, at `position` if it has places.
    async fn open_feed(&self, input: &Input, position: Position) -> Result<Lease> {
        let cutter = Cutter::new(input.to_string(), self.limit);
        let cannot = |source| IntakeError::Open { input: input.clone(), source };
        let opened = match input {
            Input::Stdin => reader::start(|| Ok((io::stdin(), false))).await,
            Input::File(path) => {
                let path = path.clone();
                reader::start(move || open_file(&path, position.offset)).await
            }
        };
        let (chunks, regular) =
            opened.map_err(cannot).and_then(|opened| opened).map_err(Fatal::new)?;
        let feed = |cutter| Feed::new(chunks, cutter);
        if regular {
            return Ok(Lease { feed: Some(feed(cutter.at(position))), shelf: None });
        }
        let mut shelf = lock(&self.shelf);
        if !matches!(*shelf, Shelf::Empty) {
            return Err(in_use(input));
        }
        *shelf = Shelf::Lent;
        Ok(Lease { feed: Some(feed(cutter)), shelf: Some(Arc::clone(&self.shelf)) })
    }
}

fn in_use(input: &Input) -> BoxError {
    Fatal::new(IntakeError::InUse { input: input.clone() }).into()
}

/// The names of the files, listed if nobody did yet.
fn list_once<'a>(
    path: &Path,
    list: &'a OnceLock<Vec<OsString>>,
) -> Result<&'a [OsString], IntakeError> {
    if let Some(files) = list.get() {
        return Ok(files);
    }
    let files = files_in(path).map_err(|source| {
        let directory = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotADirectory => IntakeError::NoDirectory { directory },
            _ => IntakeError::List { directory, source },
        }
    })?;
    Ok(list.get_or_init(|| files))
}

/// The file, read from `offset` if it has places; and whether it has.
fn open_file(path: &Path, offset: u64) -> Result<(File, bool), IntakeError> {
    let input = || Input::File(path.to_owned());
    let cannot = |source| IntakeError::Open { input: input(), source };
    let mut file = File::open(path).map_err(cannot)?;
    let about = file.metadata().map_err(cannot)?;
    if about.is_dir() {
        return Err(IntakeError::Directory { input: input() });
    }
    if about.is_file() {
        let length = about.len();
        if length < offset {
            return Err(IntakeError::Shrunk { input: input(), offset, length });
        }
        // Whatever was read ended with a line, or with the file.
        if let Some(last) = offset.checked_sub(1) {
            let mut byte = [0];
            file.seek(SeekFrom::Start(last)).map_err(cannot)?;
            file.read_exact(&mut byte).map_err(cannot)?;
            if byte != *b"\n" && offset < length {
                return Err(IntakeError::Replaced { input: input(), offset });
            }
        }
    }
    Ok((file, about.is_file()))
}

impl Clone for Intake {
    fn clone(&self) -> Self {
        Self {
            place: self.place.clone(),
            limit: self.limit,
            file: self.file.clone(),
            position: self.position,
            input: None,
            gate: None,
            permit: None,
            feed: None,
            shelf: Arc::clone(&self.shelf),
        }
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Intake")
            .field("place", &self.place)
            .field("limit", &self.limit)
            .field("file", &self.file)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
