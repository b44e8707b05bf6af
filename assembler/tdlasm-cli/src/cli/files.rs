//! Input and output files: formats, standard streams, and atomic writes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::ValueEnum;
use cli_support::exit;
use cli_support::file_roles::{NamedFile, refuse_overwriting};
use cli_support::files::write_atomic;
use cli_support::text::{Escape, print_bytes};
use tdlasm::image::{intel_hex, s_records, tdl_hex};
use tdlasm::link::Program;
use tdlasm::object::write_executable;
use tdlasm::source::{DiskLoader, Loader, read_bounded, read_file};

use super::ReportedError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The bytes from the first address to the last
    Bin,
    /// Intel HEX
    Hex,
    /// Intel HEX as ZASM writes it, with an end record of type 00
    TdlHex,
    /// Motorola S-records
    Srec,
    /// ELF relocatable object
    Object,
    /// TDL's relocatable object, in hexadecimal digits unless the source has `.PBIN`
    Rel,
    /// TDL's relocatable object, binary
    Pbin,
    /// TDL's relocatable object in hexadecimal digits, even if the source has `.PBIN`
    Phex,
    /// ELF executable
    Elf,
}

impl Format {
    /// Returns the format of `--format`, or that of the file's extension.
    pub(crate) fn choose(asked: Option<Format>, path: &Path) -> Result<Format, ReportedError> {
        asked.or_else(|| Self::of_extension(path)).ok_or_else(|| {
            cli_support::eprint_error!(
                "cannot choose a format by the extension of {}",
                path.escaped()
            );
            cli_support::eprint_help!("use .bin, .hex, .srec, .o, .rel or .elf, or add --format");
            exit::USAGE
        })
    }

    /// Returns the format that the extension of a file stands for.
    pub(crate) fn of_extension(path: &Path) -> Option<Format> {
        match path.extension()?.to_string_lossy().to_ascii_lowercase().as_str() {
            "bin" | "rom" | "com" => Some(Format::Bin),
            "hex" | "ihx" => Some(Format::Hex),
            "srec" | "s19" | "mot" => Some(Format::Srec),
            "o" | "obj" => Some(Format::Object),
            "rel" => Some(Format::Rel),
            "elf" => Some(Format::Elf),
            _ => None,
        }
    }

    /// Returns the file's content for a linked program; `fill` goes into the gaps of a binary file.
    pub(crate) fn encode(self, program: &Program, fill: u8) -> Result<Vec<u8>, ReportedError> {
        match self {
            Format::Bin => Ok(program.image.flat(fill)),
            Format::Hex => Ok(intel_hex(&program.image, program.entry).into_bytes()),
            Format::TdlHex => Ok(tdl_hex(&program.image, program.entry).into_bytes()),
            Format::Srec => Ok(s_records(&program.image, "tdlasm", program.entry).into_bytes()),
            Format::Elf => Ok(write_executable(program)),
            Format::Object | Format::Rel | Format::Pbin | Format::Phex => {
                cli_support::eprint_error!(
                    "a linked program cannot be written as a relocatable object"
                );
                cli_support::eprint_help!("write .elf, .bin or .hex");
                Err(exit::USAGE)
            }
        }
    }
}

/// Reads files from the disk, and `-` from standard input.
pub(crate) struct CommandLoader;

/// The texts of standard input and of pipes, which can be read only once.
static STREAMS: Mutex<BTreeMap<PathBuf, Vec<u8>>> = Mutex::new(BTreeMap::new());

impl Loader for CommandLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        let is_input = is_stream(path);
        if !is_input && path.is_file() {
            return DiskLoader.load(path);
        }
        let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = streams.get(path) {
            return Ok(text.clone());
        }
        let text =
            if is_input { read_bounded(io::stdin().lock())? } else { DiskLoader.load(path)? };
        Ok(streams.entry(path.to_owned()).or_insert(text).clone())
    }

    fn exists(&self, path: &Path) -> bool {
        DiskLoader.exists(path)
    }
}

/// Returns `true` for `-`, which is standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses to overwrite files that were found while others were read, such as included ones.
pub(crate) fn check_outputs<'p>(
    outputs: impl IntoIterator<Item = (&'static str, &'p Path)>,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Result<(), ReportedError> {
    let outputs = outputs.into_iter().map(|(option, path)| NamedFile::new(option, path));
    let inputs = inputs.into_iter().map(|path| NamedFile::new("a file that was read", path));
    let checked = refuse_overwriting(&outputs.collect::<Vec<_>>(), &inputs.collect::<Vec<_>>());
    checked.map_err(|error| {
        cli_support::eprint_error!("{}", error.message);
        error.code
    })
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ReportedError> {
    read_file(path).map_err(|error| {
        cli_support::eprint_error!("cannot read {}: {error}", path.escaped());
        exit::ENVIRONMENT
    })
}

/// Writes a file atomically; `-` is standard output.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), ReportedError> {
    let result = if is_stream(path) { print_bytes(content) } else { write_atomic(path, content) };
    result.map_err(|error| {
        cli_support::eprint_error!("cannot write {}: {error}", path.escaped());
        cli_support::eprint_help!("check that the folder exists and may be written to");
        exit::ENVIRONMENT
    })
}

/// Parses a number of the command line: decimal, or hexadecimal as `0x1F` or `1FH`.
pub(crate) fn parse_number(text: &str) -> Result<u16, String> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_suffix(['H', 'h']));
    let number = match hex {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "expected a number in 0..65535, such as 31, 1FH or 0x1F".to_owned())
}
