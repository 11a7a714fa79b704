//! The pages in `docs/`: all of them are in the book, and the code in all of them is tested.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The page names between `before` and `after`, wherever they stand in a file.
fn pages_in(file: &str, before: &str, after: char) -> BTreeSet<String> {
    let text = fs::read_to_string(repository().join(file)).unwrap();
    let found = text.split(before).skip(1).filter_map(|rest| rest.split(after).next());
    found.filter(|page| page.ends_with(".md")).map(String::from).collect()
}

fn pages_of_the_book() -> BTreeSet<String> {
    let pages = pages_in("docs/SUMMARY.md", "](", ')');
    assert!(pages.len() > 15, "{pages:?}");
    pages
}

#[test]
fn every_page_is_a_doc_test() {
    let tested = pages_in("tests/src/book.rs", ": \"", '"');
    assert_eq!(tested, pages_of_the_book());
}

#[test]
fn every_page_is_in_the_book() {
    let files = fs::read_dir(repository().join("docs")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let pages = names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md");
    assert_eq!(pages.collect::<BTreeSet<_>>(), pages_of_the_book());
}

/// A block that is neither compiled nor marked as another language would be prose in disguise.
#[test]
fn no_block_of_rust_is_left_out() {
    let allowed = ["rust", "rust,compile_fail", "rust,should_panic", "toml", "sh", "text"];
    let mut blocks = 0;
    for page in pages_of_the_book() {
        let text = fs::read_to_string(repository().join("docs").join(&page)).unwrap();
        let fences = text.lines().filter_map(|line| line.strip_prefix("```"));
        for (i, fence) in fences.enumerate() {
            let opens = i % 2 == 0;
            assert!(!opens || allowed.contains(&fence), "{page} has a block of {fence:?}");
            assert!(opens || fence.is_empty(), "{page} has a fence out of step: {fence:?}");
            blocks += 1;
        }
    }
    assert!(blocks > 40, "{blocks}");
}
