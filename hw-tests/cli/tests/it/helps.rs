//! The helps of all commands on a terminal of 80 columns.

use std::process::Command;

use crate::programs;

/// Returns the help of a command, wrapped as on the widest terminal: at 100 columns.
fn help(program: &str, command: &[&str]) -> String {
    let mut run = Command::new(programs::path(program));
    let output = run.args(command).arg("--help").env("COLUMNS", "1000").output();
    String::from_utf8(output.expect("it starts").stdout).expect("text")
}

/// Returns the names of the commands of a program.
fn commands(help: &str) -> Vec<&str> {
    let list = help.split("Commands:\n").nth(1).expect("a list").split("\n\n").next();
    let names = list.expect("commands").lines().filter_map(|line| line.split_whitespace().next());
    // The path in the example of `completions` is the shell's.
    names.filter(|name| !["help", "completions"].contains(name)).collect()
}

#[test]
fn tables_and_examples_fit_80_columns() {
    for program in ["rcflash", "tdlasm", "hw-tests", "hw-inspect", "sargon"] {
        let own = help(program, &[]);
        let names = commands(&own);
        assert!(names.len() >= 5, "{program}: {names:?}");
        let helps = names.iter().map(|name| help(program, &[name])).chain([own.clone()]);
        for help in helps {
            // Other lines are wrapped.
            let start = format!("  {program} ");
            let lines = help.lines().filter(|line| line.starts_with(&start));
            let long: Vec<_> = lines.filter(|line| line.chars().count() > 80).collect();
            assert!(long.is_empty(), "{long:#?}");
        }
    }
}
