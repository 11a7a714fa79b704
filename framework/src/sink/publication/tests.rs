use super::link::{means_no_hard_links, reserve_and_rename};
use super::*;
use std::io::{self, ErrorKind};

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
