//! Files that nobody sees before they are finished: how they are named, written and published.
//!
//! A file is written as `.{component}-{instance}-{unique}.{extension}`, and when it is finished it becomes
//! `{component}-{instance}-{n}.{extension}`, where n is the first number that is free, from 0. So who
//! lists the directory without hidden files sees only whole ones; none is ever overwritten; and what a
//! process leaves that was killed stays hidden, under a name that no other has.
//!
//! The file gets its second name as a hard link, which is refused where the name is taken. On a file system
//! without hard links an empty file takes the name first, and is renamed over: for that moment it is seen,
//! and a process that is killed then leaves it.

use super::not_set_up::NotSetUp;
use crate::component::{Context, Fatal, Result, is_mark};
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
enum PublicationError {
    #[error("cannot make the directory {path:?}")]
    Directory { path: PathBuf, source: io::Error },
    #[error("cannot write {path:?}")]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot publish {hidden:?} in its directory")]
    Publish { hidden: PathBuf, source: io::Error },
}

/// The files that one instance publishes in a directory, one after the other.
///
/// The file at hand is published when this is dropped, too. A clone has the same directory, and is not
/// set up.
#[derive(Debug)]
pub(super) struct Publication {
    directory: PathBuf,
    extension: &'static str,
    seat: Option<Seat>,
    draft: Option<Draft>,
}

/// Whose files they are.
#[derive(Debug)]
struct Seat {
    ctx: Context,
    /// What their names begin with.
    stem: String,
}

impl Publication {
    pub(super) fn in_dir(directory: &Path, extension: &'static str) -> Self {
        // A path that is empty is where the process is.
        let here = directory.as_os_str().is_empty();
        let directory = if here { PathBuf::from(".") } else { directory.to_owned() };
        Self { directory, extension, seat: None, draft: None }
    }

    /// Makes the directory, if it is missing.
    pub(super) fn setup(&mut self, ctx: &Context) -> Result<()> {
        fs::create_dir_all(&self.directory).map_err(|source| {
            Fatal::new(PublicationError::Directory { path: self.directory.clone(), source })
        })?;
        let component = file_name(ctx.instance().component.as_str());
        let stem = format!("{component}-{}", ctx.index());
        self.seat = Some(Seat { ctx: ctx.clone(), stem });
        Ok(())
    }

    /// Whether the next write begins a file.
    pub(super) fn is_at_start(&self) -> bool {
        self.draft.is_none()
    }

    /// Adds all of `bytes` to the file at hand, which is made if there is none. An error is fatal.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.draft.is_none() {
            let seat = self.seat.as_ref().ok_or_else(|| Fatal::new(NotSetUp))?;
            self.draft = Some(Draft::create(&self.directory, &seat.stem, self.extension)?);
        }
        match &mut self.draft {
            Some(draft) => draft.apply(|file| file.write_all(bytes)),
            None => Ok(()),
        }
    }

    /// Writes through what is buffered. An error is fatal.
    pub(super) fn flush(&mut self) -> Result<()> {
        match &mut self.draft {
            Some(draft) => draft.apply(Write::flush),
            None => Ok(()),
        }
    }

    /// Publishes the file at hand, if there is one; if `durable`, so that it outlives a loss of power. An
    /// error is fatal; the file stays hidden then.
    pub(super) fn publish(&mut self, durable: bool) -> Result<()> {
        let (Some(mut draft), Some(seat)) = (self.draft.take(), &self.seat) else { return Ok(()) };
        draft.apply(|file| {
            file.flush()?;
            if durable { file.get_ref().sync_all() } else { Ok(()) }
        })?;
        let (directory, stem, extension) = (&self.directory, &seat.stem, self.extension);
        let name = |n: u64| directory.join(format!("{stem}-{n}.{extension}"));
        rename_to_first_free(&draft.hidden, name, |from, to| fs::hard_link(from, to))
            .and_then(|()| if durable { sync_directory(directory) } else { Ok(()) })
            .map_err(|source| {
                Fatal::new(PublicationError::Publish { hidden: draft.hidden.clone(), source })
                    .into()
            })
    }
}

impl Drop for Publication {
    /// A job that was stopped, or an instance that is built anew: what was written is of use.
    fn drop(&mut self) {
        // A file that could not be written to may end in the middle of an event.
        if self.draft.as_ref().is_some_and(|draft| draft.broken) {
            return;
        }
        // Without waiting for the disk: whoever stops a job gives it little time.
        if let Err(error) = self.publish(false)
            && let Some(Seat { ctx, .. }) = &self.seat
        {
            let id = ctx.instance();
            tracing::warn!(
                job = ctx.job(),
                component = %id.component,
                instance = id.index,
                "{}",
                with_causes(&*error),
            );
        }
    }
}

/// The error with all that it came from, on one line.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| (**cause).source());
    let causes = causes.filter(|cause| !is_mark(*cause));
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

impl Clone for Publication {
    fn clone(&self) -> Self {
        Self::in_dir(&self.directory, self.extension)
    }
}

/// A file that is being written.
#[derive(Debug)]
struct Draft {
    hidden: PathBuf,
    file: BufWriter<File>,
    /// Writing has failed.
    broken: bool,
}

impl Draft {
    fn create(directory: &Path, stem: &str, extension: &str) -> Result<Self> {
        let hidden = directory.join(format!(".{stem}-{}.{extension}", uuid::Uuid::now_v7()));
        match File::create_new(&hidden) {
            Ok(file) => {
                Ok(Self { hidden, file: BufWriter::with_capacity(64 * 1024, file), broken: false })
            }
            Err(source) => Err(Fatal::new(PublicationError::Write { path: hidden, source }).into()),
        }
    }

    fn apply(&mut self, act: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
        act(&mut self.file).map_err(|source| {
            self.broken = true;
            Fatal::new(PublicationError::Write { path: self.hidden.clone(), source }).into()
        })
    }
}

/// Renames to the first of the names that is free. It is never one that another takes meanwhile.
/// `hard_link` is [`fs::hard_link`], or what a test has in its place.
fn rename_to_first_free(
    from: &Path,
    name: impl Fn(u64) -> PathBuf,
    hard_link: impl Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    for n in 0.. {
        let to = name(n);
        // A rename would overwrite; a second name for the file is refused where there is a first.
        match hard_link(from, &to) {
            Ok(()) => return fs::remove_file(from),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) if means_no_hard_links(&error) => {
                if reserve_and_rename(from, &to)? {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a file system says so that has no hard links. Where it is a matter of permission after all, what
/// is tried then fails with the same.
fn means_no_hard_links(error: &io::Error) -> bool {
    // `PermissionDenied` is also `EPERM`, which is what Linux says of FAT.
    use ErrorKind::{CrossesDevices, PermissionDenied, Unsupported};
    matches!(error.kind(), Unsupported | PermissionDenied | CrossesDevices)
}

/// Renames over an empty file of its own, which is seen until then. Says whether the name was free.
fn reserve_and_rename(from: &Path, to: &Path) -> io::Result<bool> {
    match File::create_new(to) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error),
    }
    fs::rename(from, to).map(|()| true).inspect_err(|_| {
        // What went wrong first is what is told.
        drop(fs::remove_file(to));
    })
}

/// Makes the names in a directory outlive a loss of power, where directories can be opened.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// A component's name as the beginning of a file's: letters, digits, `-`, `_`, and dots but for a first
/// one stay, everything else is written as `%` and two digits for each of its bytes. Past 150 bytes it is
/// cut.
fn file_name(component: &str) -> String {
    let mut name = String::new();
    for (i, c) in component.chars().enumerate() {
        let before = name.len();
        if c.is_alphanumeric() || matches!(c, '-' | '_') || (c == '.' && i > 0) {
            name.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                name.push_str(&format!("%{byte:02X}"));
            }
        }
        if name.len() > 150 {
            name.truncate(before);
            break;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(component: &str, expected: &str) {
        assert_eq!(file_name(component), expected);
    }

    #[test]
    fn any_name_of_a_component_can_begin_one_of_a_file() {
        check("count-by_kind.2", "count-by_kind.2");
        check("a/b", "a%2Fb");
        check("../x", "%2E.%2Fx");
        check("a b%\u{0}", "a%20b%25%00");
        check("z\u{e4}hler \u{2192}", "z\u{e4}hler%20%E2%86%92");
        check(&"x".repeat(400), &"x".repeat(150));
        check(&"\u{e4}".repeat(400), &"\u{e4}".repeat(75));
    }

    /// A directory that is removed in the end.
    struct TempDir(PathBuf);

    impl TempDir {
        fn new(test: &str) -> Self {
            let name = format!("streamwork-publication-{test}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn file(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        fn with(self, name: &str) -> Self {
            fs::write(self.file(name), name).unwrap();
            self
        }

        /// The names of all that is in it, and what they hold, sorted.
        fn all(&self) -> Vec<(String, String)> {
            let names = self.0.read_dir().unwrap().map(|entry| entry.unwrap().file_name());
            let names = names.map(|name| name.into_string().unwrap());
            let mut all: Vec<_> =
                names.map(|n| (n.clone(), fs::read_to_string(self.file(&n)).unwrap())).collect();
            all.sort();
            all
        }
    }

    impl Drop for TempDir {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    /// Renames `a`, and then `b`, in a directory that has a `0`, with what a file system answers that is
    /// asked for a hard link.
    #[track_caller]
    fn check_renaming(test: &str, hard_link: fn(&Path, &Path) -> io::Result<()>) {
        let dir = TempDir::new(test).with("0").with("a").with("b");
        let name = |n: u64| dir.file(&n.to_string());
        rename_to_first_free(&dir.file("a"), name, hard_link).unwrap();
        rename_to_first_free(&dir.file("b"), name, hard_link).unwrap();
        let expected = [("0", "0"), ("1", "a"), ("2", "b")];
        assert_eq!(dir.all(), expected.map(|(name, text)| (name.into(), text.into())));
    }

    #[test]
    fn renaming_overwrites_nothing_with_hard_links_or_without() {
        check_renaming("linked", |from, to| fs::hard_link(from, to));
        check_renaming("unsupported", |_, _| Err(ErrorKind::Unsupported.into()));
        check_renaming("crossing", |_, _| Err(ErrorKind::CrossesDevices.into()));
        check_renaming("denied", |_, _| Err(ErrorKind::PermissionDenied.into()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_linux_says_where_there_are_no_hard_links_is_understood() {
        let (eperm, exdev, enosys, eopnotsupp) = (1, 18, 38, 95);
        for code in [eperm, exdev, enosys, eopnotsupp] {
            assert!(means_no_hard_links(&io::Error::from_raw_os_error(code)), "{code}");
        }
        let (enoent, eio, enospc, emlink) = (2, 5, 28, 31);
        for code in [enoent, eio, enospc, emlink] {
            assert!(!means_no_hard_links(&io::Error::from_raw_os_error(code)), "{code}");
        }
    }

    #[test]
    fn any_other_failure_shows_no_file() {
        let dir = TempDir::new("failing").with("a");
        let name = |n: u64| dir.file(&n.to_string());
        let full = |_: &Path, _: &Path| Err(ErrorKind::StorageFull.into());
        let error = rename_to_first_free(&dir.file("a"), name, full).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
        assert_eq!(dir.all(), [("a".into(), "a".into())]);
    }

    #[test]
    fn a_rename_that_fails_leaves_no_empty_file() {
        let dir = TempDir::new("gone");
        let error = reserve_and_rename(&dir.file("missing"), &dir.file("0")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(dir.all(), []);
    }

    #[test]
    fn an_error_is_told_with_all_that_it_came_from() {
        let source = io::Error::other(PublicationError::Write {
            path: "a".into(),
            source: io::Error::other("on fire"),
        });
        let error = Fatal::new(PublicationError::Publish { hidden: ".x".into(), source });
        assert_eq!(
            with_causes(&error),
            "cannot publish \".x\" in its directory: cannot write \"a\": on fire"
        );
    }
}
