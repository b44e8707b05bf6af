//! Command lines of all programs: parsing, completions, manual pages; a check for missing help.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ContextValue;
use clap::{ArgMatches, Args, Command, Parser};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::exit::{BUG, CommandError, CommandResult, ENVIRONMENT, USAGE, report_result};
use crate::file_roles::{ArgumentRole, check_arguments};
use crate::files::write_atomic;
use crate::output::print_bytes;
use crate::text::{
    Escape, MessageKind, eprint_coloured, eprint_escaped, escape_controls, has_json_messages,
};

/// Parses the command line of a program, runs its command, and returns the exit code: that of the
/// command, 0 after help or version, 2 for an invalid command line, or 70 after a panic.
///
/// A command line by which a command would overwrite a file that it reads is invalid; `roles` are
/// those of the arguments that name files.
pub fn main<P: Parser>(roles: &[ArgumentRole], run: fn(P) -> CommandResult) -> ExitCode {
    let parse_and_run = || match parse_args::<P>() {
        Ok((args, command, matches)) => {
            let checked = check_arguments(&command, &matches, roles);
            report_result(command.get_name(), checked.and_then(|()| run(args)))
        }
        Err(code) => code,
    };
    // The panic has been reported already; only the exit code is set here.
    std::panic::catch_unwind(parse_and_run).unwrap_or(ExitCode::from(BUG))
}

/// Prints help, version and errors, with the user's arguments escaped; returns the exit code then.
fn parse_args<P: Parser>() -> Result<(P, Command, ArgMatches), ExitCode> {
    let mut command = P::command();
    let parsed = command.try_get_matches_from_mut(std::env::args_os()).and_then(|matches| {
        let args = P::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok((args, matches))
    });
    let parsed = parsed.map(|(args, matches)| (args, command, matches));
    parsed.map_err(|error| {
        let error = escape_user_input(error);
        if error.use_stderr() {
            let text = error.render();
            if has_json_messages() {
                let text = text.to_string();
                // clap has no other form of the message.
                MessageKind::Error.eprint(None, text.trim_start_matches("error: ").trim_end());
                return ExitCode::from(USAGE);
            }
            let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            match colour {
                true => eprint_coloured(&text.ansi().to_string()),
                false => eprint_escaped(&text.to_string()),
            }
        } else {
            let _ = error.print(); // a closed pipe is not an error
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
    })
}

/// Escapes the user's arguments in an error: one with a line break could imitate a line of output.
fn escape_user_input(mut error: clap::Error) -> clap::Error {
    let shown: Vec<_> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => {
                Some((kind, ContextValue::String(escape_controls(text).into())))
            }
            _ => None,
        })
        .collect();
    for (kind, value) in shown {
        error.insert(kind, value);
    }
    error
}

/// Arguments of the subcommand `completions`.
#[derive(Debug, Clone, Args)]
#[command(about = "Print a shell completion script")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Returns the examples in the subcommand's help.
    pub fn examples(program: &str) -> String {
        format!(
            "Examples:
  {program} completions bash > ~/.local/share/bash-completion/completions/{program}
  {program} completions zsh > ~/.zfunc/_{program}
  {program} completions fish > ~/.config/fish/completions/{program}.fish"
        )
    }
}

/// Arguments of the subcommand `man`.
#[derive(Debug, Clone, Args)]
#[command(about = "Make manual pages")]
pub struct ManArgs {
    /// Write the pages of all subcommands into this folder, such as ~/.local/share/man/man1;
    /// without it, the program's own page goes to standard output
    folder: Option<PathBuf>,
}

impl ManArgs {
    /// Returns the examples in the subcommand's help.
    pub fn examples(program: &str) -> String {
        let shown = format!("{program} man | man -l -");
        let written = format!("{program} man ~/.local/share/man/man1");
        format!(
            "Examples:
  {shown:37}  shows the program's own page
  {written:37}  writes it and those of all subcommands"
        )
    }
}

struct ManualPage {
    /// The file's name, such as `rcflash-write.1`.
    file: String,
    /// The roff source.
    text: Vec<u8>,
}

/// Returns the pages of a program and of its subcommands, the program's own first.
fn render_pages(command: Command) -> io::Result<Vec<ManualPage>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let version = command.get_version().unwrap_or_default();
    let source = format!("{} {version}", command.get_name());
    let mut pages = vec![render_page(&command, &source)?];
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        pages.push(render_page(subcommand, &source)?);
    }
    Ok(pages)
}

fn write_pages(pages: &[ManualPage], folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    pages.iter().try_for_each(|page| write_atomic(&folder.join(&page.file), &page.text))
}

fn render_page(command: &Command, source: &str) -> io::Result<ManualPage> {
    let man = Man::new(command.clone()).source(source);
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.get_subcommands().any(|subcommand| !subcommand.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(more) = command.get_after_help() {
        after_help_sections(&more.to_string()).to_writer(&mut text)?;
    }
    Ok(ManualPage { file: man.get_filename(), text })
}

/// Returns the text after a command's arguments in roff. Examples and exit codes get their own
/// sections; indented lines are kept as lines.
fn after_help_sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut verbatim = false;
    let mut has_section = false;
    for line in text.lines() {
        let indented = line.starts_with("  ");
        if indented != verbatim {
            roff.control(if indented { "nf" } else { "fi" }, []);
            verbatim = indented;
        }
        let (heading, rest) = split_heading(line);
        match heading {
            Some(heading) => drop(roff.control("SH", [heading])),
            None if !has_section => drop(roff.control("SH", ["NOTES"])),
            None => {}
        }
        has_section = true;
        if !rest.is_empty() {
            roff.text([roman(rest)]);
        } else if heading.is_none() {
            roff.control("PP", []);
        }
    }
    if verbatim {
        roff.control("fi", []);
    }
    roff
}

/// Splits a line into the section that it starts, if any, and the rest of its text.
fn split_heading(line: &str) -> (Option<&'static str>, &str) {
    let headings = [
        ("Examples:", "EXAMPLES"),
        ("Example:", "EXAMPLES"),
        ("Exit codes:", "EXIT STATUS"),
        ("Keys:", "KEYS"),
    ];
    let found = headings.iter().find_map(|(word, name)| Some((*name, line.strip_prefix(word)?)));
    found.map_or((None, line), |(name, rest)| (Some(name), rest.trim_start()))
}

/// Returns a message per command and argument without help or example. For tests.
pub fn missing_help(command: &Command) -> Vec<String> {
    let mut command = command.clone().disable_help_subcommand(true);
    // clap may add arguments only when it builds the command.
    command.build();
    let mut gaps = Vec::new();
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        let below = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
        if !below.contains("Example") || !below.contains(&format!("{} {name}", command.get_name()))
        {
            gaps.push(format!("{name} has no example"));
        }
        if subcommand.get_about().is_none() {
            gaps.push(format!("{name} has no line of help"));
        }
        let silent = subcommand.get_arguments().filter(|argument| argument.get_help().is_none());
        gaps.extend(silent.map(|argument| format!("{name}: {} has no help", argument.get_id())));
    }
    gaps
}

/// Prints the completion script for a shell.
///
/// # Errors
/// Returns an error with exit code 3 if standard output cannot be written.
pub fn print_completions(args: &CompletionsArgs, command: Command) -> CommandResult {
    print_bytes(&script(args.shell, command)).map(|()| 0)
}

fn script(shell: Shell, mut command: Command) -> Vec<u8> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    script
}

/// Prints the program's manual page, or writes the pages of all subcommands into a folder.
///
/// # Errors
/// Returns an error with exit code 3 if the pages cannot be written.
pub fn write_or_print_pages(args: &ManArgs, command: Command) -> CommandResult {
    let cannot = |error: io::Error| {
        CommandError::new(ENVIRONMENT, format!("cannot write the manual pages: {error}"))
    };
    let pages = render_pages(command).map_err(cannot)?;
    let Some(folder) = &args.folder else {
        return print_bytes(&pages[0].text).map(|()| 0);
    };
    write_pages(&pages, folder).map_err(cannot)?;
    crate::eprint_message!("{} pages in {}", pages.len(), folder.escaped());
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    fn tool() -> Command {
        let good = Command::new("good").about("Does good").after_help(
            "Some words.\n\nExamples:\n  tool good --much    a lot of it\n  'tool' good -- \
             -x\n\nKeys: two",
        );
        let good = good.arg(Arg::new("much").long("much").help("How much"));
        let bad = Command::new("bad").arg(Arg::new("file"));
        Command::new("tool")
            .about("A tool")
            .after_help("Exit codes:\n  0  fine")
            .subcommands([good, bad])
    }

    #[test]
    fn every_subcommand_has_a_page_whose_examples_stay_lines() {
        let pages = render_pages(tool()).expect("pages");
        let files: Vec<_> = pages.iter().map(|page| page.file.as_str()).collect();
        assert_eq!(files, ["tool.1", "tool-good.1", "tool-bad.1"]);
        let good = String::from_utf8_lossy(&pages[1].text);
        let part = ".SH NOTES\nSome words.\n.PP\n.SH EXAMPLES\n.nf\n  tool good \\-\\-much    a \
        lot of it\n";
        assert!(good.contains(part), "{good}");
        assert!(good.contains(".fi\n.PP\n.SH KEYS\ntwo\n"), "{good}");
        let own = String::from_utf8_lossy(&pages[0].text);
        assert!(own.contains(".SH \"EXIT STATUS\"\n.nf\n  0  fine\n.fi"), "{own}");
        assert!(own.contains("tool\\-good(1)"), "{own}");
    }

    #[test]
    fn what_is_missing_is_named() {
        let gaps = missing_help(&tool());
        let missing = ["bad has no example", "bad has no line of help", "bad: file has no help"];
        assert_eq!(gaps, missing);
    }

    #[test]
    fn a_script_names_the_subcommands() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(shell, tool());
            let script = String::from_utf8_lossy(&script);
            // fish has options without their dashes.
            let option = if shell == Shell::Fish { "-l much" } else { "--much" };
            assert!(script.contains("good") && script.contains(option), "{shell}: {script}");
        }
    }
}
