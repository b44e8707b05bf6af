//! Assembler, linker and disassembler for Z80 source in the TDL dialect (Technical Design Labs,
//! 1976 to 1979). Assembles source into relocatable modules, links them at addresses, and writes
//! binary, Intel HEX, S-records or ELF. Code, error flags and listings follow TDL's ZASM 2.21.
//!
//! ```
//! let assembly = tdlasm::assemble_text("START: MVI A,5\n JMP START\n .END START\n")?;
//! let program = tdlasm::link::link(&assembly.modules, &tdlasm::link::Layout::flat(0x8000))?;
//! assert_eq!(program.image.flat(0xFF), [0x3E, 5, 0xC3, 0, 0x80]);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | crate root | [`assemble`] and [`assemble_text`]: source to [`Assembly`] or [`AssembleError`] |
//! | [`asm`] | the assembler, its [`Options`], and [`asm::run`], which returns errors as data |
//! | [`source`] | loading of sources from files, memory, or a custom [`source::Loader`] |
//! | [`diag`] | diagnostics: codes, severities, formatting |
//! | [`module`] | assembled modules: sections, symbols, relocations |
//! | [`link`] | the linker, controlled by a [`link::Layout`] |
//! | [`image`] | memory images, Intel HEX and S-records |
//! | [`object`], [`archive`] | ELF and TDL object files, libraries |
//! | [`listing`] | listings in ZASM's style and in one with T-states |
//! | [`disasm`], [`isa`] | the disassembler, the instruction table |
//! | [`references`], [`syntax`] | names, lexer and expression parser, for editors |
//! | [`project`] | the project file `tdl.toml` |
//!
//! Errors are `Send + Sync + 'static`, so that `?` converts them to `Box<dyn Error + Send + Sync>`.

pub mod archive;
pub mod asm;
pub mod diag;
pub mod disasm;
pub mod image;
pub mod isa;
pub mod link;
pub mod listing;
pub mod module;
pub mod object;
pub mod project;
pub mod references;
pub mod source;
pub mod syntax;

use std::path::{Path, PathBuf};

pub use asm::{Assembly, ConsoleReply, Cpu, ForeignTranslator, Notation, Options};

/// Error returned by [`assemble`]: the program has errors.
///
/// [`AssembleError::assembly`] contains the diagnostics, and the partial results.
///
/// [`Debug`](std::fmt::Debug) shows the messages too, since `main` prints its error so.
pub struct AssembleError {
    assembly: Box<Assembly>,
}

impl AssembleError {
    /// Returns the assembly; at least one of its diagnostics is an error.
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }
}

impl std::fmt::Display for AssembleError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Assembly { diagnostics, sources, .. } = self.assembly();
        formatter.write_str(&diag::render::human(diagnostics, sources, false))
    }
}

impl std::fmt::Debug for AssembleError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for AssembleError {}

/// Assembles source files, in order, as one program.
///
/// # Errors
///
/// Returns [`AssembleError`] if at least one diagnostic is an error.
///
/// ```
/// use tdlasm::{Options, assemble, module::SectionKind, source::MemoryLoader};
///
/// let loader = MemoryLoader::new().with("demo.asm", "START: MVI A,5\n JMP START\n .END START\n");
/// let assembly = assemble(&loader, &["demo.asm".into()], &Options::default())?;
/// let section = &assembly.modules[0].sections[0];
/// assert_eq!((section.kind, section.size), (SectionKind::Prog, 5));
/// # Ok::<(), tdlasm::AssembleError>(())
/// ```
pub fn assemble(
    loader: &dyn source::Loader,
    files: &[PathBuf],
    options: &Options,
) -> Result<Assembly, AssembleError> {
    let assembly = asm::run(loader, files, options);
    match assembly.has_errors() {
        true => Err(AssembleError { assembly: Box::new(assembly) }),
        false => Ok(assembly),
    }
}

/// Assembles one text with the default options. Diagnostics name it `source.asm`.
///
/// # Errors
///
/// Returns [`AssembleError`] if at least one diagnostic is an error.
///
/// ```
/// let error = tdlasm::assemble_text(" MVI A,FFH\n .END\n").unwrap_err();
/// assert!(error.to_string().contains("FFH is not defined"));
/// assert_eq!(format!("{error:?}"), error.to_string());
/// ```
pub fn assemble_text(text: impl AsRef<[u8]>) -> Result<Assembly, AssembleError> {
    let path = Path::new("source.asm");
    let loader = source::MemoryLoader::new().with(path, text.as_ref());
    assemble(&loader, &[path.to_owned()], &Options::default())
}

/// Results can be sent between threads, and errors converted by `?`.
const _: () = {
    const fn is_plain_data<T: Send + Sync + 'static>() {}
    is_plain_data::<Assembly>();
    is_plain_data::<AssembleError>();
    is_plain_data::<link::LinkErrors>();
    is_plain_data::<link::Program>();
};
