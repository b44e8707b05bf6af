//! `tdlasm disasm`.

use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit;
use cli_support::text::Escape;
use tdlasm::disasm::disassemble;
use tdlasm::image::{Image, ImageRun, parse_intel_hex, parse_s_records};
use tdlasm::link::{Layout, parse_symbol_file};
use tdlasm::object::{FileKind, ObjectError, file_kind, read_executable, read_modules};

use super::ReportedError;
use super::files::{self, Format};
use super::link::link_and_report;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Intel HEX, S-records, an ELF executable, or an ELF or TDL object, whose symbols become
    /// labels; any other file is a binary
    file: PathBuf,
    /// Format of the file, instead of that of its content
    #[arg(long)]
    format: Option<Format>,
    /// Address of the first byte of a binary file or object
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = files::parse_number)]
    origin: u16,
    /// Take labels from this symbol file (`VALUE NAME` a line, hexadecimal) or ELF executable
    #[arg(long, value_name = "FILE")]
    symbols: Option<PathBuf>,
    /// File to write; standard output without it
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

type Names = Vec<(u16, String)>;

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReportedError> {
    let content = files::read(&arguments.file)?;
    let format = arguments.format.unwrap_or_else(|| recognise(&arguments.file, &content));
    let (image, own) = program(&arguments.file, content, format, arguments.origin)?;
    let mut names = match &arguments.symbols {
        Some(path) => symbols(path, &files::read(path)?)?,
        None => Names::new(),
    };
    names.extend(own);
    files::write(&arguments.output, disassemble(&image, &names).as_bytes())
}

/// Returns the format of a file's content, or else that of its extension; reports a contradiction.
fn recognise(path: &Path, content: &[u8]) -> Format {
    let named = Format::of_extension(path).unwrap_or(Format::Bin);
    let (found, what) = match file_kind(content) {
        Some(FileKind::Elf) => (Format::Elf, "an ELF file"),
        Some(FileKind::IntelHex) => (Format::Hex, "Intel HEX"),
        Some(FileKind::SRecords) => (Format::Srec, "S-records"),
        Some(FileKind::TdlObject) => (Format::Rel, "a TDL object"),
        None => return named,
    };
    if named == Format::Bin && path.extension().is_some() {
        let shown = path.escaped();
        cli_support::eprint_warning!("{shown} is read as {what}, by its content");
        cli_support::eprint_help!("add --format bin to disassemble the file's own bytes");
    }
    found
}

fn program(
    path: &Path,
    content: Vec<u8>,
    format: Format,
    origin: u16,
) -> Result<(Image, Names), ReportedError> {
    let text = || String::from_utf8_lossy(&content);
    let parsed = match format {
        Format::Bin => return binary(path, content, origin),
        Format::Hex | Format::TdlHex => parse_intel_hex(&text()),
        Format::Srec => parse_s_records(&text()),
        Format::Elf | Format::Object | Format::Rel | Format::Pbin | Format::Phex => {
            return executable_or_object(path, &content, origin);
        }
    };
    parsed.map(|(image, _)| (image, Names::new())).map_err(|error| {
        let failed = wrong(path, &error);
        cli_support::eprint_help!("add --format bin if it is a binary file");
        failed
    })
}

fn binary(path: &Path, content: Vec<u8>, origin: u16) -> Result<(Image, Names), ReportedError> {
    if usize::from(origin) + content.len() > 0x10000 {
        let shown = path.escaped();
        let length = content.len();
        cli_support::eprint_error!(
            "{shown} has {length} bytes, which from {origin:04X}H extend beyond FFFFH"
        );
        cli_support::eprint_help!("give a lower --origin");
        return Err(exit::USAGE);
    }
    Ok((Image::new([ImageRun { address: origin, bytes: content }]), Names::new()))
}

/// Reads an executable, or links the modules of an object at `origin`.
fn executable_or_object(
    path: &Path,
    content: &[u8],
    origin: u16,
) -> Result<(Image, Names), ReportedError> {
    match read_executable(content) {
        Ok(found) => return Ok((found.image, found.symbols)),
        // Not an executable: perhaps an object.
        Err(ObjectError::NotExecutable | ObjectError::Format(_)) => {}
        Err(error) => return Err(wrong(path, &error)),
    }
    let modules = read_modules(content, "object").map_err(|error| wrong(path, &error))?;
    let program = link_and_report(&modules, &Layout::flat(origin))?;
    let symbols = program.symbols.iter().filter(|symbol| symbol.is_address);
    let names = symbols.map(|symbol| (symbol.value, symbol.name.to_string())).collect();
    Ok((program.image, names))
}

fn symbols(path: &Path, content: &[u8]) -> Result<Names, ReportedError> {
    if file_kind(content) == Some(FileKind::Elf) {
        return read_executable(content)
            .map(|found| found.symbols)
            .map_err(|error| wrong(path, &error));
    }
    parse_symbol_file(&String::from_utf8_lossy(content))
        .map_err(|error| wrong(path, &format!("line {}: {error}", error.line)))
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> ReportedError {
    cli_support::eprint_error!("{}: {error}", path.escaped());
    exit::FAILED
}
