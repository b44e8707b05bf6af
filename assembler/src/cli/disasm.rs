//! `tdlasm disasm`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use tdlasm::disasm::disassemble;
use tdlasm::image::{Image, Run, parse_intel_hex};

use super::Failed;
use super::files;

/// What `tdlasm disasm` takes.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Binary file, or Intel HEX by its extension `.hex`
    file: PathBuf,
    /// Address of the first byte of a binary file
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = files::parse_number)]
    origin: u16,
    /// File to write; standard output without it
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

/// Runs `tdlasm disasm`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failed> {
    let content = std::fs::read(&arguments.file).map_err(|error| {
        eprintln!("error: cannot read {}: {error}", arguments.file.display());
        Failed::File
    })?;
    let image = image(&arguments.file, content, arguments.origin)?;
    files::write(&arguments.output, disassemble(&image, &BTreeMap::new()).as_bytes())
}

fn image(path: &Path, content: Vec<u8>, origin: u16) -> Result<Image, Failed> {
    let shown = path.display();
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("hex")) {
        return parse_intel_hex(&String::from_utf8_lossy(&content))
            .map(|(image, _)| image)
            .map_err(|error| {
                eprintln!("error: {shown}: {error}");
                Failed::Source
            });
    }
    if usize::from(origin) + content.len() > 0x10000 {
        eprintln!(
            "error: {shown} has {} bytes and passes FFFFH from {origin:04X}H on",
            content.len()
        );
        eprintln!("help: give a lower --origin");
        return Err(Failed::Usage);
    }
    Ok(Image::new([Run { address: origin, bytes: content }]))
}
