//! The language as a library: a program outside the workspace is compiled with it.

use std::process::Command;

use crate::root;

/// `docs/library` is a package of its own whose errors are anyhow's. It is checked and not linked,
/// which takes a third of the time; the front page of `tdlasm` runs the same lines.
#[test]
fn a_program_outside_the_workspace_compiles_with_the_library() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--quiet", "--manifest-path"]).arg(root().join("docs/library/Cargo.toml"));
    cargo.arg("--target-dir").arg(concat!(env!("CARGO_TARGET_TMPDIR"), "/library"));
    let output = cargo.output().expect("cargo is here");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
