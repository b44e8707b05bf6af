//! `rcflash write`.

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, USAGE};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use indicatif::{ProgressBar, ProgressStyle};
use rcflash_link::Link;
use rcflash_link::loader::{self, LoadError, UploadSummary};

use super::flash::{self, FlashArgs};
use super::program::{Program, ProgramArgs};
use super::target::{BoardArgs, with_state_if_interrupted};
use super::via::{self, LoaderArgs, Started};

#[derive(Args)]
pub(super) struct WriteArgs {
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    program: ProgramArgs,
    /// Load the program without starting it
    #[arg(long)]
    no_run: bool,
    #[command(flatten)]
    flash: FlashArgs,
    #[command(flatten)]
    via: LoaderArgs,
}

pub(super) fn write(args: &WriteArgs) -> CommandResult {
    let profile = args.board.profile()?;
    if args.via.is_cpm() {
        let file = args.program.file.as_deref().ok_or_else(|| {
            CommandError::new(USAGE, "--via cpm sends a file: name one, such as PROG.COM")
        })?;
        return via::send_file(&args.via, file, !args.no_run, &args.board);
    }
    if args.flash.is_enabled() {
        args.via.reject_stock_monitor_options()?;
        let options = flash::FlashOptions { dry_run: args.via.dry_run, run: !args.no_run };
        return flash::write(&args.flash, &options, &args.program, &args.board);
    }
    let program = args.program.for_memory(&profile, args.via.is_stock_monitor())?;
    let options = WriteOptions { run: !args.no_run, force: args.flash.force };
    load_program(&args.via, &program, options, &args.board).map(|_| 0)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct WriteOptions {
    /// Start the program.
    pub(super) run: bool,
    /// Send blocks that already match, too.
    pub(super) force: bool,
}

/// Loads a program into memory through the monitor that `args` names, and starts it if `options.run`.
pub(super) fn load_program(
    args: &LoaderArgs,
    program: &Program,
    options: WriteOptions,
    board: &BoardArgs,
) -> Result<Started, CommandError> {
    match args.stock_monitor()? {
        Some(stock) => via::write(&stock, args, program, options.run, board),
        None => load_through_monitor(args, program, options, board),
    }
}

/// Returns the addresses that this project's monitor loads programs at, from symbols of its layout.
pub(super) fn monitor_load_range(profile: &BoardProfile) -> Result<(u16, u16), CommandError> {
    let monitor = build(profile, ProgramKind::Monitor)?;
    let symbol = |name| monitor.program.symbol(name);
    Ok((symbol("LOADLO").unwrap_or(0), symbol("LOADHI").unwrap_or(u16::MAX)))
}

fn load_through_monitor(
    args: &LoaderArgs,
    program: &Program,
    options: WriteOptions,
    board: &BoardArgs,
) -> Result<Started, CommandError> {
    args.reject_stock_monitor_options()?;
    let bytes = program.image.flat(0xFF);
    let Some((address, last)) = program.image.bounds() else { return Err(LoadError::Empty.into()) };
    if args.dry_run {
        // The monitor checks the same.
        let takes = monitor_load_range(&board.profile()?)?;
        if address < takes.0 || last > takes.1 {
            return Err(LoadError::DoesNotFit { first: address, last, accepts: takes }.into());
        }
        let name = &program.name;
        let count = bytes.len();
        cli_support::eprint_message!(
            "{name}: {count} bytes would go to {address:04X}h-{last:04X}h; no port was opened"
        );
        return Ok(Started::Nothing);
    }
    let (mut link, monitor) = board.target()?.connect_to_monitor()?;
    let bar = progress_bar(bytes.len());
    let moved = |done| bar.set_position(done as u64);
    let loaded = if options.force {
        let all = UploadSummary { sent: bytes.len(), resets: 0 };
        loader::upload_all(&mut link, &monitor, address, &bytes, moved).map(|()| all)
    } else {
        loader::upload_missing(&mut link, &monitor, address, &bytes, moved)
    };
    bar.finish_and_clear();
    let left =
        "the monitor is running, part of the program is loaded; repeat the command to resume";
    let updated = with_state_if_interrupted(loaded, left)?;
    let what = format!("{}: {} bytes at {address:04X}h", program.name, bytes.len());
    cli_support::eprint_message!(
        "{what}, verified on the board{}",
        upload_note(updated, bytes.len())
    );
    if !options.run {
        return Ok(Started::Nothing);
    }
    start(&mut link, program.entry, program.build_id)?;
    let received = link.take_unframed();
    Ok(Started::Link(link, received))
}

/// Returns a note on the bytes that an upload skipped, and on resets.
fn upload_note(updated: UploadSummary, count: usize) -> String {
    let present = count.saturating_sub(updated.sent);
    let sent = match (updated.sent, present) {
        (0, _) => "; it was already loaded, --force sends it again".to_owned(),
        (_, 0) => String::new(),
        (sent, present) => format!("; {present} were already loaded, {sent} sent"),
    };
    let reset = if updated.resets > 0 { "; the board was reset during the upload" } else { "" };
    sent + reset
}

/// Starts a program; if it speaks the protocol, checks its build id and prints its identity.
pub(super) fn start(link: &mut Link, entry: u16, build_id: Option<u32>) -> Result<(), LoadError> {
    if let Some(build_id) = build_id {
        let running = loader::run_build(link, entry, build_id)?;
        cli_support::eprint_message!("running: {running}");
    } else {
        loader::jump(link, entry)?;
        print_started(entry);
    }
    Ok(())
}

/// Prints that a program was started of which no reply is expected.
pub(super) fn print_started(entry: u16) {
    cli_support::eprint_message!("started at {entry:04X}h");
}

/// Creates a progress bar, which is drawn on a terminal only.
pub(super) fn progress_bar(bytes: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:40} {bytes}/{total_bytes}, {eta} left");
    ProgressBar::new(bytes as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
