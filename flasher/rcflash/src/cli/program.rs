//! The program for the board: a file of the user's, or the built-in exchange evaluator.

use cli_support::text::Show;
use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit::{Failure, RIG, USAGE};
use firmware::ProgramKind;
use firmware::build::{BuildError, build};
use firmware::profile::Profile;
use firmware_wire::slot;
use rcflash_link::flash::{FlashError, FlashImage, SECTOR};
use tdlasm::image::{Image, Run};

use super::EvaluatorArgs;
use super::contents::{Bytes, read_file};

/// Which program.
#[derive(Args)]
pub(super) struct ProgramArgs {
    #[command(flatten)]
    evaluator: EvaluatorArgs,
    /// The program: Intel HEX, S-records, ELF or a binary, as its content says; without, the
    /// built-in exchange evaluator
    #[arg(conflicts_with_all = ["behaviour", "sargon_dir"])]
    pub(super) file: Option<PathBuf>,
    /// The place where a binary goes, in hexadecimal; with --flash, an address of the chip
    #[arg(long, value_name = "HEX", requires = "file", value_parser = hexadecimal)]
    address: Option<u32>,
}

/// An address on the command line: hexadecimal, below 2^24.
pub(super) fn hexadecimal(text: &str) -> Result<u32, String> {
    let digits = text.trim_start_matches("0x").trim_end_matches(['h', 'H']);
    let address = u32::from_str_radix(digits, 16).ok().filter(|address| *address < 1 << 24);
    address.ok_or_else(|| "an address is 1 to 4 hexadecimal digits, up to 6 in flash".to_owned())
}

/// A program for memory.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) image: Image,
    pub(super) entry: u16,
    /// Whether it answers IDENT once it runs.
    pub(super) speaks: bool,
}

/// Something for flash.
pub(super) struct FlashProgram {
    pub(super) name: String,
    pub(super) content: FlashImage,
    /// Its entry address, and whether it then answers IDENT.
    pub(super) entry: Option<(u16, bool)>,
}

/// The way a program is to be in flash.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlash {
    /// It is started after each reset.
    pub(super) autostart: bool,
    /// Without a file, the built-in monitor belongs to it.
    pub(super) boot_sector: bool,
}

impl ProgramArgs {
    /// The program for memory, beside a monitor of another make or under ours.
    pub(super) fn for_memory(
        &self,
        profile: &Profile,
        is_hosted: bool,
    ) -> Result<Program, Failure> {
        match &self.file {
            Some(path) => from_file(path, self.address),
            None => {
                let kind = if is_hosted {
                    ProgramKind::HostedApplication
                } else {
                    ProgramKind::Application
                };
                let image = self.evaluator.build(profile, kind)?;
                let entry = image.address;
                let image = Image::new([Run { address: entry, bytes: image.bytes }]);
                Ok(Program { name: BUILT_IN.to_owned(), image, entry, speaks: true })
            }
        }
    }

    /// The program for flash.
    pub(super) fn for_flash(
        &self,
        profile: &Profile,
        how: InFlash,
    ) -> Result<FlashProgram, Failure> {
        match &self.file {
            Some(path) => file_for_flash(path, self.address, profile, how),
            None => self.built_in_for_flash(profile, how),
        }
    }

    fn built_in_for_flash(&self, profile: &Profile, how: InFlash) -> Result<FlashProgram, Failure> {
        let image = self.evaluator.build(profile, ProgramKind::FlashApplication)?;
        let mut content = program(&image.bytes, image.address, how.autostart)?;
        if how.boot_sector {
            let mut sector = build(profile, ProgramKind::Monitor)?.bytes;
            sector.resize(SECTOR, 0xFF);
            content = content.merged_with(FlashImage::raw(0, sector));
        }
        let entry = Some((image.address, true));
        Ok(FlashProgram { name: BUILT_IN.to_owned(), content, entry })
    }
}

const BUILT_IN: &str = "the built-in exchange evaluator";

pub(super) fn from_file(path: &Path, address: Option<u32>) -> Result<Program, Failure> {
    let name = path.shown().to_string();
    let (image, entry) = match read_file(path, address)? {
        Bytes::At(address, bytes) => {
            let passes = || Failure::new(RIG, format!("{name}: at {address:04X}h it passes FFFFh"));
            let fits = address as usize + bytes.len() <= 0x1_0000;
            let address = u16::try_from(address).ok().filter(|_| fits).ok_or_else(passes)?;
            (Image::new([Run { address, bytes }]), address)
        }
        Bytes::Image(..) if address.is_some() => return Err(two_addresses(path)),
        Bytes::Image(image, entry) => (image, entry),
    };
    Ok(Program { name, image, entry, speaks: false })
}

fn two_addresses(path: &Path) -> Failure {
    let name = path.shown();
    Failure::new(USAGE, format!("{name} has addresses of its own: leave --address out"))
}

fn file_for_flash(
    path: &Path,
    address: Option<u32>,
    profile: &Profile,
    how: InFlash,
) -> Result<FlashProgram, Failure> {
    if !profile.chip.writable {
        return Err(BuildError::NoFlash(profile.name.clone()).into());
    }
    let name = path.shown().to_string();
    let (first, bytes, entry) = match read_file(path, address)? {
        Bytes::At(address, bytes) => (address, bytes, address as u16),
        Bytes::Image(..) if address.is_some() => return Err(two_addresses(path)),
        Bytes::Image(image, entry) => {
            let first = image.bounds().map_or(0, |(first, _)| first);
            (first.into(), image.flat(0xFF), entry)
        }
    };
    if first == u32::from(slot::PROGRAM) {
        let content = program(&bytes, entry, how.autostart)?;
        return Ok(FlashProgram { name, content, entry: Some((entry, false)) });
    }
    if how.autostart {
        let place = slot::PROGRAM;
        let problem = format!(
            "{name}: only a program that begins at {place:04X}h can be started after a reset"
        );
        return Err(Failure::new(USAGE, problem));
    }
    Ok(FlashProgram { name, content: FlashImage::raw(first, bytes), entry: None })
}

fn program(bytes: &[u8], entry: u16, autostart: bool) -> Result<FlashImage, FlashError> {
    Ok(FlashImage::program(bytes, entry, autostart)?)
}
