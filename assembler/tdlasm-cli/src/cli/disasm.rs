//! `tdlasm disasm`.

use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit;
use cli_support::text::Escape;
use tdlasm::disasm::disassemble;
use tdlasm::image::{Image, Run, parse_intel_hex};
use tdlasm::object::read_executable;

use super::{ExitKind, files};

const ELF: &[u8] = b"\x7FELF";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Binary file, Intel HEX by its extension `.hex` or `.ihx`, or an ELF executable, whose
    /// symbols become labels
    file: PathBuf,
    /// Address of the first byte of a binary file
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

pub(crate) fn run(arguments: &Arguments) -> Result<(), ExitKind> {
    let (image, own) = program(&arguments.file, files::read(&arguments.file)?, arguments.origin)?;
    let mut names = match &arguments.symbols {
        Some(path) => symbols(path, &files::read(path)?)?,
        None => Names::new(),
    };
    names.extend(own);
    files::write(&arguments.output, disassemble(&image, &names).as_bytes())
}

fn program(path: &Path, content: Vec<u8>, origin: u16) -> Result<(Image, Names), ExitKind> {
    if content.starts_with(ELF) {
        let found = read_executable(&content).map_err(|error| wrong(path, &error))?;
        return Ok((found.image, found.symbols));
    }
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    if extension.is_some_and(|extension| extension == "hex" || extension == "ihx") {
        return parse_intel_hex(&String::from_utf8_lossy(&content))
            .map(|(image, _)| (image, Names::new()))
            .map_err(|error| wrong(path, &error));
    }
    if usize::from(origin) + content.len() > 0x10000 {
        let shown = path.escaped();
        let length = content.len();
        cli_support::eprint_message!(
            "error: {shown} has {length} bytes, which from {origin:04X}H extend beyond FFFFH"
        );
        cli_support::eprint_message!("help: give a lower --origin");
        return Err(exit::USAGE);
    }
    Ok((Image::new([Run { address: origin, bytes: content }]), Names::new()))
}

fn symbols(path: &Path, content: &[u8]) -> Result<Names, ExitKind> {
    if content.starts_with(ELF) {
        return read_executable(content)
            .map(|found| found.symbols)
            .map_err(|error| wrong(path, &error));
    }
    let text = String::from_utf8_lossy(content);
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let mut words = line.split_whitespace();
            let value = words.next().and_then(|word| u16::from_str_radix(word, 16).ok());
            match (value, words.next(), words.next()) {
                (Some(value), Some(name), None) => Ok((value, name.to_owned())),
                _ => Err(wrong(
                    path,
                    &format!(
                        "line {number}: invalid symbol line: expected VALUE NAME, such as 1F00 NAME"
                    ),
                )),
            }
        })
        .collect()
}

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> ExitKind {
    cli_support::eprint_message!("error: {}: {error}", path.escaped());
    exit::FAILED
}
