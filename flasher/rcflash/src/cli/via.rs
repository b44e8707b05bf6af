//! `rcflash write --via`: loading through a stock monitor.

use cli_support::text::Escape;
use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};
use cli_support::exit::{CommandError, CommandResult, USAGE};
use cli_support::files::read_input;
use cli_support::output::print;
use cli_support::time::time_within;
use indicatif::ProgressBar;
use rcflash_link::Link;
use rcflash_link::loader::{self, LoadError};
use rcflash_monitors::{
    CpmName, FileTransfer, FlowControlMode, LoadEvent, LoadObserver, LoadRequest, LoadStage,
    LoaderError, MonitorSession, Pace, Processor, ResidentMonitor, StockMonitor, TransferSummary,
    Via, ViaArgs, load_hex, transfer_file,
};
use rcflash_transport::Transport;

use super::program::Program;
use super::stop_on_interrupt;
use super::target::BoardArgs;
use super::write::{print_started, progress_bar};

/// Heading of the help.
const LOADER: &str = "Loader";
/// Options that choose the monitor that receives the program, and how it is sent.
#[derive(Args)]
pub(super) struct LoaderArgs {
    #[command(flatten, next_help_heading = LOADER)]
    receiver: ViaArgs,
    /// Print what would be sent, without opening the port
    #[arg(long, help_heading = LOADER)]
    pub(super) dry_run: bool,
    /// Do not read the program back
    #[arg(long, help_heading = LOADER, hide_short_help = true)]
    no_verify: bool,
    /// RTS/CTS flow control; `auto` continues without if nothing gets through
    #[arg(long, value_enum, value_name = "HOW", help_heading = LOADER, hide_short_help = true)]
    flow: Option<FlowArg>,
    /// Pace of the lines: full, pieces, short-lines, slow or slowest [default: measured]
    #[arg(
        long,
        value_name = "PACE",
        value_parser = parse_pace,
        help_heading = LOADER,
        hide_short_help = true
    )]
    pace: Option<Pace>,
    /// Name of the file under CP/M [default: its name on this computer]
    #[arg(long, value_name = "NAME", help_heading = LOADER, hide_short_help = true)]
    name: Option<String>,
    /// The CP/M program that takes R NAME and S NAME, or RECEIVER,SENDER with {} for the name
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "XM",
        help_heading = LOADER,
        hide_short_help = true
    )]
    xm: String,
    /// Send to an XMODEM receiver that is already waiting; nothing is read back
    #[arg(
        long,
        conflicts_with_all = ["name", "no_verify"],
        help_heading = LOADER,
        hide_short_help = true
    )]
    waiting: bool,
    /// How long to wait for each reply of an XMODEM receiver
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s",
        value_parser = time_within(Duration::from_secs(1)..=Duration::from_secs(600)),
        help_heading = LOADER,
        hide_short_help = true
    )]
    patience: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FlowArg {
    Auto,
    Rtscts,
    None,
}

fn parse_pace(text: &str) -> Result<Pace, String> {
    let names = || Pace::ALL.map(|pace| format!("{} ({pace})", pace.name)).join(", ");
    Pace::from_name(text).ok_or_else(|| format!("invalid pace '{text}': expected {}", names()))
}

impl LoaderArgs {
    /// Returns whether files are sent to CP/M.
    pub(super) fn is_cpm(&self) -> bool {
        self.receiver.via == Via::Stock(ResidentMonitor::Cpm)
    }

    /// Returns whether the program goes through a stock monitor that loads it into memory.
    pub(super) fn is_stock_monitor(&self) -> bool {
        !self.is_cpm() && self.receiver.via != Via::BootMonitor
    }

    /// Returns that monitor.
    ///
    /// # Errors
    /// Returns an error with exit code 3 and the line or key for an invalid description.
    pub(super) fn stock_monitor(&self) -> Result<Option<StockMonitor>, CommandError> {
        Ok(match self.receiver.via.stock_monitor()? {
            Some(ResidentMonitor::Memory(monitor)) => Some(monitor),
            Some(ResidentMonitor::Cpm) | None => None,
        })
    }

    fn flow(&self) -> FlowControlMode {
        match self.flow {
            None | Some(FlowArg::Auto) => FlowControlMode::Auto,
            Some(FlowArg::Rtscts) => FlowControlMode::RtsCts,
            Some(FlowArg::None) => FlowControlMode::None,
        }
    }

    /// Returns an error if an option is given that works with stock monitors only.
    pub(super) fn reject_stock_monitor_options(&self) -> Result<(), CommandError> {
        let option = match self {
            Self { no_verify: true, .. } => "--no-verify",
            Self { flow: Some(_), .. } => "--flow",
            Self { pace: Some(_), .. } => "--pace",
            Self { name: Some(_), .. } => "--name",
            Self { waiting: true, .. } => "--waiting",
            _ => return Ok(()),
        };
        Err(CommandError::new(
            USAGE,
            format!("{option} works with stock monitors only: name one with --via, or omit it"),
        ))
    }

    fn load_request<'a>(&self, program: &'a Program, run: bool) -> LoadRequest<'a> {
        let flow = self.flow();
        let entry = run.then_some(program.entry);
        LoadRequest {
            image: &program.image,
            entry,
            verify: !self.no_verify,
            pace: self.pace,
            flow_control: flow,
            uses_scratch: false,
        }
    }
}

/// A program that was started, and the output received so far.
#[allow(clippy::large_enum_variant, reason = "there is one of these at a time")]
pub(super) enum Started {
    /// Started by this project's monitor.
    Link(Link, Vec<u8>),
    /// Started by a stock monitor.
    Line(Box<dyn Transport + Send>, Vec<u8>),
    /// Not started.
    Nothing,
}

pub(super) fn write(
    stock: &StockMonitor,
    args: &LoaderArgs,
    program: &Program,
    run: bool,
    board: &BoardArgs,
) -> Result<Started, CommandError> {
    let request = args.load_request(program, run);
    stock.check(request.image)?;
    if args.dry_run {
        print_monitor_script(stock, program, &request)?;
        return Ok(Started::Nothing);
    }
    let stop = stop_on_interrupt()?;
    let target = board.target()?;
    let baud = target.baud();
    let mut session = MonitorSession::new(target.open()?, baud, stop);
    if program.build_id.is_some() {
        let is_z180 = target.profile.is_z180();
        session.require_processor(if is_z180 { Processor::Z180 } else { Processor::Z80 });
    }
    let mut bar = ProgressBars::default();
    let outcome = load_hex(stock, &mut session, &request, &mut bar);
    bar.clear();
    let delivered = outcome?;
    let how = if delivered.verified { "verified by reading it back" } else { "not verified" };
    cli_support::eprint_message!("{}: {} bytes, {how}", program.name, delivered.bytes);
    match (request.entry, program.build_id) {
        (Some(entry), Some(build_id)) => {
            ResidentMonitor::Memory(stock.clone()).wait_for_announcement(&mut session)?;
            identify(Link::new(session.into_transport(), baud), entry, build_id)?;
            Ok(Started::Nothing)
        }
        (Some(entry), None) => {
            print_started(entry);
            let (line, received) = session.into_parts();
            Ok(Started::Line(line, received))
        }
        (None, _) => Ok(Started::Nothing),
    }
}

/// Identifies the started program, checks its build id, and prints its identity.
fn identify(mut link: Link, entry: u16, build_id: u32) -> Result<(), LoadError> {
    let running = loader::check_build(loader::identify(&mut link)?, build_id)?;
    cli_support::eprint_message!("running at {entry:04X}h: {running}");
    Ok(())
}

/// Sends a file by XMODEM to CP/M.
pub(super) fn send_file(
    args: &LoaderArgs,
    file: &Path,
    run: bool,
    board: &BoardArgs,
) -> CommandResult {
    let shown = file.escaped();
    let bytes = read_input(file)?;
    let name = args.name.clone().or_else(|| Some(file.file_name()?.to_str()?.to_owned()));
    let name = name.as_deref().and_then(CpmName::new).ok_or_else(|| {
        let expected = "expected NAME.EXT with at most 8 and 3 characters; give one with --name";
        CommandError::new(USAGE, format!("invalid CP/M name '{shown}': {expected}"))
    })?;
    let request = FileTransfer {
        bytes: &bytes,
        name,
        xmodem_program: (!args.waiting).then_some(args.xm.as_str()),
        run,
        verify: !args.no_verify,
        replace: false,
        pace: args.pace.unwrap_or(Pace::FULL),
        flow_control: args.flow(),
        reply_timeout: args.patience,
    };
    if request.bytes.is_empty() {
        return Err(LoaderError::Empty.into());
    }
    if args.dry_run {
        return print_script(&request.script(), &shown.to_string());
    }
    let stop = stop_on_interrupt()?;
    let target = board.target()?;
    let mut session = MonitorSession::new(target.open()?, target.baud(), stop);
    let mut bar = ProgressBars::default();
    let outcome = transfer_file(&mut session, &request, &mut bar);
    bar.clear();
    report_transfer(&request, outcome?, &shown.to_string());
    Ok(0)
}

fn report_transfer(request: &FileTransfer, sent: TransferSummary, file: &str) {
    let TransferSummary { check_mode: form, blocks, resent: repeated } = sent;
    let how = match request.xmodem_program {
        Some(_) if request.verify => "verified by reading it back",
        _ => "not read back",
    };
    cli_support::eprint_message!("{file}: {blocks} blocks with {form}, {repeated} retries; {how}");
    if let Some(command) = request.command() {
        cli_support::eprint_message!("running {command}");
    }
}

fn print_monitor_script(
    stock: &StockMonitor,
    program: &Program,
    request: &LoadRequest,
) -> CommandResult {
    let script = stock.script(request.image, request.entry, request.pace.unwrap_or(Pace::FULL));
    print_script(&script, &program.name)
}

/// Prints the lines of a dry run to standard output, so that they can be redirected.
fn print_script(script: &[String], name: &str) -> CommandResult {
    print(&script.iter().map(|line| format!("{line}\n")).collect::<String>())?;
    cli_support::eprint_message!(
        "{name}: these {} lines would be sent; no port was opened",
        script.len()
    );
    Ok(0)
}

/// A progress bar for each stage, with notes as lines above it.
#[derive(Default)]
struct ProgressBars {
    shown: Option<(LoadStage, ProgressBar)>,
}

impl ProgressBars {
    fn clear(&mut self) {
        if let Some((_, bar)) = self.shown.take() {
            bar.finish_and_clear();
        }
    }
}

impl LoadObserver for ProgressBars {
    fn on_progress(&mut self, stage: LoadStage, done: usize, of: usize) {
        if self.shown.as_ref().is_none_or(|(shown, _)| *shown != stage) {
            self.clear();
            let what = match stage {
                LoadStage::Sending => "sending",
                LoadStage::ReadingBack => "reading back",
            };
            self.shown = Some((stage, progress_bar(of).with_message(what)));
        }
        if let Some((_, bar)) = &self.shown {
            bar.set_position(done as u64);
        }
    }

    fn on_event(&mut self, note: LoadEvent) {
        match &self.shown {
            Some((_, bar)) => bar.suspend(|| cli_support::eprint_message!("{note}")),
            None => cli_support::eprint_message!("{note}"),
        }
    }
}
