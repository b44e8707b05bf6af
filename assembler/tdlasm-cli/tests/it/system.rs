//! The editors, and the clients of others, with the program.

mod debian;
mod editors;
mod node;
mod server;
