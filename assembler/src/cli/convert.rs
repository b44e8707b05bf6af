//! `tdlasm convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use tdlasm::convert::{Conversion, Dialect, Options, convert};

use super::Failed;
use super::files::{self, CommandLoader};

const POLICY: &str = "\
Zilog's side is what pasmo, z80asm and GNU as (z80) have in common: labels with a colon, NAME: EQU e, \
DEFL, ORG, DB, DW, DS, INCLUDE \"file\", END, and GNU's EXTERN and GLOBAL; numbers as 10, 0FFH, 101B, 17O; \
$ for the address; the operators + - * / % & | ^ ~ << >> with parentheses wherever assemblers differ. \
pasmo knows no & and ^, z80asm no % and DEFL.

What has no counterpart stays as it is, with a warning FILE:LINE:COLUMN, and the exit code is 5: macros \
with their bodies, the lines that begin and end conditionals, .RADIX (numbers are written with their \
radix), listing directives, texts of several lines, and expressions on whose value assemblers disagree. \
The language manual, docs/LANGUAGE.md, says more.

Examples:
  tdlasm convert --to zilog monitor.asm -o monitor.z80
  tdlasm convert --to tdl - < prog.z80 > prog.asm";

/// What `tdlasm convert` takes.
#[derive(Debug, Args)]
#[command(after_help = POLICY)]
pub(crate) struct Arguments {
    /// The dialect to write; the source is in the other one
    #[arg(long, value_name = "DIALECT")]
    to: Target,
    /// Source file; `-` is standard input
    file: PathBuf,
    /// File to write; standard output without it
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Look for inserted files in this folder too: their macros change the meaning of lines
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Let all characters of TDL's symbols count, not the first six only
    #[arg(long)]
    long_symbols: bool,
}

/// The names of the dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// LD A,(IX+5)
    Zilog,
    /// MOV A,5(X)
    Tdl,
}

/// Runs `tdlasm convert`.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failed> {
    let to = match arguments.to {
        Target::Zilog => Dialect::Zilog,
        Target::Tdl => Dialect::Tdl,
    };
    let (long_symbols, include_dirs) = (arguments.long_symbols, arguments.include.clone());
    let options = Options { to, long_symbols, include_dirs };
    let conversion = convert(&CommandLoader, &arguments.file, &options).map_err(|error| {
        eprintln!("error: cannot read {}: {error}", arguments.file.display());
        Failed::File
    })?;
    files::write(&arguments.output, &conversion.text)?;
    report(arguments, &conversion)
}

fn report(arguments: &Arguments, conversion: &Conversion) -> Result<(), Failed> {
    let file = arguments.file.display();
    for note in &conversion.notes {
        eprintln!("{file}:{}:{}: warning: {}", note.line, note.column, note.message);
    }
    match conversion.kept() {
        0 => Ok(()),
        kept => {
            let converted = conversion.converted;
            eprintln!("{file}: {converted} statements converted, {kept} left to be done by hand");
            Err(Failed::Incomplete)
        }
    }
}
