//! TDL's own object files, as ZASM 2.21 (1977) writes them and PASM 1.0 (1980) extends them.
//!
//! A file is a sequence of modules, and a module a sequence of records: a character for the kind,
//! fields, and a checksum that makes the sum of all field bytes 0 modulo 256. After `.PHEX` fields
//! are hexadecimal digits and each record begins on a new line; after `.PBIN` they are plain bytes.
//! Names have six characters, filled with blanks.
//!
//! | kind | fields |
//! |---|---|
//! | `!` | the module's name |
//! | `+` | PASM: program, version, revision, date, time |
//! | `@` | count, names: library entry points, up to 8 |
//! | `\` | count, {name, base, size}: sizes of the sections, then externals and shared areas, up to 4 |
//! | `#` | count, {name, base, value}: exported symbols, up to 4, entry points in records of their own |
//! | `;` | count, address, base, then that many bytes of code with its relocations; count 0 is the end record |
//! | `:` | the same with plain code, after `.PABS` |
//! | `&` | like `#` for all symbols, after the end record |
//!
//! Words stand high byte first, but low byte first within code. Bases are 0 for fixed addresses, 1
//! to 3 for `.PROG.`, `.DATA.` and `.BLNK.`, and from 4 on the externals in the order of their
//! declaration. Code follows the source: every `.LOC`, `.RELOC` and `.BLKB` begins a new record,
//! and so does a record of 18H bytes.
//!
//! These rules were read off objects of ZASM 2.21, 40 of which the tests compare byte for byte. Not
//! seen, and decided here: that PASM's code for a byte takes three bits for two bytes.
//!
//! The format has no room for relocated fields of 8 bits (PASM's are read, not written), longer
//! names, source places, space that is only reserved at fixed addresses, whether a symbol there is
//! an address or a number, and whether `.END 0` or `.END` ends the module.

mod module_builder;
mod order;
mod read;
mod record;
mod stream;
mod write;

pub use order::TdlWriteError;
pub(crate) use read::looks_like_tdl;
pub use read::{TdlError, read_tdl};
pub use write::{tdl_losses, write_tdl};
