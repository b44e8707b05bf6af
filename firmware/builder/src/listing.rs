//! A listing: several routines in one file, as typed in from print, with equates, data and origins
//! of its own. What the application's page layout has instead is blanked, line by line, so that
//! messages have the lines of the file.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use cli_support::text::Escape;
use tdlasm::AssembleError;
use tdlasm::source::Loader;
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::{Cursor, lex};

use crate::evaluator::{OverrideError, ROUTINES, TABLES, required_exports};
use crate::sources::{Sources, source};

/// The file before the listing, which declares names. It is beside the built-in sources, so that it
/// inserts those.
const HEADER_FILE: &str = "firmware:/listing.header";

pub(crate) struct Listing {
    pub(crate) path: PathBuf,
    /// The routines that it defines and that are used, as in [`ROUTINES`].
    pub(crate) routines: Vec<&'static str>,
    header: String,
    text: String,
    /// Labels of routines that are not used: name, line, routine.
    omitted: Vec<(String, usize, &'static str)>,
}

impl Listing {
    pub(crate) fn read(path: &Path) -> Result<Self, OverrideError> {
        let text = tdlasm::source::read_file(path)
            .map_err(|error| OverrideError::UnreadableListing { file: path.to_owned(), error })?;
        Self::new(path, &String::from_utf8_lossy(&text))
    }

    fn new(path: &Path, text: &str) -> Result<Self, OverrideError> {
        let labels: BTreeSet<_> = text.lines().filter_map(|line| Line::parse(line).label).collect();
        let names = ROUTINES.map(|(routine, _)| routine).into_iter();
        let names = names.filter(|routine| *routine != TABLES);
        let (defined, missing): (Vec<_>, Vec<_>) = names.partition(|name| labels.contains(*name));
        let is_whole = |routine: &&'static str| {
            required_exports(routine).iter().all(|name| labels.contains(*name))
        };
        let (routines, partial): (Vec<_>, Vec<_>) = defined.into_iter().partition(is_whole);
        if routines.is_empty() {
            return Err(OverrideError::NoRoutine { file: path.to_owned() });
        }
        let mut listing = Self {
            path: path.to_owned(),
            header: header(&routines, &[missing, partial.clone()].concat()),
            routines,
            text: String::new(),
            omitted: Vec::new(),
        };
        listing.adapt(text, &partial);
        Ok(listing)
    }

    /// Blanks what the application has instead: routines that are not used, names of its layout,
    /// directives for the module, origins.
    fn adapt(&mut self, text: &str, partial: &[&'static str]) {
        let known = LayoutNames::new();
        let mut omits = None;
        let mut in_layout_data = false;
        for (index, original) in text.lines().enumerate() {
            let line = Line::parse(original);
            if let Some(label) = &line.label {
                if let Some((routine, _)) = ROUTINES.iter().find(|(routine, _)| routine == label) {
                    omits = partial.contains(routine).then_some(*routine);
                }
                in_layout_data = known.addresses.contains(label);
                if let Some(routine) = omits {
                    self.omitted.push((label.clone(), index + 1, routine));
                }
            } else if !line.word.is_empty() && !line.is_data() {
                in_layout_data = false;
            }
            if let Some(check) = known.check(&line) {
                self.text.push_str(&check);
            } else if line.is_origin() {
                self.text.push_str("\t.LOC .PROG.");
            } else if omits.is_none() && !in_layout_data && !line.is_of_module() {
                self.text.push_str(original);
            }
            self.text.push('\n');
        }
        self.text.push_str("\t.END\n");
    }

    /// The files to assemble as one module.
    pub(crate) fn files(&self) -> [PathBuf; 2] {
        [HEADER_FILE.into(), self.path.clone()]
    }

    /// Returns a hint for a listing that does not assemble, by the names in the messages.
    pub(crate) fn hint(&self, failure: &AssembleError) -> String {
        let diagnostics = &failure.assembly().diagnostics;
        let names: BTreeSet<_> =
            diagnostics.iter().filter_map(|one| one.symbol.as_deref()).collect();
        let omitted = self.omitted.iter().find(|(name, ..)| names.contains(name.as_str()));
        if let Some((name, line, routine)) = omitted {
            return format!(
                "{name} is in line {line} of {}, in {routine}, which is not used: it does not \
                 define {}",
                self.path.escaped(),
                required_exports(routine).join(", ")
            );
        }
        format!(
            "the names of the data page come from names.asm; all others must be in {} \
             (sargon-src/README.md, \"A listing\")",
            self.path.escaped()
        )
    }
}

/// Returns the lines that make a module of a listing.
fn header(routines: &[&str], others: &[&str]) -> String {
    let mut exported = routines.to_vec();
    exported.extend(routines.iter().flat_map(|routine| required_exports(routine)));
    let mut text = "\t.IDENT LISTNG\n".to_owned();
    for name in exported {
        let _ = writeln!(text, "\t.INTERN {name}"); // a String takes everything
    }
    for name in others.iter().chain(&["ENDLST"]) {
        let _ = writeln!(text, "\t.EXTERN {name}");
    }
    text.push_str("\t.INSERT names.asm\n");
    text
}

/// The names that the application's page layout defines.
struct LayoutNames {
    /// Of the data page and the table page.
    addresses: BTreeSet<String>,
    /// Constants, with their definitions.
    constants: Vec<(String, String)>,
}

impl LayoutNames {
    fn new() -> Self {
        let lines = |file| source(file).unwrap_or_default().lines();
        let externals = lines("names.asm").filter_map(|line| line.trim().strip_prefix(".EXTERN "));
        let externals = externals.flat_map(|names| names.split(','));
        let addresses = externals.map(|name| name.trim().to_owned());
        let constants = lines("sargon.asm").map(Line::parse).filter_map(|line| {
            let name = line.word.clone();
            line.value.map(|value| (name, value))
        });
        Self {
            addresses: addresses.chain(["ENDLST".to_owned()]).collect(),
            constants: constants.collect(),
        }
    }

    /// Returns what replaces an equate of a name of the layout: nothing, or for numbers a line that
    /// compares the two values.
    fn check(&self, line: &Line) -> Option<String> {
        let value = line.value.as_ref()?;
        if self.addresses.contains(&line.word) {
            return Some(String::new());
        }
        let (name, known) = self.constants.iter().find(|(name, _)| *name == line.word)?;
        if !value.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(String::new());
        }
        let message = format!("{name} must be {known}, as in sargon.asm");
        Some(format!("\t.IFN {value}-({known}),[.ERROR \"{message}\"]"))
    }
}

/// A line of source, as far as it matters here. Names are in upper case.
struct Line {
    label: Option<String>,
    /// The first word that is no label: an instruction, a directive or the name of an equate.
    word: String,
    /// What an equate defines its name as.
    value: Option<String>,
    /// The rest.
    operand: String,
}

impl Line {
    fn parse(line: &str) -> Self {
        let mut cursor = Cursor::new(line.as_bytes(), line.len() as u32);
        let mut word = symbol(&mut cursor);
        let mut label = None;
        if cursor.eat(b':') {
            cursor.eat(b':');
            label = Some(word);
            word = symbol(&mut cursor);
        }
        cursor.skip_blanks();
        let operand = text(&cursor);
        let mut after = cursor.clone();
        let is_equate = if after.eat(b'=') {
            while after.eat(b'=') || after.eat(b':') {}
            true
        } else {
            matches!(symbol(&mut after).as_str(), "EQU" | ".EQU")
        };
        let value = (is_equate && !word.is_empty()).then(|| text(&after));
        Self { label, word, value, operand: operand.to_ascii_uppercase() }
    }

    fn directive(&self) -> Option<Directive> {
        Directive::from_word(self.word.as_bytes())
    }

    /// Returns `true` for data, which belong to the label before them.
    fn is_data(&self) -> bool {
        matches!(
            self.directive(),
            Some(Directive::Byte | Directive::Word | Directive::Reserve(_) | Directive::Text(_))
        )
    }

    /// Returns `true` for an origin at an address, or in terms of one.
    fn is_origin(&self) -> bool {
        let is_section = [".PROG.", ".DATA.", ".BLNK."].contains(&self.operand.as_str());
        self.word == "ORG" || self.directive() == Some(Directive::Location) && !is_section
    }

    /// Returns `true` for a directive that the header replaces.
    fn is_of_module(&self) -> bool {
        match self.directive() {
            Some(Directive::Insert) => ["SARGON.ASM", "NAMES.ASM"].contains(&self.operand.as_str()),
            Some(
                Directive::Ident
                | Directive::Internal
                | Directive::Entry
                | Directive::External
                | Directive::End
                | Directive::Format(_),
            ) => true,
            _ => false,
        }
    }
}

/// Reads a symbol behind blanks, which is empty if there is none.
fn symbol(cursor: &mut Cursor<'_>) -> String {
    cursor.skip_blanks();
    let word = cursor.take(lex::symbol).unwrap_or_default();
    String::from_utf8_lossy(word).to_ascii_uppercase()
}

/// Returns the text up to the comment, without blanks around it.
fn text(cursor: &Cursor<'_>) -> String {
    let mut behind = cursor.clone();
    while !behind.at_statement_end() {
        if behind.take(lex::quoted).is_none() {
            behind.advance(1);
        }
    }
    let length = cursor.rest().len() - behind.rest().len();
    String::from_utf8_lossy(&cursor.rest()[..length]).trim().to_owned()
}

/// A loader with a listing beside the built-in sources.
pub(crate) struct ListingLoader<'a> {
    pub(crate) listing: &'a Listing,
    pub(crate) sources: Sources,
}

impl ListingLoader<'_> {
    fn text(&self, path: &Path) -> Option<&str> {
        match path {
            _ if path == Path::new(HEADER_FILE) => Some(&self.listing.header),
            _ if path == self.listing.path => Some(&self.listing.text),
            _ => None,
        }
    }
}

impl Loader for ListingLoader<'_> {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.text(path).map_or_else(|| self.sources.load(path), |text| Ok(text.into()))
    }

    fn exists(&self, path: &Path) -> bool {
        self.text(path).is_some() || self.sources.exists(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapted(text: &str) -> Vec<String> {
        let listing = Listing::new(Path::new("l.asm"), text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(listing.text.lines().count(), text.lines().count() + 1);
        listing.text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_the_layout_has_is_blanked_and_lines_stay() {
        let text = "\t.IDENT SARGON\n\t.LOC 1000H\nTBASE: .BYTE 0\n\t.BYTE 1,3\nP1: .BLKB 1
MINE: .BLKB 2\nM1 = .\nBLACK == 80H\nXCHNG: LDA P1\n\tRET\n\t.END XCHNG\n";
        let expected = [
            "",
            "\t.LOC .PROG.",
            "",
            "",
            "",
            "MINE: .BLKB 2",
            "",
            "BLACK == 80H",
            "XCHNG: LDA P1",
            "\tRET",
            "",
            "\t.END",
        ];
        assert_eq!(adapted(text), expected);
    }

    #[test]
    fn directives_and_quotes_are_read_as_the_assembler_reads_them() {
        let text = "\t.INTERNAL XCHNG\nP1:\t.ASCIS 'P'\n\t.ASCIZ 'more'\nPAWN = ';' ; a text\n\
            \t.PSYM\nXCHNG: RET\n";
        assert_eq!(adapted(text), ["", "", "", "", "", "XCHNG: RET", "\t.END"]);
    }

    #[test]
    fn a_routine_without_its_exports_is_cut_out_up_to_the_next() {
        let text = "POINTS: NOP\nPOI1: JMP POI1\nXCHNG: RET\n";
        assert_eq!(adapted(text), ["", "", "XCHNG: RET", "\t.END"]);
    }

    #[test]
    fn numbers_of_the_layout_are_compared() {
        let lines = adapted("PAWN = 1\nKING EQU 7\nPVALUE = .-1\nXCHNG: RET\n");
        assert!(lines[0].starts_with("\t.IFN 1-(1),[.ERROR "), "{lines:?}");
        assert!(lines[1].contains("KING must be 6"), "{lines:?}");
        assert_eq!(lines[2], "");
    }
}
