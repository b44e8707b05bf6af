//! The rig file and the variables by which a board is named.

use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;

use crate::bench::{Bench, Ended, Folder, finish, program, rcflash};

#[test]
fn a_board_goes_by_its_name_for_both_programs() {
    let (bench, folder) = (Bench::classic(), Folder::new());
    let rig = folder.file("rig.toml", format!("[boards.bench]\nport = \"{}\"\n", bench.port));
    let named = ["--rig", &rig, "--port", "bench"];
    rcflash(&[&["write"], &named[..]].concat()).with(0, &["verified on the board"]);
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    let judged = command.args(["run", "--filter", "document"]).args(named).output();
    Ended::of(judged.expect("it starts")).with(0, &["on bench"]);
}

#[test]
fn the_usual_file_and_variables_are_looked_at() {
    let (bench, folder) = (Bench::classic(), Folder::new());
    std::fs::create_dir(folder.path("rcflash")).expect("a folder");
    folder.file("rcflash/rig.toml", format!("[boards.bench]\nport = \"{}\"\n", bench.port));
    let run = |variables: &[(&str, &str)]| {
        let mut command = program();
        command.env("XDG_CONFIG_HOME", folder.path("")).envs(variables.iter().copied());
        finish(command.arg("write").spawn().expect("it starts"), b"")
    };
    run(&[("RCFLASH_PORT", "bench")]).with(0, &["verified on the board"]);
    run(&[("RCFLASH_PORT", "bench"), ("RCFLASH_BOARD", "spectrum")])
        .with(2, &["no board 'spectrum'"]);
    run(&[]).with(2, &["say which board", "rcflash ports"]);
}

#[test]
fn mistakes_in_the_file_and_names_that_are_not_in_it_are_told() {
    let folder = Folder::new();
    let rig = folder.file("rig.toml", "[boards.bench]\nport = \"/dev/none\"\nspeed = 9600\n");
    rcflash(&["write", "--rig", &rig, "--port", "bench"])
        .with(3, &["rig.toml: ", "line 3", "unknown field `speed`"]);
    let rig = folder.file("rig.toml", "[boards.bench]\nport = \"/dev/none\"\n");
    rcflash(&["write", "--rig", &rig, "--port", "bnech"]).with(2, &["'bnech'", "there are bench"]);
    rcflash(&["write", "--rig", &rig, "--port", "bench"]).with(3, &["there is no port /dev/none"]);
    rcflash(&["write", "--rig", "/nonexistent/rig.toml", "--port", "bench"])
        .with(3, &["can't read /nonexistent/rig.toml"]);
}
