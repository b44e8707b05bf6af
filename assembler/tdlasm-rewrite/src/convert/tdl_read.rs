//! Parses TDL source into statements, and finds those without a counterpart.

mod directive;
mod instruction;

use tdlasm::isa::Form;
use tdlasm::source::Source;
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::{Cursor, lex};

use super::expr::{Node, Number};
use super::program::{Body, ConvertResult, Label, Program, Statement, TextRange, Unconverted};
use super::read_state::ReadState;
use super::source_scan::SourceScan;
use super::{mnemonics, tdl_expr};

/// Reads a source up to and with `.END`.
pub(super) fn read<'t>(source: &'t Source, scan: &SourceScan) -> Program<'t> {
    let text = &source.text[..];
    let cursor = Cursor::new(text, text.len() as u32);
    let mut parser = StatementParser { source, scan, cursor, mode: ReadState::new() };
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
}

impl<'t> StatementParser<'t, '_> {
    fn here(&self) -> usize {
        self.cursor.offset() as usize
    }

    /// Reads a statement and leaves the cursor at the end of its last line.
    fn statement(&mut self) -> Statement<'t> {
        let start = self.here();
        let (labels, exported) = self.labels();
        let mut operator = self.operator_range();
        let radix = self.mode.radix;
        let mut body = Body::checked(self.body(operator), &self.cursor);
        if let (Some(at), false) = (exported, matches!(body, Body::LeftAsIs(_))) {
            body = Body::LeftAsIs(Unconverted::new(
                at,
                "exporting by :: has no counterpart; use .INTERN",
            ));
        }
        if let Body::Assign { .. } = body {
            operator = self.sign_behind(operator.end);
        }
        let end = self.here();
        let mut defines = None;
        if let Body::LeftAsIs(_) = body {
            let (end, name) = self.mode.keep(self.source, start, operator);
            self.cursor.move_to(end as u32);
            defines = name;
            let is_radix = Directive::from_word(self.slice(operator)) == Some(Directive::Radix);
            if self.scan.writes_radix && is_radix && labels.is_empty() {
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
            let at = self.here();
            let name = self.cursor.take(lex::symbol);
            self.cursor.skip_blanks();
            let Some(name) = name.filter(|_| self.cursor.eat(b':')) else {
                self.cursor = before;
                return (labels, exported);
            };
            let end = self.here();
            if self.cursor.eat(b':') {
                exported.get_or_insert(at);
            }
            labels.push(Label { name, at, end });
        }
    }

    /// Returns the next mnemonic, directive or assignment operator without consuming it.
    fn operator_range(&mut self) -> TextRange {
        let before = self.cursor.clone();
        self.cursor.skip_blanks();
        let start = self.here();
        self.cursor.take(lex::symbol);
        let end = self.here();
        self.cursor = before;
        TextRange { start, end }
    }

    /// Returns the assignment operator after the name that ends at `from`.
    fn sign_behind(&self, from: usize) -> TextRange {
        let behind = &self.source.text[from..];
        let start = from + behind.iter().take_while(|byte| lex::is_blank(**byte)).count();
        let signs = self.source.text[start..].iter().take(2).take_while(|byte| **byte == b'=');
        TextRange { start, end: start + signs.count() }
    }

    fn slice(&self, range: TextRange) -> &'t [u8] {
        &self.source.text[range.start..range.end]
    }

    fn body(&mut self, operator: TextRange) -> ConvertResult<Body<'t>> {
        self.cursor.skip_blanks();
        if self.cursor.at_statement_end() {
            self.cursor.move_to(operator.start as u32);
            return Ok(Body::Nothing);
        }
        let at = operator.start;
        if matches!(self.cursor.peek(), Some(b'[' | b']')) {
            return Unconverted::fail(at, "brackets of conditional text have no counterpart");
        }
        let word = self.slice(operator);
        if mnemonics::is_marked(word) {
            self.cursor.skip_to_line_end();
            return Ok(Body::AlreadyTarget);
        }
        if word.is_empty() {
            return Unconverted::fail(at, "no statement begins like this");
        }
        self.cursor.advance(word.len());
        let behind = self.cursor.clone();
        self.cursor.skip_blanks();
        if self.cursor.eat(b'=') {
            return self.assignment(word, at);
        }
        self.cursor = behind;
        self.operation(word, at)
    }

    fn operation(&mut self, word: &'t [u8], at: usize) -> ConvertResult<Body<'t>> {
        if self.scan.is_redefined(word) {
            return Unconverted::fail(at, "this is a macro or a redefined word");
        }
        let forms = mnemonics::tdl_forms(word);
        if !forms.is_empty() {
            return self.instruction(forms);
        }
        let Some(directive) = Directive::from_word(word) else {
            let message = "this is not an instruction or directive; a macro stays as it is";
            return Unconverted::fail(at, message);
        };
        match directive {
            Directive::Byte => self.bytes(),
            Directive::Word => self.words(),
            Directive::Text(end) => self.texts(at, end),
            Directive::Reserve(unit) => self.value().map(|value| Body::Reserve(unit, value)),
            Directive::Location => self.value().map(Body::Origin),
            Directive::End if self.mode.depth == 0 => Ok(Body::End(self.optional_value()?)),
            Directive::Insert => self.insert(),
            Directive::External => self.symbols().map(Body::External),
            Directive::Internal => self.symbols().map(Body::Global),
            Directive::Radix => Unconverted::fail(
                at,
                "numbers are written with their radix; this line has no counterpart",
            ),
            Directive::If(_)
            | Directive::Define
            | Directive::Exit
            | Directive::Error
            | Directive::Remark
            | Directive::Print
            | Directive::Rad40
            | Directive::Date
            | Directive::Time
            | Directive::Relocate
            | Directive::Z80
            | Directive::I8080
            | Directive::End
            | Directive::ProgramEnd
            | Directive::Ident
            | Directive::Entry
            | Directive::Synonym(_)
            | Directive::Title
            | Directive::Subtitle
            | Directive::Listing(_)
            | Directive::Format(_) => Unconverted::fail(at, "this directive has no counterpart"),
        }
    }

    /// Reads an assignment after its first `=`.
    fn assignment(&mut self, name: &'t [u8], at: usize) -> ConvertResult<Body<'t>> {
        let fixed = self.cursor.eat(b'=');
        match self.cursor.peek() {
            Some(b'\\') => {
                return Unconverted::fail(at, "a value from the console has no counterpart");
            }
            Some(b':') => {
                return Unconverted::fail(at, "exporting by =: has no counterpart; use .INTERN");
            }
            _ => {}
        }
        if mnemonics::tdl_register(name).is_some() || self.scan.is_redefined(name) {
            return Unconverted::fail(at, "this name cannot be given a value");
        }
        let fixed = fixed || !self.scan.is_variable(name);
        let end = at + name.len();
        Ok(Body::Assign { name, at, end, fixed, value: self.value()? })
    }

    fn optional_value(&mut self) -> ConvertResult<Option<Node<'t>>> {
        let before = self.cursor.clone();
        let node = tdl_expr::read(&mut self.cursor, self.mode.radix)?;
        match node {
            Some(node) => self.settled(node).map(Some),
            None => {
                self.cursor = before;
                Ok(None)
            }
        }
    }

    fn value(&mut self) -> ConvertResult<Node<'t>> {
        let at = self.here();
        self.optional_value()?.map_or_else(|| Unconverted::fail(at, "a value is missing here"), Ok)
    }

    /// Replaces names of registers and instructions, which have values in TDL only, by numbers.
    fn settled(&self, node: Node<'t>) -> ConvertResult<Node<'t>> {
        let at = self.here();
        let settle = |node| self.settled(node);
        Ok(match node {
            Node::Name(name) => {
                if mnemonics::is_section(name) {
                    return Unconverted::fail(at, "sections have no counterpart");
                }
                if self.scan.is_external(name) && mnemonics::tdl_register(name).is_none() {
                    return Ok(node);
                }
                if mnemonics::is_tdl_directive(name) && !self.scan.is_defined(name) {
                    // A directive has no opcode; its value is 0.
                    return Ok(Node::Number(Number::new(0, 10)));
                }
                let register =
                    mnemonics::tdl_register(name).map(|register| register.value().into());
                let opcode = mnemonics::tdl_forms(name).first().map(Form::value);
                if opcode.is_some() && self.scan.is_defined(name) {
                    return Unconverted::fail(at, "an instruction's name that is a symbol too");
                }
                match register.or(opcode) {
                    Some(value) => {
                        Node::Number(Number::new(value, if value < 10 { 10 } else { 16 }))
                    }
                    None => node,
                }
            }
            Node::Unary(op, inner) => Node::Unary(op, Box::new(settle(*inner)?)),
            Node::Group(inner) => Node::Group(Box::new(settle(*inner)?)),
            Node::Binary(op, sides, blanks) => {
                let [left, right] = *sides;
                Node::Binary(op, Box::new([settle(left)?, settle(right)?]), blanks)
            }
            atom => atom,
        })
    }
}
