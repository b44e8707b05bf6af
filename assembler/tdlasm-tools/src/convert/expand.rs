//! Expansion: a source without macros, conditionals, second names and inserted files, for
//! assemblers that have none of these or others.
//!
//! The source is assembled, and its statements are written in the order of assembly. The result is
//! assembled, too: if its bytes differ, there is no expansion.

use std::path::Path;

use tdlasm::asm;
use tdlasm::listing::ListingLine;
use tdlasm::module::Module;
use tdlasm::source::{Loader, MemoryLoader, Origin, SourceMap, Span};
use tdlasm::syntax::directive::{Directive, ObjectFormOption, Synonym};

use super::options::{Options, Target};
use crate::mnemonics::tdl_forms;
use crate::source_scan::SourceScan;
use crate::statement::Scanner;

/// A source without macros and conditionals.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub(super) text: Vec<u8>,
    /// The source line of each of its lines.
    pub(super) lines: Vec<u32>,
}

/// What becomes of a directive.
enum Treatment {
    /// It stays, or is replaced by the bytes that it assembles to.
    Written,
    /// It changes neither code nor symbols, and becomes a comment.
    Comment,
    /// It is carried out when the source is assembled.
    CarriedOut,
}

fn treatment(directive: Directive) -> Treatment {
    match directive {
        Directive::Title
        | Directive::Subtitle
        | Directive::Remark
        | Directive::Print
        | Directive::Listing(_)
        | Directive::Ident
        | Directive::Z80
        | Directive::I8080
        | Directive::ProgramId
        | Directive::Temporaries
        | Directive::Ignored
        | Directive::Undescribed
        | Directive::ZilogMnemonics(_)
        | Directive::ZilogDirectives(_)
        | Directive::Format(
            ObjectFormOption::Hex(_) | ObjectFormOption::Binary(_) | ObjectFormOption::Linkage(_),
        ) => Treatment::Comment,
        Directive::If(..)
        | Directive::Define
        | Directive::Exit
        | Directive::Goto
        | Directive::Insert
        | Directive::Synonym(Synonym::Operator | Synonym::Macro)
        | Directive::Format(ObjectFormOption::Symbols(_)) => Treatment::CarriedOut,
        Directive::Error
        | Directive::Byte
        | Directive::Word
        | Directive::Text(_)
        | Directive::Rad40
        | Directive::Reserve(_)
        | Directive::Date
        | Directive::Time
        | Directive::Location
        | Directive::Relocate
        | Directive::Radix
        | Directive::End
        | Directive::ProgramEnd
        | Directive::External
        | Directive::Internal
        | Directive::Entry
        | Directive::Synonym(Synonym::Any | Synonym::Symbol) => Treatment::Written,
    }
}

/// Expands a source; `None` if it has errors or several modules, or other bytes without its macros.
pub(super) fn expand(
    loader: &dyn Loader,
    file: &Path,
    scan: &SourceScan,
    options: &Options,
) -> Option<Expanded> {
    let outcome = assemble(loader, file, options);
    let [module] = &outcome.modules[..] else { return None };
    if outcome.has_errors() {
        return None;
    }
    let lines: Vec<&ListingLine> = outcome.listing.lines().collect();
    let mut writer = ExpansionWriter {
        sources: &outcome.sources,
        scan,
        target: options.target,
        out: Expanded::default(),
    };
    for (at, line) in lines.iter().enumerate() {
        writer.statement(line, lines.get(at + 1).copied());
    }
    let expanded = writer.out;
    let again = MemoryLoader::new().with(file, expanded.text.clone());
    let again = assemble(&again, file, options);
    let same = matches!(&again.modules[..], [other] if has_same_code(module, other));
    (same && !again.has_errors()).then_some(expanded)
}

fn assemble(loader: &dyn Loader, file: &Path, options: &Options) -> asm::Assembly {
    let options = tdlasm::Options {
        include_dirs: options.include_dirs.clone(),
        long_symbols: options.long_symbols,
        listing: true,
        ..tdlasm::Options::default()
    };
    asm::run(loader, &[file.to_owned()], &options)
}

fn has_same_code(one: &Module, other: &Module) -> bool {
    let (Some(one), Some(other)) = (&one.source_order, &other.source_order) else { return false };
    one.code == other.code && one.start == other.start
}

struct ExpansionWriter<'a> {
    sources: &'a SourceMap,
    scan: &'a SourceScan,
    target: Option<Target>,
    out: Expanded,
}

struct Parts<'t> {
    /// The labels, each with whether it is exported.
    labels: Vec<(&'t [u8], bool)>,
    operator: &'t [u8],
    /// The text after the operator, and the part of it up to a comment or a closing bracket.
    rest: &'t [u8],
    operands: &'t [u8],
    /// Whether the statement is a whole line without brackets of conditionals.
    plain: bool,
}

impl<'a> ExpansionWriter<'a> {
    fn statement(&mut self, line: &ListingLine, next: Option<&ListingLine>) {
        let text = self.sources.slice(line.span);
        let place = self.line_in_file(line.span);
        let parts = self.parts(line.span);
        let calls = next.is_some_and(|next| self.is_text_of(next.span, line.span));
        let meaning = self.scan.original_name(parts.operator);
        let directive = Directive::from_word(meaning);
        match directive.map_or(Treatment::Written, treatment) {
            _ if calls => return self.line(&parts, b"", place),
            Treatment::CarriedOut => return self.line(&parts, b"", place),
            Treatment::Written if !parts.operator.is_empty() => {}
            Treatment::Written | Treatment::Comment => {
                if line.depth == 0 || !text.trim_ascii().is_empty() {
                    self.comment(&parts, text, place);
                }
                return;
            }
        }
        if let Some(body) = self.replacement(line, &parts, meaning, directive) {
            return self.line(&parts, &body, place);
        }
        let unchanged = meaning == parts.operator && line.depth == 0;
        match parts.plain && unchanged && !parts.labels.iter().any(|(_, exported)| *exported) {
            true => self.push(text, place),
            false => {
                let body = [meaning, b" ", parts.operands.trim_ascii()].concat();
                self.line(&parts, &body, place);
            }
        }
    }

    fn replacement(
        &self,
        line: &ListingLine,
        parts: &Parts<'_>,
        meaning: &[u8],
        directive: Option<Directive>,
    ) -> Option<Vec<u8>> {
        if parts.rest.trim_ascii_start().starts_with(b"=") {
            return assignment(line, parts);
        }
        match directive {
            Some(Directive::Rad40 | Directive::Date | Directive::Time) => Some(bytes(&line.bytes)),
            Some(Directive::Relocate) => line
                .value
                .filter(|value| value.base == 0)
                .map(|value| format!(".LOC 0{:04X}H", value.number).into_bytes()),
            Some(Directive::Synonym(_)) => self.copy(parts),
            Some(_) => None,
            None if !tdl_forms(meaning).is_empty() => None,
            // A macro without text, or a symbol that assembles to its value.
            _ if line.bytes.is_empty() => Some(Vec::new()),
            _ => Some([b".WORD ", meaning].concat()),
        }
    }

    /// `.SYN OLD,NEW` for symbols.
    fn copy(&self, parts: &Parts<'_>) -> Option<Vec<u8>> {
        let comma = memchr::memchr(b',', parts.operands)?;
        let old = parts.operands[..comma].trim_ascii();
        let new = &parts.operands[comma + 1..];
        let meaning = self.scan.original_name(old);
        let no_symbol = Directive::from_word(meaning).is_some() || !tdl_forms(meaning).is_empty();
        match no_symbol || self.scan.is_redefined(old) {
            true => Some(Vec::new()),
            false => Some([new.trim_ascii(), b" = ", old].concat()),
        }
    }

    /// Returns `true` if a statement is in the text of a macro or file that `caller` reads.
    fn is_text_of(&self, statement: Span, caller: Span) -> bool {
        match self.sources.source_at(statement.start).origin {
            Origin::Macro(call) => (caller.start..caller.end).contains(&call.start),
            _ => false,
        }
    }

    /// The line of the file from which a statement comes, through macros and inserted files.
    fn line_in_file(&self, span: Span) -> u32 {
        let mut at = span.start;
        loop {
            let source = self.sources.source_at(at);
            match source.origin {
                Origin::Macro(call) | Origin::Insert(call) => at = call.start,
                Origin::File => return source.line(at - source.base),
            }
        }
    }

    fn parts(&self, span: Span) -> Parts<'a> {
        let source = self.sources.source_at(span.start);
        let range = (span.start - source.base) as usize..(span.end - source.base) as usize;
        let mut scanner = Scanner::new(source, self.scan, range);
        let mut plain = scanner.brackets().is_empty();
        let (labels, assigned) = scanner.names();
        let (is_assigned, from) = (!assigned.is_empty(), scanner.cursor.rest());
        let sign = scanner.operator(is_assigned);
        let (operator, rest) = match is_assigned {
            true => (assigned, from),
            false => (sign.clone(), scanner.cursor.rest()),
        };
        scanner.statement_operands(&sign);
        let operator = &source.text[operator];
        let operands = &rest[..rest.len() - scanner.cursor.rest().len()];
        let behind = rest[operands.len()..].trim_ascii_start();
        plain &= matches!(behind.first(), None | Some(b';'));
        let labels = labels.into_iter().map(|(name, exported)| (&source.text[name], exported));
        Parts { labels: labels.collect(), operator, rest, operands, plain }
    }

    /// A statement without effect, as a comment.
    fn comment(&mut self, parts: &Parts<'_>, text: &[u8], place: u32) {
        if parts.operator.is_empty() && parts.plain {
            return match parts.labels.iter().any(|(_, exported)| *exported) {
                true => self.line(parts, b"", place),
                false => self.push(text, place),
            };
        }
        self.line(parts, b"", place);
        if !parts.operator.is_empty() {
            let text = [parts.operator, parts.operands].concat();
            for line in text.split(|byte| *byte == b'\n') {
                self.push(&[b"; ", line.trim_ascii_end()].concat(), place);
            }
        }
    }

    /// Writes a statement after the labels.
    fn line(&mut self, parts: &Parts<'_>, body: &[u8], place: u32) {
        let mut text = Vec::new();
        for (name, exported) in &parts.labels {
            text.extend_from_slice(name);
            text.push(b':');
            if *exported && self.target.is_none_or(Target::links) {
                self.push(&[b" .INTERN ", *name].concat(), place);
            }
        }
        text.push(b' ');
        text.extend_from_slice(body);
        if !text.trim_ascii().is_empty() {
            self.push(&text, place);
        }
    }

    fn push(&mut self, text: &[u8], place: u32) {
        let start = self.out.text.len();
        self.out.text.extend_from_slice(text);
        if !text.ends_with(b"\n") {
            self.out.text.push(b'\n');
        }
        let lines = memchr::memchr_iter(b'\n', &self.out.text[start..]).count();
        self.out.lines.extend(std::iter::repeat_n(place, lines));
    }
}

/// An assignment that asks, or exports: with its value, and without the export.
fn assignment(line: &ListingLine, parts: &Parts<'_>) -> Option<Vec<u8>> {
    let sign = parts.operands.trim_ascii_start();
    let signs = sign.iter().take_while(|byte| b"=\\: \t".contains(byte)).count();
    let (signs, value) = sign.split_at(signs);
    let name = parts.operator;
    if signs.contains(&b'\\') && !signs.starts_with(b"==") {
        let number = line.value?.number;
        return Some([name, format!(" == 0{number:04X}H").as_bytes()].concat());
    }
    let fixed: &[u8] = if signs.starts_with(b"==") { b" == " } else { b" = " };
    Some([name, fixed, value.trim_ascii()].concat())
}

fn bytes(bytes: &[u8]) -> Vec<u8> {
    let numbers: Vec<String> = bytes.iter().map(|byte| format!("0{byte:02X}H")).collect();
    format!(".BYTE {}", numbers.join(",")).into_bytes()
}
