//! A module imports only from lower levels, so nothing is circular; and only `runtime` knows actix,
//! only the clock reads the system's time.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::fs;
use std::path::{Path, PathBuf};

const LEVELS: &[&[&str]] = &[
    &["id", "time", "guard", "shape"],
    &["event", "key", "metrics", "restart"],
    &["state"],
    &["checkpoint"],
    &["channel", "link", "grouping", "watermark"],
    &["component", "emitter"],
    &["source", "sink", "operator", "step"],
    &["instance"],
    &["job"],
    &["error"],
    &["runtime"],
    &["testing", "prelude", "lib", "bin"],
];

fn level(module: &str) -> usize {
    LEVELS
        .iter()
        .position(|level| level.contains(&module))
        .unwrap_or_else(|| panic!("the module {module:?} has no level: add it to the table"))
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Every source file with its top module and its text, without comments and tests.
fn modules() -> Vec<(PathBuf, String, String)> {
    let mut found = Vec::new();
    files(&source(), &mut found);
    assert!(found.len() > 30, "{} files", found.len());
    found
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name != "tests.rs"))
        .map(|path| {
            let inside = path.strip_prefix(source()).unwrap();
            let top = inside.components().next().unwrap().as_os_str().to_str().unwrap();
            let module = top.trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code = code.collect::<Vec<_>>().join("\n");
            (path, module, code)
        })
        .collect()
}

#[test]
fn modules_import_only_from_lower_levels() {
    let mut imports = 0;
    for (path, module, code) in modules() {
        for rest in code.split("crate::").skip(1) {
            let target: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if target.is_empty() || target == module || !target.starts_with(char::is_lowercase) {
                continue;
            }
            imports += 1;
            assert!(
                level(&target) < level(&module),
                "{} ({module}, level {}) imports {target} (level {})",
                path.display(),
                level(&module),
                level(&target),
            );
        }
    }
    assert!(imports > 100, "found only {imports} imports: the test reads the wrong thing");
}

#[test]
fn only_the_runtime_knows_actix() {
    for (path, module, code) in modules() {
        assert!(module == "runtime" || !code.contains("actix"), "{} names actix", path.display());
    }
}

#[test]
fn only_the_clock_reads_the_time() {
    for (path, _, code) in modules() {
        let reads = ["Instant::now", "SystemTime::now"].iter().any(|call| code.contains(call));
        assert!(!reads || path.ends_with("time/clock.rs"), "{} reads the time", path.display());
    }
}
