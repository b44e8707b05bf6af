//! Finds the command lines in a page: indented, or fenced as `sh`, and starting with a program.

/// The programs with which a command line starts in these documents.
const PROGRAMS: [&str; 10] = [
    "tdlasm",
    "rcflash",
    "hw-tests",
    "hw-inspect",
    "sargon",
    "cargo",
    "minipro",
    "ar",
    "gdb-multiarch",
    "git",
];

/// A command line and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
    /// `true` if it needs a program that is neither ours nor part of a base system, or a file that
    /// such a line of the page creates.
    pub(crate) needs_installed: bool,
}

/// Returns the file that a line creates with an installed program; `None` if it uses none.
fn made_by_installed(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    match words.next()? {
        "gdb-multiarch" => Some(""),
        "ar" => words.nth(1),
        _ if line.contains("--rig mame") => {
            Some(words.skip_while(|word| *word != "--record").nth(1).unwrap_or_default())
        }
        _ => None,
    }
}

/// Returns all command lines of a page.
pub(crate) fn command_lines(page: &str) -> Vec<CommandLine> {
    let mut fence = None;
    let mut found = Vec::new();
    let mut made = Vec::new();
    for (index, line) in page.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language) };
            continue;
        }
        let text = match (fence, line.strip_prefix("    ")) {
            (Some("sh"), _) => line,
            (None, Some(indented)) => indented,
            _ => continue,
        };
        let program = text.split_whitespace().next().unwrap_or_default();
        if PROGRAMS.contains(&program) {
            let file = made_by_installed(text);
            made.extend(file.filter(|file| !file.is_empty()));
            let mut files = text.split_whitespace().map(|word| word.trim_start_matches("replay:"));
            let needs_made = files.any(|file| made.contains(&file));
            let needs_installed = file.is_some() || needs_made;
            found.push(CommandLine { line: index + 1, text: text.to_owned(), needs_installed });
        }
    }
    found
}

/// Checks with a sample page that command lines are found.
pub(crate) fn check() {
    let page = "text `tdlasm asm`\n\n    tdlasm asm a.asm   # why\n    other thing\n\n```sh\nrcflash ports\n```\n\
                ```toml\n    hw-tests = 1\n```\n    cargo test\n";
    let found = command_lines(page).into_iter().map(|one| (one.line, one.text));
    let found: Vec<_> = found.collect();
    let expected = [(3, "tdlasm asm a.asm   # why"), (7, "rcflash ports"), (12, "cargo test")];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    let page = "    ar rc a.a b.o\n    tdlasm link a.a\n    tdlasm asm c\n    hw-tests run --rig mame \
                --record r\n    hw-tests run --rig replay:r\n";
    let needs: Vec<_> = command_lines(page).iter().map(|one| one.needs_installed).collect();
    assert_eq!(needs, [true, true, false, true, true]);
}
