//! `rcflash write --via`: the loaders for boards that keep the monitor they came with.

use cli_support::text::Show;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};
use cli_support::exit::{Failure, Outcome, RIG, USAGE};
use indicatif::ProgressBar;
use rcflash_link::Link;
use rcflash_link::loader::{self, LoadError};
use rcflash_monitors::{
    CpmName, FileOrder, FlowChoice, LoaderError, Note, Order, Pace, Sent, Stage, Stock, Talk,
    Watch, deliver, transfer,
};
use rcflash_transport::Transport;

use super::program::Program;
use super::stop_on_interrupt;
use super::target::BoardArgs;
use super::write::progress_bar;

/// The time that a program that was just started may take until it answers.
const START: Duration = Duration::from_millis(500);

/// The monitor that takes the program on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Via {
    /// This project's boot monitor
    Monitor,
    /// The Small Computer Monitor, at its prompt `*`
    Scm,
    /// RomWBW's debug monitor, at its prompt or at the boot loader's
    Romwbw,
    /// A ROM BASIC 4.7, Searle's or feilipu's: a hex loader is typed in first
    Basic,
    /// CP/M at its prompt, or any receiver of XMODEM: the file goes there as it is
    #[value(alias = "cpm")]
    Xmodem,
}

/// The monitor that takes the program, and how it is sent there.
#[derive(Args)]
pub(super) struct ViaArgs {
    /// The monitor that takes the program on the board
    #[arg(long, value_enum, value_name = "LOADER", default_value = "monitor")]
    pub(super) via: Via,
    /// Only say what would be sent; the port is not opened
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not read back what was sent
    #[arg(long)]
    no_verify: bool,
    /// Whether the board may stop the host by RTS; `auto` goes on without if nothing gets through
    #[arg(long, value_enum, value_name = "HOW")]
    flow: Option<FlowArg>,
    /// The speed at which lines are sent: full, short-lines, slow or slowest; measured if not given
    #[arg(long, value_name = "PACE", value_parser = pace)]
    pace: Option<Pace>,
    /// The name of the file under CP/M; its name here if not given
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The program that sends and receives files on CP/M
    #[arg(long, value_name = "PROGRAM", default_value = "XM")]
    xm: String,
    /// An XMODEM receiver is waiting already: nothing is typed, and nothing read back
    #[arg(long, conflicts_with_all = ["name", "no_verify"])]
    waiting: bool,
    /// The number of seconds to wait for each answer of an XMODEM receiver
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    patience: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FlowArg {
    Auto,
    Rtscts,
    None,
}

fn pace(text: &str) -> Result<Pace, String> {
    let names = || Pace::LADDER.map(|pace| format!("{} ({pace})", pace.name)).join(", ");
    Pace::named(text).ok_or_else(|| format!("the paces are {}", names()))
}

impl ViaArgs {
    /// The stock monitor, if it is one.
    pub(super) fn stock(&self) -> Option<Stock> {
        match self.via {
            Via::Monitor | Via::Xmodem => None,
            Via::Scm => Some(Stock::Scm),
            Via::Romwbw => Some(Stock::Romwbw),
            Via::Basic => Some(Stock::Basic),
        }
    }

    fn flow(&self) -> FlowChoice {
        match self.flow {
            None | Some(FlowArg::Auto) => FlowChoice::Auto,
            Some(FlowArg::Rtscts) => FlowChoice::RtsCts,
            Some(FlowArg::None) => FlowChoice::None,
        }
    }

    /// Whether only options are given that this project's own monitor has.
    pub(super) fn check_for_monitor(&self) -> Result<(), Failure> {
        let option = match self {
            Self { no_verify: true, .. } => "--no-verify",
            Self { flow: Some(_), .. } => "--flow",
            Self { pace: Some(_), .. } => "--pace",
            Self { name: Some(_), .. } => "--name",
            Self { waiting: true, .. } => "--waiting",
            _ => return Ok(()),
        };
        Err(Failure::new(
            USAGE,
            format!("{option} is for stock monitors: say which with --via, or leave it out"),
        ))
    }

    fn order<'a>(&self, program: &'a Program, run: bool) -> Order<'a> {
        let flow = self.flow();
        let entry = run.then_some(program.entry);
        Order { image: &program.image, entry, verify: !self.no_verify, pace: self.pace, flow }
    }
}

/// A program that was started, and its first words.
#[allow(clippy::large_enum_variant, reason = "there is one of these at a time")]
pub(super) enum Started {
    /// By this project's monitor.
    Link(Link, Vec<u8>),
    /// By a stock monitor.
    Line(Box<dyn Transport + Send>, Vec<u8>),
    /// Nothing was started.
    Nothing,
}

/// Delivers a program to a stock monitor.
pub(super) fn write(
    stock: Stock,
    args: &ViaArgs,
    program: &Program,
    run: bool,
    board: &BoardArgs,
) -> Result<Started, Failure> {
    let order = args.order(program, run);
    stock.check(order.image)?;
    if args.dry_run {
        say_what_would_be_sent(stock, program, &order)?;
        return Ok(Started::Nothing);
    }
    let stop = stop_on_interrupt()?;
    let target = board.target()?;
    let baud = target.baud();
    let mut talk = Talk::new(target.open()?, baud, stop);
    let mut bar = Bar::default();
    let outcome = deliver(stock, &mut talk, &order, &mut bar);
    bar.clear();
    let delivered = outcome?;
    let how =
        if delivered.verified { "verified by reading all of it back" } else { "not verified" };
    cli_support::tell!("{}: {} bytes, {how}", program.name, delivered.bytes);
    match order.entry {
        Some(entry) if program.speaks => {
            greet(Link::new(talk.into_line(), baud), entry)?;
            Ok(Started::Nothing)
        }
        Some(entry) => {
            cli_support::tell!("running at {entry:04X}h");
            let (line, heard) = talk.into_parts();
            Ok(Started::Line(line, heard))
        }
        None => Ok(Started::Nothing),
    }
}

/// Waits for the program to tell who it is.
fn greet(mut link: Link, entry: u16) -> Result<(), LoadError> {
    link.drain_banner("starting the program", START)?;
    let running = loader::identify(&mut link)?;
    cli_support::tell!("running at {entry:04X}h: {running}");
    Ok(())
}

/// Sends a file by XMODEM.
pub(super) fn send_file(args: &ViaArgs, file: &Path, run: bool, board: &BoardArgs) -> Outcome {
    let shown = file.shown();
    let bytes = std::fs::read(file)
        .map_err(|error| Failure::new(RIG, format!("{shown}: can't be read: {error}")))?;
    let name = args.name.clone().or_else(|| Some(file.file_name()?.to_str()?.to_owned()));
    let name = name.as_deref().and_then(CpmName::new).ok_or_else(|| {
        Failure::new(USAGE, format!("{shown}: CP/M does not take this name; give one with --name"))
    })?;
    let order = FileOrder {
        bytes: &bytes,
        name,
        program: (!args.waiting).then_some(args.xm.as_str()),
        run,
        verify: !args.no_verify,
        replace: false,
        pace: args.pace.unwrap_or(Pace::FULL),
        flow: args.flow(),
        patience: Duration::from_secs(args.patience),
    };
    if order.bytes.is_empty() {
        return Err(LoaderError::Empty.into());
    }
    if args.dry_run {
        return print_script(&order.script(), &shown.to_string());
    }
    let stop = stop_on_interrupt()?;
    let target = board.target()?;
    let mut talk = Talk::new(target.open()?, target.baud(), stop);
    let mut bar = Bar::default();
    let outcome = transfer(&mut talk, &order, &mut bar);
    bar.clear();
    report_file(&order, outcome?, &shown.to_string());
    Ok(0)
}

fn report_file(order: &FileOrder, sent: Sent, file: &str) {
    let Sent { form, blocks, repeated } = sent;
    let how = match order.program {
        Some(_) if order.verify => "verified by reading all of it back",
        _ => "not read back",
    };
    cli_support::tell!("{file}: {blocks} blocks with {form}, {repeated} sent again; {how}");
    if let Some(command) = order.command() {
        cli_support::tell!("running {command}");
    }
}

fn say_what_would_be_sent(stock: Stock, program: &Program, order: &Order) -> Outcome {
    let script = stock.script(order.image, order.entry, order.pace.unwrap_or(Pace::FULL));
    print_script(&script, &program.name)
}

/// Prints what would be sent: data, so that it can be kept.
fn print_script(script: &[String], name: &str) -> Outcome {
    let mut out = io::stdout().lock();
    match script.iter().try_for_each(|line| writeln!(out, "{line}")) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            return Err(Failure::new(RIG, format!("can't write to standard output: {error}")));
        }
        _ => {}
    }
    cli_support::tell!("{name}: these {} lines would be sent; no port was opened", script.len());
    Ok(0)
}

/// A bar for each stage, and notes as lines above it.
#[derive(Default)]
struct Bar {
    shown: Option<(Stage, ProgressBar)>,
}

impl Bar {
    fn clear(&mut self) {
        if let Some((_, bar)) = self.shown.take() {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Bar {
    fn progress(&mut self, stage: Stage, done: usize, of: usize) {
        if self.shown.as_ref().is_none_or(|(shown, _)| *shown != stage) {
            self.clear();
            let what = match stage {
                Stage::Sending => "sending",
                Stage::ReadingBack => "reading back",
            };
            self.shown = Some((stage, progress_bar(of).with_message(what)));
        }
        if let Some((_, bar)) = &self.shown {
            bar.set_position(done as u64);
        }
    }

    fn note(&mut self, note: Note) {
        match &self.shown {
            Some((_, bar)) => bar.suspend(|| cli_support::tell!("{note}")),
            None => cli_support::tell!("{note}"),
        }
    }
}
