//! Command files of the debugger NoICE, `.noi`: those of SDCC and those of asl.

use std::sync::Arc;

use super::sdcc::Names;
use super::{DebugInfo, SymbolKind, read_lines};
use crate::error::LineError;
use crate::number::{line_number, value};

/// Commands without symbols or lines.
const OTHERS: [&str; 9] =
    ["LOAD", "CASE", "FUNC", "FUNCTION", "ENDF", "ENDFUNC", "ENDFUNCTION", "REM", "ENDFILE"];

/// `DEF _main 0x8003` and `LOAD main.ihx` (SDCC); `DEFINE MAIN 0x8003`, `FILE main.asm 0x8000`, and
/// `LINE 5 0x3` with an offset from the address of the file (asl).
pub(super) fn read(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "of SDCC's or asl's .noi, as DEF _main 0x8003";
    let mut names = Names::default();
    let mut file: Option<(Arc<str>, i64)> = None;
    let mut info = read_lines(text, "NoICE's .noi", expected, |line, info| {
        let (command, rest) = line.trim().split_once(' ').unwrap_or((line, ""));
        let mut words = rest.trim().rsplitn(2, char::is_whitespace);
        let (last, first) = (words.next(), words.next().map(str::trim));
        match (command, first, last) {
            ("DEF", Some(name), Some(number)) => {
                names.add(name, value(number).filter(|_| number.starts_with("0x"))?, info);
            }
            ("DEFINE", Some(name), Some(number)) => {
                info.add_symbol(name, value(number)?, SymbolKind::Unknown);
            }
            ("FILE", Some(name), Some(number)) => file = Some((Arc::from(name), value(number)?)),
            ("LINE", Some(number), Some(offset)) => {
                let (file, base) = file.as_ref()?;
                let address = base.saturating_add(value(offset)?);
                info.add_line(address, file, line_number(number)?);
            }
            (command, ..) if OTHERS.contains(&command) => {}
            _ => return None,
        }
        Some(())
    })?;
    names.finish(&mut info);
    Ok(info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_beyond_64_bits_is_left_out() {
        let largest = "0x7FFFFFFFFFFFFFFF";
        let text = format!("FILE a.asm {largest}\nLINE 1 {largest}\nDEFINE MAIN 0x8003\n");
        let info = read(&text).expect("a file of asl");
        assert_eq!((info.lines.len(), info.symbols.len()), (0, 1));
    }
}
