//! Writes a program in the other dialect, line by line at the columns of the source.

use std::collections::{HashMap, HashSet};

use tdlasm::syntax::lex;

use super::columns::{LineWriter, column};
use super::expr::Node;
use super::options::{Dialect, Options};
use super::program::{Body, ConvertResult, Program, Statement, Unconverted};
use super::source_scan::SourceScan;
use super::statement_context::{AssignmentFacts, ConvertedStatement, StatementContext};
use super::symbol_spelling::{Scopes, SpellingMap};
use super::target::Target;
use super::{mnemonics, tdl_write, zilog_write};

#[derive(Debug, Default)]
pub(super) struct Output {
    pub(super) text: Vec<u8>,
    /// The reasons why statements were kept, with their places.
    pub(super) kept: Vec<Unconverted>,
    /// The number of statements that were converted.
    pub(super) written: usize,
    /// The number of those that are valid in the dialect of the source only.
    pub(super) source_dialect_only: usize,
}

pub(super) struct ProgramFacts<'a> {
    pub(super) names: &'a SpellingMap,
    pub(super) scopes: &'a Scopes,
    pub(super) scan: &'a SourceScan,
}

pub(super) fn write(
    text: &[u8],
    program: &Program<'_>,
    options: &Options,
    known: &ProgramFacts<'_>,
) -> Output {
    let is_lowercase = is_mostly_lowercase(text, program);
    let mut writing = Converter {
        text,
        to: options.to,
        target: options.target,
        assigned: assignment_facts(program, known),
        known,
        is_lowercase,
        placed: false,
        label: 0,
        style: Style::default(),
        output: Output::default(),
    };
    writing.area(program);
    let mut at = 0;
    for (index, statement) in program.statements.iter().enumerate() {
        writing.output.text.extend_from_slice(&text[at..statement.span.start]);
        writing.statement(index, statement);
        at = statement.span.end;
    }
    writing.output.text.extend_from_slice(&text[at..]);
    writing.output
}

/// Finds the assignments with forward references, and those of symbols that are assigned once.
fn assignment_facts(program: &Program<'_>, known: &ProgramFacts<'_>) -> Vec<AssignmentFacts> {
    let spelled =
        |name: &[u8], index: usize| known.names.spelling(name, known.scopes.bodies[index]);
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for (index, statement) in program.statements.iter().enumerate() {
        if let Body::Assign { name, .. } = &statement.body {
            *counts.entry(spelled(name, index)).or_default() += 1;
        }
    }
    let mut defined = HashSet::new();
    let one = |(index, statement): (usize, &Statement<'_>)| {
        let mut found = AssignmentFacts::default();
        defined.extend(statement.labels.iter().map(|label| spelled(label.name, index)));
        if let Body::Assign { name, value, .. } = &statement.body {
            found.looks_ahead = value.any(&mut |node| {
                matches!(node, Node::Name(name) if !defined.contains(&spelled(name, index)))
            });
            found.is_only = counts.get(&spelled(name, index)) == Some(&1);
            defined.insert(spelled(name, index));
        }
        found
    };
    let mut found: Vec<AssignmentFacts> = program.statements.iter().enumerate().map(one).collect();
    mark_cycles(program, &spelled, &mut found);
    found
}

/// Marks the assignments whose values depend on themselves: those that remain after all that depend
/// on resolved symbols only are removed.
fn mark_cycles(
    program: &Program<'_>,
    spelled: &impl Fn(&[u8], usize) -> Vec<u8>,
    found: &mut [AssignmentFacts],
) {
    let mut open: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut users: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    let mut waits = vec![0usize; found.len()];
    let may = |index: &usize| found[*index].looks_ahead || found[*index].is_only;
    let ahead: Vec<usize> = (0..found.len()).filter(may).collect();
    for index in &ahead {
        if let Body::Assign { name, .. } = &program.statements[*index].body {
            *open.entry(spelled(name, *index)).or_default() += 1;
        }
    }
    for index in &ahead {
        let Body::Assign { value, .. } = &program.statements[*index].body else { continue };
        value.any(&mut |node| {
            if let Node::Name(name) = node
                && open.contains_key(&spelled(name, *index))
            {
                waits[*index] += 1;
                users.entry(spelled(name, *index)).or_default().push(*index);
            }
            false
        });
    }
    let mut ready: Vec<usize> = ahead.iter().copied().filter(|index| waits[*index] == 0).collect();
    while let Some(index) = ready.pop() {
        let Body::Assign { name, .. } = &program.statements[index].body else { continue };
        let name = spelled(name, index);
        let Some(left) = open.get_mut(&name) else { continue };
        *left -= 1;
        if *left > 0 {
            continue;
        }
        for user in users.remove(&name).unwrap_or_default() {
            waits[user] -= 1;
            if waits[user] == 0 {
                ready.push(user);
            }
        }
    }
    for index in ahead {
        found[index].is_cyclic = waits[index] > 0;
    }
}

/// Returns `true` if a statement emits bytes or sets the address of the next one.
fn moves_address(body: &Body<'_>) -> bool {
    matches!(
        body,
        Body::Instruction(..)
            | Body::Bytes(_)
            | Body::Words(_)
            | Body::Reserve(..)
            | Body::Origin(_)
            | Body::Insert(_)
    )
}

/// Whether most operators are in small letters.
fn is_mostly_lowercase(text: &[u8], program: &Program<'_>) -> bool {
    let operators = program.statements.iter().map(|statement| &statement.operator);
    let letters = operators.filter_map(|operator| {
        text[operator.start..operator.end].iter().find(|byte| byte.is_ascii_alphabetic())
    });
    let balance: i64 = letters.map(|byte| if byte.is_ascii_lowercase() { 1 } else { -1 }).sum();
    balance > 0
}

/// The layout of the lines above.
#[derive(Debug, Clone, Copy, Default)]
struct Style<'t> {
    /// The column of operators that did not have to give way to a long label.
    operator: Option<usize>,
    /// The blanks between operator and operands, and the column of those.
    operands: Option<(&'t [u8], usize)>,
}

struct Converter<'t, 'k> {
    text: &'t [u8],
    to: Dialect,
    target: Option<Target>,
    /// By statement: what an assembler that reads a source once must know of an assignment.
    assigned: Vec<AssignmentFacts>,
    known: &'k ProgramFacts<'k>,
    is_lowercase: bool,
    /// Whether bytes or an origin were written.
    placed: bool,
    label: usize,
    style: Style<'t>,
    output: Output,
}

impl<'t, 'k> Converter<'t, 'k> {
    fn is_asxxxx(&self) -> bool {
        self.target.is_some_and(Target::is_asxxxx)
    }

    /// Begins a source of ASxxxx by an absolute area, in which an origin and every expression are
    /// allowed, unless it has no origin and is to be linked.
    fn area(&mut self, program: &Program<'_>) {
        let is_origin = |statement: &Statement<'_>| matches!(statement.body, Body::Origin(_));
        let is_shared = |statement: &Statement<'_>| {
            matches!(statement.body, Body::External(_) | Body::Global(_))
        };
        let mut statements = program.statements.iter();
        let is_linked = statements.clone().any(is_shared) && !statements.any(is_origin);
        if self.is_asxxxx() && !is_linked {
            self.output.text.extend_from_slice(b"\t.area\tABS (ABS)");
            self.output.text.extend_from_slice(self.line_end());
        }
    }

    fn statement(&mut self, index: usize, statement: &Statement<'t>) {
        let context = self.context(index, statement);
        let first_label = self.label;
        self.label += statement.labels.len();
        match self.written(statement, &context) {
            Ok(Some(written)) => {
                self.output.written += 1;
                self.output.source_dialect_only +=
                    usize::from(self.is_source_dialect_only(statement));
                self.line(statement, &written, first_label, &context);
            }
            Ok(None) => self.copy(statement),
            Err(reason) => self.keep(statement, reason),
        }
        self.placed |= moves_address(&statement.body);
        self.remember_style(statement);
    }

    fn context(&self, index: usize, statement: &Statement<'t>) -> StatementContext<'k> {
        let operator = &self.text[statement.operator.start..statement.operator.end];
        let letter = operator.iter().find(|byte| byte.is_ascii_alphabetic());
        let named = letter.is_some() && !matches!(statement.body, Body::Assign { .. });
        StatementContext {
            names: self.known.names,
            scan: self.known.scan,
            scope: self.known.scopes.bodies[index],
            radix: statement.radix,
            at: statement.operator.start,
            target: self.target,
            placed: self.placed,
            assigned: self.assigned[index],
            is_lowercase: if named {
                letter.is_some_and(u8::is_ascii_lowercase)
            } else {
                self.is_lowercase
            },
        }
    }

    /// The statement in the other dialect; `None` if there is nothing to change.
    fn written(
        &self,
        statement: &Statement<'t>,
        context: &StatementContext<'_>,
    ) -> ConvertResult<Option<ConvertedStatement>> {
        if let Some(label) =
            statement.labels.iter().find(|label| context.scan.is_redefined(label.name))
        {
            return Unconverted::fail(label.at, "a macro has the name of this label");
        }
        match &statement.body {
            Body::LeftAsIs(reason) => Err(reason.clone()),
            Body::AlreadyTarget | Body::CommentOut => Ok(None),
            Body::Nothing if statement.labels.is_empty() => Ok(None),
            Body::Nothing => Ok(Some(ConvertedStatement::default())),
            body => match self.to {
                Dialect::Tdl => tdl_write::write(body, context).map(Some),
                Dialect::Zilog => zilog_write::write(body, context).map(Some),
            },
        }
    }

    fn is_source_dialect_only(&self, statement: &Statement<'t>) -> bool {
        let word = &self.text[statement.operator.start..statement.operator.end];
        statement.body != Body::Nothing && !mnemonics::is_shared(word)
    }

    /// Copies a statement without the period that marked it.
    fn copy(&mut self, statement: &Statement<'t>) {
        let span = statement.span;
        let operator = statement.operator;
        let marked = usize::from(statement.body == Body::AlreadyTarget);
        self.output.text.extend_from_slice(&self.text[span.start..operator.start]);
        if statement.body == Body::CommentOut {
            self.output.text.extend_from_slice(b"; ");
        }
        self.output.text.extend_from_slice(&self.text[operator.start + marked..span.end]);
    }

    /// Copies a statement without counterpart; a mnemonic that means another gets a period.
    fn keep(&mut self, statement: &Statement<'t>, mut reason: Unconverted) {
        let span = statement.span;
        let operator = statement.operator;
        let word = &self.text[operator.start..operator.end];
        self.output.text.extend_from_slice(&self.text[span.start..operator.start]);
        if mnemonics::is_shared(word) {
            self.output.text.push(b'.');
            let word = String::from_utf8_lossy(word);
            let what =
                format!("{}; marked .{word}, since both dialects have {word}", reason.message);
            reason.message = what.into();
        }
        self.output.text.extend_from_slice(&self.text[operator.start..span.end]);
        self.output.kept.push(reason);
    }

    /// The column of offset `at`, in the line on which the statement ends.
    fn column(&self, statement: &Statement<'t>, at: usize) -> usize {
        column(&self.text[statement.span.start..at])
    }

    fn blanks(&self, from: usize) -> &'t [u8] {
        let length = self.text[from..].iter().take_while(|byte| lex::is_blank(**byte)).count();
        &self.text[from..from + length]
    }

    fn remember_style(&mut self, statement: &Statement<'t>) {
        let start = statement.operator.start;
        let from = statement.operator.end;
        if start == from {
            return;
        }
        let before = &self.text[statement.span.start..start];
        if before.trim_ascii().is_empty() || !before.ends_with(b": ") {
            self.style.operator = Some(column(before));
        }
        let blanks = self.blanks(from);
        if let Body::Instruction(..) = statement.body
            && from + blanks.len() < statement.end
            && !blanks.is_empty()
        {
            self.style.operands = Some((blanks, self.column(statement, from + blanks.len())));
        }
    }

    fn line(
        &mut self,
        statement: &Statement<'t>,
        written: &ConvertedStatement,
        first_label: usize,
        context: &StatementContext<'_>,
    ) {
        let mut text = std::mem::take(&mut self.output.text);
        let at = self.labels(statement, first_label, context, &mut text);
        self.fields(statement, written, at, &mut text);
        self.output.text = text;
    }

    /// Writes the labels and the assigned name; returns the offset in the source after them.
    fn labels(
        &self,
        statement: &Statement<'t>,
        first_label: usize,
        context: &StatementContext<'_>,
        out: &mut Vec<u8>,
    ) -> usize {
        let names = self.known.names;
        let mut at = statement.span.start;
        for (number, label) in statement.labels.iter().enumerate() {
            let scope = self.known.scopes.labels[first_label + number];
            if number > 0 && self.to == Dialect::Zilog {
                out.extend_from_slice(self.line_end());
            } else {
                out.extend_from_slice(&self.text[at..label.at]);
            }
            out.extend_from_slice(&names.spelling(label.name, scope));
            out.push(b':');
            at = label.end;
        }
        if let Body::Assign { name, at: start, end, .. } = statement.body {
            // GNU as wants the name of an EQU at the start of its line.
            if self.to == Dialect::Tdl {
                out.extend_from_slice(&self.text[at..start]);
            } else if !statement.labels.is_empty() {
                out.extend_from_slice(self.line_end());
            }
            out.extend_from_slice(&names.spelling(name, context.scope));
            if self.to == Dialect::Zilog && !self.is_asxxxx() {
                out.push(b':');
            }
            at = end;
        }
        at
    }

    fn line_end(&self) -> &'static [u8] {
        match memchr::memchr2(b'\n', b'\r', self.text) {
            Some(at) if self.text[at..].starts_with(b"\r\n") => b"\r\n",
            Some(at) if self.text[at] == b'\r' => b"\r",
            _ => b"\n",
        }
    }

    /// Writes operator, operands and comment; what stands before them in the source ends at `at`.
    fn fields(
        &self,
        statement: &Statement<'t>,
        written: &ConvertedStatement,
        at: usize,
        out: &mut Vec<u8>,
    ) {
        let line_start = memchr::memrchr2(b'\n', b'\r', out).map_or(0, |end| end + 1);
        let mut line = LineWriter::resume(out, line_start);
        let operator = statement.operator;
        let mut end = at;
        if !written.operator.is_empty() {
            let blanks = self.blanks(at);
            let names =
                statement.labels.len() + usize::from(matches!(statement.body, Body::Assign { .. }));
            if names == 0 || names > 1 && self.to == Dialect::Zilog && !blanks.is_empty() {
                // A second label was moved to a line of its own, so the column after it has no
                // meaning.
                line.push(blanks);
            } else {
                let own = self.column(statement, operator.start);
                // A single blank may be all that a long label left.
                let usual = self.style.operator.unwrap_or(0).min(own);
                line.align(if blanks == b" " { usual } else { own }, blanks);
            }
            line.push(written.operator.as_bytes());
            end = statement.end.max(operator.end);
        }
        if !written.operands.is_empty() {
            let blanks = self.blanks(operator.end);
            let start = operator.end + blanks.len();
            let own = (start < end).then(|| (blanks, self.column(statement, start)));
            let (model, target) = own.or(self.style.operands).unwrap_or((b" ", 0));
            line.gap(target, model);
            line.push(&written.operands);
        }
        let blanks = self.blanks(end);
        let rest = &self.text[end + blanks.len()..statement.span.end];
        if rest.is_empty() || blanks.is_empty() {
            line.push(blanks);
        } else {
            line.gap(self.column(statement, end + blanks.len()), blanks);
        }
        line.push(rest);
    }
}
