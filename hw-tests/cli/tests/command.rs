//! The command line of `hw-tests`. With this test cargo builds the program, which the end-to-end
//! tests of `rcflash-tests` run.

use std::process::Command;

#[test]
fn the_version_is_printed() {
    let output = Command::new(env!("CARGO_BIN_EXE_hw-tests")).arg("--version").output();
    let output = output.expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("hw-tests "), "{output:?}");
}
