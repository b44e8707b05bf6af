//! Assembler, linker and disassembler for Z80 source in the TDL dialect of 1976 to 1979.
//!
//! Three lines assemble a text, link it for an address and take its bytes:
//!
//! ```
//! let assembly = tdlasm::assemble_text("START: MVI A,5\n JMP START\n .END START\n")?;
//! let program = tdlasm::link::link(&assembly.modules, &tdlasm::link::Layout::flat(0x8000))?;
//! assert_eq!(program.image.flat(0xFF), [0x3E, 5, 0xC3, 0, 0x80]);
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! | module | what is there |
//! |---|---|
//! | this one | [`assemble`] and [`assemble_text`]: from source to an [`Assembly`] or a [`Failure`] |
//! | [`asm`] | the assembler itself, its [`Options`], and [`asm::run`], which returns errors as data |
//! | [`source`] | where texts come from: files, memory, or a [`source::Loader`] of the caller's own |
//! | [`diag`] | the messages, their codes, and how they are shown |
//! | [`module`] | assembled modules: sections, symbols, relocations |
//! | [`link`] | modules placed in memory by a [`link::Layout`] |
//! | [`image`] | the bytes of a program, as binary, Intel HEX or S-records |
//! | [`object`], [`archive`] | ELF and TDL object files, libraries |
//! | [`listing`] | listings in the original's layout and in one with T-states |
//! | [`disasm`], [`isa`] | the disassembler, and the table of instructions that everything is drawn from |
//! | [`references`], [`syntax`] | names and their places, words and expressions: what editors need |
//!
//! Errors are `Send + Sync + 'static`, so that `?` turns them into `Box<dyn Error + Send + Sync>`
//! and into the error types of other crates.

pub mod archive;
pub mod asm;
pub mod calendar;
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

pub use asm::{Answer, Assembly, Options, Translate};

/// Error returned by [`assemble`]: the program has errors.
///
/// [`Failure::assembly`] has the messages, and everything else as far as it came.
#[derive(Debug)]
pub struct Failure {
    assembly: Box<Assembly>,
}

impl Failure {
    /// Returns the result of the run; at least one of its diagnostics is an error.
    #[must_use]
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// Returns the result of the run.
    #[must_use]
    pub fn into_assembly(self) -> Assembly {
        *self.assembly
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Assembly { diagnostics, sources, .. } = self.assembly();
        formatter.write_str(&diag::render::human(diagnostics, sources, false))
    }
}

impl std::error::Error for Failure {}

/// Assembles source files, one after the other, as one program.
///
/// # Errors
/// Returns a [`Failure`] with all messages if one of them is an error.
///
/// ```
/// use tdlasm::{Options, assemble, module::SectionKind, source::MemoryLoader};
///
/// let loader = MemoryLoader::new().with("demo.asm", "START: MVI A,5\n JMP START\n .END START\n");
/// let assembly = assemble(&loader, &["demo.asm".into()], &Options::default())?;
/// let section = &assembly.modules[0].sections[0];
/// assert_eq!((section.kind, section.size), (SectionKind::Prog, 5));
/// # Ok::<(), tdlasm::Failure>(())
/// ```
pub fn assemble(
    loader: &dyn source::Loader,
    files: &[PathBuf],
    options: &Options,
) -> Result<Assembly, Failure> {
    let assembly = asm::run(loader, files, options);
    match assembly.has_errors() {
        true => Err(Failure { assembly: Box::new(assembly) }),
        false => Ok(assembly),
    }
}

/// Assembles one text with the default options. Messages call it `source.asm`.
///
/// # Errors
/// Returns a [`Failure`] with all messages if one of them is an error.
///
/// ```
/// let failure = tdlasm::assemble_text(" MVI A,FFH\n .END\n").unwrap_err();
/// assert!(failure.to_string().contains("FFH is not defined"));
/// ```
pub fn assemble_text(text: impl AsRef<[u8]>) -> Result<Assembly, Failure> {
    let path = Path::new("source.asm");
    let loader = source::MemoryLoader::new().with(path, text.as_ref());
    assemble(&loader, &[path.to_owned()], &Options::default())
}

/// The promises that callers rely on when they pass results between threads and errors upwards.
const _: () = {
    const fn is_plain_data<T: Send + Sync + 'static>() {}
    is_plain_data::<Assembly>();
    is_plain_data::<Failure>();
    is_plain_data::<link::LinkErrors>();
    is_plain_data::<link::Program>();
};
