//! `tdlasm asm`.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use cli_support::exit;
use cli_support::text::Escape;
use tdlasm::diag::{Diagnostic, DiagnosticCode, LevelError, LintLevels, render};
use tdlasm::listing::{
    Listing, TdlOptions, UnknownSwitch, render_modern, render_tdl, straight_path,
};
use tdlasm::module::{Module, ObjectForm};
use tdlasm::object::{tdl_losses, write_object, write_tdl};
use tdlasm::project::{Program, Project};
use tdlasm::source::{Origin, Source, SourceMap};
use tdlasm::{Assembly, ConsoleReply, Cpu, Notation, Options};
use tdlasm_tools::convert::is_zilog;

use super::files::{self, CommandLoader, Format};
use super::link::{link_and_report, read_layout, whole_memory};
use super::{ReportedError, json, project, sarif};

/// With fewer unknown operators, each has its own message.
const MIN_FOREIGN_OPERATORS: usize = 3;

#[derive(Debug, Clone, Args)]
pub(crate) struct Arguments {
    /// Source files of one program, or `-` for standard input; `.END` ends each file. Without any,
    /// all programs of the project file `tdl.toml` are assembled
    files: Vec<PathBuf>,
    /// File to write, in the format of its extension; without it the source is only checked
    #[arg(short, long, help_heading = "Output")]
    output: Option<PathBuf>,
    /// Format of the output, instead of that of its extension
    #[arg(long, requires = "output", help_heading = "Output")]
    format: Option<Format>,
    /// Layout file (TOML) with the addresses of sections; without it `.PROG.` begins at 0
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    layout: Option<PathBuf>,
    /// Assemble `.PROG.` as absolute code from address 0; its addresses are then plain numbers that
    /// any expression may use
    #[arg(long, help_heading = "Source")]
    pabs: bool,
    /// Define a symbol before the first line; also answers `NAME =\` in the source
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_define, help_heading = "Source")]
    define: Vec<(String, u16)>,
    /// Keys to type when the source requests a value (`NAME =\`), for the next request or for NAME
    #[arg(
        long,
        value_name = "[NAME=]KEYS",
        value_parser = parse_answer,
        allow_hyphen_values = true,
        help_heading = "Source"
    )]
    answer: Vec<ConsoleReply>,
    /// Also search this folder for included files
    #[arg(short = 'I', long = "include", value_name = "FOLDER", help_heading = "Source")]
    include: Vec<PathBuf>,
    /// Distinguish symbols by all characters instead of the first six
    #[arg(long, help_heading = "Source")]
    long_symbols: bool,
    /// Dialect of TDL's assembler: that of ZASM, or of its successor PASM [default: zasm]
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(["zasm", "pasm"]).map(|name| dialect(&name)),
        default_value = "zasm",
        hide_default_value = true,
        help_heading = "Source"
    )]
    dialect: Notation,
    /// Read Zilog's mnemonics with the directives of M80 and pasmo; files named `*.z80` always are
    #[arg(long, help_heading = "Source")]
    zilog: bool,
    /// With Zilog's mnemonics, capital and small letters differ in symbols
    #[arg(long, help_heading = "Source")]
    case_sensitive: bool,
    /// Processor that runs the program; z180 warns about instructions that a Z180 traps
    /// [default: z80]
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(["z80", "z180"]).map(|name| cpu(&name)),
        help_heading = "Source"
    )]
    cpu: Option<Cpu>,
    /// Write a listing; on standard output (`-`) even if the source has errors
    #[arg(long, value_name = "FILE", help_heading = "Listing")]
    listing: Option<PathBuf>,
    /// Style of the listing
    #[arg(
        long,
        value_name = "STYLE",
        default_value = "modern",
        requires = "listing",
        help_heading = "Listing"
    )]
    listing_style: ListingStyle,
    /// The program's name in `tdl` listings
    #[arg(long, value_name = "NAME", requires = "listing", help_heading = "Listing")]
    listing_program: Option<String>,
    /// ZASM's switches for `tdl` listings: A .LALL, C .LCTL, I .LIMAGE, S .SALL, X .XLIST, Y .XSYM
    #[arg(
        long,
        value_name = "LETTERS",
        requires = "listing",
        value_parser = parse_switches,
        help_heading = "Listing"
    )]
    listing_switches: Option<TdlOptions>,
    /// Print the T-states of the straight path from a label to the first unconditional jump or
    /// return
    #[arg(long, value_name = "ROUTINE", help_heading = "Output")]
    cycles: Vec<String>,
    /// Write the files that the output depends on, for make or ninja
    #[arg(long, value_name = "FILE", requires = "output", help_heading = "Output")]
    depfile: Option<PathBuf>,
    /// Format of messages
    #[arg(long, value_name = "FORM", default_value = "human", help_heading = "Messages")]
    message_format: MessageFormat,
    /// Also write the messages to this file, as SARIF for code scanning
    #[arg(long, value_name = "FILE", help_heading = "Messages")]
    sarif: Option<PathBuf>,
    /// Set the level of messages: NAME enables a warning, no-NAME disables it, error=NAME makes it
    /// an error; all, none and error apply to all warnings
    #[arg(short = 'W', value_name = "LEVEL", help_heading = "Messages")]
    warnings: Vec<String>,
    /// Write the output in spite of errors, as ZASM does; the exit code is then 5
    #[arg(long, help_heading = "Output")]
    as_original: bool,
}

fn cpu(name: &str) -> Cpu {
    if name == "z180" { Cpu::Z180 } else { Cpu::Z80 }
}

fn dialect(name: &str) -> Notation {
    if name == "pasm" { Notation::Pasm } else { Notation::Tdl }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MessageFormat {
    /// With the source line, for people
    Human,
    /// One line each
    Short,
    /// One JSON object a line
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListingStyle {
    /// Address, bytes, T-states and line beside the source
    Modern,
    /// ZASM's: pages, error flags, symbol table
    Tdl,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ReportedError> {
    let Some(first) = arguments.files.first() else { return run_project(arguments) };
    let project = project::of(first)?;
    let program = project.as_ref().and_then(|project| project.program_of(first));
    let mut arguments = arguments.clone();
    arguments.layout = arguments.layout.or_else(|| program?.layout.clone());
    run_files(&arguments, project.as_ref(), program)
}

/// Assembles all programs of the project, even if some fail.
fn run_project(arguments: &Arguments) -> Result<(), ReportedError> {
    let project = project::here()?;
    let programs = project.programs();
    let Arguments { output, listing, sarif, .. } = arguments;
    if programs.len() > 1 && [output, listing, sarif].into_iter().any(Option::is_some) {
        cli_support::eprint_error!("cannot write {} programs to one file", programs.len());
        cli_support::eprint_help!(
            "name the sources of one program, or set `output` of each in the project file"
        );
        return Err(exit::USAGE);
    }
    let mut result = Ok(());
    for program in programs {
        let mut arguments = Arguments { files: program.files.clone(), ..arguments.clone() };
        arguments.output = arguments.output.or_else(|| program.output.clone());
        arguments.layout = arguments.layout.or_else(|| program.layout.clone());
        if let Err(failed) = run_files(&arguments, Some(&project), Some(program)) {
            result = result.and(Err(failed));
        }
    }
    result
}

fn run_files(
    arguments: &Arguments,
    project: Option<&Project>,
    program: Option<&Program>,
) -> Result<(), ReportedError> {
    let format = match &arguments.output {
        Some(path) => Some(Format::choose(arguments.format, path)?),
        None => None,
    };
    let levels = levels(arguments)?;
    let mut options = Options {
        lint_levels: levels,
        defines: arguments.define.clone(),
        console_replies: arguments.answer.clone(),
        include_dirs: arguments.include.clone(),
        long_symbols: arguments.long_symbols,
        notation: match arguments.zilog {
            true => Notation::Zilog,
            false => arguments.dialect,
        },
        case_sensitive: arguments.case_sensitive,
        absolute_prog: arguments.pabs,
        cpu: arguments.cpu,
        build_time: std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok()),
        listing: arguments.listing.is_some() || !arguments.cycles.is_empty(),
        lines: matches!(format, Some(Format::Object | Format::Elf)),
        references: false,
        translate: Some(tdlasm_tools::convert::translate),
    };
    if let Some(project) = project {
        project.add_to(&mut options, program);
    }
    let options = match arguments.files.first() {
        Some(first) => options.for_source(first),
        None => options,
    };
    let assembly = tdlasm::asm::run(&CommandLoader, &arguments.files, &options);
    check_outputs(arguments, &assembly)?;
    write_sarif(arguments, &assembly)?;
    if assembly.has_errors() && !may_write_with_errors(arguments, &assembly) {
        return Err(fail(&assembly, options.notation, arguments));
    }
    print_diagnostics(&assembly.diagnostics, &assembly.sources, arguments.message_format);
    for message in &assembly.messages {
        cli_support::eprint_message!("{message}");
    }
    print_cycles(arguments, &assembly)?;
    write(arguments, format, &assembly)?;
    match assembly.has_errors() {
        true => Err(exit::INCOMPLETE),
        false => Ok(()),
    }
}

/// Refuses outputs that would replace a file that was read.
fn check_outputs(arguments: &Arguments, assembly: &Assembly) -> Result<(), ReportedError> {
    let Arguments { output, listing, depfile, layout, sarif, .. } = arguments;
    let sources = source_files(&assembly.sources).map(|source| Path::new(&*source.name));
    let project = arguments.files.first().and_then(|first| Project::find(first));
    let settings = [layout, &project].into_iter().flatten().map(PathBuf::as_path);
    let outputs =
        [("--output", output), ("--listing", listing), ("--depfile", depfile), ("--sarif", sarif)];
    let outputs = outputs.iter().filter_map(|(option, path)| Some((*option, path.as_deref()?)));
    files::check_outputs(outputs, sources.chain(settings))
}

/// `--sarif`: writes the messages, also if the source has errors.
fn write_sarif(arguments: &Arguments, assembly: &Assembly) -> Result<(), ReportedError> {
    let Some(path) = &arguments.sarif else { return Ok(()) };
    let Assembly { diagnostics, sources, .. } = assembly;
    let log = sarif::sarif(diagnostics, sources);
    files::write(path, log.as_bytes())
}

/// Returns the options' message levels. `--as-original` demotes the error for a digit too large.
fn levels(arguments: &Arguments) -> Result<LintLevels, ReportedError> {
    let mut levels = LintLevels::default();
    let refused = |error: LevelError| {
        cli_support::eprint_error!("{error}");
        exit::USAGE
    };
    if arguments.as_original {
        levels.add(DiagnosticCode::Digit.group()).map_err(refused)?;
    }
    for option in &arguments.warnings {
        levels.add(option).map_err(refused)?;
    }
    Ok(levels)
}

/// Returns `true` if output is written despite errors (`--as-original`), unless nothing is left.
fn may_write_with_errors(arguments: &Arguments, assembly: &Assembly) -> bool {
    let mut errors = assembly.diagnostics.iter().filter(|one| one.is_error());
    arguments.as_original
        && errors.all(|one| one.code.is_demotable() || one.code == DiagnosticCode::TooMany)
}

/// `--cycles`: prints a line per routine.
fn print_cycles(arguments: &Arguments, assembly: &Assembly) -> Result<(), ReportedError> {
    for routine in &arguments.cycles {
        let path =
            straight_path(&assembly.listing, &assembly.modules, routine).map_err(|error| {
                cli_support::eprint_error!("{error}");
                exit::USAGE
            })?;
        let (first, last) = path.range;
        let mut text = format!(
            "{}: {} T-states, {} instructions, {first:04X}H to {last:04X}H",
            routine.to_ascii_uppercase(),
            path.clocks,
            path.instructions
        );
        if path.conditional > 0 {
            text += &format!("; {} of them take longer when taken", path.conditional);
        }
        files::write("-".as_ref(), (text + "\n").as_bytes())?;
    }
    Ok(())
}

fn write(
    arguments: &Arguments,
    format: Option<Format>,
    assembly: &Assembly,
) -> Result<(), ReportedError> {
    if let (Some(path), Some(format)) = (&arguments.output, format) {
        files::write(path, &content(arguments, format, assembly)?)?;
    }
    write_companions(arguments, assembly)
}

fn content(
    arguments: &Arguments,
    format: Format,
    assembly: &Assembly,
) -> Result<Vec<u8>, ReportedError> {
    match format {
        Format::Object => return elf_object(&assembly.modules),
        Format::Rel => return tdl_object(assembly, assembly.object_form),
        Format::Pbin => {
            return tdl_object(assembly, ObjectForm { binary: true, ..assembly.object_form });
        }
        Format::Phex => {
            return tdl_object(assembly, ObjectForm { binary: false, ..assembly.object_form });
        }
        _ => {}
    }
    let layout = match &arguments.layout {
        Some(path) => read_layout(path)?,
        None => whole_memory(),
    };
    let program = link_and_report(&assembly.modules, &layout)?;
    format.encode(&program, layout.fill())
}

fn tdl_object(assembly: &Assembly, form: ObjectForm) -> Result<Vec<u8>, ReportedError> {
    for loss in tdl_losses(&assembly.modules, form) {
        cli_support::eprint_warning!("{loss}");
    }
    write_tdl(&assembly.modules, form).map_err(|error| {
        cli_support::eprint_error!("{error}");
        exit::FAILED
    })
}

/// An ELF object, which contains a single module and no bytes for common areas of other modules.
fn elf_object(modules: &[Module]) -> Result<Vec<u8>, ReportedError> {
    match modules {
        [module] => match module.check_areas() {
            Ok(()) => Ok(write_object(module)),
            Err(error) => {
                cli_support::eprint_error!("{error}");
                Err(exit::FAILED)
            }
        },
        _ => {
            cli_support::eprint_error!(
                "the source has {} modules, and an ELF object holds one",
                modules.len()
            );
            cli_support::eprint_help!("split it at .PRGEND, or write .rel or a linked program");
            Err(exit::USAGE)
        }
    }
}

fn write_companions(arguments: &Arguments, assembly: &Assembly) -> Result<(), ReportedError> {
    if let (Some(path), Some(output)) = (&arguments.depfile, &arguments.output) {
        files::write(path, depfile(output, &assembly.sources).as_bytes())?;
    }
    let Some(path) = &arguments.listing else { return Ok(()) };
    let Assembly { listing, sources, modules, .. } = assembly;
    let text = render_listing(arguments, listing, sources, modules);
    files::write(path, text.as_bytes())
}

fn render_listing(
    arguments: &Arguments,
    listing: &Listing,
    sources: &SourceMap,
    modules: &[Module],
) -> String {
    if arguments.listing_style == ListingStyle::Modern {
        return render_modern(listing, sources);
    }
    let mut options = arguments.listing_switches.clone().unwrap_or_default();
    if let Some(name) = &arguments.listing_program {
        options = options.program(name);
    }
    render_tdl(listing, sources, modules, &options)
}

fn parse_switches(letters: &str) -> Result<TdlOptions, UnknownSwitch> {
    TdlOptions::default().switches(letters)
}

fn print_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap, form: MessageFormat) {
    let text = match form {
        MessageFormat::Human => {
            let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let text = render::human(diagnostics, sources, colour);
            if colour {
                return cli_support::text::eprint_coloured(&text);
            }
            text
        }
        MessageFormat::Short => render::short(diagnostics, sources),
        MessageFormat::Json => {
            return cli_support::text::eprint_json(&json::diagnostics(diagnostics, sources));
        }
    };
    cli_support::text::eprint_escaped(&text);
}

/// Prints the errors; returns [`exit::ENVIRONMENT`] if all are about unreadable files.
fn fail(assembly: &Assembly, notation: Notation, arguments: &Arguments) -> ReportedError {
    let form = arguments.message_format;
    let Assembly { diagnostics, sources, listing, modules, .. } = assembly;
    let foreign = match notation {
        Notation::Zilog => None,
        _ => foreign_dialect(diagnostics, sources).map(|one| vec![one]),
    };
    let diagnostics = foreign.as_ref().unwrap_or(diagnostics);
    print_diagnostics(diagnostics, sources, form);
    if arguments.listing.as_deref() == Some(Path::new("-")) {
        let text = render_listing(arguments, listing, sources, modules);
        if let Err(failed) = files::write(Path::new("-"), text.as_bytes()) {
            return failed;
        }
    }
    let errors = diagnostics.iter().filter(|one| one.is_error());
    let count = errors.clone().count();
    if form == MessageFormat::Human {
        cli_support::eprint_message!(
            "\n{count} error{}; nothing is written",
            if count == 1 { "" } else { "s" }
        );
    }
    if errors.clone().all(|one| one.code == DiagnosticCode::File) {
        exit::ENVIRONMENT
    } else {
        exit::FAILED
    }
}

/// Returns the one message about a source in Zilog's notation, instead of one for each line.
fn foreign_dialect(diagnostics: &[Diagnostic], sources: &SourceMap) -> Option<Diagnostic> {
    let mut unknown = diagnostics.iter().filter(|one| one.code == DiagnosticCode::Operator);
    let first = unknown.next()?;
    let source = sources.source_at(render::in_file(first.span, sources).start);
    let is_foreign = unknown.nth(MIN_FOREIGN_OPERATORS - 2).is_some()
        && is_zilog(&CommandLoader, Path::new(&*source.name));
    is_foreign.then(|| {
        let message = "this is Zilog's notation, and not TDL's";
        let help = "assemble it with --zilog, or name the file *.z80";
        Diagnostic::new(DiagnosticCode::Zilog, first.span, message).help(help)
    })
}

/// Returns a make rule: the output depends on every file that was read.
fn depfile(output: &Path, sources: &SourceMap) -> String {
    let files = source_files(sources);
    let mut names: Vec<String> =
        files.map(|source| escape(&source.name)).filter(|name| name != "-").collect();
    names.sort();
    names.dedup();
    format!("{}: {}\n", escape(&output.escaped().to_string()), names.join(" "))
}

fn source_files(sources: &SourceMap) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| !matches!(source.origin, Origin::Macro(_)))
}

fn escape(name: &str) -> String {
    name.replace('$', "$$").replace(' ', "\\ ").replace('#', "\\#")
}

/// `NAME=VALUE`; the value is decimal, or hexadecimal as `0x1F` or `1FH`. Without a value it is 1.
pub(crate) fn parse_define(text: &str) -> Result<(String, u16), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let number = files::parse_number(value)?;
    let valid = tdlasm::syntax::lex::symbol(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty());
    if valid {
        Ok((name.to_owned(), number))
    } else {
        Err(format!(
            "invalid symbol '{name}': expected letters, digits, $, % and ., and no digit in front"
        ))
    }
}

/// Parses `NAME=KEYS`, or the keys alone for the next request; any text is valid.
fn parse_answer(text: &str) -> Result<ConsoleReply, String> {
    let is_name = |name: &str| {
        tdlasm::syntax::lex::symbol(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty())
    };
    let (name, keys) = match text.split_once('=') {
        Some((name, keys)) if is_name(name) => (Some(name.to_owned()), keys),
        _ => (None, text),
    };
    Ok(ConsoleReply { name, keys: keys.to_owned() })
}
