//! Parses a source into statements, and finds those without a counterpart.

mod tdl;
mod zilog;

use std::ops::Range;

use rustc_hash::FxHashMap;
use tdlasm::source::Source;
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::{Cursor, lex};

use super::expr::Node;
use super::expr_tree;
use super::options::{Dialect, Options};
use super::program::{Body, ConvertResult, Item, Label, Spaced, Statement, Unconverted};
use crate::mnemonics::{self, Language};
use crate::source_scan::{SourceScan, has_radix};
use crate::statement::{StatementParts, bracket_depth, line_end, next_line, unchanged_end};

/// Why some lists are copied unchanged.
const CURRENT_ADDRESS_IN_LIST: &str =
    "after a comma, the current address has another value in some assemblers";

/// Reads a source up to and with `.END` or `END`.
pub(super) fn read<'t>(
    source: &'t Source,
    options: &Options,
    scan: &SourceScan,
) -> Vec<Statement<'t>> {
    let from = options.to.opposite();
    let text = &source.text[..];
    let mut parser = StatementParser {
        source,
        from,
        drops_radix: from == Dialect::Tdl && options.target.is_some(),
        scan,
        cursor: Cursor::new(text, text.len() as u32),
        radix: Some(10),
        depth: 0,
        ifs: 0,
        blocks: match from {
            Dialect::Tdl => FxHashMap::default(),
            Dialect::Zilog => zilog::blocks(text),
        },
    };
    let mut statements = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let statement = parser.statement(at);
        at = next_line(text, statement.span.end);
        let is_last = matches!(statement.body, Body::End(_));
        statements.push(statement);
        if is_last {
            break;
        }
    }
    statements
}

struct StatementParser<'t, 'f> {
    source: &'t Source,
    from: Dialect,
    /// Whether `.RADIX` is dropped, since every number is written with its radix.
    drops_radix: bool,
    scan: &'f SourceScan,
    /// In the operands of the statement.
    cursor: Cursor<'t>,
    /// The radix of numbers without a radix letter in TDL; unknown after a `.RADIX` that may be
    /// inactive.
    radix: Option<u8>,
    /// The number of open brackets of conditionals.
    depth: usize,
    /// The number of open `IF`s.
    ifs: usize,
    /// The ends of the first and last lines of Zilog's macros and repetitions.
    blocks: FxHashMap<usize, usize>,
}

impl<'t> StatementParser<'t, '_> {
    fn here(&self) -> usize {
        self.cursor.offset() as usize
    }

    /// Returns `Err` with a reason at the cursor.
    fn fail<T>(&self, message: &'static str) -> ConvertResult<T> {
        Unconverted::fail(self.here(), message)
    }

    fn slice(&self, range: &Range<usize>) -> &'t [u8] {
        &self.source.text[range.clone()]
    }

    fn cursor(&self, range: Range<usize>) -> Cursor<'t> {
        let end = range.end as u32;
        Cursor::new(&self.source.text[range], end)
    }

    /// Returns the label, or assigned name, that has this name.
    fn label(&self, name: &Range<usize>) -> Label<'t> {
        let mut behind = self.cursor(name.end..self.source.text.len());
        behind.eat_behind_blanks(b':');
        Label { name: self.slice(name), at: name.start, end: behind.offset() as usize }
    }

    /// Reads the statement at the beginning of a line.
    fn statement(&mut self, start: usize) -> Statement<'t> {
        let radix = self.radix;
        let parts = self.parts(start);
        self.cursor = self.cursor(parts.operands.clone());
        let mut body = Body::checked(self.body(&parts), &self.cursor);
        let end = if parts.operands.is_empty() { parts.operator.end } else { self.here() };
        let mut span = start..line_end(&self.source.text, end);
        let mut defines = None;
        if let Body::LeftAsIs(_) = body {
            (span.end, defines) = self.keep(start, &parts);
            let is_radix =
                Directive::from_word(self.slice(&parts.operator)) == Some(Directive::Radix);
            if self.drops_radix && is_radix && parts.labels.is_empty() {
                body = Body::CommentOut;
            }
        }
        let labels = parts.labels.iter().map(|(name, _)| self.label(name)).collect();
        let operator = parts.operator;
        Statement { end: end.min(span.end), span, labels, operator, body, radix, defines }
    }

    /// Reads the parts of a statement. What an earlier conversion has left is TDL's even in Zilog's
    /// notation, where no statement spans lines.
    fn parts(&self, start: usize) -> StatementParts {
        let parts = StatementParts::read(self.source, start, self.scan, Language::default());
        let word = self.slice(&parts.operator);
        let is_tdl = parts.end > line_end(&self.source.text, start)
            || !parts.brackets.is_empty()
            || mnemonics::is_marked(word)
            || Directive::from_word(word).is_some()
            || !mnemonics::tdl_forms(word).is_empty() && !mnemonics::is_shared(word);
        match self.from {
            Dialect::Zilog if !is_tdl => {
                StatementParts::read(self.source, start, self.scan, Language::ZILOG)
            }
            _ => parts,
        }
    }

    fn body(&mut self, parts: &StatementParts) -> ConvertResult<Body<'t>> {
        let word = self.slice(&parts.operator);
        if mnemonics::is_marked(word) {
            self.cursor.skip_to_line_end();
            return Ok(Body::AlreadyTarget);
        }
        if !parts.brackets.is_empty() {
            let message = "brackets of conditional text have no counterpart";
            return Unconverted::fail(parts.brackets.start, message);
        }
        if !parts.is_statement() {
            return self.fail("no statement begins like this");
        }
        let at = parts.operator.start;
        let body = match self.from {
            _ if word.is_empty() => Body::Nothing,
            _ if self.scan.is_redefined(word) => {
                return Unconverted::fail(at, "a macro or redefined word has no counterpart");
            }
            Dialect::Tdl => self.tdl_body(parts, word)?,
            Dialect::Zilog => self.zilog_body(parts, word)?,
        };
        match parts.labels.iter().find(|(_, exported)| *exported) {
            Some((name, _)) => {
                let message = "exporting by :: has no counterpart; use a directive";
                Unconverted::fail(name.start, message)
            }
            None => Ok(body),
        }
    }

    /// Finds the end of a statement that is copied unchanged, and the macro that it defines.
    fn keep(&mut self, start: usize, parts: &StatementParts) -> (usize, Option<&'t [u8]>) {
        let text = &self.source.text[..];
        let StatementParts { operator, operands, .. } = parts;
        let (word, operands) = (self.slice(operator), self.slice(operands));
        if self.scan.is_redefined(word) {
            // A redefined IF does not open a conditional.
        } else if word.eq_ignore_ascii_case(b"IF") {
            self.ifs += 1;
        } else if word.eq_ignore_ascii_case(b"ENDIF") {
            self.ifs = self.ifs.saturating_sub(1);
        }
        if let Some(end) = self.blocks.get(&line_end(text, operator.end)) {
            return (*end, None);
        }
        let end = unchanged_end(self.source, self.scan, parts);
        let kept = &text[start..end];
        let directive = Directive::from_word(word);
        if directive == Some(Directive::Radix) {
            self.radix = Some(operands).filter(|_| self.depth == 0).and_then(radix);
        } else if has_radix(kept) {
            self.radix = None;
        }
        let is_bracket = word.is_empty() || !parts.brackets.is_empty();
        if is_bracket || matches!(directive, Some(Directive::If(..))) {
            self.depth = bracket_depth(kept, self.depth);
        }
        let is_macro = directive == Some(Directive::Define);
        let defines = lex::symbol(operands).ok().filter(|_| is_macro);
        (end, defines.map(|(_, name)| name))
    }

    fn value(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        self.optional_value()?.ok_or_else(|| Unconverted::new(at, "a value is missing here"))
    }

    fn optional_value(&mut self) -> ConvertResult<Option<Node<'t>>> {
        match expr_tree::read(&mut self.cursor, self.from, self.radix)? {
            Some(value) if self.from == Dialect::Tdl => self.settled(value).map(Some),
            value => Ok(value),
        }
    }

    /// Reads elements between commas; `has_here` finds those with the current address.
    fn list<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> ConvertResult<T>,
        has_here: impl Fn(&T) -> bool,
    ) -> ConvertResult<Vec<Spaced<'t, T>>> {
        let mut list = Vec::new();
        loop {
            let blanks = self.cursor.take(lex::blanks).unwrap_or_default();
            let at = self.here();
            let item = element(self)?;
            if !list.is_empty() && has_here(&item) {
                return Unconverted::fail(at, CURRENT_ADDRESS_IN_LIST);
            }
            list.push(Spaced { blanks, item });
            if !self.cursor.eat_behind_blanks(b',') {
                return Ok(list);
            }
        }
    }

    fn words(&mut self) -> ConvertResult<Body<'t>> {
        self.list(Self::value, Node::has_current_address).map(Body::Words)
    }

    fn bytes(&mut self) -> ConvertResult<Body<'t>> {
        let item = |parser: &mut Self| match parser.quoted_text() {
            Some(text) => Ok(Item::Text(text.into())),
            None => parser.value().map(Item::Value),
        };
        self.list(item, Item::has_current_address).map(Body::Bytes)
    }

    fn symbols(&mut self) -> ConvertResult<Vec<Spaced<'t, &'t [u8]>>> {
        let symbol = |parser: &mut Self| {
            let rest = parser.cursor.rest();
            let word = match parser.from {
                Dialect::Tdl => lex::symbol(rest).map_or(&b""[..], |(_, word)| word),
                Dialect::Zilog => tdlasm::syntax::zilog::symbol(rest),
            };
            if word.is_empty() {
                return parser.fail("a symbol is missing");
            }
            if parser.from == Dialect::Tdl && mnemonics::tdl_register(word).is_some() {
                return parser.fail("a register is not a symbol that modules can share");
            }
            parser.cursor.advance(word.len());
            Ok(word)
        };
        self.list(symbol, |_| false)
    }

    fn insert(&mut self) -> ConvertResult<Body<'t>> {
        self.cursor.skip_blanks();
        let at = self.here();
        let operand = self.cursor.rest_of_statement().trim_ascii_end();
        self.cursor.advance(operand.len());
        let name = match self.from {
            Dialect::Tdl => operand,
            Dialect::Zilog => tdlasm::syntax::zilog::file_name(operand),
        };
        if name.is_empty() || memchr::memchr2(b'"', b'\'', name).is_some() {
            return Unconverted::fail(at, "this is not a file name that all assemblers accept");
        }
        if self.scan.inserted_radix {
            self.radix = None;
        }
        Ok(Body::Insert(name))
    }
}

/// The operand of `.RADIX`, which is decimal.
fn radix(operand: &[u8]) -> Option<u8> {
    let radix = std::str::from_utf8(operand).ok()?.parse().ok()?;
    [2, 8, 10, 16].contains(&radix).then_some(radix)
}
