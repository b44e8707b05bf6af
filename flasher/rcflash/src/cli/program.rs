//! The program for the board: a file, or the built-in exchange evaluator.

use cli_support::text::Escape;
use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use firmware::ProgramKind;
use firmware::build::{BuildError, build};
use firmware::profile::BoardProfile;
use firmware_wire::flash_program;
use rcflash_link::flash::{FlashError, FlashImage, SECTOR};
use tdlasm::image::{Image, ImageRun};

use super::EvaluatorArgs;
use super::program_file::{ProgramFile, read_file};

#[derive(Args)]
pub(super) struct ProgramArgs {
    #[command(flatten)]
    evaluator: EvaluatorArgs,
    /// Program: Intel HEX, S-records, ELF or a binary [default: the built-in exchange evaluator]
    ///
    /// The format is detected from the content.
    #[arg(conflicts_with_all = ["behaviour", "sargon_dir"])]
    pub(super) file: Option<PathBuf>,
    /// Load address of a binary, in hexadecimal; with --flash, an address in the chip
    #[arg(long, value_name = "HEX", requires = "file", value_parser = parse_address)]
    address: Option<u32>,
}

/// Parses a hexadecimal address below 2^24.
pub(super) fn parse_address(text: &str) -> Result<u32, String> {
    let digits = text.trim_start_matches("0x").trim_end_matches(['h', 'H']);
    let address = u32::from_str_radix(digits, 16).ok().filter(|address| *address < 1 << 24);
    address.ok_or_else(|| {
        format!("invalid address '{text}': expected up to 4 hexadecimal digits, in flash 6")
    })
}

pub(super) struct Program {
    pub(super) name: String,
    pub(super) image: Image,
    pub(super) entry: u16,
    /// The build id that it replies to IDENT with once it runs; `None` if it does not speak the
    /// protocol.
    pub(super) build_id: Option<u32>,
}

pub(super) struct FlashProgram {
    pub(super) name: String,
    pub(super) content: FlashImage,
    /// Its entry address, and its build id if it speaks the protocol.
    pub(super) entry: Option<(u16, Option<u32>)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct FlashPlacement {
    /// Start it after each reset.
    pub(super) autostart: bool,
    /// Include the built-in monitor, unless a file is given.
    pub(super) boot_sector: bool,
}

impl ProgramArgs {
    /// Returns the program for memory; `is_hosted` if a stock monitor loads it.
    pub(super) fn for_memory(
        &self,
        profile: &BoardProfile,
        is_hosted: bool,
    ) -> Result<Program, CommandError> {
        match &self.file {
            Some(path) => read_program(path, self.address),
            None => {
                let kind = if is_hosted {
                    ProgramKind::HostedApplication
                } else {
                    ProgramKind::Application
                };
                let image = self.evaluator.build(profile, kind)?;
                let entry = image.address;
                let build_id = Some(image.build);
                let image = Image::new([ImageRun { address: entry, bytes: image.bytes }]);
                Ok(Program { name: BUILT_IN.to_owned(), image, entry, build_id })
            }
        }
    }

    pub(super) fn for_flash(
        &self,
        profile: &BoardProfile,
        how: FlashPlacement,
    ) -> Result<FlashProgram, CommandError> {
        match &self.file {
            Some(path) => file_for_flash(path, self.address, profile, how),
            None => self.built_in_for_flash(profile, how),
        }
    }

    fn built_in_for_flash(
        &self,
        profile: &BoardProfile,
        how: FlashPlacement,
    ) -> Result<FlashProgram, CommandError> {
        let image = self.evaluator.build(profile, ProgramKind::FlashApplication)?;
        let mut content = flash_image(&image.bytes, image.address, how.autostart)?;
        if how.boot_sector {
            let mut sector = build(profile, ProgramKind::Monitor)?.bytes;
            sector.resize(SECTOR, 0xFF);
            content = content.merged_with(FlashImage::raw(0, sector));
        }
        let entry = Some((image.address, Some(image.build)));
        Ok(FlashProgram { name: BUILT_IN.to_owned(), content, entry })
    }
}

const BUILT_IN: &str = "the built-in exchange evaluator";

pub(super) fn read_program(path: &Path, address: Option<u32>) -> Result<Program, CommandError> {
    let name = path.escaped().to_string();
    let (image, entry) = match read_file(path, address)? {
        ProgramFile::Binary(address, bytes) => {
            let passes = || {
                CommandError::new(
                    ENVIRONMENT,
                    format!("{name}: loaded at {address:04X}h, it passes FFFFh"),
                )
            };
            let fits = address as usize + bytes.len() <= 0x1_0000;
            let address = u16::try_from(address).ok().filter(|_| fits).ok_or_else(passes)?;
            (Image::new([ImageRun { address, bytes }]), address)
        }
        ProgramFile::Image(..) if address.is_some() => return Err(address_conflict(path)),
        ProgramFile::Image(image, entry) => (image, entry),
    };
    Ok(Program { name, image, entry, build_id: None })
}

fn address_conflict(path: &Path) -> CommandError {
    let name = path.escaped();
    CommandError::new(USAGE, format!("{name} contains addresses: omit --address"))
}

fn file_for_flash(
    path: &Path,
    address: Option<u32>,
    profile: &BoardProfile,
    how: FlashPlacement,
) -> Result<FlashProgram, CommandError> {
    if !profile.chip.writable {
        return Err(BuildError::NoFlash(profile.name.clone()).into());
    }
    let name = path.escaped().to_string();
    let (first, bytes, entry) = match read_file(path, address)? {
        ProgramFile::Binary(address, bytes) => (address, bytes, address as u16),
        ProgramFile::Image(..) if address.is_some() => return Err(address_conflict(path)),
        ProgramFile::Image(image, entry) => {
            let first = image.bounds().map_or(0, |(first, _)| first);
            (first.into(), image.flat(0xFF), entry)
        }
    };
    if first == u32::from(flash_program::PROGRAM_ADDRESS) {
        let content = flash_image(&bytes, entry, how.autostart)?;
        return Ok(FlashProgram { name, content, entry: Some((entry, None)) });
    }
    if how.autostart {
        let place = flash_program::PROGRAM_ADDRESS;
        let problem = format!("{name}: --autostart needs a program that begins at {place:04X}h");
        return Err(CommandError::new(USAGE, problem));
    }
    Ok(FlashProgram { name, content: FlashImage::raw(first, bytes), entry: None })
}

fn flash_image(bytes: &[u8], entry: u16, autostart: bool) -> Result<FlashImage, FlashError> {
    Ok(FlashImage::program(bytes, entry, autostart)?)
}
