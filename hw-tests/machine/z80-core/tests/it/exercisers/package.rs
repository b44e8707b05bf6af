//! The exercisers in the package of the crate `iz80`, as cargo has fetched it for this computer.

use std::path::PathBuf;
use std::process::Command;

/// Returns an exerciser of the package.
pub(crate) fn exerciser(name: &str) -> Vec<u8> {
    let path = folder().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder() -> PathBuf {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform"])
        .arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let output = cargo.expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|package| package["name"] == "iz80").expect("iz80");
    let manifest = package["manifest_path"].as_str().expect("a path");
    PathBuf::from(manifest).with_file_name("tests").join("res")
}
