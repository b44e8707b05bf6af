//! `tdlasm convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cli_support::exit;
use cli_support::text::Escape;
use tdlasm_tools::convert::{self, Conversion, Dialect, Options, convert};

use super::ReportedError;
use super::files::{self, CommandLoader};

const POLICY: &str = "\
Zilog's side is what pasmo, z80asm and GNU as (z80) have in common: labels with a colon, NAME: \
EQU e, DEFL, ORG, DB, DW, DS, INCLUDE \"file\", END, and GNU's EXTERN and GLOBAL; numbers as 10, \
0FFH, 101B, 17O; $ for the address; the operators + - * / % & | ^ ~ << >> with parentheses \
wherever assemblers differ. --for pasmo, z80asm, gas, sjasmplus, zasm or sdasz80 writes what that \
one accepts: AND and XOR for pasmo, EQU for DEFL, remainders and forward references expanded for \
z80asm, #5, 5(IX), 0x1F and .DB for sdasz80; macros, conditionals and included files are \
expanded. Statements that it lacks are left unchanged, with a warning.

Statements without a counterpart are left unchanged, with a warning FILE:LINE:COLUMN, and the exit \
code is 5: \
macros with their bodies, the lines that begin and end conditionals, .RADIX (numbers are written \
with their radix), listing directives, texts of several lines, and expressions on whose value \
assemblers disagree. See the language manual, docs/LANGUAGE.md.

Examples:
  tdlasm convert --to zilog monitor.asm -o monitor.z80
  tdlasm convert --to zilog --for pasmo monitor.asm -o monitor.z80
  tdlasm convert --to tdl - < prog.z80 > prog.asm";

#[derive(Debug, Args)]
#[command(after_help = POLICY)]
pub(crate) struct Arguments {
    /// The dialect to write; the source is in the other one
    #[arg(long, value_name = "DIALECT")]
    to: Target,
    /// The assembler to write for; without it, only features common to all of these are used
    #[arg(long = "for", value_name = "ASSEMBLER")]
    assembler: Option<Assembler>,
    /// Source file; `-` is standard input
    file: PathBuf,
    /// File to write; standard output without it
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// Also search this folder for included files, whose macros change how lines are read
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Distinguish TDL's symbols by all characters instead of the first six
    #[arg(long)]
    long_symbols: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// LD A,(IX+5)
    Zilog,
    /// MOV A,5(X)
    Tdl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Assembler {
    Pasmo,
    Z80asm,
    Gas,
    Sjasmplus,
    Zasm,
    Sdasz80,
}

impl From<Assembler> for convert::Target {
    fn from(assembler: Assembler) -> Self {
        match assembler {
            Assembler::Pasmo => Self::Pasmo,
            Assembler::Z80asm => Self::Z80asm,
            Assembler::Gas => Self::Gas,
            Assembler::Sjasmplus => Self::Sjasmplus,
            Assembler::Zasm => Self::Zasm,
            Assembler::Sdasz80 => Self::Sdasz80,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReportedError> {
    let to = match arguments.to {
        Target::Zilog => Dialect::Zilog,
        Target::Tdl => Dialect::Tdl,
    };
    if arguments.assembler.is_some() && to == Dialect::Tdl {
        cli_support::eprint_error!("--for names an assembler for Zilog's mnemonics");
        cli_support::eprint_help!("use --to zilog, or omit --for");
        return Err(exit::USAGE);
    }
    let long_symbols = arguments.long_symbols;
    let include_dirs = arguments.include.clone();
    let target = arguments.assembler.map(convert::Target::from);
    let options = Options { to, target, long_symbols, include_dirs };
    let conversion = convert(&CommandLoader, &arguments.file, &options).map_err(|error| {
        cli_support::eprint_error!("cannot read {}: {error}", arguments.file.escaped());
        exit::ENVIRONMENT
    })?;
    let included = conversion.included.iter().map(PathBuf::as_path);
    files::check_outputs([("--output", &*arguments.output)], included)?;
    files::write(&arguments.output, &conversion.text)?;
    report(arguments, &conversion)
}

fn report(arguments: &Arguments, conversion: &Conversion) -> Result<(), ReportedError> {
    let file = arguments.file.escaped();
    for note in &conversion.notes {
        cli_support::eprint_message!(
            "{file}:{}:{}: warning: {}",
            note.line,
            note.column,
            note.message
        );
    }
    match conversion.kept() {
        0 => Ok(()),
        kept => {
            let converted = conversion.converted;
            cli_support::eprint_message!(
                "{file}: {converted} statements converted, {kept} left to convert by hand"
            );
            Err(exit::INCOMPLETE)
        }
    }
}
