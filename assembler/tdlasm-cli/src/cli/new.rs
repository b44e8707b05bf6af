//! `tdlasm new`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use cli_support::exit;
use cli_support::text::Escape;

use super::ReportedError;

/// The first program of the language manual.
const FIRST_PROGRAM: &str = include_str!("hello.asm");

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Name of the program, whose source is NAME.asm
    name: PathBuf,
}

/// Writes the first program; an existing file is left alone.
pub(crate) fn run(arguments: &Arguments) -> Result<(), ReportedError> {
    let path = arguments.name.with_extension("asm");
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    file.and_then(|mut file| file.write_all(FIRST_PROGRAM.as_bytes())).map_err(|error| {
        cli_support::eprint_error!("cannot write {}: {error}", path.escaped());
        cli_support::eprint_help!("name a file that does not exist yet");
        exit::ENVIRONMENT
    })?;
    let shown = path.escaped();
    cli_support::eprint_message!("{shown} sends HELLO to the serial chip of an RC2014 board");
    let assembled = path.with_extension("hex");
    let assembled = assembled.escaped();
    cli_support::eprint_message!("assemble it:       tdlasm asm {shown} -o {assembled}");
    cli_support::eprint_message!("run it on a board: rcflash run --port /dev/ttyUSB0 {shown}");
    Ok(())
}
