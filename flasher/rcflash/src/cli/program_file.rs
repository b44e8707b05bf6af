//! Reads program files; detects the format by the content, since names are unreliable.

use std::path::Path;

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::files::read_input;
use cli_support::text::Escape;
use tdlasm::image::Image;
use tdlasm::object::{FileKind, ObjectError, file_kind, read_executable};

pub(super) enum ProgramFile {
    /// A binary and its load address.
    Binary(u32, Vec<u8>),
    /// An image with addresses and its entry address.
    Image(Image, u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    Known(FileKind),
    Text,
    Binary,
}

/// The message about an object file, ELF or TDL.
const UNLINKED: &str = "an object file: link it first (`tdlasm link`)";

/// Extensions of binaries, even if all of their bytes happen to be printable.
const BINARY_EXTENSIONS: [&str; 5] = ["bin", "com", "rom", "img", "raw"];

/// Reads a program file; a binary is loaded at `address`.
pub(super) fn read_file(path: &Path, address: Option<u32>) -> Result<ProgramFile, CommandError> {
    decode(path, &read_input(path)?, address)
}

fn decode(path: &Path, bytes: &[u8], address: Option<u32>) -> Result<ProgramFile, CommandError> {
    let name = path.escaped();
    let wrong = |problem: String| CommandError::new(ENVIRONMENT, format!("{name}: {problem}"));
    let text = || String::from_utf8_lossy(bytes);
    let read = match detect_format(path, bytes) {
        FileFormat::Binary => {
            let address = address.ok_or_else(|| {
                CommandError::new(
                    USAGE,
                    format!("{name} is a binary: give its address with --address"),
                )
            })?;
            return Ok(ProgramFile::Binary(address, bytes.to_vec()));
        }
        FileFormat::Text => {
            let how = "is text, not a program: give the assembled file, or run a source with \
                       `rcflash run`";
            return Err(CommandError::new(USAGE, format!("{name} {how}")));
        }
        FileFormat::Known(FileKind::IntelHex) => {
            tdlasm::image::parse_intel_hex(&text()).map_err(|error| error.to_string())
        }
        FileFormat::Known(FileKind::SRecords) => {
            tdlasm::image::parse_s_records(&text()).map_err(|error| error.to_string())
        }
        FileFormat::Known(FileKind::Elf) => read_elf(bytes),
        FileFormat::Known(FileKind::TdlObject) => Err(UNLINKED.to_owned()),
    };
    let (image, entry) = read.map_err(wrong)?;
    let (first, _) = image.bounds().ok_or_else(|| wrong("the file has no bytes".to_owned()))?;
    Ok(ProgramFile::Image(image, entry.unwrap_or(first)))
}

fn detect_format(path: &Path, bytes: &[u8]) -> FileFormat {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r' | 0x0C | 0x1A);
    match file_kind(bytes) {
        Some(kind) => FileFormat::Known(kind),
        // A corrupted file of either format gets that format's message.
        _ if has_extension(path, &["hex", "ihx", "ihex"]) => FileFormat::Known(FileKind::IntelHex),
        _ if has_extension(path, &["srec", "s19", "s28", "s37", "mot"]) => {
            FileFormat::Known(FileKind::SRecords)
        }
        _ if bytes.is_empty() || !bytes.iter().all(plain) => FileFormat::Binary,
        _ if has_extension(path, &BINARY_EXTENSIONS) && !bytes.contains(&b'\n') => {
            FileFormat::Binary
        }
        _ => FileFormat::Text,
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|end| extensions.contains(&end.as_str()))
}

fn read_elf(bytes: &[u8]) -> Result<(Image, Option<u16>), String> {
    /// `e_type` of an object that is not linked (System V ABI, chapter 4).
    const RELOCATABLE: u8 = 1;
    match read_executable(bytes) {
        Ok(executable) => Ok((executable.image, executable.entry)),
        Err(ObjectError::NotExecutable) if bytes[16] == RELOCATABLE => Err(UNLINKED.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, bytes: &[u8]) -> FileFormat {
        detect_format(Path::new(name), bytes)
    }

    #[test]
    fn the_format_is_detected_from_the_content_not_the_name() {
        use FileFormat::Known;
        let hex = b":0180000000 7F\n";
        assert_eq!(
            kind("prog.bin", b":0180000000007F\r\n:00000001FF\r\n"),
            Known(FileKind::IntelHex)
        );
        assert_eq!(kind("prog", b"\n:00000001FF"), Known(FileKind::IntelHex));
        assert_eq!(kind("prog.hex", hex), Known(FileKind::IntelHex), "its error is reported");
        assert_eq!(kind("prog.dat", b"S1048000C9B2\nS9030000FC\n"), Known(FileKind::SRecords));
        assert_eq!(kind("prog.hex", b"\x7FELF\x01\x01"), Known(FileKind::Elf));
        let module = tdlasm::assemble_text(" RET\n .END\n").expect("right");
        let object = tdlasm::object::write_tdl(&module.modules, module.object_form);
        let object = object.expect("a TDL object");
        assert_eq!(kind("prog.bin", &object), Known(FileKind::TdlObject));
        assert_eq!(kind("prog.asm", b"        .LOC 100H\n        RET\n"), FileFormat::Text);
        assert_eq!(kind("notes", b"remember the milk"), FileFormat::Text);
        assert_eq!(kind("letters.bin", b"HELLO"), FileFormat::Binary);
        assert_eq!(kind("prog.bin", &[0x21, 0x00, 0x80, 0xC9]), FileFormat::Binary);
        assert_eq!(kind("empty.bin", b""), FileFormat::Binary);
    }

    #[test]
    fn text_is_rejected_at_any_address() {
        for name in ["prog.asm", "prog.bin"] {
            let text = b"        RET\n        .END\n";
            let failure = decode(Path::new(name), text, Some(0x9000)).err().expect("refused");
            assert_eq!(failure.code, USAGE);
            assert!(failure.message.contains("is text, not a program"), "{}", failure.message);
        }
    }
}
