//! The assembler proper: reads statements, keeps symbols, writes sections.
//!
//! The text is read once: values from further below are filled in at the end. Only a program that asks which
//! pass it is in (`.IF1`, `.IF2`), or whether a symbol is defined that turns out to be so further below, is read
//! twice, and one with a doubly defined symbol, to mark its uses.

mod brackets;
mod build;
mod conditional;
mod directive;
mod eval;
mod fields;
mod finish;
mod instruction;
mod macros;
mod mention;
mod names;
mod output;
mod reader;
mod resolve;
mod shared;
mod statement;
mod symbols;
mod value;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::diag::{Code, Diagnostic, Levels, Severity};
use crate::listing::Listing;
use crate::module::{Module, ObjectForm};
use crate::references::References;
use crate::source::{Loader, Origin, SourceMap, Span};
use crate::syntax::expr::{Expr, Intern};

use eval::Deferred;
use macros::Macro;
use names::{NameId, Names};
use output::Output;
use reader::{Frame, FrameKind, Jump, Reader};

/// After this many errors the rest is left out.
const MAX_ERRORS: usize = 100;
/// After this many warnings the rest is left out.
const MAX_WARNINGS: usize = 200;

/// What the caller decides.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Symbols that are defined before the first line.
    pub defines: Vec<(String, u16)>,
    /// Folders where `.INSERT` looks after the folder of the file that names it.
    pub include_dirs: Vec<PathBuf>,
    /// Whether all characters of a symbol count, not the first six only.
    pub long_symbols: bool,
    /// Whether `.PROG.` is absolute code from 0 on, so that its addresses are plain numbers.
    pub absolute: bool,
    /// Which warnings are shown, and which count as errors.
    pub levels: Levels,
    /// The time of the build for `.DATE` and `.TIME`, in seconds since 1970; blanks without.
    pub build_time: Option<u64>,
    /// Whether to keep what a listing needs.
    pub listing: bool,
    /// Whether modules tell which line made which bytes.
    pub lines: bool,
    /// Whether to keep where names stand.
    pub references: bool,
}

/// What came of a run, errors or not.
#[derive(Debug)]
pub struct Outcome {
    /// The modules; several only if the source has `.PRGEND`.
    pub modules: Vec<Module>,
    /// How the source wants its TDL object file.
    pub object_form: ObjectForm,
    /// The listing, empty unless the options asked for it.
    pub listing: Listing,
    /// Everything there is to say, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that were read.
    pub sources: SourceMap,
    /// The texts that `.PRNTX` printed.
    pub messages: Vec<String>,
    /// Where names stand, empty unless the options asked for it.
    pub references: References,
}

impl Outcome {
    /// Whether no output may be written.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Which reading of the text this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// The only one.
    Only,
    /// The first of two: finds the symbols.
    First,
    /// The second of two.
    Second,
}

impl Pass {
    fn is_second(self) -> bool {
        self == Pass::Second
    }
}

/// Why a statement ended early.
enum Interrupt {
    /// The macro stands in an operand, at this offset; its text is to be put there.
    Expand(NameId, u32),
    /// Nothing more can be done.
    Stop,
    /// The text must be read twice.
    TwoPasses,
}

type Step<T = ()> = Result<T, Interrupt>;

/// The names of all directives.
pub fn directive_names() -> impl Iterator<Item = &'static str> {
    directive::Directive::NAMES.iter().map(|(name, _)| *name)
}

/// Assembles the files, one after the other, as one program.
pub fn run(loader: &dyn Loader, files: &[PathBuf], options: &Options) -> Outcome {
    let mut assembler = Assembler::new(loader, options, Pass::Only);
    if let Ended::TwoPasses = assembler.read(files) {
        assembler = Assembler::new(loader, options, Pass::First);
        assembler.read(files);
        assembler.begin_second_pass();
        assembler.read(files);
    }
    assembler.into_outcome()
}

enum Ended {
    Done,
    TwoPasses,
}

/// What the first pass leaves to the second.
struct Findings {
    names: Names,
    macros: Vec<Macro>,
    externals: Vec<NameId>,
}

struct Assembler<'a> {
    loader: &'a dyn Loader,
    options: &'a Options,
    pass: Pass,
    sources: SourceMap,
    reader: Reader,
    jump: Option<Jump>,
    names: Names,
    externals: Vec<NameId>,
    macros: Vec<Macro>,
    created: u32,
    /// The size of all macro texts so far.
    macro_text: usize,
    output: Output,
    deferred: Deferred,
    values: Vec<value::Value>,
    operands: [Expr; 2],
    /// `.`: the location counter at the start of the statement.
    here: value::Value,
    wrap_reported: bool,
    radix: u8,
    intel_only: bool,
    /// Whether a symbol has two definitions, so that its uses are to be found in a second reading.
    any_doubled: bool,
    /// Names that a conditional found undefined.
    assumed_undefined: Vec<NameId>,
    module_name: Option<String>,
    start: Option<(eval::Evaluated, Span)>,
    files: Vec<PathBuf>,
    export_uses: Vec<(NameId, Span)>,
    ended: bool,
    modules: Vec<Module>,
    object_form: ObjectForm,
    /// What the first pass found in each module, for the second.
    first_pass: VecDeque<Findings>,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    listing: Listing,
    line: statement::LineInfo,
    messages: Vec<String>,
    noted: mention::Noted,
}

impl<'a> Assembler<'a> {
    fn new(loader: &'a dyn Loader, options: &'a Options, pass: Pass) -> Self {
        let mut assembler = Self {
            loader,
            options,
            pass,
            sources: SourceMap::default(),
            reader: Reader::default(),
            jump: None,
            names: Names::new(options.long_symbols),
            externals: Vec::new(),
            macros: Vec::new(),
            created: 0,
            macro_text: 0,
            output: Output::new(options.absolute),
            deferred: Deferred::default(),
            values: Vec::new(),
            operands: Default::default(),
            here: value::Value::default(),
            wrap_reported: false,
            radix: 10,
            intel_only: false,
            any_doubled: false,
            assumed_undefined: Vec::new(),
            module_name: None,
            start: None,
            files: Vec::new(),
            export_uses: Vec::new(),
            ended: false,
            modules: Vec::new(),
            object_form: ObjectForm::default(),
            first_pass: VecDeque::new(),
            diagnostics: Vec::new(),
            errors: 0,
            warnings: 0,
            listing: Listing::default(),
            line: statement::LineInfo::default(),
            messages: Vec::new(),
            noted: mention::Noted::default(),
        };
        assembler.predefine();
        assembler
    }

    fn predefine(&mut self) {
        for (name, number) in &self.options.defines {
            let id = self.names.intern(name.as_bytes());
            self.names[id].state = names::State::Value(value::Value::absolute(*number));
            self.names[id].definition = names::Definition::Fixed;
            self.names[id].place = u32::MAX;
        }
    }

    /// Keeps the symbols, macros and messages of the first pass, forgets everything else.
    fn begin_second_pass(&mut self) {
        self.export_uses.clear();
        self.pass = Pass::Second;
        self.recall_first_pass();
        self.output = Output::new(self.options.absolute);
        self.deferred = Deferred::default();
        self.names.restart_scopes();
        self.created = 0;
        self.macro_text = 0;
        self.wrap_reported = false;
        self.radix = 10;
        self.intel_only = false;
        (self.start, self.ended, self.errors, self.warnings) = (None, false, 0, 0);
        self.modules.clear();
        self.object_form = ObjectForm::default();
        self.diagnostics.clear();
        self.listing = Listing::default();
    }

    /// The number by which definitions of this pass are known.
    fn pass_number(&self) -> u8 {
        if self.pass == Pass::Second { 2 } else { 1 }
    }

    fn read(&mut self, files: &[PathBuf]) -> Ended {
        self.files = files.to_vec();
        for (at, path) in files.iter().enumerate() {
            let opened = self.open_file(path, Origin::File, Span::default());
            // A file that can't be read has its own message.
            self.ended = opened.is_none();
            if let Some(frame) = opened {
                self.reader.push(frame);
                match self.read_frames() {
                    Err(Interrupt::TwoPasses) if self.pass == Pass::Only => {
                        return Ended::TwoPasses;
                    }
                    Err(_) => break,
                    Ok(()) => {}
                }
            }
            if at + 1 == files.len() && !self.ended {
                self.warn_no_end();
            }
        }
        if self.guessed_wrong() {
            return Ended::TwoPasses;
        }
        self.finish_module();
        Ended::Done
    }

    fn guessed_wrong(&self) -> bool {
        let defined = |name: &NameId| self.names[*name].definition != names::Definition::None;
        let wrong = self.any_doubled || self.assumed_undefined.iter().any(defined);
        self.pass == Pass::Only && wrong
    }

    fn warn_no_end(&mut self) {
        let files = self.sources.iter().filter(|source| source.origin == Origin::File);
        if let Some(last) = files.last() {
            let end = last.base + last.text.len() as u32;
            let message = "the program does not end with .END";
            let diagnostic = Diagnostic::new(Code::NoEnd, Span::new(end, end), message);
            self.report(diagnostic.help("add a line with .END"));
        }
    }

    /// Reads a file into the map; a failure is reported at `at`.
    fn open_file(&mut self, path: &Path, origin: Origin, at: Span) -> Option<Frame> {
        let name = path.display().to_string();
        let kind = if origin == Origin::File { FrameKind::File } else { FrameKind::Insert };
        match self.loader.load(path) {
            Ok(text) => {
                self.names.expect_text(text.len());
                let index = self.sources.add(name.as_str().into(), origin, text);
                if index.is_none() {
                    self.error(Code::Table, at, "the sources are larger than 4 GB together");
                }
                index.map(|index| self.frame(kind, index))
            }
            Err(error) => {
                let at = if kind == FrameKind::File { self.stand_in(&name) } else { at };
                let message = format!("cannot read {name}: {error}");
                self.report(Diagnostic::new(Code::File, at, message));
                None
            }
        }
    }

    /// A place for messages about a file that cannot be read.
    fn stand_in(&mut self, name: &str) -> Span {
        let index = self.sources.add(name.into(), Origin::File, Vec::new());
        let start = index.map_or(0, |index| self.sources.get(index).base);
        Span::new(start, start)
    }

    /// The path of an inserted file: beside the file that names it, then in the given folders, with `.ASM` if
    /// there is none without.
    fn find_insert(&self, name: &str) -> Option<PathBuf> {
        let beside =
            self.reader.open_sources().map(|open| self.sources.get(open)).find_map(|open| {
                (!matches!(open.origin, Origin::Macro(_)))
                    .then(|| Path::new(&*open.name).parent().map(Path::to_owned))
            });
        let folders = beside.flatten().into_iter().chain(self.options.include_dirs.iter().cloned());
        // Names had no case on CP/M; here the file may have either.
        let names = [name.to_owned(), name.to_lowercase(), name.to_uppercase()];
        let names = names.map(|name| [name.clone(), format!("{name}.ASM"), format!("{name}.asm")]);
        folders
            .flat_map(|folder| names.as_flattened().iter().map(move |name| folder.join(name)))
            .find(|path| self.loader.exists(path))
    }

    /// A frame that reads the whole of a text.
    fn frame(&self, kind: FrameKind, index: usize) -> Frame {
        let source = self.sources.get(index);
        let (text, base) = (Rc::clone(&source.text), source.base);
        Frame { kind, source: index, end: text.len(), text, base, pos: 0 }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }

    fn report(&mut self, mut diagnostic: Diagnostic) {
        if self.pass == Pass::First {
            return;
        }
        let Some(severity) = self.options.levels.severity(diagnostic.code) else { return };
        diagnostic.severity = severity;
        if !diagnostic.is_error() {
            self.warnings += 1;
            if self.warnings <= MAX_WARNINGS {
                self.diagnostics.push(diagnostic);
            }
            return;
        }
        self.errors += 1;
        if self.errors <= MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        } else if self.errors == MAX_ERRORS + 1 {
            let message = format!("more than {MAX_ERRORS} errors; the rest is left out");
            self.diagnostics.push(Diagnostic::new(Code::TooMany, diagnostic.span, message));
        }
    }

    fn too_many_errors(&self) -> bool {
        self.errors > MAX_ERRORS
    }

    fn into_outcome(mut self) -> Outcome {
        let mut diagnostics = std::mem::take(&mut self.diagnostics);
        diagnostics.sort_by_key(|found| (found.span.start, found.severity == Severity::Warning));
        diagnostics.dedup();
        let (modules, listing, sources) = (self.modules, self.listing, self.sources);
        let (object_form, messages) = (self.object_form, self.messages);
        let references = self.noted.references;
        Outcome { modules, object_form, listing, diagnostics, sources, messages, references }
    }
}
