//! Archives that `ar` makes.

use std::fs;
use std::process::Command;

use super::{MAIN, elf, library, linked, source, tdl};

/// The archive that `ar` makes of these files.
fn made_by_ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    for (name, content) in members {
        fs::write(folder.path().join(name), content).expect("a file in the temporary folder");
    }
    let names = members.iter().map(|(name, _)| *name);
    let mut ar = Command::new("ar");
    let status = ar.current_dir(folder.path()).args(["rcS", "lib.a"]).args(names).status();
    assert!(status.expect("ar, of Debian's binutils").success());
    fs::read(folder.path().join("lib.a")).expect("lib.a")
}

#[test]
fn archives_of_ar_are_libraries() {
    let one = elf(&source("M1", "ONE", &["TWO"]));
    let two = tdl(&source("M2", "TWO", &[]));
    let file = made_by_ar(&[("two.rel", &two), ("one.o", &one)]);
    assert_eq!(linked(MAIN, &[library(&file)]), ["MAIN", "M1", "M2"]);
}
