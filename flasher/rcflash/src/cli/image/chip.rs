//! The image of a ROM chip, as a file for an EPROM programmer.

use cli_support::text::Escape;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::programmer::{CHIPS, Chip, ChipContent, ChipLayout, Format, reject_hex_text};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, USAGE};
use cli_support::file_roles::{NamedFile, refuse_overwriting};
use cli_support::files::write_output;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use tdlasm::image::Image;
use tdlasm::link::ChecksumKind;

use super::burn::{BurnArgs, BurnPlan};
use crate::cli::program_file::{ProgramFile, read_file};

/// Heading of the help.
const CHIP: &str = "Chip";

#[derive(Args)]
pub(super) struct ChipArgs {
    /// Content of the chip from 0000h: Intel HEX if named .hex, else binary [default: the monitor]
    file: Option<PathBuf>,
    /// Chip [default: the board's]; --list-chips lists them
    #[arg(long, value_name = "NAME", value_parser = parse_chip, help_heading = CHIP)]
    chip: Option<Chip>,
    /// Size of the chip in KiB, instead of its name
    #[arg(
        long,
        value_name = "KIB",
        value_parser = clap::value_parser!(u64).range(1..=16384),
        help_heading = CHIP,
        hide_short_help = true
    )]
    size: Option<u64>,
    /// Size in KiB of the pages that jumpers select [default: the board's]
    #[arg(
        long,
        value_name = "KIB",
        value_parser = clap::value_parser!(u64).range(1..=16384),
        help_heading = CHIP,
        hide_short_help = true
    )]
    page: Option<u64>,
    /// Put the content into this page only, or FILE into this page; repeatable
    ///
    /// With FILE, the content goes into all other pages.
    #[arg(long, value_name = "N[=FILE]", value_delimiter = ',', help_heading = CHIP)]
    bank: Vec<Bank>,
    /// Fill byte, in hexadecimal; a blank chip reads FF
    #[arg(
        long,
        value_name = "HEX",
        default_value = "FF",
        value_parser = parse_byte,
        help_heading = CHIP,
        hide_short_help = true
    )]
    fill: u8,
    /// Split a file that is larger than the chip into NAME-1.bin, NAME-2.bin and so on
    #[arg(
        long,
        requires = "file",
        conflicts_with_all = ["page", "bank", "program"],
        help_heading = CHIP,
        hide_short_help = true
    )]
    split: bool,
    #[command(flatten)]
    burn: BurnArgs,
}

fn parse_chip(name: &str) -> Result<Chip, String> {
    Chip::from_name(name).ok_or_else(|| {
        let names: Vec<_> = CHIPS.iter().map(|chip| chip.name).collect();
        format!("invalid chip '{name}': expected {}; for other chips, use --size", names.join(", "))
    })
}

fn parse_byte(text: &str) -> Result<u8, String> {
    let digits = text.trim_start_matches("0x").trim_end_matches(['h', 'H']);
    u8::from_str_radix(digits, 16)
        .map_err(|_| format!("invalid byte '{text}': expected two hexadecimal digits"))
}

#[derive(Debug, Clone)]
struct Bank {
    number: usize,
    file: Option<PathBuf>,
}

impl FromStr for Bank {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, file) = match text.split_once('=') {
            Some((number, file)) => (number, Some(file.into())),
            None => (text, None),
        };
        let number = number
            .parse()
            .map_err(|_| format!("invalid bank '{number}': expected a number from 0"))?;
        Ok(Self { number, file })
    }
}

pub(super) struct Socket {
    /// Size in bytes.
    pub(super) size: usize,
    /// The chip, if it is known.
    pub(super) chip: Option<Chip>,
}

impl ChipArgs {
    fn socket(&self, profile: &BoardProfile) -> Result<Socket, CommandError> {
        let size = self.size.map(|kib| kib as usize * 1024);
        match (self.chip, size) {
            (Some(chip), Some(size)) if chip.size != size => {
                let problem = format!(
                    "--size {} contradicts --chip {}, which has {} KiB; omit --size",
                    size / 1024,
                    chip.name,
                    chip.size / 1024
                );
                Err(CommandError::new(USAGE, problem))
            }
            (Some(chip), _) => Ok(Socket { size: chip.size, chip: Some(chip) }),
            (None, Some(size)) => Ok(Socket { size, chip: None }),
            (None, None) => {
                let size = profile.chip.kind.size();
                let chip = CHIPS.into_iter().find(|chip| chip.size == size);
                Ok(Socket { size, chip })
            }
        }
    }

    /// Returns the size of the pages, for a content of `length` bytes.
    fn page_size(&self, profile: &BoardProfile, socket: &Socket, length: usize) -> usize {
        let whole = profile.banks.is_some() // reset chooses the first page, registers the others
            || length == socket.size && self.bank.is_empty();
        match self.page {
            Some(kib) => kib as usize * 1024,
            None if whole => socket.size,
            None => profile.rom.size().min(socket.size),
        }
    }

    /// Returns the content of the pages that no --bank overrides.
    fn content(&self, profile: &BoardProfile) -> Result<ChipContent, CommandError> {
        if let Some(file) = &self.file {
            return read_content(file, self.fill);
        }
        let monitor = build(profile, ProgramKind::Monitor)?;
        let name = format!("the monitor, build {:08X}", monitor.build);
        Ok(ChipContent { name, bytes: bytes_from_zero(&monitor.program.image, self.fill) })
    }

    fn lay_out(
        &self,
        socket: &Socket,
        page: usize,
        content: &ChipContent,
    ) -> Result<ChipLayout, CommandError> {
        let mut layout = ChipLayout::new(socket.size, page, self.fill)?;
        for bank in &self.bank {
            match &bank.file {
                Some(file) => layout.place(bank.number, &read_content(file, self.fill)?)?,
                None => layout.place(bank.number, content)?,
            }
        }
        if self.bank.iter().all(|bank| bank.file.is_some()) {
            layout.fill_free_banks(content)?;
        }
        Ok(layout)
    }
}

pub(super) fn write(
    args: &ChipArgs,
    profile: &BoardProfile,
    output: &Path,
    format: Format,
) -> CommandResult {
    let socket = args.socket(profile)?;
    let plan = args.burn.plan(socket.chip)?;
    let content = args.content(profile)?;
    if args.split {
        return write_split(args, profile, &plan, &socket, &content, output, format);
    }
    let page = args.page_size(profile, &socket, content.bytes.len());
    let layout = args.lay_out(&socket, page, &content)?;
    write_output(output, &format.encode(0, layout.bytes()))?;
    print_summary(output, &profile.name, &socket, &layout);
    plan.execute(output, layout.bytes())
}

/// Writes one file per chip, for content that needs several.
fn write_split(
    args: &ChipArgs,
    profile: &BoardProfile,
    plan: &BurnPlan,
    socket: &Socket,
    content: &ChipContent,
    output: &Path,
    format: Format,
) -> CommandResult {
    let parts = content.bytes.chunks(socket.size);
    let outputs: Vec<_> = (1..=parts.len()).map(|part| numbered_path(output, part)).collect();
    let named: Vec<_> =
        outputs.iter().map(|path| NamedFile::new("a part of --output", path)).collect();
    let input = args.file.as_deref().map(|path| NamedFile::new("FILE", path));
    refuse_overwriting(&named, input.as_slice())?;
    for ((index, part), output) in parts.enumerate().zip(&outputs) {
        let name = format!("{}, part {}", content.name, index + 1);
        let mut layout = ChipLayout::new(socket.size, socket.size, args.fill)?;
        layout.place(0, &ChipContent { name, bytes: part.to_vec() })?;
        write_output(output, &format.encode(0, layout.bytes()))?;
        print_summary(output, &profile.name, socket, &layout);
        plan.execute(output, layout.bytes())?;
    }
    Ok(0)
}

/// Returns the path with a number, such as `rom-1.bin` for `rom.bin`.
fn numbered_path(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = path.extension().map_or_else(String::new, |end| format!(".{}", end.escaped()));
    path.with_file_name(format!("{stem}-{number}{end}"))
}

fn read_content(file: &Path, fill: u8) -> Result<ChipContent, CommandError> {
    let name = file.escaped().to_string();
    let bytes = match read_file(file, Some(0))? {
        ProgramFile::Binary(_, bytes) => {
            reject_hex_text(&name, &bytes)?;
            bytes
        }
        ProgramFile::Image(image, _) => bytes_from_zero(&image, fill),
    };
    Ok(ChipContent { name, bytes })
}

/// Returns the bytes of an image from address 0.
fn bytes_from_zero(image: &Image, fill: u8) -> Vec<u8> {
    let first = image.bounds().map_or(0, |(first, _)| usize::from(first));
    let mut bytes = vec![fill; first];
    bytes.extend(image.flat(fill));
    bytes
}

fn print_summary(output: &Path, board: &str, socket: &Socket, layout: &ChipLayout) {
    let chip = socket.chip.map_or_else(String::new, |chip| format!(" for a {}", chip.name));
    let length = layout.bytes().len();
    let used = layout.used();
    cli_support::eprint_message!(
        "{}: {length} bytes{chip} of the board {board}, {} of them fill",
        output.escaped(),
        length - used
    );
    // Programmers show the sum; files are compared by the CRC of zlib and `cksum -a crc32b`.
    let sum: u32 = layout.bytes().iter().map(|byte| u32::from(*byte)).sum();
    let crc = ChecksumKind::Crc32.of(layout.bytes());
    cli_support::eprint_message!("  checksum {sum:08X} (the sum of all bytes), CRC-32 {crc:08X}");
    let owners = layout.owners();
    let what = |owner: &Option<String>| owner.clone().unwrap_or_else(|| "blank".to_owned());
    match owners {
        [only] => cli_support::eprint_message!("  {}", what(only)),
        [first, rest @ ..] if rest.iter().all(|owner| owner == first) => {
            let count = owners.len();
            let name = what(first);
            cli_support::eprint_message!("  {name}, in all {count} banks, for any jumper setting");
        }
        _ => {
            for (bank, owner) in owners.iter().enumerate() {
                cli_support::eprint_message!(
                    "  bank {bank} ({}): {}",
                    layout.jumpers(bank),
                    what(owner)
                );
            }
        }
    }
}
