//! Code for a certain operating system is only in one module, `rcflash_transport::platform`.

use crate::house::sources;
use crate::house::{read, root};

/// Words by which source selects an operating system, or uses what only one has.
const WORDS: [&str; 6] =
    ["cfg(unix", "cfg(windows", "cfg(not(unix", "std::os::", "rustix::", "target_os"];
/// The module for what differs between operating systems.
const PLATFORM: &str = "flasher/rcflash-transport/src/platform";
/// The exceptions: that module, tests, and the check whether a file is a block device.
const ALLOWED: [&str; 5] =
    [PLATFORM, "/tests/", "/tests.rs", "assembler/cli-support/src/files.rs", "/benches/"];

#[test]
fn only_the_platform_module_depends_on_the_operating_system() {
    let mut found = Vec::new();
    for path in sources(".rs") {
        let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
        if ALLOWED.iter().any(|allowed| format!("/{name}").contains(allowed)) {
            continue;
        }
        let text = read(&path);
        // The rest of the file is tests, which may create links and send signals.
        let program = text.split("#[cfg(test)]").next().unwrap_or_default();
        let asks = |line: &&str| WORDS.iter().any(|word| line.contains(word));
        found.extend(program.lines().filter(asks).map(|line| format!("{name}: {}", line.trim())));
    }
    assert!(
        found.is_empty(),
        "these belong into rcflash_transport::platform:\n{}",
        found.join("\n")
    );
}

/// The crates that run in a page's worker, where the standard library's clock and sleep panic.
const IN_A_PAGE: [&str; 7] = [
    "flasher/rcflash-transport/",
    "flasher/rcflash-link/",
    "flasher/rcflash-monitors/",
    "hw-tests/debug/debugger/",
    "hw-tests/run/harness/",
    "hw-tests/chess/suite/",
    "hw-tests/machine/board-simulator/",
];

#[test]
fn what_a_page_runs_takes_its_clock_from_the_platform_module() {
    let mut found = Vec::new();
    for path in sources(".rs") {
        let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
        let is_run = IN_A_PAGE.iter().any(|folder| name.starts_with(folder));
        let is_program = name.contains("/src/") && !name.contains("/tests");
        if !is_run || !is_program || name.starts_with(PLATFORM) {
            continue;
        }
        let text = read(&path);
        let program = text.split("#[cfg(test)]").next().unwrap_or_default();
        let takes = |line: &&str| {
            let line = line.trim_start();
            let is_use = line.starts_with("use std::time::") && line.contains("Instant");
            is_use || line.contains("thread::sleep(") || line.contains("std::time::Instant")
        };
        found.extend(program.lines().filter(takes).map(|line| format!("{name}: {}", line.trim())));
    }
    assert!(found.is_empty(), "take these from rcflash_transport::time:\n{}", found.join("\n"));
}
