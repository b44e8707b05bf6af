//! Completions for shells and manual pages, from a command's own description of its arguments, for
//! every program of the project; and what such a description lacks.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::ContextValue;
use clap::{Args, Command, FromArgMatches};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::exit::{Failure, Outcome, RIG};
use crate::files::write_whole;
use crate::text::{Show, tell_coloured, tell_text, visible};

/// Parses the command line of a program. The words of the user in a message have nothing hidden in
/// them; help and version are printed.
///
/// # Errors
/// The exit code with which the program ends: there is nothing to run.
pub fn parse<P: FromArgMatches>(command: Command) -> Result<P, ExitCode> {
    command.try_get_matches().and_then(|found| P::from_arg_matches(&found)).map_err(|error| {
        let error = in_one_line(error);
        if error.use_stderr() {
            let text = error.render();
            let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            match colour {
                true => tell_coloured(&text.ansi().to_string()),
                false => tell_text(&text.to_string()),
            }
        } else {
            let _ = error.print(); // a reader that has had enough is no failure
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(crate::exit::USAGE))
    })
}

/// Shows the words of the user in an error as they are: one with a line break in it would otherwise
/// begin a line of its own.
fn in_one_line(mut error: clap::Error) -> clap::Error {
    let shown: Vec<_> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(visible(text).into()))),
            _ => None,
        })
        .collect();
    for (kind, value) in shown {
        error.insert(kind, value);
    }
    error
}

/// The subcommand that prints completions.
#[derive(Debug, Clone, Args)]
#[command(about = "Print a script that completes commands in a shell")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Examples for the help of a program.
    #[must_use]
    pub fn examples(program: &str) -> String {
        format!(
            "Examples:
  {program} completions bash > ~/.local/share/bash-completion/completions/{program}
  {program} completions zsh > ~/.zfunc/_{program}
  {program} completions fish > ~/.config/fish/completions/{program}.fish"
        )
    }

    /// The script for the shell.
    #[must_use]
    pub fn script(&self, mut command: Command) -> Vec<u8> {
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        generate(self.shell, &mut command, name, &mut script);
        script
    }
}

/// The subcommand that makes manual pages.
#[derive(Debug, Clone, Args)]
#[command(about = "Make manual pages")]
pub struct ManArgs {
    /// Write the pages of all subcommands into this folder, such as ~/.local/share/man/man1;
    /// without it, the program's own page goes to standard output
    folder: Option<PathBuf>,
}

impl ManArgs {
    /// Examples for the help of a program.
    #[must_use]
    pub fn examples(program: &str) -> String {
        let shown = format!("{program} man | man -l -");
        let written = format!("{program} man ~/.local/share/man/man1");
        format!(
            "Examples:
  {shown:37}  shows the program's own page
  {written:37}  writes it and those of all subcommands"
        )
    }

    /// Writes the pages into the folder, or the program's own to `out`; what there is to say of
    /// that.
    ///
    /// # Errors
    /// What the system said.
    pub fn make(&self, command: Command, out: &mut dyn io::Write) -> io::Result<Option<String>> {
        let pages = pages(command)?;
        let Some(folder) = &self.folder else {
            return pages.first().map_or(Ok(()), |page| out.write_all(&page.text)).map(|()| None);
        };
        write_pages(&pages, folder)?;
        Ok(Some(format!("{} pages in {}", pages.len(), folder.shown())))
    }
}

/// A manual page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The file's name, such as `rcflash-write.1`.
    pub file: String,
    /// Its text, for `man`.
    pub text: Vec<u8>,
}

/// The pages of a program and of its subcommands; the program's own comes first.
///
/// # Errors
/// None in practice: the pages are made in memory.
pub fn pages(command: Command) -> io::Result<Vec<Page>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let version = command.get_version().unwrap_or_default();
    let source = format!("{} {version}", command.get_name());
    let mut pages = vec![page(&command, &source)?];
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        pages.push(page(subcommand, &source)?);
    }
    Ok(pages)
}

/// Writes pages into a folder, which is made if it is not there.
fn write_pages(pages: &[Page], folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    pages.iter().try_for_each(|page| write_whole(&folder.join(&page.file), &page.text))
}

fn page(command: &Command, source: &str) -> io::Result<Page> {
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
        more_sections(&more.to_string()).to_writer(&mut text)?;
    }
    Ok(Page { file: man.get_filename(), text })
}

/// Returns what stands below a command's arguments: examples and exit codes get sections of their
/// own, and indented lines stay lines.
fn more_sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut verbatim = false;
    let mut begun = false;
    for line in text.lines() {
        let indented = line.starts_with("  ");
        if indented != verbatim {
            roff.control(if indented { "nf" } else { "fi" }, []);
            verbatim = indented;
        }
        let (heading, rest) = heading(line);
        match heading {
            Some(heading) => drop(roff.control("SH", [heading])),
            None if !begun => drop(roff.control("SH", ["NOTES"])),
            None => {}
        }
        begun = true;
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

/// The section that a line begins, and what stands in the line besides.
fn heading(line: &str) -> (Option<&'static str>, &str) {
    let headings = [
        ("Examples:", "EXAMPLES"),
        ("Example:", "EXAMPLES"),
        ("Exit codes:", "EXIT STATUS"),
        ("Keys:", "KEYS"),
    ];
    let found = headings.iter().find_map(|(word, name)| Some((*name, line.strip_prefix(word)?)));
    found.map_or((None, line), |(name, rest)| (Some(name), rest.trim_start()))
}

/// Returns what a command's description lacks: a line of help for each command and argument, and an
/// example for each subcommand. Empty when nothing does; tests look at it.
#[must_use]
pub fn gaps(command: &Command) -> Vec<String> {
    let mut command = command.clone().disable_help_subcommand(true);
    // Arguments may be deferred.
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

/// Prints the script for a shell.
///
/// # Errors
/// Standard output failed.
pub fn completions(args: &CompletionsArgs, command: Command) -> Outcome {
    print(&args.script(command))
}

/// Prints the program's manual page, or writes those of all subcommands.
///
/// # Errors
/// The pages can't be written.
pub fn man(args: &ManArgs, command: Command) -> Outcome {
    let mut page = Vec::new();
    let said = args
        .make(command, &mut page)
        .map_err(|error| Failure::new(RIG, format!("can't write the manual pages: {error}")))?;
    if let Some(said) = said {
        crate::tell!("{said}");
    }
    print(&page)
}

fn print(text: &[u8]) -> Outcome {
    match io::stdout().write_all(text).and_then(|()| io::stdout().flush()) {
        // Whoever reads it has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(Failure::new(RIG, format!("can't write to standard output: {error}"))),
        Ok(()) => Ok(0),
    }
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
        let pages = pages(tool()).expect("pages");
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
        let gaps = gaps(&tool());
        let missing = ["bad has no example", "bad has no line of help", "bad: file has no help"];
        assert_eq!(gaps, missing);
    }

    #[test]
    fn a_script_names_the_subcommands() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = CompletionsArgs { shell }.script(tool());
            let script = String::from_utf8_lossy(&script);
            assert!(script.contains("good") && script.contains("--much") || shell == Shell::Fish);
        }
    }
}
