//! One place for what differs from system to system: the crate `host-platform`.

use crate::language::sources;
use crate::{read, root};

/// Words by which source asks for a system, or uses what only one has.
const WORDS: [&str; 6] =
    ["cfg(unix", "cfg(windows", "cfg(not(unix", "std::os::", "rustix::", "target_os"];
/// The crate whose business that is, tests, and a question that has no better place: whether a file
/// is a block device.
const ALLOWED: [&str; 5] =
    ["assembler/platform/", "/tests/", "/tests.rs", "assembler/kit/src/files.rs", "/benches/"];

#[test]
fn only_the_platform_crate_asks_which_system_it_runs_on() {
    let mut found = Vec::new();
    for path in sources(".rs") {
        let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
        if ALLOWED.iter().any(|allowed| format!("/{name}").contains(allowed)) {
            continue;
        }
        let text = read(&path);
        // What stands below is a test, which may make links and send signals.
        let program = text.split("#[cfg(test)]").next().unwrap_or_default();
        let asks = |line: &&str| WORDS.iter().any(|word| line.contains(word));
        found.extend(program.lines().filter(asks).map(|line| format!("{name}: {}", line.trim())));
    }
    assert!(found.is_empty(), "these belong into host-platform:\n{}", found.join("\n"));
}
