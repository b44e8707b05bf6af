//! Writes a program in the other dialect, line by line at the columns of the source.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tdlasm::syntax::lex;

use super::columns::{align, column};
use super::options::{Dialect, Options, Target};
use super::program::{Body, ConvertResult, Statement, Unconverted};
use super::write::{AssignmentFacts, ProgramFacts, StatementWriter};
use crate::mnemonics;

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

pub(super) fn write(
    text: &[u8],
    program: &[Statement<'_>],
    options: &Options,
    known: &ProgramFacts<'_>,
) -> Output {
    let mut writing = Converter {
        text,
        options,
        assigned: assignment_facts(program, known),
        known,
        is_lowercase: is_mostly_lowercase(text, program),
        placed: false,
        style: Style::default(),
        output: Output::default(),
    };
    writing.area(program);
    let mut at = 0;
    for (index, statement) in program.iter().enumerate() {
        writing.output.text.extend_from_slice(&text[at..statement.span.start]);
        writing.statement(index, statement);
        at = statement.span.end;
    }
    writing.output.text.extend_from_slice(&text[at..]);
    writing.output
}

/// Finds the assignments with forward references, and those of symbols that are assigned once.
fn assignment_facts(program: &[Statement<'_>], known: &ProgramFacts<'_>) -> Vec<AssignmentFacts> {
    let spelled =
        |name: &[u8], index: usize| known.names.spelling(name, known.scopes.bodies[index]);
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for (index, statement) in program.iter().enumerate() {
        if let Body::Assign { symbol, .. } = &statement.body {
            *counts.entry(spelled(symbol.name, index)).or_default() += 1;
        }
    }
    let mut defined = HashSet::new();
    let mut found = vec![AssignmentFacts::default(); program.len()];
    let mut unresolved = Vec::new();
    for (index, statement) in program.iter().enumerate() {
        defined.extend(statement.labels.iter().map(|label| spelled(label.name, index)));
        let Body::Assign { symbol, value, .. } = &statement.body else { continue };
        let name = spelled(symbol.name, index);
        let mut used = Vec::new();
        value.names(&mut |used_name| used.push(spelled(used_name, index)));
        found[index].looks_ahead = used.iter().any(|used| !defined.contains(used));
        found[index].is_only = counts.get(&name) == Some(&1);
        if found[index].looks_ahead || found[index].is_only {
            unresolved.push(Assignment { index, name: name.clone(), used });
        }
        defined.insert(name);
    }
    for assignment in cyclic(unresolved) {
        found[assignment.index].is_cyclic = true;
    }
    found
}

/// The symbol that a statement assigns, and those in the value.
struct Assignment {
    index: usize,
    name: Vec<u8>,
    used: Vec<Vec<u8>>,
}

/// Returns the assignments whose values depend on themselves: those that are left when all that
/// depend on resolved symbols only are removed.
fn cyclic(mut unresolved: Vec<Assignment>) -> Vec<Assignment> {
    loop {
        let mut open: HashMap<Vec<u8>, usize> = HashMap::new();
        for assignment in &unresolved {
            *open.entry(assignment.name.clone()).or_default() += 1;
        }
        let before = unresolved.len();
        // Most symbols stand above those that they depend on.
        unresolved.reverse();
        unresolved.retain(|assignment| {
            let waits = assignment.used.iter().any(|used| open.contains_key(used));
            if !waits && let Some(count) = open.get_mut(&assignment.name) {
                *count -= 1;
                if *count == 0 {
                    open.remove(&assignment.name);
                }
            }
            waits
        });
        if unresolved.len() == before {
            return unresolved;
        }
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
fn is_mostly_lowercase(text: &[u8], program: &[Statement<'_>]) -> bool {
    let operators = program.iter().map(|statement| &statement.operator);
    let letters = operators.filter_map(|operator| {
        text[Range::clone(operator)].iter().find(|byte| byte.is_ascii_alphabetic())
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
    options: &'k Options,
    /// By statement: what an assembler that reads a source once must know of an assignment.
    assigned: Vec<AssignmentFacts>,
    known: &'k ProgramFacts<'k>,
    is_lowercase: bool,
    /// Whether bytes or an origin were written.
    placed: bool,
    style: Style<'t>,
    output: Output,
}

impl<'t, 'k> Converter<'t, 'k> {
    fn is_asxxxx(&self) -> bool {
        self.options.target.is_some_and(Target::is_asxxxx)
    }

    /// Begins a source of ASxxxx by an absolute area, in which an origin and every expression are
    /// allowed, unless it has no origin and is to be linked.
    fn area(&mut self, program: &[Statement<'_>]) {
        let is_origin = |statement: &Statement<'_>| matches!(statement.body, Body::Origin(_));
        let is_shared = |statement: &Statement<'_>| {
            matches!(statement.body, Body::External(_) | Body::Global(_))
        };
        let is_linked = program.iter().any(is_shared) && !program.iter().any(is_origin);
        if self.is_asxxxx() && !is_linked {
            self.output.text.extend_from_slice(b"\t.area\tABS (ABS)");
            self.output.text.extend_from_slice(self.line_end());
        }
    }

    fn statement(&mut self, index: usize, statement: &Statement<'t>) {
        let mut writer = self.writer(index, statement);
        match self.operator(statement, &mut writer) {
            Ok(Some(operator)) => {
                self.output.written += 1;
                self.output.source_dialect_only +=
                    usize::from(self.is_source_dialect_only(statement));
                let at = self.labels(index, statement, writer.scope);
                self.fields(statement, &operator, &writer.out, at);
            }
            Ok(None) => match statement.body {
                Body::CommentOut => self.copy(statement, b"; ", 0),
                // Without the period that marked it.
                Body::AlreadyTarget => self.copy(statement, b"", 1),
                _ => self.copy(statement, b"", 0),
            },
            Err(reason) => self.keep(statement, reason),
        }
        self.placed |= moves_address(&statement.body);
        self.remember_style(statement);
    }

    fn writer(&self, index: usize, statement: &Statement<'t>) -> StatementWriter<'k> {
        let operator = &self.text[statement.operator.clone()];
        let letter = operator.iter().find(|byte| byte.is_ascii_alphabetic());
        let letter = letter.filter(|_| !matches!(statement.body, Body::Assign { .. }));
        StatementWriter {
            known: self.known,
            scope: self.known.scopes.bodies[index],
            radix: statement.radix,
            at: statement.operator.start,
            to: self.options.to,
            target: self.options.target,
            placed: self.placed,
            assigned: self.assigned[index],
            is_lowercase: letter.map_or(self.is_lowercase, u8::is_ascii_lowercase),
            out: Vec::new(),
        }
    }

    /// Writes the operands, and returns the operator; `None` if there is nothing to change.
    fn operator(
        &self,
        statement: &Statement<'t>,
        writer: &mut StatementWriter<'_>,
    ) -> ConvertResult<Option<String>> {
        let mut labels = statement.labels.iter();
        if let Some(label) = labels.find(|label| self.known.scan.is_redefined(label.name)) {
            return Unconverted::fail(label.at, "a macro has the name of this label");
        }
        match &statement.body {
            Body::LeftAsIs(reason) => Err(reason.clone()),
            Body::AlreadyTarget | Body::CommentOut => Ok(None),
            Body::Nothing if statement.labels.is_empty() => Ok(None),
            body => writer.statement(body).map(Some),
        }
    }

    fn is_source_dialect_only(&self, statement: &Statement<'t>) -> bool {
        let word = &self.text[statement.operator.clone()];
        statement.body != Body::Nothing && !mnemonics::is_shared(word)
    }

    /// Copies a statement with a mark before its operator, behind the first `skipped` bytes of
    /// that.
    fn copy(&mut self, statement: &Statement<'t>, mark: &[u8], skipped: usize) {
        let Statement { span, operator, .. } = statement;
        let out = &mut self.output.text;
        out.extend_from_slice(&self.text[span.start..operator.start]);
        out.extend_from_slice(mark);
        out.extend_from_slice(&self.text[operator.start + skipped..span.end]);
    }

    /// Copies a statement without counterpart; a mnemonic that means another gets a period.
    fn keep(&mut self, statement: &Statement<'t>, mut reason: Unconverted) {
        let word = &self.text[statement.operator.clone()];
        let is_shared = mnemonics::is_shared(word);
        if is_shared {
            let word = String::from_utf8_lossy(word);
            let what =
                format!("{}; marked .{word}, since both dialects have {word}", reason.message);
            reason.message = what.into();
        }
        self.copy(statement, if is_shared { b"." } else { b"" }, 0);
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

    /// Writes the labels and the assigned name; returns the offset in the source after them.
    fn labels(&mut self, index: usize, statement: &Statement<'t>, scope: u32) -> usize {
        let line_end = self.line_end();
        let has_colon = self.options.to == Dialect::Zilog && !self.is_asxxxx();
        let known = self.known;
        let out = &mut self.output.text;
        let mut at = statement.span.start;
        for (number, label) in statement.labels.iter().enumerate() {
            if number > 0 && self.options.to == Dialect::Zilog {
                out.extend_from_slice(line_end);
            } else {
                out.extend_from_slice(&self.text[at..label.at]);
            }
            let scope = known.scopes.labels[index][number];
            out.extend_from_slice(&known.names.spelling(label.name, scope));
            out.push(b':');
            at = label.end;
        }
        if let Body::Assign { symbol, .. } = &statement.body {
            // GNU as wants the name of an EQU at the start of its line.
            if self.options.to == Dialect::Tdl {
                out.extend_from_slice(&self.text[at..symbol.at]);
            } else if !statement.labels.is_empty() {
                out.extend_from_slice(line_end);
            }
            out.extend_from_slice(&known.names.spelling(symbol.name, scope));
            out.extend_from_slice(if has_colon { b":" } else { b"" });
            at = symbol.end;
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
    fn fields(&mut self, statement: &Statement<'t>, written: &str, operands: &[u8], at: usize) {
        let out = &self.output.text;
        let line = memchr::memrchr2(b'\n', b'\r', out).map_or(0, |end| end + 1);
        let operator = &statement.operator;
        let mut end = at;
        if !written.is_empty() {
            let blanks = self.blanks(at);
            let names =
                statement.labels.len() + usize::from(matches!(statement.body, Body::Assign { .. }));
            if names == 0 || names > 1 && self.options.to == Dialect::Zilog && !blanks.is_empty() {
                // A second label was moved to a line of its own, so the column after it has no
                // meaning.
                self.output.text.extend_from_slice(blanks);
            } else {
                let own = self.column(statement, operator.start);
                // A single blank may be all that a long label left.
                let usual = self.style.operator.unwrap_or(0).min(own);
                let target = if blanks == b" " { usual } else { own };
                align(&mut self.output.text, line, target, blanks);
            }
            self.output.text.extend_from_slice(written.as_bytes());
            end = statement.end.max(operator.end);
        }
        if !operands.is_empty() {
            let blanks = self.blanks(operator.end);
            let start = operator.end + blanks.len();
            let own = (start < end).then(|| (blanks, self.column(statement, start)));
            let (model, target) = own.or(self.style.operands).unwrap_or((b" ", 0));
            self.gap(line, target, model);
            self.output.text.extend_from_slice(operands);
        }
        let blanks = self.blanks(end);
        let rest = &self.text[end + blanks.len()..statement.span.end];
        if rest.is_empty() || blanks.is_empty() {
            self.output.text.extend_from_slice(blanks);
        } else {
            self.gap(line, self.column(statement, end + blanks.len()), blanks);
        }
        self.output.text.extend_from_slice(rest);
    }

    /// Writes the blanks between two parts: a single one stays, others reach to the same column.
    fn gap(&mut self, line: usize, target: usize, model: &[u8]) {
        let target = if model == b" " { 0 } else { target };
        align(&mut self.output.text, line, target, model);
    }
}
