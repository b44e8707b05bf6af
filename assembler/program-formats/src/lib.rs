//! Reads what assemblers and compilers for the Z80 write: the bytes of a program, its symbols, and
//! the source lines of its code.
//!
//! - [`read_program`]: binaries, Intel HEX, S-records, ELF, COFF, TDL objects.
//! - [`read_debug_info`]: symbol files, maps and listings of some twenty tools, and the DWARF of ELF.
//! - [`SymbolTable`]: finds a symbol by the name that a user types.
//!
//! A format is recognised by its content, never by a file's name alone: the extension `.sym` alone
//! stands for eight formats. A file that is of no known format is refused with the first line that
//! is not understood, and no line of a format without a mark of its own is skipped.
//!
//! ```
//! use program_formats::{SymbolTable, read_debug_info};
//!
//! let info = read_debug_info(b"MAIN: EQU 0x00008000\n", "game.sym")?;
//! let mut symbols = SymbolTable::default();
//! symbols.add_all(&info.symbols);
//! assert_eq!(symbols.find("main")?, Some(0x8000));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod coff;
mod debug_info;
mod error;
mod number;
mod program;
mod reader;
mod symbol_table;

pub use debug_info::{
    Area, DebugInfo, Pages, Parameter, SourceLine, Symbol, SymbolKind, is_data_line, line_table,
};
pub use error::{DebugInfoError, LineError, ProgramError};
pub use program::{Program, ProgramFormat, read_first_64_kib, read_program};
pub use reader::read_debug_info;
pub use symbol_table::{SymbolError, SymbolTable};
