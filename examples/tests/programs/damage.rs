//! A data directory that is damaged: a start goes on from its checkpoint and is exact, or it refuses. It
//! never begins anew as if there had been nothing, and never falls over.

use crate::harness::{Random, TempDir, TempFile, wanted};
use crate::kills::Durable;
use crate::usage::{payments, verdicts};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// How many directories are damaged; more by the environment.
fn damages() -> u64 {
    wanted("STREAMWORK_DAMAGES", 60)
}

const LINES: u64 = 4_000;

/// What happens to one file.
enum Damage {
    Removed,
    Cut { to: u64 },
    Flipped { byte: usize, bit: u32 },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed => f.write_str("is removed"),
            Self::Cut { to } => write!(f, "is cut to {to} bytes"),
            Self::Flipped { byte, bit } => write!(f, "has bit {bit} of byte {byte} flipped"),
        }
    }
}

impl Damage {
    /// Any damage to a file of these bytes.
    fn any(bytes: &[u8], random: &mut Random) -> Self {
        let length = bytes.len() as u64;
        match random.below(8) {
            _ if length == 0 => Self::Removed,
            0 => Self::Removed,
            1 | 2 => Self::Cut { to: random.below(length) },
            _ => {
                let mut any = || usize::try_from(random.below(length)).expect("it is in memory");
                // Most of some files is not used: in the rest there is more to be broken.
                let used = (0..100).map(|_| any()).find(|byte| bytes[*byte] != 0);
                let byte = used.unwrap_or(0);
                let bit = u32::try_from(random.below(8)).expect("it is small");
                Self::Flipped { byte, bit }
            }
        }
    }

    fn strike(&self, path: &Path) {
        match self {
            Self::Removed => fs::remove_file(path).expect("it is there"),
            Self::Cut { to } => {
                let file = fs::File::options().write(true).open(path).expect("it is there");
                file.set_len(*to).expect("it is a file");
            }
            Self::Flipped { byte, bit } => {
                let mut bytes = fs::read(path).expect("it is there");
                bytes[*byte] ^= 1 << bit;
                fs::write(path, bytes).expect("there is room");
            }
        }
    }
}

/// All files below a directory, by their paths from there.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![PathBuf::new()];
    while let Some(below) = left.pop() {
        for entry in fs::read_dir(directory.join(&below)).expect("it is a directory") {
            let entry = entry.expect("it is there");
            let path = below.join(entry.file_name());
            if entry.path().is_dir() { left.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn copy(from: &str, to: &str) {
    let (from, to) = (Path::new(from), Path::new(to));
    fs::create_dir_all(to).expect("there is room");
    for file in files(from) {
        let copy = to.join(&file);
        fs::create_dir_all(copy.parent().expect("it is in a directory")).expect("there is room");
        fs::copy(from.join(&file), copy).expect("there is room");
    }
}

#[test]
fn a_damaged_directory_is_exact_or_refused() {
    let (text, totals, expected) = payments(LINES);
    let input = TempFile::new("damaged-lines", &text);
    let (kept, output) = (TempDir::new("whole-kept"), TempDir::new("whole"));
    let (semantic, input) = ("exactly-once", input.path());
    let mut random = Random(1);
    // As slow as this, it does not end before it is killed, on a slow disk too.
    let whole = Durable { semantic, input, rate: "1000", kept: kept.path(), output: output.path() };
    let program = whole.start(2);
    assert!(!whole.ends_before(&program, 8, &mut random), "it ended before it was killed");
    program.kill();

    let names = files(Path::new(kept.path()));
    // Each file is missing once.
    let missing = names.iter().map(|name| (name.clone(), Some(Damage::Removed)));
    let (mut restored, mut refused) = (0, 0);
    let mut cases: Vec<(PathBuf, Option<Damage>)> = missing.collect();
    // Nearly all is in the largest one, so every other case is about that.
    let size =
        |name: &PathBuf| fs::metadata(Path::new(kept.path()).join(name)).map_or(0, |m| m.len());
    let largest = names.iter().max_by_key(|name| size(name)).expect("there are files");
    while (cases.len() as u64) < damages() {
        let at = usize::try_from(random.below(2 * names.len() as u64)).expect("it is small");
        cases.push((names.get(at).unwrap_or(largest).clone(), None));
    }
    for (name, damage) in cases {
        let (kept_copy, output_copy) = (TempDir::new("damaged-kept"), TempDir::new("damaged"));
        copy(kept.path(), kept_copy.path());
        copy(output.path(), output_copy.path());
        let path = Path::new(kept_copy.path()).join(&name);
        let bytes = fs::read(&path).expect("it was copied");
        let damage = damage.unwrap_or_else(|| Damage::any(&bytes, &mut random));
        damage.strike(&path);
        println!("{} {damage}", name.display());

        let (kept, output) = (kept_copy.path(), output_copy.path());
        let end = Durable { semantic, input, rate: "1e9", kept, output }.start(2).end();
        assert!(!end.stderr.contains("panicked"), "{}", end.stderr);
        assert!(!end.stderr.contains("restored=\"fresh\""), "{}", end.stderr);
        if end.stderr.contains("restored=\"from checkpoint ") {
            assert_eq!(end.has_code(0).stdout, totals);
            assert!(verdicts(output_copy.path()) == expected);
            restored += 1;
        } else {
            end.has_code(1).has_error(&["system-usage"]);
            assert_eq!(end.stdout, "");
            refused += 1;
        }
    }
    println!("{restored} went on, {refused} were refused");
    assert!(restored > 0 && refused > 0, "{restored} went on, {refused} were refused");
}
