//! External editors, clients, debuggers and readers.

mod adapter;
mod compilers;
#[path = "../../../../../assembler/tdlasm-cli/tests/it/system/debian.rs"]
mod debian;
mod editors;
mod gdb;
#[path = "../../../../../assembler/tdlasm-cli/tests/it/system/node.rs"]
mod node;
mod readers;
