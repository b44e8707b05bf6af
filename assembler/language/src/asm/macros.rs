//! Macros: their definition, and the text that a call stands for.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::diag::{Code, Diagnostic};
use crate::references::{self, Role};
use crate::source::{Origin, Span};
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

use super::arguments::{Argument, closing_parenthesis};
use super::names::{Entry, NameId};
use super::reader::{FrameKind, Jump};
use super::statement::Ending;
use super::{Assembler, Interrupt, Pass, Step};

/// Calls nested deeper than this never end.
const MAX_DEPTH: usize = 4096;
/// All macro texts of a run together, in bytes; each call counts for [`CALL_COST`] more.
const MAX_TEXT: usize = 1 << 26;
const CALL_COST: usize = 128;
/// The macro texts that are open at a time, in bytes: calls in arguments of calls can grow with
/// every level.
const MAX_OPEN: usize = 1 << 21;

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
}

impl Assembler<'_> {
    /// `.DEFINE NAME[A,B]=[text]`.
    pub(super) fn define_macro(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        cursor.skip_blanks();
        let start = cursor.offset();
        let Some(word) = cursor.take(lex::symbol) else {
            self.error(Code::Operand, span, "the name of the macro is missing");
            return Ok(Ending::Open);
        };
        let place = cursor.since(start);
        let known = self.naming.names.len();
        let name = self.naming.names.intern(word);
        let Some(parameters) = self.parameters(cursor) else { return Ok(Ending::Open) };
        let Some(body) = self.macro_body(cursor) else { return Ok(Ending::Complete) };
        let (pieces, used) = self.pieces(body, &parameters);
        if self.notes() {
            self.mention(name, place, Role::Definition);
            let declared: Vec<Span> = parameters.iter().map(|one| one.place).collect();
            self.mention_parameters(&declared, &used);
        }
        if self.pass == Pass::Only && name < known {
            // The name was met before: the original's second pass takes it for the macro there too.
            self.reports.wants_two = true;
        }
        let name_text = self.naming.names.spelling(name).into();
        self.add_macro(name, Macro { name: name_text, parameters, pieces, place });
        Ok(Ending::Open)
    }

    /// The first definition stays. The original marks all of them if there are two.
    fn add_macro(&mut self, name: NameId, definition: Macro) {
        let place = definition.place;
        let known = self.naming.names[name].macro_index();
        let earlier = known.map(|index| self.naming.macros[index].place);
        match earlier {
            // The second pass knows all macros of the first.
            Some(_) if self.pass != Pass::Second => self.naming.names[name].macro_again = true,
            Some(_) => {}
            None => {
                self.naming.names.place_entry(name, Entry::Macro);
                self.naming.names[name].set_macro(self.naming.macros.len());
                self.naming.macros.push(Arc::new(definition));
            }
        }
        if self.naming.names[name].macro_again {
            let message =
                format!("the macro {} is defined twice", self.naming.names.spelling(name));
            let mut diagnostic = Diagnostic::new(Code::Redefined, place, message);
            if let Some(earlier) = earlier.filter(|earlier| *earlier != place) {
                diagnostic = diagnostic.label(earlier, "first defined here");
            }
            self.report(diagnostic);
        }
        if !self.naming.names[name].is_local() {
            self.naming.names.begin_scope(name, Entry::Macro);
        }
    }

    fn parameters(&mut self, cursor: &mut Cursor<'_>) -> Option<Vec<Parameter>> {
        cursor.skip_blanks();
        let mut parameters = Vec::new();
        if cursor.peek() != Some(b'[') {
            return Some(parameters);
        }
        let Some(close) = self.closing_bracket(cursor) else {
            self.unclosed(cursor);
            return None;
        };
        cursor.advance(1);
        while cursor.offset() < close {
            cursor.skip_blanks();
            let start = cursor.offset();
            let Some(name) = cursor.take(lex::symbol) else {
                if cursor.offset() != close {
                    let message = "the name of an argument is missing";
                    self.error(Code::MacroForm, cursor.here(), message);
                }
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
            let message = "a comma or a closing bracket is missing";
            self.error(Code::MacroForm, cursor.here(), message);
        }
        cursor.move_to(close + 1);
        Some(parameters)
    }

    /// The text in parentheses after an argument's name.
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

    /// The text in the brackets after the `=`, which may be on a later line. Without a bracket the
    /// original looks on for one, over whatever stands between.
    fn macro_body(&mut self, cursor: &mut Cursor<'_>) -> Option<Span> {
        let before = cursor.here();
        let line_end = memchr::memchr2(b'\n', b'\r', cursor.rest()).unwrap_or(usize::MAX);
        let equals = memchr::memchr(b'=', cursor.rest()).unwrap_or(0);
        let Some(bracket) = memchr::memchr(b'[', &cursor.rest()[equals..]) else {
            let message = "the macro's text in brackets is missing";
            self.error(Code::Unterminated, before, message);
            cursor.advance(cursor.rest().len());
            return None;
        };
        let open = equals + bracket;
        if !only_comments_after_equals(cursor.rest()[..open].trim_ascii()) {
            let message = "the macro's text in brackets is missing; it is sought further below";
            self.error(Code::MacroGap, before, message);
        }
        cursor.advance(open);
        if open > line_end {
            self.reports.next_row();
        }
        let start = cursor.offset() + 1;
        let Some(close) = self.closing_bracket(cursor) else {
            self.unclosed(cursor);
            return None;
        };
        cursor.move_to(close + 1);
        let body = Span::new(start, close);
        self.warn_of_brackets(body);
        if memchr::memchr2(b'\n', b'\r', self.input.sources.slice(body)).is_some() {
            self.reports.next_row();
        }
        Some(body)
    }

    /// The parameter of each name; of two with one name the last counts.
    fn parameter_index(&self, parameters: &[Parameter]) -> FxHashMap<SmolStr, usize> {
        let names = parameters.iter().map(|one| self.naming.names.significant(&one.name));
        names.zip(0..).collect()
    }

    /// Cuts a body at its arguments; drops the quotes that join and the comments with two
    /// semicolons. Also returns where which argument is used.
    fn pieces(&self, body: Span, parameters: &[Parameter]) -> (Vec<Piece>, Vec<(usize, Span)>) {
        let text = self.input.sources.slice(body);
        let index = self.parameter_index(parameters);
        let argument = |word: &[u8]| match index.is_empty() {
            true => None,
            false => index.get(&self.naming.names.significant(word)).copied(),
        };
        let mut used = Vec::new();
        let mut cutter = Cutter { pieces: Vec::new(), base: body.start, from: 0, joined: false };
        let mut at = 0;
        while at < text.len() {
            // By whole words: an argument named A is not found within another symbol. Comments and
            // texts are searched as well, as the original does; a quote that touches an argument
            // only joins and goes.
            let word = lex::symbol(&text[at..]).map_or(&[][..], |(_, word)| word);
            if !word.is_empty() {
                if let Some(index) = argument(word) {
                    cutter.argument(at, at + word.len(), index);
                    let start = body.start + at as u32;
                    used.push((index, Span::new(start, start + word.len() as u32)));
                }
                at += word.len();
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

    /// A macro in an operand: the statement is read again with the macro's text in the place of its
    /// name.
    pub(super) fn expand_in_operand(
        &mut self,
        name: NameId,
        head: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step {
        let Some(index) = self.naming.names[name].macro_index() else { return Ok(()) };
        let span = self.symbol_span(head.end);
        cursor.move_to(span.end);
        self.expand(index, Some(head), span, cursor)
    }

    /// Has the text of a macro read, after the `head` of the statement that it stands in.
    fn expand(
        &mut self,
        index: usize,
        head: Option<Span>,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step {
        let arguments = self.arguments(cursor)?;
        let definition = Arc::clone(&self.naming.macros[index]);
        let given = arguments.len();
        let values = self.values_of(&definition, arguments);
        self.check_created(&definition, given, cursor);
        let mut expansion = Expansion {
            keeps_origins: self.notes_origins(),
            origins: std::mem::take(&mut self.record.origins),
            ..Expansion::default()
        };
        let head = head.map(Piece::Text);
        for piece in head.iter().chain(&definition.pieces) {
            match piece {
                Piece::Text(place) => expansion.add(self.input.sources.slice(*place), Some(*place)),
                Piece::Argument(at) => expansion.add(&values[*at].text, values[*at].place),
            }
        }
        let call = Span::new(span.start, cursor.offset());
        self.add_tail(&mut expansion, cursor);
        self.enter(Arc::clone(&definition.name), call, expansion)
    }

    /// Has the rest of a call's line read after the macro's text: it joins the last statement,
    /// unless that ends with its line.
    fn add_tail(&mut self, expansion: &mut Expansion, cursor: &mut Cursor<'_>) {
        let ends_line = matches!(expansion.text.last(), Some(b'\n' | b'\r'));
        let mut after = cursor.clone();
        after.skip_blanks();
        let is_first = self.input.calls == 0;
        self.input.calls += 1;
        if ends_line && is_first && after.peek() == Some(b']') {
            let message = "the original marks the bracket after the first call of a macro";
            self.error(Code::Extra, after.here(), message);
        }
        if !ends_line {
            let start = cursor.offset();
            cursor.skip_line();
            let tail = cursor.since(start);
            expansion.tail = Some(expansion.text.len());
            expansion.add(self.input.sources.slice(tail), Some(tail));
        }
    }

    /// When an argument is given for a dummy after one with `%`, the original reads over the
    /// default of that dummy with a letter L for each character, and one for another `%`.
    fn check_created(&mut self, definition: &Macro, given: usize, cursor: &Cursor<'_>) {
        let given = &definition.parameters[..given.min(definition.parameters.len())];
        let Some(first) = given.iter().position(|one| one.created) else { return };
        let letters = |one: &Parameter| one.default.len() + usize::from(one.created);
        let count: usize = given[first + 1..].iter().map(letters).sum();
        if count > 0 {
            let message = "a dummy with a default or a % comes after one with %";
            self.error_counted(Code::AfterCreated, cursor.here(), message, count);
        }
    }

    fn values_of(&mut self, definition: &Macro, arguments: Vec<Argument>) -> Vec<Argument> {
        let mut values = arguments;
        values.truncate(definition.parameters.len());
        for parameter in &definition.parameters[values.len()..] {
            values.push(Argument::made(match parameter.created {
                true => self.naming.created_symbol(),
                false => parameter.default.clone(),
            }));
        }
        values
    }

    fn enter(&mut self, name: Arc<str>, call: Span, expansion: Expansion) -> Step {
        self.input.macro_text += expansion.text.len() + CALL_COST;
        let open = self.input.open_text + expansion.text.len();
        let nested = self.input.macro_depth() >= MAX_DEPTH || open > MAX_OPEN;
        if nested || self.input.macro_text > MAX_TEXT {
            let (file, line) = self.input.sources.file_line(call.start);
            let message =
                format!("macros call each other without end, here from {}, line {line}", file.name);
            self.error(Code::MacroLimit, call, message);
            return Err(Interrupt::Stop);
        }
        let Expansion { text, mut origins, tail, .. } = expansion;
        let tail = tail.unwrap_or(text.len());
        let Some(index) = self.input.sources.add(name, Origin::Macro(call), text) else {
            return Err(Interrupt::Stop);
        };
        if self.notes_origins() {
            self.note_expansion(self.input.sources.get(index).base, &origins);
        }
        origins.clear();
        self.record.origins = origins;
        let mut frame = self.input.frame(FrameKind::Macro, index);
        frame.tail = tail;
        frame.closes = memchr::memchr(b']', &frame.text[tail..]).is_some();
        self.input.jump = Some(Jump::Into(frame));
        Ok(())
    }

    /// `.MASYN old,new`: gives the macro a second name.
    pub(super) fn copy_macro(&mut self, old: NameId, new: NameId) -> bool {
        let Some(index) = self.naming.names[old].macro_index() else { return false };
        if self.naming.names[new].macro_index().is_none() {
            self.naming.names.place_entry(new, Entry::Macro);
            self.naming.names[new].set_macro(index);
        }
        true
    }
}

/// The text of a call as it comes together.
#[derive(Debug, Default)]
struct Expansion {
    text: Vec<u8>,
    /// The place in the text where the rest of the call's line begins.
    tail: Option<usize>,
    keeps_origins: bool,
    /// The stretches of the text by where they begin, each with the place where it was written.
    origins: Vec<references::Piece>,
}

impl Expansion {
    fn add(&mut self, stretch: &[u8], origin: Option<Span>) {
        if self.keeps_origins {
            let at = self.text.len() as u32;
            self.origins.push(references::Piece { at, origin });
        }
        self.text.extend_from_slice(stretch);
    }
}

/// Whether the text between name and bracket is an `=` with nothing but comments after it.
fn only_comments_after_equals(between: &[u8]) -> bool {
    let Some(after) = between.strip_prefix(b"=") else { return false };
    let mut lines = after.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.all(|line| line.trim_ascii().is_empty() || line.trim_ascii().starts_with(b";"))
}

/// Whether an argument's name begins at `at`.
fn starts_argument(text: &[u8], at: usize, argument: impl Fn(&[u8]) -> Option<usize>) -> bool {
    text.get(at..)
        .and_then(|rest| lex::symbol(rest).ok())
        .is_some_and(|(_, word)| argument(word).is_some())
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
