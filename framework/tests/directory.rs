//! `in_dir`: the files of a directory as splits.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

mod shaky;
mod temp;

use shaky::Shaky;
use std::fs;
use streamwork::prelude::*;
use temp::TempDir;

/// What a job of this many instances collects, sorted.
fn run<S: Source<Out = String> + Clone>(
    source: S,
    parallelism: usize,
) -> Result<Vec<String>, Error> {
    let got = Collect::new();
    let job = Job::new("directory");
    job.source(source).parallelism(parallelism).sink(got.clone());
    Engine::new().run(job)?;
    let mut lines = got.take();
    lines.sort();
    Ok(lines)
}

/// Files `0`, `1`, ..., each with as many lines as its number says; and all lines, sorted.
fn triangle(files: usize) -> (TempDir, Vec<String>) {
    let mut dir = TempDir::new("directory");
    let mut all = Vec::new();
    for file in 0..files {
        let lines: Vec<String> = (0..file).map(|line| format!("{file}-{line}")).collect();
        dir = dir.with(&file.to_string(), lines.join("\n"));
        all.extend(lines);
    }
    all.sort();
    (dir, all)
}

#[test]
fn every_file_is_read_once_at_any_parallelism() {
    let (dir, all) = triangle(20);
    for parallelism in [1, 2, 4, 30] {
        assert_eq!(run(Lines::in_dir(dir.path()), parallelism).unwrap(), all, "{parallelism}");
    }
}

#[test]
fn each_instance_reads_its_share_in_the_order_of_names() {
    let dir = TempDir::new("directory").with("b", "b").with("a", "a").with("c", "c");
    let got = Collect::new();
    let job = Job::new("directory");
    let lines = job.source(Lines::in_dir(dir.path())).parallelism(2);
    lines.group(Forward).sink(got.clone()).parallelism(2);
    Engine::new().run(job).unwrap();
    let mut first = got.of_instance(0);
    first.sort();
    assert_eq!((first, got.of_instance(1)), (vec!["a".into(), "c".into()], vec!["b".to_owned()]));
}

#[test]
fn a_split_that_is_built_anew_goes_on_in_its_file() {
    let (dir, all) = triangle(100);
    for parallelism in [1, 3] {
        let source = Shaky::new(Lines::in_dir(dir.path()), "70-50");
        assert_eq!(run(source, parallelism).unwrap(), all, "{parallelism}");
    }
}

#[test]
fn folders_and_hidden_files_are_left_out() {
    let dir = TempDir::new("directory").with(".x", "hidden\n").with("x", "seen\n");
    fs::create_dir(dir.file("folder")).unwrap();
    fs::write(dir.file("folder/y"), "deep\n").unwrap();
    assert_eq!(run(Lines::in_dir(dir.path()), 2).unwrap(), ["seen"]);
}

#[test]
fn an_empty_directory_ends_at_once() {
    let dir = TempDir::new("directory").with(".x", "hidden\n");
    assert_eq!(run(Lines::in_dir(dir.path()), 2).unwrap(), [""; 0]);
}

#[test]
fn a_directory_that_is_missing_or_none_is_refused_before_the_start() {
    let dir = TempDir::new("directory").with("file", "");
    let missing = run(Lines::in_dir(dir.file("none")), 1).unwrap_err();
    let text = missing.to_string();
    let expected = format!("cannot list the files of {:?}: No such file", dir.file("none"));
    assert!(text.contains(&expected) && matches!(missing, Error::Assembly { .. }), "{missing:?}");
    let text = run(Lines::in_dir(dir.file("file")), 1).unwrap_err().to_string();
    let expected = format!("cannot list the files of {:?}: it is no directory", dir.file("file"));
    assert!(text.contains(&expected), "{text}");
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_opened_is_named() {
    let dir = TempDir::new("directory").with("a", "a\n");
    std::os::unix::fs::symlink(dir.file("nowhere"), dir.file("link")).unwrap();
    let text = run(Lines::in_dir(dir.path()), 1).unwrap_err().to_string();
    assert!(text.contains(&format!("cannot read {:?}", dir.file("link"))), "{text}");
}

/// What the child process is to do.
#[cfg(target_os = "linux")]
const CHILD: &str = "STREAMWORK_DIRECTORY_CHILD";

/// Not a test by itself: what follows, in a process that may open few files.
#[cfg(target_os = "linux")]
#[test]
fn child() {
    let Ok(path) = std::env::var(CHILD) else { return };
    for parallelism in [1, 3] {
        let source = Shaky::new(Lines::in_dir(&path), "1500-1");
        let mut lines = run(source, parallelism).unwrap();
        assert_eq!(lines.len(), 4_200);
        lines.retain(|line| !line.starts_with('\0'));
        let mut files: Vec<_> = lines.iter().map(|line| line.split_once('-').unwrap()).collect();
        files.dedup();
        assert_eq!(files.len(), 4_000);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn thousands_of_files_are_read_by_a_process_that_may_open_a_hundred() {
    let dir = (0..2_000).fold(TempDir::new("directory"), |dir, n| {
        dir.with(&n.to_string(), format!("{n}-0\n{n}-1\n"))
    });
    for n in (0..2_000).step_by(10) {
        // More than is read ahead, so that it stays open until it is asked for; zeros cost no room.
        let file = fs::File::options().write(true).open(dir.file(&n.to_string())).unwrap();
        file.set_len(300_000).unwrap();
    }
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -n 100 && exec \"$0\" --exact child --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD, dir.path())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
