//! External editors, clients and readers.

mod adapter;
mod compilers;
#[path = "../../../../../assembler/tdlasm-cli/tests/it/system/debian.rs"]
mod debian;
mod editors;
#[path = "../../../../../assembler/tdlasm-cli/tests/it/system/node.rs"]
mod node;
mod readers;
