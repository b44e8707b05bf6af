//! The version that a program reports, for build scripts.

use std::path::Path;
use std::process::Command;

/// Sets the environment variable `PROGRAM_VERSION` for the crate being built: its version, followed
/// by the commit in release builds.
///
/// Call this in a build script. Development builds leave out the commit, so that a commit does not
/// rebuild everything; builds outside a git repository have none.
pub fn emit_version_env() {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if is_release { head_commit() } else { None };
    let version = commit.map_or(version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo:rustc-env=PROGRAM_VERSION={version}");
    println!("cargo:rerun-if-changed=build.rs");
}

/// Returns the short hash of HEAD, and makes cargo rerun the build script when HEAD changes.
fn head_commit() -> Option<String> {
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
