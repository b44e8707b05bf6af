//! Assembler, linker and disassembler for Z80 source in the TDL dialect.
//!
//! [`assemble`] turns source files into [`module`]s; what is wrong with them comes back as [`diag`]nostics that
//! [`diag::render`] shows.

pub mod archive;
pub mod asm;
pub mod calendar;
pub mod convert;
pub mod diag;
pub mod disasm;
pub mod fmt;
pub mod image;
pub mod isa;
pub mod link;
pub mod listing;
pub mod lsp;
pub mod manual;
pub mod module;
pub mod object;
pub mod output;
pub mod references;
pub mod source;
pub mod syntax;

use std::path::PathBuf;

pub use asm::{Options, Outcome};

/// What an assembly without errors gives.
#[derive(Debug)]
pub struct Assembly {
    /// The modules; several only if the source has `.PRGEND`.
    pub modules: Vec<module::Module>,
    /// How the source wants its TDL object file.
    pub object_form: module::ObjectForm,
    /// The listing, empty unless the options asked for it.
    pub listing: listing::Listing,
    /// The warnings, sorted by place.
    pub warnings: Vec<diag::Diagnostic>,
    /// The texts that were read.
    pub sources: source::SourceMap,
    /// The texts that `.PRNTX` printed.
    pub messages: Vec<String>,
}

/// What an assembly with errors gives.
#[derive(Debug)]
pub struct Failure {
    /// Errors and warnings, sorted by place; at least one error.
    pub diagnostics: Vec<diag::Diagnostic>,
    /// The texts that were read.
    pub sources: source::SourceMap,
    /// The listing as far as it came, empty unless the options asked for it.
    pub listing: listing::Listing,
    /// The modules as far as they came.
    pub modules: Vec<module::Module>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&diag::render::human(&self.diagnostics, &self.sources, false))
    }
}

impl std::error::Error for Failure {}

/// Assembles source files, one after the other, as one program.
///
/// # Errors
/// Every error that was found, when there is one.
///
/// ```
/// use tdlasm::{Options, assemble, module::SectionKind, source::MemoryLoader};
///
/// let loader = MemoryLoader::new().with("demo.asm", "START: MVI A,5\n JMP START\n .END START\n");
/// let assembly = assemble(&loader, &["demo.asm".into()], &Options::default()).unwrap();
/// let section = &assembly.modules[0].sections[0];
/// assert_eq!((section.kind, section.size), (SectionKind::Prog, 5));
/// ```
pub fn assemble(
    loader: &dyn source::Loader,
    files: &[PathBuf],
    options: &Options,
) -> Result<Assembly, Box<Failure>> {
    let outcome = asm::run(loader, files, options);
    if outcome.has_errors() {
        let Outcome { diagnostics, sources, listing, modules, .. } = outcome;
        return Err(Box::new(Failure { diagnostics, sources, listing, modules }));
    }
    let Outcome { modules, object_form, listing, diagnostics: warnings, sources, messages, .. } =
        outcome;
    Ok(Assembly { modules, object_form, listing, warnings, sources, messages })
}
