//! Parses a source into statements, and finds those without a counterpart.

mod tdl;
mod zilog;

use rustc_hash::FxHashMap;
use tdlasm::source::Source;
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::{Cursor, lex};

use super::expr::Node;
use super::expr_tree;
use super::options::{Dialect, Options};
use super::program::{Body, ConvertResult, Item, Label, Spaced, Statement, TextRange, Unconverted};
use crate::mnemonics;
use crate::source_scan::{SourceScan, file_name, has_radix};
use crate::statement::{bracket_depth, line_end, statement_end};

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
    while !parser.cursor.rest().is_empty() {
        statements.push(parser.statement());
        if let Some(Statement { body: Body::End(_), .. }) = statements.last() {
            break;
        }
        parser.cursor.skip_line();
    }
    statements
}

struct StatementParser<'t, 'f> {
    source: &'t Source,
    from: Dialect,
    /// Whether `.RADIX` is dropped, since every number is written with its radix.
    drops_radix: bool,
    scan: &'f SourceScan,
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

    fn slice(&self, range: TextRange) -> &'t [u8] {
        &self.source.text[range.start..range.end]
    }

    /// Reads a symbol, perhaps an empty one.
    fn word(&mut self) -> (&'t [u8], TextRange) {
        let start = self.here();
        let word = match self.from {
            Dialect::Tdl => self.cursor.take(lex::symbol).unwrap_or_default(),
            Dialect::Zilog => {
                let word = tdlasm::syntax::zilog::symbol(self.cursor.rest());
                self.cursor.advance(word.len());
                word
            }
        };
        (word, TextRange { start, end: self.here() })
    }

    /// Reads a statement and leaves the cursor at the end of its last line.
    fn statement(&mut self) -> Statement<'t> {
        let start = self.here();
        let radix = self.radix;
        let (mut labels, exported) = self.labels();
        self.cursor.skip_blanks();
        let (operator, read) = match self.from {
            Dialect::Tdl => self.tdl_statement(exported),
            Dialect::Zilog => self.zilog_statement(&mut labels),
        };
        let mut body = Body::checked(read, &self.cursor);
        let end = self.here();
        let mut defines = None;
        if let Body::LeftAsIs(_) = body {
            defines = self.keep(start, operator);
            let is_radix = Directive::from_word(self.slice(operator)) == Some(Directive::Radix);
            if self.drops_radix && is_radix && labels.is_empty() {
                body = Body::CommentOut;
            }
        } else {
            self.cursor.skip_to_line_end();
        }
        let span = TextRange { start, end: self.here() };
        Statement { span, labels, operator, end: end.min(span.end), body, radix, defines }
    }

    /// Reads the labels; also returns the place of the first that is exported.
    fn labels(&mut self) -> (Vec<Label<'t>>, Option<usize>) {
        let mut labels = Vec::new();
        let mut exported = None;
        loop {
            let before = self.cursor.clone();
            self.cursor.skip_blanks();
            let (name, TextRange { start: at, .. }) = self.word();
            self.cursor.skip_blanks();
            if name.is_empty() || !self.cursor.eat(b':') {
                self.cursor = before;
                return (labels, exported);
            }
            let end = self.here();
            if self.from == Dialect::Tdl && self.cursor.eat(b':') {
                exported.get_or_insert(at);
            }
            labels.push(Label { name, at, end });
        }
    }

    /// Moves past a statement that is copied unchanged; returns the macro that it defines.
    fn keep(&mut self, start: usize, operator: TextRange) -> Option<&'t [u8]> {
        let text = &self.source.text[..];
        let word = self.slice(operator);
        if self.scan.is_redefined(word) {
            // A redefined IF does not open a conditional.
        } else if word.eq_ignore_ascii_case(b"IF") {
            self.ifs += 1;
        } else if word.eq_ignore_ascii_case(b"ENDIF") {
            self.ifs = self.ifs.saturating_sub(1);
        }
        if let Some(end) = self.blocks.get(&line_end(text, operator.end)) {
            self.cursor.move_to(*end as u32);
            return None;
        }
        let end = statement_end(self.source, self.scan, word, operator.end);
        self.cursor.move_to(end as u32);
        let kept = &text[start..end];
        let mut behind = Cursor::new(&text[operator.end..end], end as u32);
        behind.skip_blanks();
        let directive = Directive::from_word(word);
        if directive == Some(Directive::Radix) {
            self.radix = Some(behind.rest()).filter(|_| self.depth == 0).and_then(radix);
        } else if has_radix(kept) {
            self.radix = None;
        }
        if word.is_empty() || matches!(directive, Some(Directive::If(..))) {
            self.depth = bracket_depth(kept, self.depth);
        }
        let is_macro = directive == Some(Directive::Define);
        if is_macro { behind.take(lex::symbol) } else { None }
    }

    fn value(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        self.optional_value()?.ok_or_else(|| Unconverted::new(at, "a value is missing here"))
    }

    fn optional_value(&mut self) -> ConvertResult<Option<Node<'t>>> {
        let before = self.cursor.clone();
        match expr_tree::read(&mut self.cursor, self.from, self.radix)? {
            Some(value) if self.from == Dialect::Tdl => self.settled(value).map(Some),
            Some(value) => Ok(Some(value)),
            None => {
                self.cursor = before;
                Ok(None)
            }
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
        let symbol = |parser: &mut Self| match parser.word() {
            (b"", range) => Unconverted::fail(range.start, "a symbol is missing"),
            (word, range)
                if parser.from == Dialect::Tdl && mnemonics::tdl_register(word).is_some() =>
            {
                let message = "a register is not a symbol that modules can share";
                Unconverted::fail(range.start, message)
            }
            (word, _) => Ok(word),
        };
        self.list(symbol, |_| false)
    }

    fn insert(&mut self) -> ConvertResult<Body<'t>> {
        self.cursor.skip_blanks();
        let at = self.here();
        let rest = self.cursor.rest();
        let length = memchr::memchr3(b'\n', b'\r', b';', rest).unwrap_or(rest.len());
        let operand = rest[..length].trim_ascii_end();
        self.cursor.advance(operand.len());
        let name = match self.from {
            Dialect::Tdl => operand,
            Dialect::Zilog => file_name(operand),
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
    let end = memchr::memchr3(b';', b' ', b'\t', operand).unwrap_or(operand.len());
    let radix = std::str::from_utf8(&operand[..end]).ok()?.parse().ok()?;
    [2, 8, 10, 16].contains(&radix).then_some(radix)
}
