//! `tdlasm link`, and what `tdlasm asm` needs to link at once.

use cli_support::text::Show;
use std::path::{Path, PathBuf};

use clap::Args;

use tdlasm::archive::{Library, LibraryError, is_archive, pull, read_library};
use tdlasm::link::{Layout, Program, link};
use tdlasm::module::Module;
use tdlasm::object::read_modules;

use super::Failed;
use super::files::{self, Format};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// ELF and TDL objects, in the order of their sections, and archives, which are libraries
    #[arg(required = true)]
    objects: Vec<PathBuf>,
    /// Link what is needed of this archive or object, after those named without `--library`; TDL
    /// modules are needed for their entry points only
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
    /// Layout file (TOML) that says where sections go; without it they follow each other from 0
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// File to write; its extension tells the format
    #[arg(short, long)]
    output: PathBuf,
    /// Format to write, whatever the extension
    #[arg(long)]
    format: Option<Format>,
    /// Write a map of sections and symbols
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Write the symbols, `VALUE NAME` a line
    #[arg(long, value_name = "FILE")]
    symbols: Option<PathBuf>,
}

/// Runs `tdlasm link`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failed> {
    let format = Format::choose(arguments.format, &arguments.output)?;
    let layout = match &arguments.layout {
        Some(path) => read_layout(path)?,
        None => whole_memory(),
    };
    let modules = read_inputs(arguments, &layout)?;
    let program = link_or_say(&modules, &layout)?;
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

/// The modules of all objects, and what they need of the libraries.
fn read_inputs(arguments: &Arguments, layout: &Layout) -> Result<Vec<Module>, Failed> {
    let mut modules = Vec::new();
    let mut libraries = Vec::new();
    for path in &arguments.objects {
        let data = files::read(path)?;
        if is_archive(&data) {
            libraries.push(library(path, &data)?);
        } else {
            let read = read_modules(&data, &stem(path));
            modules.extend(read.map_err(|error| wrong(path, error.into()))?);
        }
    }
    for path in &arguments.library {
        libraries.push(library(path, &files::read(path)?)?);
    }
    if modules.is_empty() {
        cli_support::tell!(
            "error: there are only libraries, and no object that needs something of them"
        );
        return Err(Failed::Usage);
    }
    Ok(pull(modules, &libraries, layout))
}

fn library(path: &Path, data: &[u8]) -> Result<Library, Failed> {
    read_library(data, &stem(path)).map_err(|error| wrong(path, error))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn wrong(path: &Path, error: LibraryError) -> Failed {
    cli_support::tell!("error: {}: {error}", path.shown());
    cli_support::tell!(
        "help: `tdlasm asm SOURCE -o FILE.o` makes objects, and `ar rc FILE.a FILE.o` archives"
    );
    Failed::Source
}

/// Reads and checks a layout file.
pub(crate) fn read_layout(path: &Path) -> Result<Layout, Failed> {
    let text = String::from_utf8(files::read(path)?).map_err(|error| {
        cli_support::tell!("error: {}: {error}", path.shown());
        Failed::Usage
    })?;
    Layout::parse(&text).map_err(|error| {
        cli_support::tell!("error: {}: {error}", path.shown());
        Failed::Usage
    })
}

/// A layout that puts everything at 0, one section after the other.
pub(crate) fn whole_memory() -> Layout {
    let mut layout = Layout::flat(0);
    layout.regions.iter_mut().for_each(|region| region.fill = 0);
    layout
}

/// Links; says what is wrong if that fails.
pub(crate) fn link_or_say(modules: &[Module], layout: &Layout) -> Result<Program, Failed> {
    link(modules, layout).map_err(|errors| {
        for error in &errors.0 {
            cli_support::tell!("error[{}]: {error}", error.code());
        }
        Failed::Source
    })
}
