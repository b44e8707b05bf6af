//! README's two commands, which `.ci/run` takes from it.

use crate::house::{read, root};

#[test]
fn the_readme_begins_with_the_main_job_and_the_tests() {
    let readme = read(&root().join("README.md"));
    let commands: Vec<_> = readme.lines().filter(|line| line.starts_with("    cargo ")).collect();
    assert_eq!(commands[0].trim(), "cargo run -p hw-tests -- run");
    assert_eq!(commands[1].trim(), "cargo test --workspace");
}
