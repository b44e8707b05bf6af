//! Real editors and independent language clients with the program.

mod debian;
mod editors;
mod node;
mod server;
