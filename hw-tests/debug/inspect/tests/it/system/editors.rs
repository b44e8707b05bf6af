//! Debian 13's Emacs with our debug adapter.

use std::path::Path;

use assert_cmd::cargo::cargo_bin;

use super::debian::program;

#[test]
fn emacs_dape_stops_steps_and_ends() {
    let mut editor = program("emacs");
    let folder = tempfile::tempdir().expect("a folder");
    let source =
        "START:  MVI A,1\n        INR A\nNEXT:   INR A\n        JMP START\n        .END START\n";
    std::fs::write(folder.path().join("prog.asm"), source).expect("written");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = std::env::var("PATH").unwrap_or_default();
    let programs = cargo_bin("hw-inspect").with_file_name("");
    editor.env("PATH", format!("{}:{path}", programs.display())).env("HOME", folder.path());
    editor.arg("--batch").arg("-l").arg(here.join("../../../docs/editors/tdl-mode.el"));
    editor.arg("-l").arg(here.join("tests/editors/dape.el")).arg("prog.asm");
    let output = editor.current_dir(folder.path()).output().expect("Emacs starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains("passed in"),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
