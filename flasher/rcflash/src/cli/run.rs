//! `rcflash run`: assembles a program, loads it, starts it, and shows its output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED, INTERRUPTED, USAGE};
use cli_support::text::Escape;
use cli_support::time::parse_time;
use firmware::profile::BoardProfile;
use rcflash_transport::Transport;
use tdlasm::link::{Layout, Region, Rule, link};
use tdlasm::module::SectionKind;
use tdlasm::source::DiskLoader;
use tdlasm::{Notation, Options, assemble};

use super::program::{Program, parse_address, read_program};
use super::target::BoardArgs;
use super::via::{LoaderArgs, Started};
use super::{stop_on_interrupt, write};

/// Extensions of sources; any other file counts as assembled.
const SOURCE_EXTENSIONS: [&str; 6] = ["asm", "z80", "mac", "s", "src", "a80"];
/// How often a blocking read checks for Ctrl-C.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Sources for tdlasm, or one assembled file: Intel HEX, S-records, ELF or a binary
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Load address of a binary, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = parse_address)]
    address: Option<u32>,
    /// Layout of the sections
    ///
    /// By default they follow each other from the first address that the monitor loads programs
    /// at.
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// Define a symbol, as NAME=VALUE in decimal or NAME=0FFH
    #[arg(long = "define", value_name = "NAME=VALUE", value_parser = parse_definition)]
    defines: Vec<(String, u16)>,
    /// Read Zilog's mnemonics; sources named `*.z80` always are
    #[arg(long)]
    zilog: bool,
    /// Exit when there is no output for this long, as in 2s; `never` continues until Ctrl-C
    #[arg(long, value_name = "TIME|never", default_value = "2s", value_parser = parse_idle_exit)]
    idle_exit: IdleExit,
    #[command(flatten)]
    via: LoaderArgs,
}

/// The silence of a program after which it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdleExit {
    After(Duration),
    Never,
}

impl IdleExit {
    fn is_due(self, silence: Duration) -> bool {
        matches!(self, Self::After(limit) if silence >= limit)
    }
}

fn parse_idle_exit(text: &str) -> Result<IdleExit, String> {
    if text == "never" {
        return Ok(IdleExit::Never);
    }
    match parse_time(text)? {
        Duration::ZERO => Err("0s leaves no time for output: expected 1s or more, or never".into()),
        silence => Ok(IdleExit::After(silence)),
    }
}

fn parse_definition(text: &str) -> Result<(String, u16), String> {
    let usual = || format!("invalid definition '{text}': expected NAME=VALUE");
    let (name, value) = text.split_once('=').ok_or_else(usual)?;
    let number = match value.strip_suffix(['h', 'H']) {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    };
    number.filter(|_| !name.is_empty()).map(|value| (name.to_owned(), value)).ok_or_else(usual)
}

pub(super) fn run(args: &RunArgs) -> CommandResult {
    let profile = args.board.profile()?;
    let program = match args.files.as_slice() {
        [file] if !is_source(file) => read_program(file, args.address)?,
        files => assemble_program(files, args, &profile)?,
    };
    if args.via.is_cpm() {
        let how = "--via cpm sends files: assemble with `tdlasm asm -o prog.com`, then load \
                   the file with `rcflash write`";
        return Err(CommandError::new(USAGE, how));
    }
    let options = write::WriteOptions { run: true, force: false };
    match write::load_program(&args.via, &program, options, &args.board)? {
        Started::Link(mut link, received) => {
            show_output(link.transport_mut(), &received, args.idle_exit)
        }
        Started::Line(mut line, received) => show_output(&mut *line, &received, args.idle_exit),
        Started::Nothing => Ok(0),
    }
}

fn is_source(path: &Path) -> bool {
    let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    end.is_some_and(|end| SOURCE_EXTENSIONS.contains(&end.as_str()))
}

fn assemble_program(
    files: &[PathBuf],
    args: &RunArgs,
    profile: &BoardProfile,
) -> Result<Program, CommandError> {
    let notation = if args.zilog { Notation::Zilog } else { Notation::Tdl };
    let options = Options { defines: args.defines.clone(), notation, ..Options::default() };
    let assembly = assemble(&DiskLoader, files, &options).map_err(|failure| {
        let zilog = Options { notation: Notation::Zilog, ..options.clone() };
        let is_zilog = !args.zilog && assemble(&DiskLoader, files, &zilog).is_ok();
        let message = match files {
            [file, ..] if is_zilog => format!(
                "{} is in Zilog's notation: give --zilog, or name the file *.z80",
                file.escaped()
            ),
            _ => format!("\n{}", failure.to_string().trim_end()),
        };
        CommandError::new(FAILED, message)
    })?;
    let layout = read_layout(args.layout.as_deref(), profile)?;
    let linked = link(&assembly.modules, &layout).map_err(|errors| {
        CommandError::new(FAILED, format!("the program does not link: {errors}"))
    })?;
    let name = files.first().map_or_else(String::new, |file| file.escaped().to_string());
    let (first, _) = linked
        .image
        .bounds()
        .ok_or_else(|| CommandError::new(FAILED, format!("{name}: the program has no bytes")))?;
    let entry = linked.entry.unwrap_or(first);
    Ok(Program { name, image: linked.image, entry, build_id: None })
}

/// Reads the layout; by default sections follow each other from the first loadable address.
fn read_layout(path: Option<&Path>, profile: &BoardProfile) -> Result<Layout, CommandError> {
    if let Some(path) = path {
        let shown = path.escaped();
        let text = std::fs::read_to_string(path).map_err(|error| {
            CommandError::new(ENVIRONMENT, format!("can't read {shown}: {error}"))
        })?;
        return Layout::parse(&text)
            .map_err(|error| CommandError::new(USAGE, format!("{shown}: {error}")));
    }
    let (start, last) = write::monitor_load_range(profile)?;
    let region = Region {
        name: "program".to_owned(),
        start,
        size: u32::from(last) - u32::from(start) + 1,
        fill: 0xFF,
    };
    let rule = |section| Rule { section, module: None, region: "program".to_owned(), align: 1 };
    let rules = [SectionKind::Prog, SectionKind::Data].map(rule).into();
    Ok(Layout { regions: vec![region], rules, ..Layout::default() })
}

/// Shows the program's output until it has been silent for the time of `idle_exit`, or until
/// Ctrl-C.
fn show_output(line: &mut dyn Transport, first: &[u8], idle_exit: IdleExit) -> CommandResult {
    let stop = stop_on_interrupt()?;
    let mut received = [0; 1024];
    let mut last = Instant::now();
    let mut out = std::io::stdout().lock();
    let shown = out.write_all(first).and_then(|()| out.flush());
    if shown.is_err() {
        return Ok(0);
    }
    while !idle_exit.is_due(last.elapsed()) {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        let count = line.read(&mut received, STOP_POLL_INTERVAL).map_err(|error| {
            CommandError::new(ENVIRONMENT, format!("{}: the line failed: {error}", line.name()))
        })?;
        if count > 0 {
            last = Instant::now();
            if out.write_all(&received[..count]).and_then(|()| out.flush()).is_err() {
                break; // standard output is closed
            }
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_exit_has_a_unit_or_is_never() {
        let two = IdleExit::After(Duration::from_secs(2));
        assert_eq!(parse_idle_exit("2s"), Ok(two));
        assert!(two.is_due(Duration::from_secs(2)) && !two.is_due(Duration::from_millis(1999)));
        let never = parse_idle_exit("never").expect("a word");
        assert!(!never.is_due(Duration::MAX));
        for wrong in ["0s", "2", "", "-1s", "Never"] {
            assert!(parse_idle_exit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn definitions_have_a_name_and_a_number() {
        assert_eq!(parse_definition("A=10"), Ok(("A".to_owned(), 10)));
        assert_eq!(parse_definition("BASE=0FFH"), Ok(("BASE".to_owned(), 0xFF)));
        for wrong in ["A", "=1", "A=", "A=X", "A=70000"] {
            assert!(parse_definition(wrong).is_err(), "{wrong}");
        }
    }
}
