//! The commit that a program is built from, for build scripts.

use std::path::Path;
use std::process::Command;

/// Sets `PROGRAM_VERSION` for the crate that is being built: its version, and in releases the
/// commit.
///
/// To be called by a build script. Development builds name no commit, since each commit would build
/// everything anew; neither do builds from an archive without history.
pub fn set_version() {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if is_release { commit() } else { None };
    let version = commit.map_or(version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo:rustc-env=PROGRAM_VERSION={version}");
    println!("cargo:rerun-if-changed=build.rs");
}

/// Returns the short hash of the commit that is checked out, and has cargo look again when that
/// changes.
fn commit() -> Option<String> {
    let folder = git(&["rev-parse", "--absolute-git-dir"])?;
    for file in ["HEAD", "logs/HEAD"].map(|name| Path::new(&folder).join(name)) {
        if file.exists() {
            println!("cargo:rerun-if-changed={}", file.display());
        }
    }
    git(&["rev-parse", "--short=9", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
