//! `tdlasm asm`.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;

use tdlasm::diag::{Code, render};
use tdlasm::source::{DiskLoader, SourceMap};
use tdlasm::{Assembly, Failure, Options, assemble, listing};

use super::Failed;
use super::files::{self, Format};
use super::link::{link_or_say, read_layout, whole_memory};

/// What `tdlasm asm` takes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Source files, together one program; `.END` in any but the last ends that file
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// File to write; its extension tells the format. Without it the source is only checked
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Format to write, whatever the extension
    #[arg(long, requires = "output")]
    format: Option<Format>,
    /// Layout file (TOML) that says where sections go; without it `.PROG.` begins at 0
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// Define a symbol before the first line; also answers `NAME =\` in the source
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_define)]
    define: Vec<(String, u16)>,
    /// Look for inserted files in this folder too
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Let all characters of a symbol count, not the first six only
    #[arg(long)]
    long_symbols: bool,
    /// Write a listing with addresses, bytes and T-states
    #[arg(long, value_name = "FILE")]
    listing: Option<PathBuf>,
}

/// Runs `tdlasm asm`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failed> {
    let format = match &arguments.output {
        Some(path) => Some(Format::choose(arguments.format, path)?),
        None => None,
    };
    let options = Options {
        defines: arguments.define.clone(),
        include_dirs: arguments.include.clone(),
        long_symbols: arguments.long_symbols,
        build_time: std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok()),
        listing: arguments.listing.is_some(),
    };
    let assembly =
        assemble(&DiskLoader, &arguments.files, &options).map_err(|failure| fail(&failure))?;
    say(&assembly.warnings, &assembly.sources);
    for message in &assembly.messages {
        eprintln!("{message}");
    }
    write(arguments, format, &assembly)
}

fn write(arguments: &Arguments, format: Option<Format>, assembly: &Assembly) -> Result<(), Failed> {
    if let (Some(path), Some(format)) = (&arguments.output, format) {
        let layout = match &arguments.layout {
            Some(path) => read_layout(path)?,
            None => whole_memory(),
        };
        let program = link_or_say(&assembly.modules, &layout)?;
        files::write(path, &format.encode(&program, layout.fill()))?;
    }
    if let Some(path) = &arguments.listing {
        files::write(path, listing::render(&assembly.listing, &assembly.sources).as_bytes())?;
    }
    Ok(())
}

fn say(diagnostics: &[tdlasm::diag::Diagnostic], sources: &SourceMap) {
    if !diagnostics.is_empty() {
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        eprint!("{}", render::human(diagnostics, sources, colour));
    }
}

/// Shows the errors; if all are about files that cannot be read, the files are at fault.
fn fail(failure: &Failure) -> Failed {
    say(&failure.diagnostics, &failure.sources);
    let errors = failure.diagnostics.iter().filter(|one| one.is_error());
    let count = errors.clone().count();
    eprintln!("\n{count} error{}; nothing is written", if count == 1 { "" } else { "s" });
    if errors.clone().all(|one| one.code == Code::File) { Failed::File } else { Failed::Source }
}

/// `NAME=VALUE`; the value is decimal, or hexadecimal as `0x1F` or `1FH`. Without a value it is 1.
fn parse_define(text: &str) -> Result<(String, u16), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let wrong = || format!("{value} is no number in 0..65535; write 31, 1FH or 0x1F");
    let hex = value.strip_prefix("0x").or_else(|| value.strip_suffix(['H', 'h']));
    let number = match hex {
        Some(digits) => u16::from_str_radix(digits, 16).map_err(|_| wrong())?,
        None => value.parse().map_err(|_| wrong())?,
    };
    let valid = tdlasm::syntax::lex::symbol(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty());
    if valid { Ok((name.to_owned(), number)) } else { Err(format!("{name} is no symbol")) }
}
