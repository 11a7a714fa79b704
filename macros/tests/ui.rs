//! What the compiler says of wrong inputs, and that unusual ones compile.
//!
//! `TRYBUILD=overwrite cargo test -p streamwork-macros --test ui` writes the `.stderr` files anew.

use std::process::Command;
use trybuild::TestCases;

/// The compiler whose wording the `.stderr` files have. It is CI's.
const WORDING: &[u8] = b"rustc 1.95.";

#[test]
fn unusual_inputs_compile_and_wrong_ones_are_explained() {
    let cases = TestCases::new();
    cases.pass("tests/ui/*/pass/*.rs");

    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().unwrap();
    if version.stdout.starts_with(WORDING) {
        cases.compile_fail("tests/ui/*/fail/*.rs");
    }
}
