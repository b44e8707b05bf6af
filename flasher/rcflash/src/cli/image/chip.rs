//! The content of a ROM chip, as a file for its programmer.

use cli_support::text::Show;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::programmer::{CHIPS, Chip, Content, Format, Layout, check_binary};
use clap::Args;
use cli_support::exit::{Failure, Outcome, USAGE};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;
use tdlasm::image::Image;

use super::burn::{BurnArgs, Plan};
use crate::cli::contents::{Bytes, read_file};

/// A chip, and where what lies in it.
#[derive(Args)]
pub(super) struct ChipArgs {
    /// The content of the chip, from 0000h on: Intel HEX if its name ends in .hex, else binary;
    /// without, the boot monitor
    file: Option<PathBuf>,
    /// The chip, if not the board's own: 27c64 to 27c512, 28c64, 28c256, sst39sf010a, sst39sf020a,
    /// sst39sf040
    #[arg(long, value_name = "NAME", value_parser = chip)]
    chip: Option<Chip>,
    /// The chip's size in KiB, in place of its name
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(1..=16384))]
    size: Option<u64>,
    /// The size in KiB of the pages that the board's jumpers choose, if not the board's own
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(1..=16384))]
    page: Option<u64>,
    /// Put it into this page only, or FILE into this page and it into the others; may be given for
    /// several pages
    #[arg(long, value_name = "N[=FILE]", value_delimiter = ',')]
    bank: Vec<Bank>,
    /// The byte, in hexadecimal, that fills what is left; a blank chip reads FF
    #[arg(long, value_name = "HEX", default_value = "FF", value_parser = byte)]
    fill: u8,
    /// Divide a file larger than the chip over as many as it takes: NAME-1.bin, NAME-2.bin
    #[arg(long, requires = "file", conflicts_with_all = ["page", "bank", "run"])]
    split: bool,
    #[command(flatten)]
    burn: BurnArgs,
}

fn chip(name: &str) -> Result<Chip, String> {
    Chip::named(name).ok_or_else(|| {
        let names: Vec<_> = CHIPS.iter().map(|chip| chip.name).collect();
        format!("the chips are {}; for another of the same size, --size", names.join(", "))
    })
}

fn byte(text: &str) -> Result<u8, String> {
    let digits = text.trim_start_matches("0x").trim_end_matches(['h', 'H']);
    u8::from_str_radix(digits, 16).map_err(|_| "a byte is two hexadecimal digits".to_owned())
}

/// A page, and what is put there in place of the rest.
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
        let number = number.parse().map_err(|_| "a bank is a number from 0 on".to_owned())?;
        Ok(Self { number, file })
    }
}

/// The chip in the socket.
pub(super) struct Socket {
    /// Bytes.
    pub(super) size: usize,
    /// Which chip, if that was said.
    pub(super) chip: Option<Chip>,
}

impl ChipArgs {
    fn socket(&self, profile: &Profile) -> Result<Socket, Failure> {
        let said = self.size.map(|kib| kib as usize * 1024);
        match (self.chip, said) {
            (Some(chip), Some(size)) if chip.size != size => {
                let problem = format!(
                    "--size {} is not that of a {}, which has {} KiB; leave it out",
                    size / 1024,
                    chip.name,
                    chip.size / 1024
                );
                Err(Failure::new(USAGE, problem))
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

    /// The size of its pages, for a file of a length.
    fn page(&self, profile: &Profile, socket: &Socket, length: usize) -> usize {
        let whole = profile.banks.is_some() // reset chooses the first page, registers the others
            || length == socket.size && self.bank.is_empty();
        match self.page {
            Some(kib) => kib as usize * 1024,
            None if whole => socket.size,
            None => profile.rom.size().min(socket.size),
        }
    }

    /// Returns what the chip is to hold where nothing else is said.
    fn content(&self, profile: &Profile) -> Result<Content, Failure> {
        if let Some(file) = &self.file {
            return from_file(file, self.fill);
        }
        let monitor = build(profile, ProgramKind::Monitor)?;
        let name = format!("the monitor, build {:08X}", monitor.build);
        Ok(Content { name, bytes: from_zero(&monitor.program.image, self.fill) })
    }

    fn lay_out(&self, socket: &Socket, page: usize, content: &Content) -> Result<Layout, Failure> {
        let mut layout = Layout::new(socket.size, page, self.fill)?;
        for bank in &self.bank {
            match &bank.file {
                Some(file) => layout.put(bank.number, &from_file(file, self.fill)?)?,
                None => layout.put(bank.number, content)?,
            }
        }
        if self.bank.iter().all(|bank| bank.file.is_some()) {
            layout.put_elsewhere(content)?;
        }
        Ok(layout)
    }
}

pub(super) fn write(args: &ChipArgs, profile: &Profile, output: &Path, format: Format) -> Outcome {
    let socket = args.socket(profile)?;
    let plan = args.burn.plan(socket.chip)?;
    let content = args.content(profile)?;
    if args.split {
        return split(args, &plan, &socket, &content, output, format);
    }
    let page = args.page(profile, &socket, content.bytes.len());
    let layout = args.lay_out(&socket, page, &content)?;
    super::write(output, &format.encode(0, layout.bytes()))?;
    say_what_it_holds(output, &socket, &layout);
    plan.carry_out(output, layout.bytes())
}

/// One file a chip, for images that take several.
fn split(
    args: &ChipArgs,
    plan: &Plan,
    socket: &Socket,
    content: &Content,
    output: &Path,
    format: Format,
) -> Outcome {
    for (index, part) in content.bytes.chunks(socket.size).enumerate() {
        let name = format!("{}, part {}", content.name, index + 1);
        let mut layout = Layout::new(socket.size, socket.size, args.fill)?;
        layout.put(0, &Content { name, bytes: part.to_vec() })?;
        let output = numbered(output, index + 1);
        super::write(&output, &format.encode(0, layout.bytes()))?;
        say_what_it_holds(&output, socket, &layout);
        plan.carry_out(&output, layout.bytes())?;
    }
    Ok(0)
}

/// `rom.bin` becomes `rom-1.bin`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = path.extension().map_or_else(String::new, |end| format!(".{}", end.shown()));
    path.with_file_name(format!("{stem}-{number}{end}"))
}

fn from_file(file: &Path, fill: u8) -> Result<Content, Failure> {
    let name = file.shown().to_string();
    let bytes = match read_file(file, Some(0))? {
        Bytes::At(_, bytes) => {
            check_binary(&name, &bytes)?;
            bytes
        }
        Bytes::Image(image, _) => from_zero(&image, fill),
    };
    Ok(Content { name, bytes })
}

/// An image's bytes from address 0 on.
fn from_zero(image: &Image, fill: u8) -> Vec<u8> {
    let first = image.bounds().map_or(0, |(first, _)| usize::from(first));
    let mut bytes = vec![fill; first];
    bytes.extend(image.flat(fill));
    bytes
}

fn say_what_it_holds(output: &Path, socket: &Socket, layout: &Layout) {
    let chip = socket.chip.map_or_else(String::new, |chip| format!(" for a {}", chip.name));
    let length = layout.bytes().len();
    let used = layout.used();
    cli_support::tell!(
        "{}: {length} bytes{chip}, {} of them filling",
        output.shown(),
        length - used
    );
    let owners = layout.owners();
    let what = |owner: &Option<String>| owner.clone().unwrap_or_else(|| "blank".to_owned());
    match owners {
        [only] => cli_support::tell!("  {}", what(only)),
        [first, rest @ ..] if rest.iter().all(|owner| owner == first) => {
            let count = owners.len();
            let name = what(first);
            cli_support::tell!("  {name}, in all {count} banks: the jumpers may stand anywhere");
        }
        _ => {
            for (bank, owner) in owners.iter().enumerate() {
                cli_support::tell!("  bank {bank} ({}): {}", layout.jumpers(bank), what(owner));
            }
        }
    }
}
