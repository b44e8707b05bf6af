//! gdb and GNU objdump read the same lines.
//!
//! gdb is Debian's `gdb-multiarch`, which has no Z80 but reads line tables; objdump is in the
//! folder that `Z80_ELF_BIN` names.

use std::path::Path;
use std::process::Command;

use tdlasm::link::Program;
use tdlasm::object::write_executable;
use tempfile::TempDir;

use super::{INNER, Lines, MACRO, evaluator, linked, read_lines, small};

/// A folder with an executable and its sources, for an external program.
fn folder_for(program: &Program) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, content) in [
        ("outer.asm", MACRO.as_bytes()),
        ("INNER.ASM", INNER.as_bytes()),
        ("small.elf", &write_executable(program)),
    ] {
        std::fs::write(folder.path().join(name), content).expect("a file");
    }
    folder
}

/// Returns what a program prints.
fn output_of(command: &mut Command, hint: &str) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; {hint}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn gdb_shows_the_lines_of_tdl_source() {
    let folder = folder_for(&small());
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args([
        "-nx",
        "-batch",
        "small.elf",
        "-ex",
        "info line outer.asm:6",
        "-ex",
        "list INNER,INNER",
    ]);
    gdb.args(["-ex", "info line *0x8007", "-ex", "info symbol LAST"]).current_dir(folder.path());
    let printed = output_of(&mut gdb, ".ci/install/debs installs it");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines,
        [
            "Line 6 of \"outer.asm\" starts at address 0x8001 <START+1> and ends at 0x8005 \
             <INNER>.",
            "2\tINNER::\tINR A",
            "Line 3 of \"INNER.ASM\" starts at address 0x8006 <INNER+1> and ends at 0x800a \
             <INNER+5>.",
            "LAST in section .mem.8000",
        ]
    );
}

#[test]
fn objdump_decodes_the_same_lines() {
    let program = linked(&evaluator());
    let elf = write_executable(&program);
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("evaluator.elf"), &elf).expect("a file");
    let bin = std::env::var_os("Z80_ELF_BIN").unwrap_or_else(|| "Z80_ELF_BIN is not set".into());
    let mut objdump = Command::new(Path::new(&bin).join("objdump"));
    objdump.args(["--dwarf=decodedline", "evaluator.elf"]).current_dir(folder.path());
    let printed = output_of(&mut objdump, "export Z80_ELF_BIN=$(.ci/install/binutils-z80-elf)");
    let mut found = Lines::new();
    for row in printed.lines() {
        if let [file, line, address, ..] = row.split_whitespace().collect::<Vec<_>>()[..]
            && let (Ok(line), Ok(address)) = (line.parse(), parse_address(address))
        {
            found.insert(address, (file.to_owned(), line));
        }
    }
    assert_eq!(found, read_lines(&elf).0);
}

/// An address as objdump prints it: 0 without its `0x`.
fn parse_address(text: &str) -> Result<u64, std::num::ParseIntError> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16)
}
