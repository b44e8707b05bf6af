//! The configurations of `docs/editors` in the editors themselves, without a screen.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::debian;

/// A folder with a source that has one error and is not formatted.
fn source() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("prog.asm");
    std::fs::write(&path, "START: NOP\n MVI A,FFH\n JMP START\n .END START\n").expect("written");
    (folder, path)
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs an editor in a folder, with the program on its path, and checks that it reports success.
fn passes(mut editor: Command, folder: &Path) {
    let programs = Path::new(env!("CARGO_BIN_EXE_tdlasm")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    editor.env("PATH", format!("{}:{path}", programs.display())).env("HOME", folder);
    let output = editor.current_dir(folder).output().expect("the editor starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("passed in"), "{printed}{wrong}");
}

#[test]
fn neovim_shows_fixes_formats_and_builds() {
    let mut editor = debian::program("nvim");
    let (folder, source) = source();
    let stand_in =
        "lua package.preload.dap = function() return { adapters = {}, configurations = {} } end";
    editor.args(["--headless", "--noplugin", "-i", "NONE", "-n", "--cmd", stand_in, "-u"]);
    editor.arg(here("../../docs/editors/neovim.lua")).arg(source).arg("-S");
    editor.arg(here("tests/editors/neovim.lua"));
    passes(editor, folder.path());
}

#[test]
fn emacs_shows_finds_and_formats() {
    let mut editor = debian::program("emacs");
    let (folder, source) = source();
    editor.args(["--batch", "-l"]).arg(here("../../docs/editors/tdl-mode.el")).arg("-l");
    editor.arg(here("tests/editors/emacs.el")).arg(source);
    passes(editor, folder.path());
}
