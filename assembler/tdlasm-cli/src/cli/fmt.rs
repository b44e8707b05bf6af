//! `tdlasm fmt`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use cli_support::exit;
use cli_support::text::Escape;
use tdlasm::Notation;
use tdlasm::source::{DiskLoader, Loader};
use tdlasm_tools::fmt::{Error, Options, format};

use super::files::{self, CommandLoader};
use super::{ReportedError, project};

const LAYOUT: &str = "\
Labels stand in column 0, operators in column 8, operands one blank behind them (or in column 16 \
if most of the file's do), comments in column 32. Operands, comments and the assembled bytes are \
unchanged. See the language manual, docs/LANGUAGE.md.

Examples:
  tdlasm fmt monitor.asm                formats the file in place
  tdlasm fmt --check src                lists the files that it would change
  tdlasm fmt < monitor.asm              from standard input to standard output";

#[derive(Debug, Args)]
#[command(after_help = LAYOUT)]
pub(crate) struct Arguments {
    /// Source files, or folders with .asm and .z80 files; without any, or with `-`, standard input to
    /// standard output
    files: Vec<PathBuf>,
    /// Change nothing; list the files that are not formatted so, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    /// Also search this folder for included files, whose macros change how lines are read
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Distinguish symbols by all characters instead of the first six
    #[arg(long)]
    long_symbols: bool,
    /// The source is in Zilog's notation; files named `*.z80` always are
    #[arg(long)]
    zilog: bool,
}

/// Runs `tdlasm fmt`; after a file that cannot be formatted, the others are still formatted.
pub(crate) fn run(arguments: &Arguments) -> Result<(), ReportedError> {
    let mut result = Ok(());
    for file in sources(&arguments.files)? {
        let laid_out =
            options(arguments, &file).and_then(|options| lay_out(&file, &options, arguments.check));
        if let Err(failed) = laid_out {
            // The exit code for an unreadable file takes precedence over that for a file to format.
            result = match (result, failed) {
                (Err(exit::ENVIRONMENT), _) | (_, exit::ENVIRONMENT) => Err(exit::ENVIRONMENT),
                (_, failed) => Err(failed),
            };
        }
    }
    result
}

/// Returns the options for a file: those of the command line, then those of its project.
fn options(arguments: &Arguments, file: &Path) -> Result<Options, ReportedError> {
    let mut options = Options {
        include_dirs: arguments.include.clone(),
        long_symbols: arguments.long_symbols,
        notation: if arguments.zilog { Notation::Zilog } else { Notation::Tdl },
        ..Options::default()
    };
    if let Some(project) = project::of(file)? {
        project.add_to(&mut options, project.program_of(file));
    }
    Ok(options.for_source(file))
}

fn lay_out(file: &Path, options: &Options, check: bool) -> Result<(), ReportedError> {
    let text = CommandLoader.load(file).map_err(|error| unreadable(file, &error))?;
    let formatted = format(&DiskLoader, file, &text, options).map_err(|error| {
        cli_support::eprint_error!("{error}");
        let help = match error {
            Error::Zilog(_) => "lay it out with --zilog, or name the file *.z80",
            _ => "find the macro that inserts its argument into a text, and bracket the argument",
        };
        cli_support::eprint_help!("{help}");
        exit::FAILED
    })?;
    let changed = formatted != text;
    if check && changed {
        files::write("-".as_ref(), format!("{}\n", file.escaped()).as_bytes())?;
        return Err(exit::FAILED);
    }
    let wanted = changed || file.as_os_str() == "-";
    if wanted && !check { files::write(file, &formatted) } else { Ok(()) }
}

fn unreadable(path: &Path, error: &io::Error) -> ReportedError {
    cli_support::eprint_error!("cannot read {}: {error}", path.escaped());
    exit::ENVIRONMENT
}

/// Returns the named files, and those in the named folders sorted by name.
fn sources(named: &[PathBuf]) -> Result<Vec<PathBuf>, ReportedError> {
    if named.is_empty() {
        return Ok(vec!["-".into()]);
    }
    let mut found = Vec::new();
    for path in named {
        let listed = if path.is_dir() { in_folder(path, &mut found) } else { Ok(()) };
        listed.map_err(|error| unreadable(path, &error))?;
        if !path.is_dir() {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn in_folder(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut entries = entries?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let is = |known| path.extension().is_some_and(|name| name.eq_ignore_ascii_case(known));
        let is_source = is("asm") || is("z80");
        // Links are not followed, since they can form cycles.
        if entry.file_type()?.is_dir() {
            in_folder(&path, found)?;
        } else if is_source {
            found.push(path);
        }
    }
    Ok(())
}
