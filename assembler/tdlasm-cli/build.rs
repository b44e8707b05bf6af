//! The version that `--version` shows, and how the program is linked.

fn main() {
    cli_support::version::emit_version_env();
    link_unwinder();
}

/// Takes what unwinds the stack after a panic from an archive: the shared library with the same
/// content is a tenth of the time that the program takes to start.
fn link_unwinder() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}
