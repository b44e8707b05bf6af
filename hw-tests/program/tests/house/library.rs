//! The language as a library: a program outside the workspace is built with it and run.

use std::process::{Command, Output};

use crate::root;

/// Runs `docs/library`, a package of its own whose errors are anyhow's.
fn library(arguments: &[&str]) -> Output {
    let folder = root().join("docs/library");
    let target = tempfile::tempdir().expect("a scratch folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target.path()).arg("--").args(arguments);
    cargo.output().expect("cargo is here")
}

#[test]
fn a_program_outside_the_workspace_assembles_with_the_library() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("prog.asm");
    std::fs::write(&source, "START: MVI A,5\n JMP START\n .END START\n").expect("a file");
    let output = library(&[source.to_str().expect("a name"), "9000"]);
    let said = String::from_utf8_lossy(&output.stderr);
    // 3E 05 is MVI A,5 and C3 00 90 JMP 9000H; the start address is in the last record.
    let expected = ":059000003E05C30090D5\n:009000016F\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout).replace('\r', ""), expected, "{said}");
}
