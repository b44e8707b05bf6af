//! The assembler that made the golden files.

use std::process::Command;

use super::{folder, read};

#[test]
fn the_golden_files_are_what_pasmo_makes() {
    let out = tempfile::TempDir::new().expect("a temporary folder");
    for name in ["monitor", "compare"] {
        let hex = out.path().join("made.hex");
        let source = folder().join(name).with_extension("z80");
        let status = Command::new("pasmo").arg("--hex").args([&source, &hex]).status();
        assert!(status.expect("pasmo").success());
        assert_eq!(std::fs::read_to_string(hex).expect("its output"), read(&format!("{name}.hex")));
    }
}
