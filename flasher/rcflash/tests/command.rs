//! The command line of `rcflash` without a board. With this test cargo builds the program, which
//! the end-to-end tests of `hw-tests` run.

use std::process::{Command, Output};

fn rcflash(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rcflash"));
    command.args(arguments).env("XDG_CONFIG_HOME", "/nonexistent");
    for name in ["RCFLASH_PORT", "RCFLASH_BOARD", "RCFLASH_BAUD", "RCFLASH_RIG"] {
        command.env_remove(name);
    }
    command.output().expect("it starts")
}

#[test]
fn a_missing_port_is_a_usage_error() {
    let output = rcflash(&["probe"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--port"), "{output:?}");
}

#[test]
fn the_version_is_printed() {
    let output = rcflash(&["--version"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("rcflash "), "{output:?}");
}

#[test]
fn the_image_of_a_chip_larger_than_64_kib_is_read_back() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let image = |arguments: &[&str]| {
        let output = rcflash(&[&["image", "--chip", "39sf040"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    };
    image(&["-o", &path("a.hex")]);
    image(&["-o", &path("a.bin")]);
    image(&[&path("a.hex"), "-o", &path("b.bin")]);
    let read = |name: &str| std::fs::read(path(name)).expect("it was written");
    assert!(String::from_utf8_lossy(&read("a.hex")).starts_with(":02000004"));
    assert_eq!(read("a.bin").len(), 0x8_0000);
    assert!(read("a.bin") == read("b.bin"));
}
