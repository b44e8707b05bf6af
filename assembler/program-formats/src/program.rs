//! The bytes of a program.

mod format;

use std::path::Path;

use tdlasm::image::{
    Image, ImageRun, RecordFile, parse_intel_hex, parse_large_intel_hex, parse_large_s_records,
};
use tdlasm::link::{Layout, link};
use tdlasm::object::{ObjectError, read_executable, read_modules};

use crate::debug_info::{self, DebugInfo};
use crate::{ProgramError, Symbol, SymbolKind, coff};

pub use format::ProgramFormat;

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The format of its file.
    pub format: ProgramFormat,
    /// The bytes at their addresses. Memory that is only reserved is in the areas of `debug`.
    pub image: Image,
    /// The start address, if the file has one.
    pub start: Option<u16>,
    /// The symbols and lines that are in the same file, and what a user should know of it.
    pub debug: DebugInfo,
}

/// Where CP/M loads a `.com` file.
const CPM_ORIGIN: u16 = 0x100;

/// Reads a program. `name` is the name of its file, which matters only for binaries: `.com` is at
/// 0100H. Another binary is at `origin`, and so is an object, which is linked by itself.
///
/// # Errors
/// Returns [`ProgramError`] if the file is of no known format, damaged, or not a program; if it passes
/// FFFFH; or if it has no address and there is no `origin`.
///
/// ```
/// use program_formats::read_program;
///
/// let program = read_program(b":028000003C3C06\n:0400000300008000 79\n", "a.hex", None);
/// assert!(program.is_err());
/// let program = read_program(&[0x3C, 0xC9], "a.bin", Some(0x8000))?;
/// assert_eq!(program.image.bounds(), Some((0x8000, 0x8001)));
/// # Ok::<_, program_formats::ProgramError>(())
/// ```
pub fn read_program(
    content: &[u8],
    name: &str,
    origin: Option<u16>,
) -> Result<Program, ProgramError> {
    read(content, name, origin, false)
}

/// Reads a program as [`read_program`] does. Of the image of a ROM chip that is larger than the memory
/// of a Z80 it returns the first 64 KiB, with a note.
///
/// # Errors
/// As [`read_program`].
pub fn read_first_64_kib(
    content: &[u8],
    name: &str,
    origin: Option<u16>,
) -> Result<Program, ProgramError> {
    read(content, name, origin, true)
}

fn read(
    content: &[u8],
    name: &str,
    origin: Option<u16>,
    leave_out: bool,
) -> Result<Program, ProgramError> {
    let format = ProgramFormat::detect(content, name)?;
    let text = || String::from_utf8_lossy(content);
    let (image, start, debug) = match format {
        ProgramFormat::Binary => {
            let is_cpm =
                Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("com"));
            let origin = origin.or(is_cpm.then_some(CPM_ORIGIN)).ok_or(ProgramError::NoOrigin)?;
            (binary(content, origin)?, None, DebugInfo::default())
        }
        ProgramFormat::IntelHex => records(parse_large_intel_hex(&text())?, leave_out, || {
            parse_intel_hex(&text()).map(drop)
        })?,
        ProgramFormat::SRecords => {
            refuse_sdld_records(&text())?;
            records(parse_large_s_records(&text())?, leave_out, || {
                tdlasm::image::parse_s_records(&text()).map(drop)
            })?
        }
        ProgramFormat::Elf => {
            let executable = read_executable(content)?;
            (executable.image, executable.entry, debug_info::read_elf(content)?)
        }
        ProgramFormat::Coff => coff::read(content)?,
        ProgramFormat::Cmd => {
            let (image, start) = format::read_cmd(content).ok_or(ProgramError::Empty)?;
            (image, start, DebugInfo::default())
        }
        ProgramFormat::Object => link_object(content, name, origin)?,
    };
    if image.bounds().is_none() {
        return Err(ProgramError::Empty);
    }
    Ok(Program { format, image, start, debug })
}

type Contents = (Image, Option<u16>, DebugInfo);

fn binary(content: &[u8], origin: u16) -> Result<Image, ProgramError> {
    let length = content.len();
    if usize::from(origin) + length > 0x1_0000 {
        return Err(ProgramError::TooLong { length, origin });
    }
    Ok(Image::new([ImageRun { address: origin, bytes: content.to_vec() }]))
}

/// The byte that an erased ROM has.
const ERASED: u8 = 0xFF;

/// Returns the bytes of the 64 KiB that a Z80 addresses. The image of a larger ROM chip is read if the
/// rest of it is erased, or if `leave_out` is set; otherwise `check` returns the error of its line.
fn records(
    records: RecordFile,
    leave_out: bool,
    check: impl Fn() -> Result<(), tdlasm::image::HexError>,
) -> Result<Contents, ProgramError> {
    let is_low = |record: &&(u32, Vec<u8>)| record.0 as usize + record.1.len() <= 0x1_0000;
    let mut debug = DebugInfo::default();
    if !records.data.iter().all(|record| is_low(&record)) {
        let mut high = records.data.iter().filter(|record| !is_low(record));
        if !high.all(|(_, bytes)| bytes.iter().all(|byte| *byte == ERASED)) && !leave_out {
            check()?;
        }
        debug.notes.push("the bytes from 10000H are left out: a Z80 addresses 64 KiB".into());
    }
    let low = records.data.iter().filter(is_low);
    let runs = low.filter_map(|(address, bytes)| {
        Some(ImageRun { address: u16::try_from(*address).ok()?, bytes: bytes.clone() })
    });
    let start = records.start.and_then(|start| u16::try_from(start).ok());
    Ok((Image::new(runs), start, debug))
}

/// Refuses S-records of sdldz80 4.2.0, `sdcc --out-fmt-s19`: each data record has a byte 00 before its
/// data, one without data begins each area, and there is no header.
fn refuse_sdld_records(text: &str) -> Result<(), ProgramError> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let data: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("S1"))
        .map(|record| record.get(6..).unwrap_or_default())
        .collect();
    let is_of_sdld = lines.first().is_some_and(|line| line.starts_with("S1"))
        && data.len() > 1
        && data.iter().all(|bytes| bytes.starts_with("00"))
        && data.iter().any(|bytes| bytes.len() == 4);
    if is_of_sdld {
        return Err(ProgramError::Unusable {
            what: "S-records of SDCC's sdldz80, which writes a byte 00 before the data of each record",
            instead: "give the .ihx",
        });
    }
    Ok(())
}

/// Links the modules of an ELF, COFF or TDL object at the origin.
fn link_object(content: &[u8], name: &str, origin: Option<u16>) -> Result<Contents, ProgramError> {
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    let modules = match coff::is_coff(content) {
        true => vec![coff::read_object(content, &stem)?],
        false => read_modules(content, &stem)?,
    };
    let origin = origin.ok_or(ProgramError::Unlinked)?;
    let program = link(&modules, &Layout::flat(origin)).map_err(ProgramError::Link)?;
    let symbol = |symbol: &tdlasm::link::LinkedSymbol| Symbol {
        name: symbol.name.to_string(),
        value: symbol.value.into(),
        kind: if symbol.is_address { SymbolKind::Address } else { SymbolKind::Constant },
        exported: symbol.binding != tdlasm::module::Binding::Local,
        page: None,
    };
    let line = |line: &tdlasm::link::LinkedLine| crate::SourceLine {
        address: line.address,
        file: line.place.file.clone(),
        line: line.place.line,
        page: None,
        is_data: !line.is_code,
    };
    let debug = DebugInfo {
        format: "an object",
        symbols: program.symbols.iter().map(symbol).collect(),
        lines: program.lines.iter().map(line).collect(),
        ..DebugInfo::default()
    };
    Ok((program.image, program.entry, debug))
}

/// Returns `true` for the error of an ELF file that is not linked.
pub(crate) fn is_relocatable(content: &[u8]) -> bool {
    /// `e_type` of an object that is not linked (System V ABI, chapter 4).
    const RELOCATABLE: u8 = 1;
    matches!(read_executable(content), Err(ObjectError::NotExecutable))
        && content.get(16) == Some(&RELOCATABLE)
}
