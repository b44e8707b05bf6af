//! Files that commands write: their formats, and writing them so that no half-written file is ever
//! seen.

use cli_support::text::Show;
use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;

use cli_support::files::write_whole;
use tdlasm::image::{intel_hex, s_records, tdl_hex};
use tdlasm::link::Program;
use tdlasm::object::write_executable;
use tdlasm::source::{DiskLoader, Loader, read_bounded, read_file};

use super::Failed;

/// The kinds of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The bytes from the first address to the last
    Bin,
    /// Intel HEX
    Hex,
    /// Intel HEX as the original assembler has it: the end record of type 00
    TdlHex,
    /// Motorola S-records
    Srec,
    /// ELF relocatable object, to be linked
    Object,
    /// TDL's own relocatable object, in digits unless the source says `.PBIN`
    Rel,
    /// TDL's own relocatable object in plain bytes
    Pbin,
    /// TDL's own relocatable object in digits, whatever the source says
    Phex,
    /// ELF executable
    Elf,
}

impl Format {
    /// The format asked for, or that of the file's extension.
    pub(crate) fn choose(asked: Option<Format>, path: &Path) -> Result<Format, Failed> {
        let extension =
            path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
        match (asked, extension.as_deref()) {
            (Some(format), _) => Ok(format),
            (None, Some("bin" | "rom" | "com")) => Ok(Format::Bin),
            (None, Some("hex" | "ihx")) => Ok(Format::Hex),
            (None, Some("srec" | "s19" | "mot")) => Ok(Format::Srec),
            (None, Some("o" | "obj")) => Ok(Format::Object),
            (None, Some("rel")) => Ok(Format::Rel),
            (None, Some("elf")) => Ok(Format::Elf),
            (None, _) => {
                cli_support::tell!("error: the extension of {} tells no format", path.shown());
                cli_support::tell!(
                    "help: use .bin, .hex, .srec, .o, .rel or .elf, or say --format"
                );
                Err(Failed::Usage)
            }
        }
    }

    /// The file's content for a linked program; gaps of a flat file hold `fill`.
    pub(crate) fn encode(self, program: &Program, fill: u8) -> Result<Vec<u8>, Failed> {
        match self {
            Format::Bin => Ok(program.image.flat(fill)),
            Format::Hex => Ok(intel_hex(&program.image, program.entry).into_bytes()),
            Format::TdlHex => Ok(tdl_hex(&program.image, program.entry).into_bytes()),
            Format::Srec => Ok(s_records(&program.image, "tdlasm", program.entry).into_bytes()),
            Format::Elf => Ok(write_executable(program)),
            Format::Object | Format::Rel | Format::Pbin | Format::Phex => {
                cli_support::tell!("error: a linked program is no relocatable object");
                cli_support::tell!("help: write .elf, .bin or .hex");
                Err(Failed::Usage)
            }
        }
    }
}

/// Reads files from the disk, and `-` from standard input.
pub(crate) struct CommandLoader;

impl Loader for CommandLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path.as_os_str() != "-" {
            return DiskLoader.load(path);
        }
        read_bounded(io::stdin().lock())
    }

    fn exists(&self, path: &Path) -> bool {
        DiskLoader.exists(path)
    }
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failed> {
    read_file(path).map_err(|error| {
        cli_support::tell!("error: cannot read {}: {error}", path.shown());
        Failed::File
    })
}

/// Writes a file aside and renames it; `-` is standard output.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failed> {
    let result = if path.as_os_str() == "-" { print(content) } else { write_whole(path, content) };
    result.map_err(|error| {
        cli_support::tell!("error: cannot write {}: {error}", path.shown());
        cli_support::tell!("help: check that the folder exists and may be written to");
        Failed::File
    })
}

/// Writes to standard output; a reader that has seen enough may go.
fn print(content: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(content).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// A number on the command line: decimal, or hexadecimal as `0x1F` or `1FH`.
pub(crate) fn parse_number(text: &str) -> Result<u16, String> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_suffix(['H', 'h']));
    let number = match hex {
        Some(digits) => u16::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| format!("{text} is no number in 0..65535; write 31, 1FH or 0x1F"))
}
