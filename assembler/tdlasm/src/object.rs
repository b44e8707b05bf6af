//! Object files: reads and writes [`Module`](crate::module::Module)s as ELF or TDL relocatable
//! objects, and writes executables.
//!
//! In ELF, `.PROG.` is `.text`, `.DATA.` is `.data` and `.BLNK.` is `.bss`, each flat from its
//! start. Every run of absolute bytes is a section `.abs.XXXX` at its address. Relocations are
//! those of the Z80 ELF ABI as defined by GNU binutils. What ELF cannot express (which bytes are
//! only reserved, library entry points, source lines, the start address of a relocatable module) is
//! in a section `.tdl`, which other tools ignore.

mod dwarf;
mod elf;
mod executable;
mod load;
mod read;
mod tdl;
mod tdl_section;
mod write;

pub use executable::write_executable;
pub use load::{Executable, read_executable};
pub use read::{ObjectError, read_modules, read_object};
pub(crate) use tdl::looks_like_tdl;
pub use tdl::{TdlError, TdlWriteError, read_tdl, tdl_losses, write_tdl};
pub use write::write_object;
