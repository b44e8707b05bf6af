//! `tdlasm disasm`.

use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit;
use cli_support::text::Escape;
use program_formats::{
    DebugInfo, ProgramError, ProgramFormat, SymbolKind, read_debug_info, read_first_64_kib,
};
use tdlasm::disasm::disassemble;
use tdlasm::image::{Image, ImageRun};

use super::ReportedError;
use super::files::{self, Format};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Intel HEX, S-records, an ELF or COFF executable, or an ELF or TDL object, whose symbols become
    /// labels; any other file is a binary
    file: PathBuf,
    /// Format of the file, instead of that of its content
    #[arg(long)]
    format: Option<Format>,
    /// Address of the first byte of a binary file or object
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = files::parse_number)]
    origin: u16,
    /// Take labels from this symbol file, map or listing of any assembler or linker, or executable;
    /// repeatable
    #[arg(long, value_name = "FILE")]
    symbols: Vec<PathBuf>,
    /// File to write; standard output without it
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

type Names = Vec<(u16, String)>;

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReportedError> {
    let content = files::read(&arguments.file)?;
    let (image, own) = program(&arguments.file, content, arguments.format, arguments.origin)?;
    let mut names = Names::new();
    for path in &arguments.symbols {
        names.extend(symbols(path, &files::read(path)?)?);
    }
    names.extend(own);
    files::write(&arguments.output, disassemble(&image, &names).as_bytes())
}

fn program(
    path: &Path,
    content: Vec<u8>,
    format: Option<Format>,
    origin: u16,
) -> Result<(Image, Names), ReportedError> {
    let has_known_extension =
        Format::of_extension(path).is_some_and(|format| format != Format::Bin);
    let name = match format {
        Some(Format::Bin) => return binary(path, content, origin),
        // A damaged file is one of the format that its extension stands for.
        Some(Format::Hex | Format::TdlHex) => "a.hex".into(),
        Some(Format::Srec) => "a.srec".into(),
        None if path.extension().is_none() => "a.bin".into(),
        _ => path.to_string_lossy(),
    };
    let program = match read_first_64_kib(&content, &name, Some(origin)) {
        Ok(program) => program,
        Err(ProgramError::TooLong { .. }) => return binary(path, content, origin),
        Err(error) => {
            let failed = wrong(path, &error);
            cli_support::eprint_help!("add --format bin if it is a binary file");
            return Err(failed);
        }
    };
    if format.is_none() && !has_known_extension && path.extension().is_some() {
        warn_of_format(path, program.format);
    }
    for note in &program.debug.notes {
        cli_support::eprint_warning!("{}: {note}", path.escaped());
    }
    Ok((program.image, names(&program.debug)))
}

/// Warns that a file is not the binary that its name makes it.
fn warn_of_format(path: &Path, format: ProgramFormat) {
    let what = match format {
        ProgramFormat::Binary => return,
        ProgramFormat::IntelHex => "Intel HEX",
        ProgramFormat::SRecords => "S-records",
        ProgramFormat::Elf => "an ELF file",
        ProgramFormat::Coff => "a COFF file",
        ProgramFormat::Object => "an object",
        ProgramFormat::Cmd => "a TRSDOS program",
    };
    cli_support::eprint_warning!("{} is read as {what}, by its content", path.escaped());
    cli_support::eprint_help!("add --format bin to disassemble the file's own bytes");
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

/// Returns the addresses of labels.
fn names(info: &DebugInfo) -> Names {
    let labels = info.symbols.iter().filter(|symbol| symbol.kind != SymbolKind::Constant);
    labels
        .filter_map(|symbol| Some((u16::try_from(symbol.value).ok()?, symbol.name.clone())))
        .collect()
}

fn symbols(path: &Path, content: &[u8]) -> Result<Names, ReportedError> {
    match read_debug_info(content, &path.to_string_lossy()) {
        Ok(info) => Ok(names(&info)),
        Err(error) => {
            let message = error.in_file(&path.escaped().to_string());
            cli_support::eprint_error!("{message}");
            Err(exit::FAILED)
        }
    }
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> ReportedError {
    cli_support::eprint_error!("{}: {error}", path.escaped());
    exit::FAILED
}
