//! Help of the program, with its subcommands grouped by task.

use std::fmt::Write;

use clap::Command;

/// Tasks and their subcommands.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Test a board", &["run", "diff", "exhaust", "doctor"]),
    ("Test your own routines", &["test", "new"]),
    ("Evaluate positions on a board", &["residues", "explain", "prizes", "behaviours"]),
    (
        "Analyse positions on the host",
        &["positions", "captures", "swap", "compare-see", "differences", "relations"],
    ),
    ("Debug and profile the Z80 code", &["why", "debug", "gdb", "dap", "profile", "coverage"]),
    ("Serve boards without hardware", &["sim", "standin"]),
    ("Other", &["corpus", "completions", "man", "help"]),
];

/// Column at which descriptions begin, and the width of a line.
const INDENT: usize = 16;
const WIDTH: usize = 100;

/// Groups the subcommands in the help of `command`.
pub(super) fn grouped(mut command: Command) -> Command {
    command.build();
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (task, names) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(template, "\n{task}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(template, "  {name:<14}{}", wrapped(&about));
        }
    }
    command.help_template(template + "\nOptions:\n{options}{after-help}")
}

/// Wraps a description to lines that are indented to its column.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut column = INDENT;
    for word in text.split(' ') {
        if column > INDENT && column + 1 + word.len() > WIDTH {
            lines += &format!("\n{:INDENT$}{word}", "");
            column = INDENT + word.len();
        } else {
            let space = if column > INDENT { " " } else { "" };
            lines += &format!("{space}{word}");
            column += space.len() + word.len();
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group_and_every_name_is_a_command() {
        let mut command = Cli::command();
        command.build();
        let mut there: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<_> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        there.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, there);
    }

    #[test]
    fn the_help_shows_each_command_with_its_text_in_lines_of_a_hundred_columns() {
        let help = grouped(Cli::command()).render_help().to_string();
        for (task, names) in GROUPS {
            assert!(help.contains(&format!("\n{task}:\n")), "{help}");
            for name in names {
                assert!(help.contains(&format!("\n  {name:<14}")), "{name}: {help}");
            }
        }
        let longest = help.lines().map(str::len).max();
        assert!(longest.is_some_and(|length| length <= WIDTH), "{help}");
        assert!(help.contains("Exit codes:\n    0"), "{help}");
    }
}
