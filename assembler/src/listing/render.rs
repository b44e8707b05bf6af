//! The listing as text: address, bytes, T-states and line beside the source.

use std::collections::HashMap;
use std::fmt::Write;

use crate::module::SectionKind;
use crate::source::{Origin, Source, SourceMap};

use super::ListingLine;

/// Bytes on one line; longer data goes on in the next.
const BYTES_A_LINE: usize = 6;

/// The listing of a run: every line of the files in order, macro texts below their calls with a `+` for each level.
///
/// Columns: address with `'` for `.PROG.`, `*` for `.DATA.` and `"` for `.BLNK.`; bytes, with `'` if the linker
/// changes them; T-states, `taken/not taken` if they differ; line; text.
#[must_use]
pub fn render(lines: &[ListingLine], sources: &SourceMap) -> String {
    let mut writer = Writer { text: String::new(), next: HashMap::new() };
    for line in lines {
        writer.statement(line, sources);
    }
    writer.text
}

struct Writer {
    text: String,
    /// The next line to show of each text, by its base.
    next: HashMap<u32, u32>,
}

impl Writer {
    fn statement(&mut self, line: &ListingLine, sources: &SourceMap) {
        let place = sources.location(line.span.start);
        let in_macro = matches!(place.source.origin, Origin::Macro(_));
        let next = self.next.get(&place.source.base).copied().unwrap_or(1);
        if !in_macro {
            // What no statement covers was skipped by a conditional or belongs to a text of several lines.
            for skipped in next..place.line {
                self.row("", "", "", Some((place.source, skipped)), 0);
            }
        }
        let shown = (place.line >= next).then_some((place.source, place.line));
        self.next.insert(place.source.base, place.line.max(next - 1) + 1);
        let mut chunks = line.bytes.chunks(BYTES_A_LINE);
        let first = hex(chunks.next().unwrap_or_default(), line.relocated);
        let empty = in_macro
            && shown.is_none_or(|(source, number)| text_of(source, number).trim().is_empty());
        if !first.is_empty() || (shown.is_some() && !empty) {
            self.row(&address(line), &first, &clocks(line), shown, line.depth);
        }
        for chunk in chunks {
            self.row("", &hex(chunk, line.relocated), "", None, 0);
        }
    }

    fn row(
        &mut self,
        address: &str,
        bytes: &str,
        clocks: &str,
        line: Option<(&Source, u32)>,
        depth: u32,
    ) {
        let start = self.text.len();
        let _ = write!(self.text, "{address:<5} {bytes:<13} {clocks:>5} ");
        if let Some((source, number)) = line {
            let marks = "+".repeat(depth.min(4) as usize);
            let _ = write!(self.text, "{number:>5}{marks:<1} ");
            self.text.push_str(&text_of(source, number));
        }
        let kept = self.text[start..].trim_end().len();
        self.text.truncate(start + kept);
        self.text.push('\n');
    }
}

fn text_of(source: &Source, line: u32) -> String {
    let start = source.line_start(line) as usize;
    let rest = &source.text[start.min(source.text.len())..];
    let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    String::from_utf8_lossy(&rest[..end]).into_owned()
}

fn hex(bytes: &[u8], relocated: bool) -> String {
    let mut text = String::with_capacity(2 * bytes.len() + 1);
    for byte in bytes {
        let _ = write!(text, "{byte:02X}");
    }
    if relocated && !bytes.is_empty() {
        text.push('\'');
    }
    text
}

fn address(line: &ListingLine) -> String {
    if let (Some(value), true) = (line.value, line.bytes.is_empty()) {
        return format!("{value:04X}");
    }
    let flag = match line.base {
        Some(SectionKind::Absolute) => "",
        Some(SectionKind::Prog) => "'",
        Some(SectionKind::Data) => "*",
        Some(SectionKind::Blank) => "\"",
        None => ":",
    };
    format!("{:04X}{flag}", line.address)
}

fn clocks(line: &ListingLine) -> String {
    match line.clocks {
        Some(clocks) if clocks.taken != clocks.not_taken => {
            format!("{}/{}", clocks.taken, clocks.not_taken)
        }
        Some(clocks) => clocks.taken.to_string(),
        None => String::new(),
    }
}
