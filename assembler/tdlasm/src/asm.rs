//! The assembler: reads statements, defines symbols, writes sections.
//!
//! As in ZASM, [`run`] makes two passes over the statements. The first gives symbols their values
//! and collects macros; in it a symbol that is not defined yet counts as 0. The second writes code
//! and reports errors. `Assembler::read` is one pass. The `Assembler` reads statements and reports;
//! it owns:
//!
//! | type | what it does |
//! |---|---|
//! | `InputStack` | the open files, macro texts and conditional blocks |
//! | `NameTable` | the symbols and macros of a module |
//! | `Reading` | what the first pass has read, for the second |
//! | `CodeBuffer` | the bytes of the sections, their relocations, the location counter |
//! | `DiagnosticSink` | diagnostics, and the error flags of a listing row |
//! | `Recorder` | statements for listings, references for editors |
//! | `Console` | prompts and replies |
//!
//! Directives, instructions, conditionals and macro calls are functions of the assembler.

mod arguments;
mod assembler;
mod code_buffer;
mod conditional;
mod console;
mod definitions;
mod diagnostics;
mod directive;
mod evaluate;
mod flow;
mod input;
mod instruction;
mod lints;
mod macro_definition;
mod macros;
mod module_builder;
mod name_table;
mod options;
mod pass;
mod patch;
mod reading;
mod recorder;
mod slips;
mod statement;
mod statement_end;
mod suggestions;
mod symbol;
mod value;
mod zilog;

use std::path::{Path, PathBuf};

use crate::diag::DiagnosticCode;
use crate::source::{Loader, Origin, Span};

pub use assembler::Assembly;
pub use options::{ConsoleReply, Cpu, ForeignTranslator, Notation, Options};

use assembler::Assembler;
use pass::Pass;

/// Assembles the files, in order, as one program. Errors are among the diagnostics.
pub fn run(loader: &dyn Loader, files: &[PathBuf], options: &Options) -> Assembly {
    let Some(severity) = options.lint_levels.severity(DiagnosticCode::UnusedLabel) else {
        return run_passes(loader, files, options);
    };
    let options = Options { references: true, ..options.clone() };
    let mut assembly = run_passes(loader, files, &options);
    lints::report_unused_labels(&mut assembly, severity);
    assembly
}

fn run_passes(loader: &dyn Loader, files: &[PathBuf], options: &Options) -> Assembly {
    let first = files.first().map_or(Path::new(""), PathBuf::as_path);
    let options = &options.clone().for_source(first);
    let mut assembler = Assembler::new(loader, options);
    assembler.read(files);
    assembler.begin_second_pass();
    assembler.read(files);
    assembler.into_assembly()
}

impl Assembler<'_> {
    fn read(&mut self, files: &[PathBuf]) {
        self.files = files.to_vec();
        for (at, path) in files.iter().enumerate() {
            let opened = self.open_file(path, Origin::File, Span::default());
            // A file that cannot be read has its own message.
            self.input.ended = opened.is_none();
            if let Some(frame) = opened {
                match self.pass {
                    Pass::First => {
                        self.names.reserve(frame.text.len());
                        self.reading.reserve(frame.text.len());
                    }
                    Pass::Second => self.lines.rows.reserve(frame.text.len() / 24),
                }
                self.input.push(frame);
                if self.read_frames().is_err() {
                    break;
                }
            }
            if at + 1 == files.len() && !self.input.ended {
                match self.options.notation {
                    Notation::Zilog => zilog::report_open(self),
                    _ => self.warn_no_end(),
                }
            }
        }
        self.finish_module();
    }
}
