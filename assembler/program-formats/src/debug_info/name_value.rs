//! Files of symbols whose lines have a name and a value, without a mark of the tool.
//!
//! Each reader accepts only its own lines, so that a file of one format is not read as one of another.
//! `DEFC`, `FACE` and `ADD` are hexadecimal digits, too.

use super::{DebugInfo, SymbolKind, noice, read_lines, sdcc};
use crate::error::LineError;
use crate::number::{address, decimal, hexadecimal, value};

type ReadText = fn(&str) -> Result<DebugInfo, LineError>;

/// The readers, of which at most one accepts a file. The last one's message is for a file whose first
/// line none accepts.
const READERS: [ReadText; 12] = [
    read_equates,
    read_assignments,
    read_definitions,
    noice::read,
    sdcc::read_cdb,
    read_rasm,
    read_rasm_export,
    read_nm,
    read_vice,
    read_mesen,
    read_banked,
    read_values,
];

/// Reads a file in the format that all of its lines have. The error is that of the format to which
/// most lines belong.
pub(super) fn read(text: &str) -> Result<DebugInfo, LineError> {
    let mut furthest: Option<LineError> = None;
    for read in READERS {
        match read(text) {
            Ok(info) => return Ok(info),
            Err(error) if furthest.as_ref().is_none_or(|best| error.line > best.line) => {
                furthest = Some(error);
            }
            Err(_) => {}
        }
    }
    let none = LineError { line: 1, text: String::new(), expected: "a symbol" };
    let error = furthest.unwrap_or(none);
    // A first line that no reader accepts is of no known format.
    let is_first = text.lines().take(error.line - 1).all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with(';')
    });
    Err(if is_first { LineError { expected: ANY_FORMAT, ..error } } else { error })
}

const ANY_FORMAT: &str = "of a format of symbols, maps or listings that is known: write 8003 START \
                          for each symbol, or see docs/FOREIGN-CODE.md";

/// Returns the text without a comment.
fn without_comment(text: &str) -> &str {
    text.split(';').next().unwrap_or(text).trim()
}

/// `MAIN: EQU 0x8000` (sjasmplus), `MAIN: equ $8000` (z80asm), `MAIN: equ 8000H` (WLA), `MAIN EQU
/// 08000H` (pasmo), `MAIN .EQU $8000` (uz80as), `MAIN equ #8000` (rasm).
fn read_equates(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "a name and its value, as in MAIN: EQU 0x8000";
    read_lines(text, "symbols as EQU", expected, |line, info| {
        let words: Vec<&str> = without_comment(line).split_whitespace().collect();
        let [name, equ, number] = words[..] else { return None };
        let is_equ = equ.trim_start_matches('.').eq_ignore_ascii_case("equ");
        let name = name.strip_suffix(':').unwrap_or(name);
        info.add_symbol(name, value(number).filter(|_| is_equ)?, SymbolKind::Unknown);
        Some(())
    })
}

/// `DEFC MAIN = $8000` (z88dk), `MAIN = $8000` (CSpect), `do MAIN = 0x8000` (MAME's debugger).
fn read_assignments(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "a name and its value, as in MAIN = $8000";
    read_lines(text, "symbols as assignments", expected, |line, info| {
        let words: Vec<&str> = without_comment(line).split_whitespace().collect();
        let [ref keyword @ .., name, "=", number] = words[..] else { return None };
        let is_keyword = match keyword {
            [] => true,
            [word] => word.eq_ignore_ascii_case("defc") || *word == "do",
            _ => false,
        };
        let value = value(number).filter(|_| is_keyword)?;
        // z88dk keeps types of C in names of numbers.
        if !name.starts_with("__CDBINFO__") {
            info.add_symbol(name, value, SymbolKind::Unknown);
        }
        Some(())
    })
}

/// `#define MAIN 0x8000` (vasm); a local name has spaces: ` outer inner`.
fn read_definitions(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "a name and its value, as in #define MAIN 0x8000";
    read_lines(text, "symbols as #define", expected, |line, info| {
        let definition = line.strip_prefix("#define ")?;
        let (name, number) = definition.rsplit_once(['\t', ' '])?;
        info.add_symbol(name.trim_end(), value(number)?, SymbolKind::Unknown);
        Some(())
    })
}

/// `MAIN #8000 B0 L` or `MAIN #8000` (rasm): B is the bank, L a label, V a variable, A an alias, I an
/// index of a structure.
fn read_rasm(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "a symbol of rasm, as in MAIN #8000 B0 L";
    read_lines(text, "symbols of rasm", expected, |line, info| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, number, ref rest @ ..] = words[..] else { return None };
        let value = hexadecimal(number.strip_prefix('#')?)?;
        match *rest {
            [] => info.add_symbol(name, value, SymbolKind::Unknown),
            [bank, kind] => {
                let page = decimal(bank.strip_prefix('B')?)?;
                let kind = match kind {
                    "L" => SymbolKind::Address,
                    "V" | "A" | "I" => SymbolKind::Constant,
                    _ => return None,
                };
                info.add_paged(name, value, kind, u32::try_from(page).ok());
            }
            _ => return None,
        }
        Some(())
    })
}

/// `label MAIN 32768 -1;alias COUNT 5;` (rasm's own format): decimal numbers and the bank.
fn read_rasm_export(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "symbols of rasm, as in label MAIN 32768 0;";
    read_lines(text, "symbols of rasm", expected, |line, info| {
        for entry in line.split(';').filter(|entry| !entry.trim().is_empty()) {
            let words: Vec<&str> = entry.split_whitespace().collect();
            let [kind @ ("label" | "alias" | "var"), name, number, ..] = words[..] else {
                return None;
            };
            let value = number.parse().ok()?;
            let is_label = kind == "label";
            let kind = if is_label { SymbolKind::Address } else { SymbolKind::Constant };
            info.add_symbol(name, value, kind);
        }
        Some(())
    })
}

/// `00008000 T MAIN` (GNU nm): `A` is a constant, `U` an undefined symbol, lower-case a local one.
fn read_nm(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "a symbol of nm, as in 00008000 T MAIN";
    read_lines(text, "symbols of GNU nm", expected, |line, info| {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["U" | "w" | "v", _] = words[..] {
            return Some(());
        }
        let [number, kind, name] = words[..] else { return None };
        let [letter] = kind.as_bytes() else { return None };
        // `?` is a kind that nm does not know, as of debugging sections.
        let is_kind = letter.is_ascii_alphabetic() || matches!(letter, b'?' | b'-');
        let value = hexadecimal(number).filter(|_| is_kind)?;
        let is_constant = letter.eq_ignore_ascii_case(&b'a');
        let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Address };
        info.add_symbol(name, value, kind);
        info.symbols.last_mut()?.exported = letter.is_ascii_uppercase();
        Some(())
    })
}

/// `al 8000 .MAIN` (VICE), perhaps with a memory space: `al C:8000 .MAIN`.
fn read_vice(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "a label of VICE, as in al 8000 .MAIN";
    read_lines(text, "labels of VICE", expected, |line, info| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["al" | "add_label", number, name] = words[..] else { return None };
        let digits = number.strip_prefix("C:").unwrap_or(number);
        info.add_symbol(name.strip_prefix('.')?, hexadecimal(digits)?, SymbolKind::Address);
        Some(())
    })
}

/// `$8000#MAIN#` (Mesen); comments begin with `# `.
fn read_mesen(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "a label of Mesen, as in $8000#MAIN#";
    read_lines(text, "labels of Mesen", expected, |line, info| {
        if line.starts_with("# ") {
            return Some(());
        }
        let (number, name) = line.strip_prefix('$')?.split_once('#')?;
        let name = name.split('#').next()?;
        info.add_symbol(name, hexadecimal(number)?, SymbolKind::Address);
        Some(())
    })
}

/// The size of a page above which an offset in it can't be.
const PAGE: i64 = 0x4000;

/// `01:8000 MAIN` (WLA, no$, RGBDS): bank and address; or `02:0000 MAIN`, `:8000 MAIN` (sjasmplus'
/// LABELSLIST): page and offset in it, or the address. rasm writes `260:8000 MAIN`, and variables
/// without line ends.
fn read_banked(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "a bank, an address and a name, as in 01:8000 MAIN";
    let mut unreadable = Vec::new();
    let mut line_number = 0;
    let mut info = read_lines(text, "labels with banks", expected, |line, info| {
        line_number += 1;
        let words: Vec<&str> = without_comment(line).split_whitespace().collect();
        match words[..] {
            [place, name] if place.contains(':') => {
                let (bank, number) = place.split_once(':')?;
                let page = if bank.is_empty() { None } else { Some(hexadecimal(bank)?) };
                let page = page.and_then(|page| u32::try_from(page).ok());
                let value = i64::from(address(hexadecimal(number)?)?);
                info.add_paged(name, value, SymbolKind::Address, page);
            }
            // Numbers of rasm, after its labels.
            [number, name] if !info.symbols.is_empty() && hexadecimal(number).is_some() => {
                info.add_symbol(name, hexadecimal(number)?, SymbolKind::Constant);
            }
            [_, _, _] if !info.symbols.is_empty() => unreadable.push(line.to_owned()),
            _ => return None,
        }
        Some(())
    })?;
    for line in unreadable {
        let line = line.escape_debug();
        info.notes.push(format!(
            "'{line}' is not read: rasm -sz writes variables without line ends; use -s"
        ));
    }
    let has_comment = text.trim_start().starts_with(';');
    let is_paged = info.symbols.iter().all(|symbol| symbol.page.is_some() && symbol.value < PAGE);
    if is_paged && !has_comment {
        info.notes.push(
            "the format is a guess: the numbers after the colon are read as addresses; if they \
             are sjasmplus' offsets in pages, write LABELSLIST \"file\", 1"
                .to_owned(),
        );
    }
    Ok(info)
}

/// `8003 START` (`tdlasm link --symbols`, emulators, WLA).
fn read_values(text: &str) -> Result<DebugInfo, LineError> {
    let expected = "VALUE NAME with a hexadecimal value, as in 8003 START";
    read_lines(text, "symbols as VALUE NAME", expected, |line, info| {
        let mut words = without_comment(line).split_whitespace();
        let (Some(number), Some(name), None) = (words.next(), words.next(), words.next()) else {
            return None;
        };
        // A name may begin with any other character: @, ?, ., $ and letters of any alphabet.
        let is_name =
            !name.starts_with(|first: char| first.is_ascii_digit() || "=#:|\"'".contains(first));
        let digits = number.strip_suffix(['H', 'h']).unwrap_or(number);
        let is_number = digits.starts_with(|first: char| first.is_ascii_digit())
            || matches!(digits.len(), 4 | 8);
        let value = hexadecimal(digits).filter(|_| is_number && is_name)?;
        info.add_symbol(name, value, SymbolKind::Unknown);
        Some(())
    })
}
