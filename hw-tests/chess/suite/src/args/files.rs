//! Programs that commands read.

use std::path::Path;

use cli_support::exit::{CommandError, ENVIRONMENT};
use cli_support::files::read_input as read;
use cli_support::text::Escape;

/// Load address of applications in RAM.
const APPLICATION_ADDRESS: u16 = 0x8000;

/// Reads a program of any format; a binary is that of an application. Returns its address and its
/// bytes.
pub fn read_program(path: &Path) -> Result<(u16, Vec<u8>), CommandError> {
    let name = path.to_string_lossy();
    let program = program_formats::read_program(&read(path)?, &name, Some(APPLICATION_ADDRESS));
    let program = program
        .map_err(|error| CommandError::new(ENVIRONMENT, format!("{}: {error}", path.escaped())))?;
    let first = program.image.bounds().map_or(APPLICATION_ADDRESS, |(first, _)| first);
    Ok((first, program.image.flat(0xFF)))
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
