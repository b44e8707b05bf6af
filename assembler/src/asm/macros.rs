//! Macros: definition, calls, and the text that a call stands for.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::diag::{Code, Diagnostic};
use crate::references::Role;
use crate::source::{Origin, Span};
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

use super::names::NameId;
use super::reader::{FrameKind, Jump};
use super::{Assembler, Interrupt, Step};

/// Calls nested deeper than this never end.
const MAX_DEPTH: usize = 4096;
/// All macro texts of a run together, in bytes; each call counts for [`CALL_COST`] more.
const MAX_TEXT: usize = 1 << 26;
const CALL_COST: usize = 128;

/// A piece of a body.
#[derive(Debug, Clone, Copy)]
enum Piece {
    /// A stretch of the source map.
    Text(Span),
    /// The argument with this index.
    Argument(usize),
}

#[derive(Debug, Clone)]
struct Parameter {
    name: Vec<u8>,
    place: Span,
    default: Vec<u8>,
    /// Whether a missing argument becomes a new local symbol.
    created: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Macro {
    name: Arc<str>,
    parameters: Vec<Parameter>,
    pieces: Vec<Piece>,
    place: Span,
    pass: u8,
}

/// What a call puts in the place of a parameter.
#[derive(Debug, Clone)]
struct Argument {
    text: Vec<u8>,
    /// Where the text was written.
    place: Option<Span>,
}

impl Argument {
    /// One that does not stand in the source as it is.
    fn made(text: Vec<u8>) -> Self {
        Self { text, place: None }
    }
}

impl Assembler<'_> {
    /// `.DEFINE NAME[A,B]=[text]`.
    pub(super) fn define_macro(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step {
        cursor.skip_blanks();
        let start = cursor.offset();
        let Some(word) = cursor.take(lex::symbol) else {
            self.error(Code::MacroForm, span, "the name of the macro is missing");
            cursor.skip_to_line_end();
            return Ok(());
        };
        let place = cursor.since(start);
        let name = self.names.intern(word);
        let Some(parameters) = self.parameters(cursor) else { return Ok(()) };
        let Some(body) = self.macro_body(cursor) else { return Ok(()) };
        let (pieces, used) = self.pieces(body, &parameters);
        if self.notes() {
            self.mention(name, place, Role::Definition);
            let declared: Vec<Span> = parameters.iter().map(|one| one.place).collect();
            self.mention_parameters(&declared, &used);
        }
        let pass = self.pass_number();
        let name_text = self.names.spelling(name).into();
        self.add_macro(name, Macro { name: name_text, parameters, pieces, place, pass });
        Ok(())
    }

    fn add_macro(&mut self, name: NameId, definition: Macro) {
        let known = self.names[name].macro_index();
        if let Some(earlier) = known.map(|index| &self.macros[index])
            && earlier.pass == definition.pass
        {
            let message = format!("the macro {} is already defined", definition.name);
            let diagnostic = Diagnostic::new(Code::Redefined, definition.place, message);
            return self.report(diagnostic.label(earlier.place, "first defined here"));
        }
        self.names[name].set_macro(self.macros.len());
        self.macros.push(definition);
        if !self.names[name].is_local() {
            self.names.new_scope();
        }
    }

    fn parameters(&mut self, cursor: &mut Cursor<'_>) -> Option<Vec<Parameter>> {
        cursor.skip_blanks();
        let mut parameters = Vec::new();
        if cursor.peek() != Some(b'[') {
            return Some(parameters);
        }
        let Some(close) = self.closing_bracket(cursor) else { return self.open_bracket(cursor) };
        cursor.advance(1);
        while cursor.offset() < close {
            cursor.skip_blanks();
            let start = cursor.offset();
            let Some(name) = cursor.take(lex::symbol) else {
                self.error(Code::MacroForm, cursor.here(), "the name of an argument is missing");
                break;
            };
            let place = cursor.since(start);
            let default = self.default_text(cursor);
            let created = name.starts_with(b"%");
            parameters.push(Parameter { name: name.to_vec(), place, default, created });
            cursor.skip_blanks();
            if !cursor.eat(b',') {
                break;
            }
        }
        if cursor.offset() != close {
            self.error(Code::MacroForm, cursor.here(), "a comma or a closing bracket is missing");
        }
        cursor.move_to(close + 1);
        Some(parameters)
    }

    fn open_bracket<T>(&mut self, cursor: &mut Cursor<'_>) -> Option<T> {
        self.error(Code::Unterminated, cursor.here(), "this bracket is not closed");
        cursor.advance(cursor.rest().len());
        None
    }

    /// The text in parentheses behind an argument's name.
    fn default_text(&mut self, cursor: &mut Cursor<'_>) -> Vec<u8> {
        cursor.skip_blanks();
        if cursor.peek() != Some(b'(') {
            return Vec::new();
        }
        let text = cursor.rest();
        let Some(end) = closing_parenthesis(text) else {
            self.error(Code::MacroForm, cursor.here(), "this parenthesis is not closed");
            return Vec::new();
        };
        cursor.advance(end + 1);
        text[1..end].to_vec()
    }

    /// The text in the brackets behind the `=`, which may be on a later line.
    fn macro_body(&mut self, cursor: &mut Cursor<'_>) -> Option<Span> {
        cursor.skip_blanks();
        if !cursor.eat(b'=') {
            self.error(
                Code::MacroForm,
                cursor.here(),
                "an = sign is missing before the macro's text",
            );
            cursor.skip_to_line_end();
            return None;
        }
        let before = cursor.clone();
        skip_empty_lines(cursor);
        if cursor.peek() != Some(b'[') {
            self.error(Code::MacroForm, before.here(), "the macro's text in brackets is missing");
            *cursor = before;
            cursor.skip_to_line_end();
            return None;
        }
        let start = cursor.offset() + 1;
        let Some(close) = self.closing_bracket(cursor) else { return self.open_bracket(cursor) };
        cursor.move_to(close + 1);
        self.warn_of_brackets(Span::new(start, close));
        Some(Span::new(start, close))
    }

    /// The first parameter of each name.
    fn parameter_index(&self, parameters: &[Parameter]) -> FxHashMap<SmolStr, usize> {
        let mut index = FxHashMap::default();
        for (at, parameter) in parameters.iter().enumerate() {
            index.entry(self.names.significant(&parameter.name)).or_insert(at);
        }
        index
    }

    /// Cuts a body at its arguments; drops the quotes that join and the comments with two semicolons. Also returns
    /// where which argument is used.
    fn pieces(&self, body: Span, parameters: &[Parameter]) -> (Vec<Piece>, Vec<(usize, Span)>) {
        let text = self.sources.slice(body);
        let index = self.parameter_index(parameters);
        let argument = |word: &[u8]| match index.is_empty() {
            true => None,
            false => index.get(&self.names.significant(word)).copied(),
        };
        let mut used = Vec::new();
        let mut cutter = Cutter { pieces: Vec::new(), base: body.start, from: 0, joined: false };
        let mut at = 0;
        while at < text.len() {
            let word = lex::symbol(&text[at..]).map_or(&[][..], |(_, word)| word);
            if !word.is_empty() {
                if let Some(index) = argument(word) {
                    cutter.argument(at, at + word.len(), index);
                    let start = body.start + at as u32;
                    used.push((index, Span::new(start, start + word.len() as u32)));
                }
                at += word.len();
            } else if lex::is_symbol(text[at]) {
                at += text[at..].iter().take_while(|byte| lex::is_symbol(**byte)).count();
            } else if text[at] == b'\''
                && (cutter.just_after(at) || starts_argument(text, at + 1, argument))
            {
                cutter.drop(at, at + 1);
                at += 1;
            } else if text[at..].starts_with(b";;") {
                let length = memchr::memchr2(b'\n', b'\r', &text[at..]).unwrap_or(text.len() - at);
                cutter.drop(at, at + length);
                at += length;
            } else {
                at += 1;
            }
        }
        (cutter.finish(text.len()), used)
    }

    /// A macro in the operator field.
    pub(super) fn call_macro(&mut self, index: usize, span: Span, cursor: &mut Cursor<'_>) -> Step {
        self.expand(index, None, span, cursor)
    }

    /// A macro in an operand: the statement is read again with the macro's text in the place of its name.
    pub(super) fn expand_in_operand(
        &mut self,
        name: NameId,
        head: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step {
        let Some(index) = self.names[name].macro_index() else { return Ok(()) };
        let span = self.symbol_span(head.end);
        cursor.move_to(span.end);
        self.expand(index, Some(head), span, cursor)
    }

    /// Has the text of a macro read, behind the `head` of the statement that it stands in.
    fn expand(
        &mut self,
        index: usize,
        head: Option<Span>,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step {
        let arguments = self.arguments(cursor)?;
        let definition = self.macros[index].clone();
        let mut values = Vec::with_capacity(definition.parameters.len());
        for (at, parameter) in definition.parameters.iter().enumerate() {
            values.push(match arguments.get(at) {
                Some(argument) if !(argument.text.is_empty() && parameter.created) => {
                    argument.clone()
                }
                _ if parameter.created => Argument::made(self.created_symbol()),
                _ => Argument::made(parameter.default.clone()),
            });
        }
        let (mut text, mut origins) = (Vec::new(), Vec::new());
        let head = head.map(Piece::Text);
        for piece in head.iter().chain(&definition.pieces) {
            let (stretch, origin) = match piece {
                Piece::Text(span) => (self.sources.slice(*span), Some(*span)),
                Piece::Argument(at) => (&values[*at].text[..], values[*at].place),
            };
            if self.options.references {
                origins.push((text.len() as u32, origin));
            }
            text.extend_from_slice(stretch);
        }
        self.enter(definition.name, span, text, origins)
    }

    fn created_symbol(&mut self) -> Vec<u8> {
        self.created += 1;
        format!("..{:04}", self.created).into_bytes()
    }

    fn enter(
        &mut self,
        name: Arc<str>,
        call: Span,
        text: Vec<u8>,
        origins: Vec<(u32, Option<Span>)>,
    ) -> Step {
        self.macro_text += text.len() + CALL_COST;
        if self.reader.macro_depth() >= MAX_DEPTH || self.macro_text > MAX_TEXT {
            let (file, line) = self.sources.file_line(call.start);
            let message =
                format!("macros call each other without end, here from {}, line {line}", file.name);
            self.error(Code::MacroLimit, call, message);
            return Err(Interrupt::Stop);
        }
        let Some(index) = self.sources.add(name, Origin::Macro(call), text) else {
            return Err(Interrupt::Stop);
        };
        if self.notes() {
            self.note_expansion(self.sources.get(index).base, origins);
        }
        self.jump = Some(Jump::Into(self.frame(FrameKind::Macro, index)));
        Ok(())
    }

    /// The arguments of a call, each as the text that goes into the body.
    fn arguments(&mut self, cursor: &mut Cursor<'_>) -> Step<Vec<Argument>> {
        cursor.skip_blanks();
        let close = if cursor.peek() == Some(b'[') { self.closing_bracket(cursor) } else { None };
        let mut arguments = Vec::new();
        if let Some(close) = close {
            cursor.advance(1);
            let length = (close - cursor.offset()) as usize;
            let mut inner = Cursor::new(&cursor.rest()[..length], close);
            self.argument_list(&mut inner, true, &mut arguments)?;
            cursor.move_to(close + 1);
        } else {
            self.argument_list(cursor, false, &mut arguments)?;
        }
        Ok(arguments)
    }

    fn argument_list(
        &mut self,
        cursor: &mut Cursor<'_>,
        bracketed: bool,
        list: &mut Vec<Argument>,
    ) -> Step {
        if cursor.rest().is_empty() || (!bracketed && cursor.at_statement_end()) {
            return Ok(());
        }
        loop {
            list.push(self.argument(cursor, bracketed)?);
            if !cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    fn argument(&mut self, cursor: &mut Cursor<'_>, bracketed: bool) -> Step<Argument> {
        let mut ahead = cursor.clone();
        ahead.skip_blanks();
        if ahead.eat(b'\\') {
            *cursor = ahead;
            return self.number_argument(cursor).map(Argument::made);
        }
        let text = cursor.rest();
        let length = argument_length(text, bracketed);
        let mut place = Span::new(cursor.offset(), cursor.offset() + length as u32);
        cursor.advance(length);
        let argument = &text[..length];
        let trimmed = argument.trim_ascii();
        let wrapped = trimmed.first() == Some(&b'(')
            && closing_parenthesis(trimmed) == Some(trimmed.len() - 1);
        if !wrapped {
            return Ok(Argument { text: argument.to_vec(), place: Some(place) });
        }
        place.start += (length - argument.trim_ascii_start().len()) as u32 + 1;
        let text = trimmed[1..trimmed.len() - 1].to_vec();
        place.end = place.start + text.len() as u32;
        Ok(Argument { text, place: Some(place) })
    }

    /// `\expression`: the digits of its value in the current radix.
    fn number_argument(&mut self, cursor: &mut Cursor<'_>) -> Step<Vec<u8>> {
        self.parse_expression(0, cursor);
        let number = self.known_operand(0, "the argument")?.unwrap_or(0);
        Ok(in_radix(number, self.radix))
    }

    /// `.MASYN old,new`.
    pub(super) fn copy_macro(&mut self, old: NameId, new: NameId) -> bool {
        let Some(index) = self.names[old].macro_index() else { return false };
        self.names[new].set_macro(index);
        true
    }
}

fn skip_empty_lines(cursor: &mut Cursor<'_>) {
    loop {
        cursor.skip_blanks();
        if !matches!(cursor.peek(), Some(b'\n' | b'\r' | b';')) {
            return;
        }
        cursor.skip_line();
    }
}

/// Whether an argument's name begins at `at`.
fn starts_argument(text: &[u8], at: usize, argument: impl Fn(&[u8]) -> Option<usize>) -> bool {
    text.get(at..)
        .and_then(|rest| lex::symbol(rest).ok())
        .is_some_and(|(_, word)| argument(word).is_some())
}

/// The index of the parenthesis that closes the one at the start.
fn closing_parenthesis(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    text.iter().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// How far an argument goes: to a comma outside of parentheses, a comment or the end.
fn argument_length(text: &[u8], bracketed: bool) -> usize {
    let mut depth = 0usize;
    text.iter()
        .position(|byte| {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                b',' => return depth == 0,
                b';' | b'\n' | b'\r' => return !bracketed,
                _ => {}
            }
            false
        })
        .unwrap_or(text.len())
}

fn in_radix(number: u16, radix: u8) -> Vec<u8> {
    let mut digits = Vec::new();
    let mut rest = number;
    loop {
        digits.push(b"0123456789ABCDEF"[usize::from(rest % u16::from(radix))]);
        rest /= u16::from(radix);
        if rest == 0 {
            break;
        }
    }
    digits.reverse();
    digits
}

/// Collects the pieces of a body.
struct Cutter {
    pieces: Vec<Piece>,
    base: u32,
    /// The start of the text that is not yet in a piece.
    from: usize,
    /// Whether the last piece is an argument.
    joined: bool,
}

impl Cutter {
    fn text(&mut self, end: usize) {
        if self.from < end {
            let span = Span::new(self.base + self.from as u32, self.base + end as u32);
            self.pieces.push(Piece::Text(span));
        }
    }

    fn argument(&mut self, start: usize, end: usize, index: usize) {
        self.text(start);
        self.pieces.push(Piece::Argument(index));
        (self.from, self.joined) = (end, true);
    }

    fn drop(&mut self, start: usize, end: usize) {
        self.text(start);
        (self.from, self.joined) = (end, false);
    }

    /// Whether an argument ended right here.
    fn just_after(&self, at: usize) -> bool {
        self.joined && self.from == at
    }

    fn finish(mut self, end: usize) -> Vec<Piece> {
        self.text(end);
        self.pieces
    }
}
