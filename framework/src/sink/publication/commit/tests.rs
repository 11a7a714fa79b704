use super::super::Publication;
use super::*;
use crate::component::BoxError;
use crate::id::CheckpointId;
use crate::sink::test_support::{TempDir, checkpointed};
use std::path::PathBuf;

/// A directory in which instance 0 of `x` has prepared `text` at checkpoint 7.
struct Case {
    dir: TempDir,
    prepared: Prepared,
}

impl Case {
    fn new(test: &str, text: &str) -> Self {
        let dir = TempDir::new(test);
        let mut files = writer(&dir, "x", 0);
        files.write(text.as_bytes()).unwrap();
        let prepared = files.prepare(CheckpointId(7)).unwrap().unwrap();
        Self { dir, prepared }
    }

    fn draft(&self) -> PathBuf {
        self.dir.file(&self.prepared.draft)
    }

    fn target(&self) -> PathBuf {
        self.dir.file(&self.prepared.target)
    }

    /// Commits, as another process does it.
    fn commit(&self) -> Result<()> {
        Publication::in_dir(self.dir.path(), "txt").commit(&self.prepared)
    }

    /// Commits, on a file system that answers so to who asks it for a hard link.
    fn commit_on(&self, hard_link: fn(&Path, &Path) -> io::Result<()>) -> Result<()> {
        self.prepared.commit(self.dir.path(), hard_link)
    }

    /// Only the target is there, with `text`.
    #[track_caller]
    fn assert_committed(&self, text: &str) {
        assert_eq!(self.dir.all(), [(self.prepared.target.clone(), text.to_owned())]);
    }
}

fn writer(dir: &TempDir, component: &str, index: usize) -> Publication {
    let mut files = Publication::in_dir(dir.path(), "txt");
    files.setup(&checkpointed("job", component, index)).unwrap();
    files
}

/// That an error can't be overcome by trying again, and what it says.
#[track_caller]
fn fatal(error: &BoxError) -> String {
    assert!(error.is::<Fatal>(), "{error} would be tried again");
    error.to_string()
}

#[test]
fn what_is_prepared_is_hidden_and_whole_and_what_is_committed_is_seen() {
    let case = Case::new("commit", "a\nb\n");
    assert_eq!(case.dir.all(), [(case.prepared.draft.clone(), "a\nb\n".to_owned())]);
    assert_eq!(case.dir.visible(), []);
    case.commit().unwrap();
    case.assert_committed("a\nb\n");
    case.commit().unwrap();
    case.assert_committed("a\nb\n");
}

#[test]
fn a_crash_between_the_two_names_leaves_only_the_second_to_do() {
    let case = Case::new("both", "a\n");
    fs::hard_link(case.draft(), case.target()).unwrap();
    case.commit().unwrap();
    case.assert_committed("a\n");
}

#[test]
fn a_commit_whose_first_step_fails_shows_nothing_and_can_be_tried_again() {
    let case = Case::new("full", "a\n");
    let error = case.commit_on(|_, _| Err(ErrorKind::StorageFull.into())).unwrap_err();
    assert!(!error.is::<Fatal>(), "{error}");
    assert_eq!(case.dir.visible(), []);
    case.commit().unwrap();
    case.assert_committed("a\n");
}

#[test]
fn a_name_that_is_taken_at_the_last_moment_is_not_overwritten() {
    let case = Case::new("late", "a\n");
    let taken = |from: &Path, to: &Path| {
        fs::write(to, "mine")?;
        fs::hard_link(from, to)
    };
    case.commit_on(taken).unwrap_err();
    assert_eq!(case.dir.visible(), [(case.prepared.target.clone(), "mine".to_owned())]);
    assert_eq!(case.dir.hidden(), [(case.prepared.draft.clone(), "a\n".to_owned())]);
}

#[test]
fn without_hard_links_a_commit_is_a_rename() {
    let case = Case::new("renamed", "a\n");
    case.commit_on(|_, _| Err(ErrorKind::Unsupported.into())).unwrap();
    case.assert_committed("a\n");
    case.commit_on(|_, _| Err(ErrorKind::Unsupported.into())).unwrap();
    case.assert_committed("a\n");
}

#[test]
fn what_has_vanished_is_told() {
    let case = Case::new("vanished", "a\n");
    fs::remove_file(case.draft()).unwrap();
    let text = fatal(&case.commit().unwrap_err());
    let Prepared { draft, target, .. } = &case.prepared;
    assert!(text.contains(draft) && text.contains(target), "{text}");
    assert!(text.ends_with("neither of them is there"), "{text}");
    assert_eq!(case.dir.all(), []);
}

#[test]
fn a_file_that_has_the_name_already_is_never_overwritten_nor_taken_for_it() {
    // As long, longer, and empty.
    for foreign in ["b\n", "longer\n", ""] {
        for has_draft in [true, false] {
            let case = Case::new("taken", "a\n");
            fs::write(case.target(), foreign).unwrap();
            if !has_draft {
                fs::remove_file(case.draft()).unwrap();
            }
            let before = case.dir.all();
            let text = fatal(&case.commit().unwrap_err());
            assert!(text.ends_with("is there, and is not what was prepared"), "{text}");
            assert_eq!(case.dir.all(), before);
        }
    }
}

#[test]
fn a_draft_that_is_not_what_was_prepared_is_not_shown() {
    for damaged in ["b\n", "a", "a\na\n", ""] {
        let case = Case::new("damaged", "a\n");
        fs::write(case.draft(), damaged).unwrap();
        let text = fatal(&case.commit().unwrap_err());
        assert!(text.ends_with("it is not what was prepared any more"), "{text}");
        assert_eq!(case.dir.visible(), []);
    }
}

#[test]
fn a_file_longer_than_a_block_is_compared_to_its_end() {
    let mut text = "a".repeat(200_000);
    let case = Case::new("long", &text);
    let whole = text.clone();
    text.replace_range(199_999.., "b");
    fs::write(case.draft(), &text).unwrap();
    case.commit().unwrap_err();
    fs::write(case.draft(), &whole).unwrap();
    case.commit().unwrap();
    case.assert_committed(&whole);
}

#[test]
fn cleaning_up_removes_what_is_prepared_and_left_and_nothing_that_is_not_of_this_component() {
    let case = Case::new("cleaned", "a\n");
    let names = |job, component| Names::new(job, component, "txt");
    let unique = uuid::Uuid::now_v7();
    let kept = [
        names("job", "x-0").draft(0, unique),
        names("job", "").draft(0, unique),
        names("another job", "x").draft(0, unique),
        Names::new("job", "x", "csv").draft(0, unique),
        names("job", "x").target(0, CheckpointId(7), unique),
        names("job", "x").draft(0, unique).replace(".txt", "-0.txt"),
        names("job", "x").draft(0, unique).replace(".txt", "0.txt"),
        names("job", "x").draft(0, unique).replace(".txt", ""),
        names("job", "x").draft(0, unique).replace(".x", "x"),
        format!(".x-0-{unique}.txt"),
        ".x-0-left.txt".to_owned(),
        ".txt".to_owned(),
    ];
    // Of a process that was killed, and that had more instances.
    let left = names("job", "x").draft(9, unique);
    kept.iter().chain([&left]).for_each(|name| fs::write(case.dir.file(name), name).unwrap());
    let files = Publication::in_dir(case.dir.path(), "txt");
    files.clean_up("job", "x").unwrap();
    let mut expected = kept.map(|name| (name.clone(), name));
    expected.sort();
    assert_eq!(case.dir.all(), expected);
    files.clean_up("job", "x").unwrap();
}

#[test]
fn cleaning_up_leaves_what_is_being_written() {
    let dir = TempDir::new("written");
    let mut files = writer(&dir, "x", 0);
    files.write(b"a\n").unwrap();
    writer(&dir, "x", 1).clean_up("job", "x").unwrap();
    let prepared = files.prepare(CheckpointId(7)).unwrap().unwrap();
    files.commit(&prepared).unwrap();
    assert_eq!(dir.all(), [(prepared.target, "a\n".to_owned())]);
}

#[test]
fn where_no_instance_was_ever_set_up_there_is_nothing_to_clean_up() {
    let dir = TempDir::new("missing");
    Publication::in_dir(&dir.file("missing"), "txt").clean_up("job", "x").unwrap();
    assert_eq!(dir.all(), []);

    fs::write(dir.file("file"), "").unwrap();
    for place in ["file", "file/below"] {
        let mut files = Publication::in_dir(&dir.file(place), "txt");
        files.clean_up("job", "x").unwrap();
        let error = files.setup(&checkpointed("job", "x", 0)).unwrap_err();
        assert!(error.to_string().starts_with("cannot make the directory"), "{error}");
    }
}

#[test]
fn who_is_dropped_or_set_up_again_publishes_nothing_and_leaves_nothing_behind() {
    let case = Case::new("dropped", "a\n");
    let mut files = writer(&case.dir, "x", 0);
    files.write(b"b\n").unwrap();
    files.flush().unwrap();
    assert_eq!(case.dir.hidden().len(), 2);
    files.setup(&checkpointed("job", "x", 0)).unwrap();
    assert_eq!(case.dir.hidden().len(), 1);
    files.write(b"c\n").unwrap();
    files.finish().unwrap();
    assert_eq!(case.dir.visible(), []);
    drop(files);
    // What is prepared may be in a checkpoint.
    assert_eq!(case.dir.all(), [(case.prepared.draft.clone(), "a\n".to_owned())]);
}

#[test]
fn an_interval_without_events_leaves_no_file() {
    let dir = TempDir::new("empty");
    let mut files = writer(&dir, "x", 0);
    assert_eq!(files.prepare(CheckpointId(1)).unwrap(), None);
    files.write(b"a\n").unwrap();
    assert!(files.prepare(CheckpointId(2)).unwrap().is_some());
    assert_eq!(files.prepare(CheckpointId(3)).unwrap(), None);
    assert_eq!(dir.all().len(), 1);
}

#[test]
fn what_cannot_be_made_durable_is_not_prepared_and_nothing_is_left_of_it() {
    let dir = TempDir::new("gone");
    let inner = dir.file("inner");
    let mut files = Publication::in_dir(&inner, "txt");
    files.setup(&checkpointed("job", "x", 0)).unwrap();
    files.write(b"a\n").unwrap();
    fs::remove_dir_all(&inner).unwrap();
    fatal(&files.prepare(CheckpointId(7)).unwrap_err());
    assert!(files.is_at_start());
}
