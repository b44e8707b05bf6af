//! Programs that commands read.

use std::path::Path;

use cli_support::exit::{CommandError, ENVIRONMENT};
use cli_support::files::read_input as read;
use cli_support::text::Escape;
use tdlasm::image::{parse_intel_hex, parse_s_records};
use tdlasm::object::{FileKind, file_kind, read_executable};

/// Load address of applications in RAM.
const APPLICATION_ADDRESS: u16 = 0x8000;

/// Reads a program: Intel HEX, S-records or an ELF executable by its content, or a binary. Returns
/// its address and its bytes.
pub fn read_program(path: &Path) -> Result<(u16, Vec<u8>), CommandError> {
    let bytes = read(path)?;
    let text = || String::from_utf8_lossy(&bytes);
    let is_hex = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("hex"));
    let is_text = bytes.contains(&b'\n') && std::str::from_utf8(&bytes).is_ok_and(is_printable);
    let image = match file_kind(&bytes).or(is_hex.then_some(FileKind::IntelHex)) {
        Some(FileKind::IntelHex) => parse_intel_hex(&text()).map_err(|error| error.to_string()),
        Some(FileKind::SRecords) => parse_s_records(&text()).map_err(|error| error.to_string()),
        Some(FileKind::Elf) => read_executable(&bytes)
            .map(|program| (program.image, None))
            .map_err(|error| error.to_string()),
        Some(FileKind::TdlObject) => {
            Err("an object file: link it first (`tdlasm link`)".to_owned())
        }
        None if is_text => Err("text, not a program: give the assembled file".to_owned()),
        None => return Ok((APPLICATION_ADDRESS, bytes)),
    };
    let program = image.and_then(|(image, _)| {
        let (first, _) = image.bounds().ok_or("the file has no bytes")?;
        Ok((first, image.flat(0xFF)))
    });
    program
        .map_err(|problem| CommandError::new(ENVIRONMENT, format!("{}: {problem}", path.escaped())))
}

fn is_printable(text: &str) -> bool {
    text.chars().all(|one| one.is_ascii_graphic() || one.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_by_their_content_and_nothing_else_as_a_binary() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("app.bin");
        let program = |content: &[u8]| {
            std::fs::write(&path, content).expect("a file");
            read_program(&path).map_err(|error| error.message)
        };
        assert_eq!(program(&[0x3E, 5]), Ok((0x8000, vec![0x3E, 5])));
        assert_eq!(program(b":018100003E40\n:00000001FF\n"), Ok((0x8100, vec![0x3E])));
        // FFH - (04+81+00+3E)&FFH = 3CH.
        assert_eq!(program(b"S10481003E3C\nS9030000FC\n"), Ok((0x8100, vec![0x3E])));
        for (content, problem) in [
            (&b":018100003E40\n"[..], "the end record (type 01) is missing"),
            (b"        RET\n        .END\n", "text, not a program"),
            (b"\x7FELF\x01\x01\x01", "not a readable ELF object"),
        ] {
            let error = program(content).expect_err(problem);
            assert!(error.contains(problem), "{error}");
        }
    }
}
