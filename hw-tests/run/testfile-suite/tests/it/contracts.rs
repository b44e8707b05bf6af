//! Contracts in comments are checked for every call of their routines.

use std::path::Path;

use tdlasm::source::DiskLoader;
use testfile_suite::{TestFile, TestOptions, TestResult};

use crate::{folder, run};

/// T-states by Zilog's UM0080: 7, 11, 10, 10.
const SOURCE: &str = "; RUN - sets A.
;   Entry:    nothing
;   Exit:     A = 5
;   Errors:   none
;   Clobbers: none
;   Stack:    2 bytes
;   Cycles:   38
RUN:\tMVI A,5\n\tPUSH H\n\tPOP H\n\tRET";

fn results(path: &Path, text: &str, source: &Path) -> Vec<TestResult> {
    let file = TestFile::parse(path, text, &DiskLoader).unwrap_or_else(|error| panic!("{error}"));
    let contracts = file.contracts(source).expect("it is readable").expect("one of its sources");
    assert!(contracts.iter().any(|contract| file.calls(contract)));
    let mut machine = file.program.machine();
    let mut results = Vec::new();
    let options = TestOptions { contracts: &contracts, ..TestOptions::default() };
    let ran = run(&file, &mut machine, &options, &mut |result| results.push(result));
    ran.unwrap_or_else(|error| panic!("{error}"));
    results
}

fn findings(source: &str) -> Vec<String> {
    let folder = folder(source);
    let text = "sources = [\"prog.asm\"]\n[[case]]\nname = \"a\"\ncall = \"RUN\"";
    let path = folder.path().join("a.test.toml");
    let results = results(&path, text, &folder.path().join("prog.asm"));
    results[0].differences.iter().map(ToString::to_string).collect()
}

#[test]
fn each_broken_field_is_named_with_its_line() {
    assert_eq!(findings(SOURCE), [""; 0]);
    for (right, wrong, finding) in [
        ("A = 5", "nothing", "Clobbers of RUN (prog.asm:2): changed registers: A 5AH to 05H"),
        ("2 bytes", "1 byte", "Stack of RUN (prog.asm:2): expected at most 1, got 2"),
        (
            "38",
            "40..50",
            "Cycles of RUN (prog.asm:2): expected at least 40 (28H) and at most 50 (32H), got 38 \
             (26H)",
        ),
    ] {
        assert_eq!(findings(&SOURCE.replace(right, wrong)), [finding]);
    }
}

/// The tables of C16INI are aligned to pages, as its source demands.
const LAYOUT: &str = "[[region]]
name = \"ram\"
start = 0x8000
size = 0x1000
[[place]]
section = \".PROG.\"
region = \"ram\"
[[place]]
section = \".DATA.\"
region = \"ram\"
align = 256";

#[test]
fn the_firmwares_own_table_of_checks_keeps_its_contract() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../firmware/z80");
    let source = root.canonicalize().expect("the firmware").join("crc16.asm");
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("layout.toml"), LAYOUT).expect("a file");
    let text = format!(
        "sources = [{:?}]\nlayout = \"layout.toml\"\n[[case]]\nname = \"a\"\ncall = \"C16INI\"",
        source.display().to_string()
    );
    let results = results(&folder.path().join("a.test.toml"), &text, &source);
    assert_eq!(results[0].differences, []);
    assert_eq!(results[0].details.t_states, Some(37391));
}
