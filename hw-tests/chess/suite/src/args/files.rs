//! Programs that commands read.

use std::path::Path;

use cli_support::exit::{CommandError, ENVIRONMENT};
use cli_support::files::read_input as read;
use cli_support::text::Escape;

/// Load address of applications in RAM.
const APPLICATION_ADDRESS: u16 = 0x8000;

/// Reads a program; returns its address and its bytes.
pub fn read_program(path: &Path) -> Result<(u16, Vec<u8>), CommandError> {
    let bytes = read(path)?;
    let wrong =
        |problem: String| CommandError::new(ENVIRONMENT, format!("{}: {problem}", path.escaped()));
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("hex")) {
        let text = String::from_utf8_lossy(&bytes);
        let (image, _) =
            tdlasm::image::parse_intel_hex(&text).map_err(|error| wrong(error.to_string()))?;
        let (first, _) = image.bounds().ok_or_else(|| wrong("the file has no bytes".to_owned()))?;
        return Ok((first, image.flat(0xFF)));
    }
    Ok((APPLICATION_ADDRESS, bytes))
}
