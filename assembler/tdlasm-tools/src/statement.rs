//! Finds the parts and the end of a statement: in TDL texts and arguments in brackets may span
//! lines.
//!
//! Bodies of macros and conditional texts are read like any other lines, unless a statement is
//! copied as a whole.

use std::ops::Range;

use crate::mnemonics::{self, Language, ZilogDirective};
use crate::source_scan::SourceScan;
use tdlasm::source::{Source, Span};
use tdlasm::syntax::directive::{Directive, OperandKind};
use tdlasm::syntax::zilog::{self, Field};
use tdlasm::syntax::{Cursor, lex};

/// A statement, whose lines end where the next statement's begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatementParts {
    /// Whose words it has.
    pub(crate) language: Language,
    /// Brackets that begin the line, of texts that end or begin here.
    pub(crate) brackets: Range<usize>,
    /// The names of labels, and whether each is exported.
    pub(crate) labels: Vec<(Range<usize>, bool)>,
    /// The name that is assigned a value.
    pub(crate) assigned: Range<usize>,
    /// The instruction, directive, macro or assignment operator.
    pub(crate) operator: Range<usize>,
    /// The text after the operator, on all lines of the statement, without blanks around it.
    pub(crate) operands: Range<usize>,
    /// The comment, without the blanks after it.
    pub(crate) comment: Range<usize>,
    /// `true` if blanks after the operands may be part of a macro's argument.
    pub(crate) blanks_count: bool,
    /// `true` if nothing after this statement is read, as after `.END`.
    pub(crate) last: bool,
    /// The end of the statement's last line.
    pub(crate) end: usize,
}

impl StatementParts {
    /// Reads the line at `start`, and those behind it that its statement spans.
    pub(crate) fn read(
        source: &Source,
        start: usize,
        source_scan: &SourceScan,
        language: Language,
    ) -> Self {
        match language.is_zilog {
            true => zilog_statement(source, start, source_scan),
            false => statement(source, start, source_scan, language),
        }
    }

    /// Returns `true` if the line is empty or has a statement. Other text may become one by the
    /// arguments of a macro.
    pub(crate) fn is_statement(&self) -> bool {
        !self.operator.is_empty() || self.operands.is_empty()
    }
}

fn statement(
    source: &Source,
    start: usize,
    source_scan: &SourceScan,
    language: Language,
) -> StatementParts {
    let text = &source.text[..];
    let mut scan = Scanner::new(source, source_scan, start..text.len());
    let brackets = scan.brackets();
    let mut parts = StatementParts { language, brackets, ..StatementParts::default() };
    (parts.labels, parts.assigned) = scan.names();
    parts.operator = scan.operator(!parts.assigned.is_empty());
    if language.has_zilog_directives
        && parts.assigned.is_empty()
        && let Some((_, place)) = zilog::defining_directive(&mut scan.cursor, true)
    {
        parts.assigned = std::mem::replace(&mut parts.operator, range(place));
    }
    parts.last = scan.directive(&parts.operator) == Some(Directive::End)
        && !scan.may_be_macro(&parts.operator);
    scan.cursor.skip_blanks();
    let first = scan.here();
    scan.operands(&parts.operator);
    let behind = scan.here();
    scan.cursor.skip_to_line_end();
    parts.end = scan.here();
    parts.blanks_count = scan.blanks_count;
    parts.operands = first..first + text[first..behind].trim_ascii_end().len();
    if parts.blanks_count && text.get(behind) != Some(&b';') {
        parts.operands.end = behind;
    }
    parts.comment = behind..behind + text[behind..parts.end].trim_ascii_end().len();
    parts
}

fn zilog_statement(source: &Source, start: usize, source_scan: &SourceScan) -> StatementParts {
    let text = &source.text[..];
    let end = line_end(text, start);
    let code_end = start + zilog::code_length(&text[start..end]);
    let comment = code_end..code_end + text[code_end..end].trim_ascii_end().len();
    let language = Language::ZILOG;
    let mut parts = StatementParts { language, comment, end, ..StatementParts::default() };
    let mut scan = Scanner::new(source, source_scan, start..code_end);
    loop {
        let is_macro = |word: &[u8]| source_scan.is_redefined(word);
        let begins_line = scan.here() == start;
        let Some((_, span, field)) = zilog::field(&mut scan.cursor, begins_line, is_macro) else {
            parts.operator = scan.here()..scan.here();
            break;
        };
        match field {
            Field::Label(exported) => {
                parts.labels.push((range(span), exported));
                continue;
            }
            Field::Defined(_, operator) => {
                (parts.assigned, parts.operator) = (range(span), range(operator));
            }
            Field::Operator => parts.operator = range(span),
        }
        break;
    }
    scan.cursor.skip_blanks();
    let first = scan.here();
    parts.operands = first..first + text[first..code_end].trim_ascii_end().len();
    let directive = ZilogDirective::from_word(&text[parts.operator.clone()]);
    parts.last = directive == Some(ZilogDirective::End);
    parts
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// Reads the statements of a text that begins in a language; also returns the end of the last one.
pub(crate) fn statements(
    source: &Source,
    source_scan: &SourceScan,
    mut language: Language,
) -> (Vec<(usize, Option<StatementParts>)>, usize) {
    let text = &source.text[..];
    let mut found = Vec::new();
    let mut at = 0;
    let mut depth = 0;
    while at < text.len() {
        let parts = Some(StatementParts::read(source, at, source_scan, language))
            .filter(StatementParts::is_statement);
        if let Some(parts) = &parts {
            language = language.behind(&text[parts.operator.clone()]);
        }
        let last = depth == 0 && parts.as_ref().is_some_and(|parts| parts.last);
        let end = parts.as_ref().map_or_else(|| line_end(text, at), |parts| parts.end);
        let next = next_line(text, end);
        depth = bracket_depth(&text[at..end], depth);
        found.push((at, parts));
        at = next;
        if last {
            break;
        }
    }
    (found, at)
}

/// Returns the offset after the line end at `at`.
pub(crate) fn next_line(text: &[u8], at: usize) -> usize {
    at + lex::line_end(&text[at..]).map_or(0, |(rest, ())| text[at..].len() - rest.len())
}

/// The end of the last line of a statement that is copied unchanged: behind the text of a macro or
/// conditional that it begins.
pub(crate) fn unchanged_end(
    source: &Source,
    source_scan: &SourceScan,
    parts: &StatementParts,
) -> usize {
    let mut scan = Scanner::new(source, source_scan, parts.operator.end..source.text.len());
    match Directive::from_word(scan.slice(&parts.operator)).map(Directive::operands) {
        Some(OperandKind::Macro) => scan.whole_definition(),
        Some(OperandKind::Condition | OperandKind::TextCondition(_)) => scan.whole_conditional(),
        _ => return parts.end,
    }
    line_end(&source.text, scan.here())
}

/// Returns the number of open brackets after a text, given the number before it.
///
/// Brackets in comments and quotes are ignored, as in assembled text. In skipped text they would
/// count, but only the assembler knows which text is skipped.
pub(crate) fn bracket_depth(text: &[u8], depth: usize) -> usize {
    if memchr::memchr2(b'[', b']', text).is_none() {
        return depth;
    }
    lex::live_brackets(text).fold(depth, |depth, (_, bracket)| match bracket {
        b'[' => depth + 1,
        _ => depth.saturating_sub(1),
    })
}

/// The end of the line that holds the byte at `at`.
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |length| at + length)
}

/// Reads the fields of statements.
pub(crate) struct Scanner<'t> {
    source: &'t Source,
    source_scan: &'t SourceScan,
    pub(crate) cursor: Cursor<'t>,
    blanks_count: bool,
}

impl<'t> Scanner<'t> {
    /// Creates a scanner for a range of a source.
    pub(crate) fn new(
        source: &'t Source,
        source_scan: &'t SourceScan,
        range: Range<usize>,
    ) -> Self {
        let end = range.end as u32;
        let cursor = Cursor::new(&source.text[range], end);
        Self { source, source_scan, cursor, blanks_count: false }
    }

    fn here(&self) -> usize {
        self.cursor.offset() as usize
    }

    fn slice(&self, range: &Range<usize>) -> &'t [u8] {
        &self.source.text[range.clone()]
    }

    fn directive(&self, word: &Range<usize>) -> Option<Directive> {
        Directive::from_word(self.source_scan.original_name(self.slice(word)))
    }

    /// Returns `true` if the word may be a macro.
    fn may_be_macro(&self, word: &Range<usize>) -> bool {
        let word = self.slice(word);
        let meaning = self.source_scan.original_name(word);
        let known =
            !mnemonics::tdl_forms(meaning).is_empty() || Directive::from_word(meaning).is_some();
        !known || (meaning == word && self.source_scan.is_redefined(word))
    }

    /// Brackets that begin a line.
    pub(crate) fn brackets(&mut self) -> Range<usize> {
        self.cursor.skip_blanks();
        let start = self.here();
        let mut end = start;
        while matches!(self.cursor.peek(), Some(b'[' | b']')) {
            self.cursor.advance(1);
            end = self.here();
            self.cursor.skip_blanks();
        }
        start..end
    }

    fn word(&mut self) -> Range<usize> {
        let start = self.here();
        let is_word = |byte: &u8| lex::is_symbol(*byte) || *byte == b'\'';
        if self.cursor.peek().is_some_and(lex::is_symbol) {
            let length = self.cursor.rest().iter().take_while(|byte| is_word(byte)).count();
            self.cursor.advance(length);
        }
        start..self.here()
    }

    /// Labels, and the name before an assignment operator.
    pub(crate) fn names(&mut self) -> (Vec<(Range<usize>, bool)>, Range<usize>) {
        let mut labels = Vec::new();
        loop {
            self.cursor.skip_blanks();
            let before = self.cursor.clone();
            let word = self.word();
            self.cursor.skip_blanks();
            match self.cursor.peek() {
                Some(b'=') if !word.is_empty() => return (labels, word),
                Some(b':') if !word.is_empty() => self.cursor.advance(1),
                _ => {
                    self.cursor = before;
                    return (labels, 0..0);
                }
            }
            labels.push((word, self.cursor.eat(b':')));
        }
    }

    pub(crate) fn operator(&mut self, assigned: bool) -> Range<usize> {
        let start = self.here();
        if !assigned {
            let word = self.cursor.take(lex::symbol).unwrap_or_default();
            return start..start + word.len();
        }
        self.cursor.advance(1);
        let _ = self.cursor.eat(b'=') || self.cursor.eat(b'\\');
        self.cursor.eat(b':');
        start..self.here()
    }

    /// Moves to the comment, or to the end of the statement's last line.
    fn operands(&mut self, operator: &Range<usize>) {
        self.statement_operands(operator);
        self.cursor.skip_blanks();
        // A text in brackets may be followed by another or, on the same line, by statements.
        while matches!(self.cursor.peek(), Some(b'[' | b']')) {
            self.brackets();
            self.nested();
        }
        self.cursor.skip_blanks();
        if !self.cursor.at_statement_end() {
            self.give_up();
        }
    }

    /// Leaves the rest of a line unchanged: it may be a macro's arguments.
    fn give_up(&mut self) {
        self.blanks_count = true;
        self.cursor.skip_to_line_end();
    }

    /// A statement after the bracket or comma of a conditional, on the same line.
    fn nested(&mut self) {
        let (_, assigned) = self.names();
        let operator = self.operator(!assigned.is_empty());
        if !operator.is_empty() {
            self.statement_operands(&operator);
        }
    }

    /// Moves behind the operands of an operator, up to a bracket that closes a block.
    pub(crate) fn statement_operands(&mut self, operator: &Range<usize>) {
        let word = self.slice(operator);
        if word.is_empty() || word[0] == b'=' {
            return if word.contains(&b'\\') { self.texts(1) } else { self.expressions(true) };
        }
        if self.may_be_macro(operator) {
            return self.macro_call();
        }
        match self.directive(operator).map(Directive::operands) {
            Some(OperandKind::Texts) => self.texts(usize::MAX),
            Some(OperandKind::Text) => self.texts(1),
            Some(OperandKind::Macro) => self.definition(),
            Some(OperandKind::TextCondition(count)) => self.conditional(|scan| scan.texts(count)),
            Some(OperandKind::Condition) => self.conditional(|scan| scan.expressions(false)),
            Some(OperandKind::Expressions | OperandKind::File) | None => self.expressions(true),
        }
    }

    /// Up to `most` delimited texts, or something in brackets instead.
    fn texts(&mut self, most: usize) {
        for _ in 0..most {
            self.cursor.skip_blanks();
            if self.cursor.at_statement_end() || self.cursor.peek() == Some(b']') {
                return;
            }
            let bracketed = self.cursor.peek() == Some(b'[');
            if !(bracketed && self.skip_brackets())
                && self.cursor.take(lex::delimited_text).is_none()
            {
                return self.give_up();
            }
        }
    }

    /// Moves past the bracket at the cursor and the matching one.
    fn skip_brackets(&mut self) -> bool {
        let close = self.source.closing_bracket(self.cursor.offset());
        if let Some(close) = close {
            self.cursor.move_to(close + 1);
        }
        close.is_some()
    }

    /// `NAME[A,B]=[`.
    fn definition(&mut self) {
        self.cursor.skip_blanks();
        self.word();
        self.cursor.skip_blanks();
        if self.cursor.peek() == Some(b'[') {
            self.skip_brackets();
        }
        self.cursor.skip_blanks();
        self.cursor.eat(b'=');
        self.cursor.skip_blanks();
    }

    /// A definition and, perhaps after empty lines, its text in brackets.
    fn whole_definition(&mut self) {
        self.definition();
        let head = self.cursor.clone();
        while matches!(self.cursor.peek(), Some(b'\n' | b'\r' | b';')) {
            self.cursor.skip_line();
            self.cursor.skip_blanks();
        }
        if self.cursor.peek() != Some(b'[') || !self.skip_brackets() {
            self.cursor = head;
        }
    }

    /// A conditional up to the bracket that closes its text; nothing if at most a comment follows
    /// the bracket that the line leaves open: the lines of the text are then separate statements.
    fn whole_conditional(&mut self) {
        let line = self.here()..line_end(&self.source.text, self.here());
        let mut open = Vec::new();
        for at in line {
            match self.source.text[at] {
                b'[' => open.push(at as u32),
                b']' => drop(open.pop()),
                _ => {}
            }
        }
        let (Some(first), Some(last)) = (open.first(), open.last()) else { return };
        let mut behind = self.cursor.clone();
        behind.move_to(last + 1);
        behind.skip_blanks();
        if !behind.at_statement_end()
            && let Some(close) = self.source.closing_bracket(*first)
        {
            self.cursor.move_to(close);
        }
    }

    fn conditional(&mut self, argument: impl FnOnce(&mut Self)) {
        argument(self);
        if self.cursor.eat(b',') {
            self.cursor.skip_blanks();
            self.nested();
        }
    }

    /// Arguments in brackets, or up to the comment.
    fn macro_call(&mut self) {
        self.blanks_count = true;
        self.cursor.skip_blanks();
        if self.cursor.peek() == Some(b'[') && self.skip_brackets() {
            return self.cursor.skip_blanks();
        }
        let mut depth = 0usize;
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'\n' | b'\r' | b';' => return,
                b']' if depth == 0 => return,
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            self.cursor.advance(1);
        }
    }

    /// An expression, or several separated by commas, up to text that cannot be part of one.
    fn expressions(&mut self, list: bool) {
        while !self.cursor.at_statement_end() {
            match self.cursor.peek() {
                Some(b'[' | b']') => return,
                Some(b',') if !list => return,
                Some(b'\'' | b'"') => {
                    if self.cursor.take(lex::quoted).is_none() {
                        return self.give_up();
                    }
                }
                Some(byte) if lex::is_symbol(byte) => {
                    let word = self.word();
                    let word = self.slice(&word);
                    self.blanks_count |=
                        word.contains(&b'\'') || self.source_scan.is_redefined(word);
                }
                _ => self.cursor.advance(1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::source::{Origin, SourceMap};

    /// The lines of the first statement.
    fn extent(text: &str) -> &str {
        let mut map = SourceMap::default();
        let index = map.add("x".into(), Origin::File, text.as_bytes().to_vec()).unwrap();
        let (source, scan) = (map.get(index), SourceScan::default());
        let parts = StatementParts::read(source, 0, &scan, Language::default());
        &text[..unchanged_end(source, &scan, &parts)]
    }

    #[test]
    fn a_definition_reaches_to_the_bracket_that_closes_its_text() {
        assert_eq!(
            extent(".DEFINE M[A]=\n; x\n[\n NOP [1]\n] ;e\n NOP"),
            ".DEFINE M[A]=\n; x\n[\n NOP [1]\n] ;e"
        );
        assert_eq!(extent(".DEFINE M\n NOP"), ".DEFINE M");
    }

    #[test]
    fn texts_reach_to_their_delimiter_and_brackets_to_their_partner() {
        assert_eq!(extent(".ASCII 'a'[13] /b\nc/ ;x\n NOP"), ".ASCII 'a'[13] /b\nc/ ;x");
        assert_eq!(extent(".REMARK /a\nb/ 'c\n NOP"), ".REMARK /a\nb/ 'c");
        assert_eq!(extent("CALLED [a,\nb]\n NOP"), "CALLED [a,\nb]");
    }

    #[test]
    fn brackets_in_comments_and_quotes_do_not_count() {
        assert_eq!(bracket_depth(b" .IFE 0,[ ; ]\n .BYTE ']' ; [\n", 0), 1);
        assert_eq!(bracket_depth(b" MVI A,'['\n]\n", 1), 0);
        assert_eq!(bracket_depth(b" JR'CC [\n", 0), 1);
    }

    #[test]
    fn a_conditional_is_one_line_if_its_text_has_lines_of_its_own() {
        assert_eq!(extent(".IFE A,[ ; then\n NOP\n]"), ".IFE A,[ ; then");
        assert_eq!(extent(".IFE A,[NOP\n NOP\n]\n NOP"), ".IFE A,[NOP\n NOP\n]");
        assert_eq!(extent(".IFIDN [a][b],[NOP]\n NOP"), ".IFIDN [a][b],[NOP]");
    }
}
