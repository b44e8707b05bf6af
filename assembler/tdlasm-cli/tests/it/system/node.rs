//! Node and the npm packages that `.ci/install/npm` installs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder into which `.ci/install/npm` puts the packages of a folder of the repository.
fn packages(of: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
    target.join("npm").join(of)
}

/// Node, ready to run a script of a folder of the repository with the packages of that folder.
pub(crate) fn node(folder: &str, script: &str) -> Command {
    let packages = packages(folder).join("node_modules");
    assert!(
        packages.is_dir(),
        "{folder}/{script} needs the packages that .ci/install/npm installs"
    );
    // This file is part of packages at several depths.
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders.find(|folder| folder.join(".ci").is_dir()).expect("the repository");
    let mut command = Command::new("node");
    let script = root.join(folder).join(script);
    command.arg("--test-reporter=tap").arg(script).env("NODE_PATH", packages);
    command
}

/// Runs a script of Node's own test runner, whose tests must all pass.
pub(crate) fn passes(mut command: Command) {
    // An outer test runner's environment would change the output.
    let output = command.env_remove("NODE_OPTIONS").output().expect("node starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("# fail 0") && !printed.contains("# pass 0\n"), "{printed}");
}
