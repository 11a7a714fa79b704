use super::super::test_support::TempDir;
use super::link::{means_no_hard_links, reserve_and_rename};
use super::*;
use std::io::{self, ErrorKind};

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
