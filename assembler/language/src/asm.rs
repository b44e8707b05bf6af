//! The assembler proper: reads statements, keeps symbols, writes sections.
//!
//! A program without a fault is read once: values from further below are filled in at the end.
//! Where the original assembler's two passes could see something else (a fault, a conditional that
//! asks for the pass, a size that is defined below, a macro called above its definition), the text
//! is read twice as there, so that the values and the letters of the messages are the original's.
//! An editor has most faults after one reading (`Options::faults_in_one`).
//!
//! The state has four owners: `reader::Input` for what is read, `naming::Naming` for what names
//! mean, `emission::Emission` for what is assembled, `reports::Reports` for what is reported.
//! `record::Record` keeps what listings and editors want besides.

mod arguments;
mod brackets;
mod build;
mod conditional;
mod console;
mod directive;
mod emission;
mod eval;
mod fields;
mod finish;
mod hints;
mod index;
mod instruction;
mod macros;
mod mention;
mod names;
mod naming;
mod output;
mod reader;
mod record;
mod reports;
mod resolve;
mod shared;
mod statement;
mod symbols;
mod table;
mod value;

use std::path::{Path, PathBuf};

use crate::diag::{Code, Diagnostic, Levels};
use crate::listing::Listing;
use crate::module::{Module, ObjectForm};
use crate::references::References;
use crate::source::{Loader, Origin, SourceMap, Span, visible};
use crate::syntax::expr::Expr;

use console::Console;
use emission::Emission;
use names::NameId;
use naming::Naming;
use reader::{Frame, FrameKind, Input};
use record::Record;
use reports::Reports;

/// Translates a statement of another dialect, given its operator and operands, to TDL's mnemonics.
///
/// The language knows no other dialect; whoever does may lend this to the messages about unknown
/// operators.
pub type Translate = fn(operator: &str, operands: &[u8]) -> Option<String>;

/// The caller's decisions.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Symbols that are defined before the first line.
    pub defines: Vec<(String, u16)>,
    /// Replies to the questions that `NAME =\` asks.
    pub answers: Vec<Answer>,
    /// Folders where `.INSERT` looks after the folder of the file that names it.
    pub include_dirs: Vec<PathBuf>,
    /// Whether all characters of a symbol count, not the first six only.
    pub long_symbols: bool,
    /// Whether `.PROG.` is absolute code from 0 on, so that its addresses are plain numbers.
    pub absolute: bool,
    /// The warnings that are shown, and the messages that count as errors.
    pub levels: Levels,
    /// The time of the build for `.DATE` and `.TIME`, in seconds since 1970; blanks without.
    pub build_time: Option<u64>,
    /// Whether to keep what a listing needs.
    pub listing: bool,
    /// Whether modules tell which line made which bytes.
    pub lines: bool,
    /// Whether to keep where names stand.
    pub references: bool,
    /// Whether to keep where the texts of macros were written, as `references` does, too:
    /// [`References::written`] answers then.
    pub origins: bool,
    /// Whether modules do without [`Module::assembled`] where nothing but TDL's own objects and
    /// listings shows it, which saves a large program time and memory.
    pub without_order: bool,
    /// Whether the text is read twice without a try to read it once: faster if it has to be read
    /// twice anyway, and the same in what is reported and assembled.
    pub two_passes: bool,
    /// Whether most faults are reported in the only reading, without a second one, as an editor
    /// wants it: in text that is odd besides, what is assembled may differ from the original's.
    pub faults_in_one: bool,
    /// Translates statements of other dialects, for the help of messages.
    pub translate: Option<Translate>,
}

/// A reply to a question of the source, as the keys that would be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The symbol that the question is about; without one the reply is for the next question.
    pub name: Option<String>,
    /// The keys, in order.
    pub keys: String,
}

/// The result of a run, with or without errors.
#[derive(Debug, Default)]
pub struct Assembly {
    /// The modules; several only if the source has `.PRGEND`. After errors, what the original would
    /// have written.
    pub modules: Vec<Module>,
    /// The way the source wants its TDL object file.
    pub object_form: ObjectForm,
    /// The listing, empty unless the options asked for it.
    pub listing: Listing,
    /// Errors and warnings, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
    /// The number that the original gives as `n ERRORS WERE DETECTED`.
    pub error_count: usize,
    /// The texts that were read.
    pub sources: SourceMap,
    /// The texts that `.PRNTX` printed, and the questions that were asked with their replies.
    pub messages: Vec<String>,
    /// Definitions and uses of names, empty unless the options asked for it.
    pub references: References,
    /// Whether the text was read twice.
    pub read_twice: bool,
}

impl Assembly {
    /// Whether an error keeps the output from being written.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// The readings of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// The only one.
    Only,
    /// The first of two: finds the symbols.
    First,
    /// The second of two.
    Second,
}

/// The reason why a statement ended early.
enum Interrupt {
    /// The macro stands in an operand, at this offset; its text is to be put there.
    Expand(NameId, u32),
    /// Nothing more can be done.
    Stop,
    /// The text must be read twice.
    TwoPasses,
}

type Step<T = ()> = Result<T, Interrupt>;

/// Returns the names of all directives.
pub fn directive_names() -> impl Iterator<Item = &'static str> {
    directive::Directive::NAMES.iter().map(|(name, _)| *name)
}

/// Assembles the files, one after the other, as one program; errors are among the diagnostics.
pub fn run(loader: &dyn Loader, files: &[PathBuf], options: &Options) -> Assembly {
    if !options.two_passes {
        let mut assembler = Assembler::new(loader, options, Pass::Only);
        if let Reading::Complete = assembler.read(files) {
            return assembler.into_assembly();
        }
    }
    let mut assembler = Assembler::new(loader, options, Pass::First);
    assembler.read(files);
    assembler.begin_second_pass();
    assembler.read(files);
    assembler.into_assembly()
}

/// The end of a reading.
enum Reading {
    Complete,
    NeedsTwoPasses,
}

struct Assembler<'a> {
    options: &'a Options,
    pass: Pass,
    input: Input<'a>,
    naming: Naming,
    emission: Emission,
    reports: Reports<'a>,
    record: Record,
    console: Console<'a>,
    /// The operands of the statement; the buffers are kept from one to the next.
    operands: [Expr; 2],
    /// The radix of numbers without suffix.
    radix: u8,
    modules: Vec<Module>,
    object_form: ObjectForm,
}

impl<'a> Assembler<'a> {
    fn new(loader: &'a dyn Loader, options: &'a Options, pass: Pass) -> Self {
        let mut assembler = Self {
            options,
            pass,
            input: Input::new(loader, &options.include_dirs),
            naming: Naming::new(options.long_symbols),
            emission: Emission::new(options.absolute),
            reports: Reports::new(options, pass),
            record: Record::default(),
            console: Console::new(&options.answers),
            operands: Default::default(),
            radix: 10,
            modules: Vec::new(),
            object_form: ObjectForm::default(),
        };
        assembler.naming.predefine(&options.defines);
        assembler
    }

    /// Keeps the symbols and macros of the first pass, forgets everything else.
    fn begin_second_pass(&mut self) {
        self.pass = Pass::Second;
        self.input.restart();
        self.naming.begin_second_pass();
        self.emission = Emission::new(self.options.absolute);
        self.reports.restart(Pass::Second);
        self.record.restart();
        self.radix = 10;
        self.modules.clear();
        self.object_form = ObjectForm::default();
    }

    fn read(&mut self, files: &[PathBuf]) -> Reading {
        self.input.files = files.to_vec();
        for (at, path) in files.iter().enumerate() {
            let opened = self.open_file(path, Origin::File, Span::default());
            // A file that can't be read has its own message.
            self.input.ended = opened.is_none();
            if let Some(frame) = opened {
                self.input.push(frame);
                match self.read_frames() {
                    Err(Interrupt::TwoPasses) if self.pass == Pass::Only => {
                        return Reading::NeedsTwoPasses;
                    }
                    Err(_) => break,
                    Ok(()) => {}
                }
            }
            if at + 1 == files.len() && !self.input.ended {
                self.warn_no_end();
            }
        }
        self.finish_module();
        if self.reports.ends_only_pass() {
            return Reading::NeedsTwoPasses;
        }
        Reading::Complete
    }

    fn warn_no_end(&mut self) {
        if let Some(end) = self.input.end_of_files() {
            let message = "the program does not end with .END";
            let diagnostic = Diagnostic::new(Code::NoEnd, end, message);
            let text = &self.input.sources.source_at(end.start.saturating_sub(1)).text;
            let line = if text.is_empty() || text.ends_with(b"\n") { "" } else { "\n" };
            let diagnostic = diagnostic.help("add a line with .END");
            self.report(diagnostic.fix(end, format!("{line}        .END\n")));
        }
    }

    /// Reads a file into the map; a failure is reported at `at`.
    fn open_file(&mut self, path: &Path, origin: Origin, at: Span) -> Option<Frame> {
        let name = path.display().to_string();
        let kind = if origin == Origin::File { FrameKind::File } else { FrameKind::Insert };
        match self.input.load(path) {
            Ok(text) => {
                self.naming.names.expect_text(text.len());
                self.emission.expect_text(text.len(), self.options.lines);
                let index = self.input.sources.add(name.as_str().into(), origin, text);
                if index.is_none() {
                    self.error(Code::Table, at, "the sources are larger than 4 GB together");
                }
                index.map(|index| self.input.frame(kind, index))
            }
            Err(error) => {
                let name = visible(&name);
                let at = if kind == FrameKind::File { self.input.stand_in(&name) } else { at };
                let message = format!("cannot read {name}: {error}");
                self.report(Diagnostic::new(Code::File, at, message));
                None
            }
        }
    }

    fn into_assembly(self) -> Assembly {
        let (diagnostics, error_count) = self.reports.finish();
        Assembly {
            modules: self.modules,
            object_form: self.object_form,
            listing: self.record.listing,
            diagnostics,
            error_count,
            sources: self.input.sources,
            messages: self.console.messages,
            references: self.record.references,
            read_twice: self.pass == Pass::Second,
        }
    }
}
