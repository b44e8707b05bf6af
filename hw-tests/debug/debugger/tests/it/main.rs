//! Tests of the debugger.

mod command_line;
mod corrupted;
mod gdb_script;
mod owned_view;
mod printed_numbers;
mod random_sessions;
mod sessions;
mod stop_commands;
mod stops_and_steps;
