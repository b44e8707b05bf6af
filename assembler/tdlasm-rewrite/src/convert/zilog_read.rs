//! Parses source in Zilog's mnemonics into statements, and finds those without a counterpart.

mod blocks;
mod directive;
mod instruction;

use rustc_hash::FxHashMap;
use tdlasm::source::Source;
use tdlasm::syntax::Cursor;

use super::program::{Body, ConvertResult, Label, Program, Statement, TextRange, Unconverted};
use super::read_state::ReadState;
use super::source_scan::SourceScan;
use super::{mnemonics, statement_end, zilog_expr};

/// Reads a source up to and with `END`.
pub(super) fn read<'t>(source: &'t Source, scan: &SourceScan) -> Program<'t> {
    let text = &source.text[..];
    let cursor = Cursor::new(text, text.len() as u32);
    let mode = ReadState::new();
    let blocks = blocks::find(text);
    let mut parser = StatementParser { source, scan, cursor, mode, ifs: 0, blocks };
    let mut program = Program::default();
    while !parser.cursor.rest().is_empty() && program.add(parser.statement()) {
        parser.cursor.skip_line();
    }
    program
}

struct StatementParser<'t, 'f> {
    source: &'t Source,
    scan: &'f SourceScan,
    cursor: Cursor<'t>,
    mode: ReadState,
    /// The number of open `IF`s.
    ifs: usize,
    /// The ends of the first and last lines of macros and repetitions.
    blocks: FxHashMap<usize, usize>,
}

impl<'t> StatementParser<'t, '_> {
    fn here(&self) -> usize {
        self.cursor.offset() as usize
    }

    fn word(&mut self) -> (&'t [u8], TextRange) {
        let start = self.here();
        let word = zilog_expr::symbol(self.cursor.rest());
        self.cursor.advance(word.len());
        (word, TextRange { start, end: self.here() })
    }

    /// Reads a statement and leaves the cursor at the end of its last line.
    fn statement(&mut self) -> Statement<'t> {
        let start = self.here();
        let mut labels = self.labels();
        self.cursor.skip_blanks();
        let first = self.cursor.clone();
        let (mut word, mut operator) = self.word();
        let assigned = self.assigned_name(&mut labels, word, operator);
        if assigned.is_some() && !is_assignment(word) {
            self.cursor.skip_blanks();
            (word, operator) = self.word();
        }
        let radix = self.mode.radix;
        let read = match assigned {
            Some(label) => self.assignment(label, word),
            None => self.body(word, operator.start, &first),
        };
        let body = Body::checked(read, &self.cursor);
        let end = self.here();
        let mut defines = None;
        if let Body::LeftAsIs(_) = body {
            defines = self.keep(start, word, operator);
        } else {
            self.cursor.skip_to_line_end();
        }
        let span = TextRange { start, end: self.here() };
        Statement { span, labels, operator, end, body, radix, defines }
    }

    fn labels(&mut self) -> Vec<Label<'t>> {
        let mut labels = Vec::new();
        loop {
            let before = self.cursor.clone();
            self.cursor.skip_blanks();
            let (name, range) = self.word();
            self.cursor.skip_blanks();
            if name.is_empty() || !self.cursor.eat(b':') {
                self.cursor = before;
                return labels;
            }
            labels.push(Label { name, at: range.start, end: self.here() });
        }
    }

    /// The name that `EQU` or `DEFL` assigns: a label if it has a colon, else the word before.
    fn assigned_name(
        &mut self,
        labels: &mut Vec<Label<'t>>,
        word: &'t [u8],
        range: TextRange,
    ) -> Option<Label<'t>> {
        if is_assignment(word) {
            return labels.pop();
        }
        let before = self.cursor.clone();
        self.cursor.skip_blanks();
        let (next, _) = self.word();
        self.cursor = before;
        (is_assignment(next) && !word.is_empty()).then_some(Label {
            name: word,
            at: range.start,
            end: range.end,
        })
    }

    fn assignment(&mut self, label: Label<'t>, word: &[u8]) -> ConvertResult<Body<'t>> {
        let Label { name, at, end } = label;
        if mnemonics::is_zilog_operand(name) || self.scan.is_redefined(name) {
            return Unconverted::fail(at, "this name cannot be given a value");
        }
        let value = self.value()?;
        let fixed = word.eq_ignore_ascii_case(b"EQU");
        Ok(Body::Assign { name, at, end, fixed, value })
    }

    fn body(&mut self, word: &'t [u8], at: usize, before: &Cursor<'t>) -> ConvertResult<Body<'t>> {
        if before.at_statement_end() {
            return Ok(Body::Nothing);
        }
        if mnemonics::is_marked(word) {
            self.cursor.skip_to_line_end();
            return Ok(Body::AlreadyTarget);
        }
        if word.is_empty() {
            return Unconverted::fail(at, "no statement begins like this");
        }
        if self.scan.is_redefined(word) {
            return Unconverted::fail(at, "a macro has no counterpart");
        }
        let forms = mnemonics::zilog_forms(word);
        if !forms.is_empty() {
            return self.instruction(word, forms);
        }
        self.directive(word, at)
    }

    /// Moves past a statement that is copied unchanged; returns the macro that it defines.
    fn keep(&mut self, start: usize, word: &[u8], operator: TextRange) -> Option<&'t [u8]> {
        let text = &self.source.text[..];
        if self.scan.is_redefined(word) {
            // A redefined IF does not open a conditional.
        } else if word.eq_ignore_ascii_case(b"IF") {
            self.ifs += 1;
        } else if word.eq_ignore_ascii_case(b"ENDIF") {
            self.ifs = self.ifs.saturating_sub(1);
        }
        if let Some(end) = self.blocks.get(&statement_end::line_end(text, operator.end)) {
            self.cursor.move_to(*end as u32);
            return None;
        }
        let (end, defines) = self.mode.keep(self.source, start, operator);
        self.cursor.move_to(end as u32);
        defines
    }
}

fn is_assignment(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"EQU") || word.eq_ignore_ascii_case(b"DEFL")
}
