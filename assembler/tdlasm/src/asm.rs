//! The assembler: reads statements, defines symbols, writes sections.
//!
//! A correct program takes one pass: forward references become fixups that are resolved at the end.
//! Where ZASM's two passes could give another result (an error, a conditional that tests the pass,
//! a size that is defined later, a macro called before its definition), two passes are made, so
//! that values and error flags match ZASM's. For editors, [`Options::single_pass_diagnostics`]
//! reports most errors from a single pass.
//!
//! [`run`] makes the passes, and `Assembler::read` is one pass. If the single pass finds that two
//! are needed, its results are dropped and the sources are read again. These types make a pass:
//!
//! | type | what it does |
//! |---|---|
//! | `InputStack` | the open files, macro texts and conditional blocks |
//! | `Assembler` | splits the text into labels, assignments and operators |
//! | `ConditionalReader`, `MacroExpander` | select and insert text |
//! | `DirectiveReader`, `InstructionReader` | read the operands of a statement |
//! | `ModuleAssembler` | evaluates expressions; defers those with forward references |
//! | `ModuleScope` | the symbols and macros of a module |
//! | `CodeState`, `CodeBuffer` | the bytes of the sections, fixups and relocations |
//! | `Context` | options, sources, the `DiagnosticSink` and the `Recorder` for listings |

mod arguments;
mod assembler;
mod assembly;
mod brackets;
mod code_buffer;
mod code_state;
mod conditional;
mod console;
mod context;
mod deferred;
mod definitions;
mod diagnostics;
mod directive;
mod directive_table;
mod evaluate;
mod finish;
mod input;
mod instruction;
mod lints;
mod macro_definition;
mod macros;
mod module_assembler;
mod module_builder;
mod module_scope;
mod name_hash;
mod name_table;
mod options;
mod pass;
mod pass_comparison;
mod patch;
mod recorder;
mod reference_recorder;
mod resolve;
mod source_order;
mod statement;
mod statement_end;
mod suggestions;
mod value;

use std::collections::HashMap;
use std::path::PathBuf;

use crate::diag::DiagnosticCode;
use crate::source::{Loader, Origin, Span};

pub use assembly::Assembly;
pub use options::{ConsoleReply, Cpu, ForeignTranslator, Options};

use assembler::Assembler;
use pass::{Pass, StatementAbort};

/// Returns the names of all directives.
pub fn directive_names() -> impl Iterator<Item = &'static str> {
    directive_table::Directive::NAMES.iter().map(|(name, _)| *name)
}

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
    let mut loaded = HashMap::new();
    if !options.force_two_passes {
        let mut assembler = Assembler::new(loader, options, Pass::Single);
        if let PassEnd::Complete = assembler.read(files) {
            return assembler.into_assembly();
        }
        loaded = assembler.input.loaded;
    }
    let mut assembler = Assembler::new(loader, options, Pass::First);
    assembler.input.loaded = loaded;
    assembler.read(files);
    assembler.begin_second_pass();
    assembler.read(files);
    assembler.into_assembly()
}

enum PassEnd {
    Complete,
    NeedsTwoPasses,
}

impl Assembler<'_> {
    fn read(&mut self, files: &[PathBuf]) -> PassEnd {
        self.module.context.files = files.to_vec();
        for (at, path) in files.iter().enumerate() {
            let opened = self.open_file(path, Origin::File, Span::default());
            // A file that can't be read has its own message.
            self.input.ended = opened.is_none();
            if let Some(frame) = opened {
                self.input.push(frame);
                match self.read_frames() {
                    Err(StatementAbort::TwoPasses) if self.module.context.pass == Pass::Single => {
                        return PassEnd::NeedsTwoPasses;
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
        if self.module.context.sink.must_restart() {
            return PassEnd::NeedsTwoPasses;
        }
        PassEnd::Complete
    }
}
