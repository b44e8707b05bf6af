//! `tdlasm link`, and the linking step of `tdlasm asm`.

use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit;
use cli_support::text::{Escape, MessageKind};
use tdlasm::archive::{LibraryError, Member, is_archive, pull, read_library};
use tdlasm::link::{Layout, Program, link};
use tdlasm::module::Module;
use tdlasm::object::read_modules;

use super::ReportedError;
use super::files::{self, Format};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// ELF and TDL objects, in the order of their sections, and archives, which are libraries
    #[arg(required = true)]
    objects: Vec<PathBuf>,
    /// Link modules from this archive or object if they define a symbol that is still needed (TDL
    /// modules: only if it is an entry point)
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
    /// Layout file (TOML) with the addresses of sections; without it they follow each other from 0
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// File to write, in the format of its extension
    #[arg(short, long)]
    output: PathBuf,
    /// Format of the output, instead of that of its extension
    #[arg(long)]
    format: Option<Format>,
    /// Write a map of sections and symbols
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Write the symbols, `VALUE NAME` a line
    #[arg(long, value_name = "FILE")]
    symbols: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReportedError> {
    let format = Format::choose(arguments.format, &arguments.output)?;
    let layout = match &arguments.layout {
        Some(path) => read_layout(path)?,
        None => whole_memory(),
    };
    let modules = read_inputs(arguments, &layout)?;
    let program = link_and_report(&modules, &layout)?;
    files::write(&arguments.output, &format.encode(&program, layout.fill())?)?;
    for (path, content) in
        [(&arguments.map, program.map()), (&arguments.symbols, program.symbol_file())]
    {
        if let Some(path) = path {
            files::write(path, content.as_bytes())?;
        }
    }
    Ok(())
}

/// Reads the modules of all objects, and those of the libraries that they need.
fn read_inputs(arguments: &Arguments, layout: &Layout) -> Result<Vec<Module>, ReportedError> {
    let mut modules = Vec::new();
    let mut members = Vec::new();
    for path in &arguments.objects {
        let data = files::read(path)?;
        if is_archive(&data) {
            members.extend(library(path, &data)?);
        } else {
            let read = read_modules(&data, &stem(path));
            modules.extend(read.map_err(|error| wrong(path, error.into()))?);
        }
    }
    for path in &arguments.library {
        members.extend(library(path, &files::read(path)?)?);
    }
    if modules.is_empty() {
        cli_support::eprint_error!("no object to link: all inputs are libraries");
        return Err(exit::USAGE);
    }
    Ok(pull(modules, &members, layout))
}

fn library(path: &Path, data: &[u8]) -> Result<Vec<Member>, ReportedError> {
    read_library(data, &stem(path)).map_err(|error| wrong(path, error))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn wrong(path: &Path, error: LibraryError) -> ReportedError {
    cli_support::eprint_error!("{}: {error}", path.escaped());
    cli_support::eprint_help!(
        "`tdlasm asm SOURCE -o FILE.o` makes objects, and `ar rc FILE.a FILE.o` archives"
    );
    exit::FAILED
}

pub(crate) fn read_layout(path: &Path) -> Result<Layout, ReportedError> {
    let text = String::from_utf8(files::read(path)?).map_err(|error| {
        cli_support::eprint_error!("{}: {error}", path.escaped());
        exit::USAGE
    })?;
    Layout::parse(&text).map_err(|error| {
        cli_support::eprint_error!("{}: {error}", path.escaped());
        exit::USAGE
    })
}

/// Returns a layout with all sections in sequence from address 0.
pub(crate) fn whole_memory() -> Layout {
    let mut layout = Layout::flat(0);
    layout.regions.iter_mut().for_each(|region| region.fill = 0);
    layout
}

/// Links, and prints the errors if that fails.
pub(crate) fn link_and_report(
    modules: &[Module],
    layout: &Layout,
) -> Result<Program, ReportedError> {
    link(modules, layout).map_err(|errors| {
        for error in &errors.0 {
            MessageKind::Error.eprint(Some(error.code), error);
        }
        exit::FAILED
    })
}
