//! `tdlasm link`, and what `tdlasm asm` needs to link at once.

use std::path::{Path, PathBuf};

use clap::Args;

use tdlasm::link::{Layout, Program, Region, Rule, link};
use tdlasm::module::{Module, SectionKind};

use tdlasm::object::read_object;

use super::Failed;
use super::files::{self, Format};

/// What `tdlasm link` takes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// ELF objects, in the order of their sections
    #[arg(required = true)]
    objects: Vec<PathBuf>,
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
    let modules: Vec<Module> =
        arguments.objects.iter().map(|path| read_module(path)).collect::<Result<_, _>>()?;
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

fn read_module(path: &Path) -> Result<Module, Failed> {
    let data = files::read(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    read_object(&data, &name).map_err(|error| {
        eprintln!("error: {}: {error}", path.display());
        eprintln!("help: make it with `tdlasm asm SOURCE -o {}`", path.display());
        Failed::Source
    })
}

/// Reads and checks a layout file.
pub(crate) fn read_layout(path: &Path) -> Result<Layout, Failed> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        eprintln!("error: cannot read {}: {error}", path.display());
        Failed::File
    })?;
    Layout::parse(&text).map_err(|error| {
        eprintln!("error: {}: {error}", path.display());
        Failed::Usage
    })
}

/// A layout that puts everything at 0, one section after the other.
pub(crate) fn whole_memory() -> Layout {
    let region = Region { name: "memory".into(), start: 0, size: 0x10000, fill: 0 };
    let rule = |section| Rule { section, module: None, region: "memory".into(), align: 1 };
    let rules = [SectionKind::Prog, SectionKind::Data, SectionKind::Blank].map(rule);
    Layout { regions: vec![region], rules: rules.into(), ..Layout::default() }
}

/// Links; says what is wrong if that fails.
pub(crate) fn link_or_say(modules: &[Module], layout: &Layout) -> Result<Program, Failed> {
    link(modules, layout).map_err(|errors| {
        for error in &errors.0 {
            eprintln!("error[{}]: {error}", error.code());
        }
        Failed::Source
    })
}
