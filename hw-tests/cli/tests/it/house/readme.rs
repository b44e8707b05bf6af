//! README's commands, which `.ci/run` takes from it.

use crate::house::{read, root};

#[test]
fn the_readme_has_the_main_job_and_the_tests() {
    let readme = read(&root().join("README.md"));
    let commands: Vec<_> = readme.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    for command in ["cargo run -p hw-tests -- run", "cargo test --workspace"] {
        assert!(commands.contains(&command), "{command}: {commands:?}");
    }
}
