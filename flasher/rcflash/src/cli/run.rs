//! `rcflash run`: assembles a program of the user's own, loads it, starts it, and shows what it
//! says.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use cli_support::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE, WRONG};
use cli_support::text::Show;
use firmware::profile::Profile;
use rcflash_transport::Transport;
use tdlasm::link::{Layout, Region, Rule, link};
use tdlasm::module::SectionKind;
use tdlasm::source::DiskLoader;
use tdlasm::{Options, assemble};

use super::program::{Program, from_file};
use super::target::BoardArgs;
use super::via::{Started, Via, ViaArgs};
use super::{stop_on_interrupt, write};

/// Extensions of sources; anything else is taken for an assembled file.
const SOURCES: [&str; 6] = ["asm", "z80", "mac", "s", "src", "a80"];
/// The time between two looks whether the user has had enough.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Sources in the dialect of tdlasm, or one assembled file: Intel HEX, S-records or ELF
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The place where sections go; without, they follow each other from the first address that
    /// programs may have
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// Define a symbol, as NAME=VALUE in decimal or NAME=0FFH
    #[arg(long = "define", value_name = "NAME=VALUE", value_parser = define)]
    defines: Vec<(String, u16)>,
    /// End when the program has said nothing for so long; 0 goes on until Ctrl-C
    #[arg(long, value_name = "SECONDS", default_value_t = 2)]
    quiet: u64,
    #[command(flatten)]
    via: ViaArgs,
}

fn define(text: &str) -> Result<(String, u16), String> {
    let usual = || format!("'{text}' is not NAME=VALUE");
    let (name, value) = text.split_once('=').ok_or_else(usual)?;
    let number = match value.strip_suffix(['h', 'H']) {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    };
    number.filter(|_| !name.is_empty()).map(|value| (name.to_owned(), value)).ok_or_else(usual)
}

pub(super) fn run(args: &RunArgs) -> Outcome {
    let profile = args.board.profile()?;
    let program = match args.files.as_slice() {
        [file] if !is_source(file) => from_file(file, None)?,
        files => assembled(files, args, &profile)?,
    };
    if args.via.via == Via::Xmodem {
        let how = "--via xmodem sends files: make one with `tdlasm asm -o prog.com`, and give it \
                   to `rcflash write`";
        return Err(Failure::new(USAGE, how));
    }
    let order = write::Order { run: true, force: false };
    let quiet = Duration::from_secs(args.quiet);
    match write::program_to_board(&args.via, &program, order, &args.board)? {
        Started::Link(mut link, heard) => show(link.transport_mut(), &heard, quiet),
        Started::Line(mut line, heard) => show(&mut *line, &heard, quiet),
        Started::Nothing => Ok(0),
    }
}

fn is_source(path: &Path) -> bool {
    let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    end.is_some_and(|end| SOURCES.contains(&end.as_str()))
}

/// Assembles and links the sources.
fn assembled(files: &[PathBuf], args: &RunArgs, profile: &Profile) -> Result<Program, Failure> {
    let options = Options { defines: args.defines.clone(), ..Options::default() };
    let assembly = assemble(&DiskLoader, files, &options)
        .map_err(|failure| Failure::new(WRONG, format!("\n{}", failure.to_string().trim_end())))?;
    let layout = layout(args.layout.as_deref(), profile)?;
    let linked = link(&assembly.modules, &layout)
        .map_err(|errors| Failure::new(WRONG, format!("the program does not link: {errors}")))?;
    let name = files.first().map_or_else(String::new, |file| file.shown().to_string());
    let (first, _) = linked
        .image
        .bounds()
        .ok_or_else(|| Failure::new(WRONG, format!("{name}: the program has no bytes")))?;
    let entry = linked.entry.unwrap_or(first);
    Ok(Program { name, image: linked.image, entry, speaks: false })
}

/// The user's layout, or all sections one after the other from the first address of the board's
/// programs.
fn layout(path: Option<&Path>, profile: &Profile) -> Result<Layout, Failure> {
    if let Some(path) = path {
        let shown = path.shown();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::new(RIG, format!("{shown}: can't be read: {error}")))?;
        return Layout::parse(&text)
            .map_err(|error| Failure::new(USAGE, format!("{shown}: {error}")));
    }
    let (start, last) = write::loads(profile)?;
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

/// Shows the program's output until it has been quiet for so long.
fn show(line: &mut dyn Transport, first: &[u8], quiet: Duration) -> Outcome {
    let stop = stop_on_interrupt()?;
    let mut heard = [0; 1024];
    let mut last = Instant::now();
    let mut out = std::io::stdout().lock();
    let shown = out.write_all(first).and_then(|()| out.flush());
    if shown.is_err() {
        return Ok(0);
    }
    while quiet.is_zero() || last.elapsed() < quiet {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(INTERRUPTED);
        }
        let count = line.read(&mut heard, LOOK).map_err(|error| {
            Failure::new(RIG, format!("{}: the line failed: {error}", line.name()))
        })?;
        if count > 0 {
            last = Instant::now();
            if out.write_all(&heard[..count]).and_then(|()| out.flush()).is_err() {
                break; // whoever reads it has had enough
            }
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_a_name_and_a_number() {
        assert_eq!(define("A=10"), Ok(("A".to_owned(), 10)));
        assert_eq!(define("BASE=0FFH"), Ok(("BASE".to_owned(), 0xFF)));
        for wrong in ["A", "=1", "A=", "A=X", "A=70000"] {
            assert!(define(wrong).is_err(), "{wrong}");
        }
    }
}
