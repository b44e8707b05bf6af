//! The kind of a program's file, recognised by its content: names lie, and what is text is never
//! sent as raw bytes.

mod elf;
mod srec;

use std::path::Path;

use cli_support::exit::{Failure, RIG, USAGE};
use cli_support::text::Show;
use tdlasm::image::Image;

/// The content of a file.
pub(super) enum Bytes {
    /// A binary, and where it was said to go.
    At(u32, Vec<u8>),
    /// Bytes that have addresses, and where they are entered.
    Image(Image, u16),
}

/// The forms that a program's file may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    IntelHex,
    SRecords,
    Elf,
    /// Text that is no program.
    Text,
    Binary,
}

/// Extensions of files that hold raw bytes even if all of those happen to be letters.
const BINARIES: [&str; 5] = ["bin", "com", "rom", "img", "raw"];

/// Reads a program's file; a binary goes to `address`.
pub(super) fn read_file(path: &Path, address: Option<u32>) -> Result<Bytes, Failure> {
    let name = path.shown();
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::new(RIG, format!("{name}: can't be read: {error}")))?;
    decode(path, &bytes, address)
}

/// The same from bytes that were read.
fn decode(path: &Path, bytes: &[u8], address: Option<u32>) -> Result<Bytes, Failure> {
    let name = path.shown();
    let wrong = |problem: String| Failure::new(RIG, format!("{name}: {problem}"));
    let text = || String::from_utf8_lossy(bytes);
    let read = match form(path, bytes) {
        Form::Binary => {
            let address = address.ok_or_else(|| {
                Failure::new(USAGE, format!("{name} is a binary: say where it goes with --address"))
            })?;
            return Ok(Bytes::At(address, bytes.to_vec()));
        }
        Form::Text => {
            let how = "is a text, no program: give the assembled file, or run a source with \
                       `rcflash run`";
            return Err(Failure::new(USAGE, format!("{name} {how}")));
        }
        Form::IntelHex => {
            tdlasm::image::parse_intel_hex(&text()).map_err(|error| error.to_string())
        }
        Form::SRecords => srec::parse(&text()),
        Form::Elf => elf::parse(bytes),
    };
    let (image, entry) = read.map_err(wrong)?;
    let (first, _) = image.bounds().ok_or_else(|| wrong("it holds no bytes".to_owned()))?;
    Ok(Bytes::Image(image, entry.unwrap_or(first)))
}

fn form(path: &Path, bytes: &[u8]) -> Form {
    if bytes.starts_with(b"\x7FELF") {
        return Form::Elf;
    }
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r' | 0x0C | 0x1A);
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n'));
    let mut lines = line.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let is_hex =
        |line: &[u8], least: usize| line.len() >= least && line.iter().all(u8::is_ascii_hexdigit);
    match first {
        [b':', digits @ ..] if is_hex(digits, 8) => Form::IntelHex,
        [b'S' | b's', b'0'..=b'9', digits @ ..] if is_hex(digits, 6) => Form::SRecords,
        // A damaged file of either kind gets that kind's message.
        [b':', ..] if has_extension(path, &["hex", "ihx", "ihex"]) => Form::IntelHex,
        _ if has_extension(path, &["hex", "ihx", "ihex"]) => Form::IntelHex,
        _ if has_extension(path, &["srec", "s19", "s28", "s37", "mot"]) => Form::SRecords,
        _ if bytes.is_empty() || !bytes.iter().all(plain) => Form::Binary,
        _ if has_extension(path, &BINARIES) && !bytes.contains(&b'\n') => Form::Binary,
        _ => Form::Text,
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|end| extensions.contains(&end.as_str()))
}

/// Bytes with addresses of 32 bits as an image of the processor's memory.
fn in_memory(runs: Vec<(u32, Vec<u8>)>) -> Result<Image, String> {
    let mut placed = Vec::new();
    for (address, bytes) in runs {
        let fits = address as usize + bytes.len() <= 0x1_0000;
        let start = u16::try_from(address).ok().filter(|_| fits);
        let Some(address) = start else {
            return Err(format!("at {address:04X}h it passes FFFFh, the end of the memory"));
        };
        placed.push(tdlasm::image::Run { address, bytes });
    }
    Ok(Image::new(placed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, bytes: &[u8]) -> Form {
        form(Path::new(name), bytes)
    }

    #[test]
    fn content_decides_whatever_the_name_is() {
        let hex = b":0180000000 7F\n";
        assert_eq!(kind("prog.bin", b":0180000000007F\r\n:00000001FF\r\n"), Form::IntelHex);
        assert_eq!(kind("prog", b"\n:00000001FF"), Form::IntelHex);
        assert_eq!(kind("prog.hex", hex), Form::IntelHex, "and says what is wrong with it");
        assert_eq!(kind("prog.dat", b"S1048000C9B2\nS9030000FC\n"), Form::SRecords);
        assert_eq!(kind("prog.hex", b"\x7FELF\x01\x01"), Form::Elf);
        assert_eq!(kind("prog.asm", b"        .LOC 100H\n        RET\n"), Form::Text);
        assert_eq!(kind("notes", b"remember the milk"), Form::Text);
        assert_eq!(kind("letters.bin", b"HELLO"), Form::Binary);
        assert_eq!(kind("prog.bin", &[0x21, 0x00, 0x80, 0xC9]), Form::Binary);
        assert_eq!(kind("empty.bin", b""), Form::Binary);
    }

    #[test]
    fn a_text_is_refused_whatever_address_is_given() {
        for name in ["prog.asm", "prog.bin"] {
            let text = b"        RET\n        .END\n";
            let failure = decode(Path::new(name), text, Some(0x9000)).err().expect("refused");
            assert_eq!(failure.code, USAGE);
            assert!(failure.message.contains("is a text, no program"), "{}", failure.message);
        }
    }

    #[test]
    fn what_passes_the_end_of_the_memory_is_refused() {
        assert!(in_memory(vec![(0xFFFF, vec![1])]).is_ok());
        for runs in [vec![(0xFFFF, vec![1, 2])], vec![(0x1_0000, vec![1])]] {
            assert!(in_memory(runs).is_err());
        }
    }
}
