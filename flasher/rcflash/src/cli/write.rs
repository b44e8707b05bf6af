//! `rcflash write`.

use clap::Args;
use cli_support::exit::{Failure, Outcome, USAGE};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::Profile;
use indicatif::{ProgressBar, ProgressStyle};
use rcflash_link::Link;
use rcflash_link::loader::{self, LoadError, UploadSummary};

use super::flash::{self, FlashArgs};
use super::program::{Program, ProgramArgs};
use super::target::{BoardArgs, or_interrupted};
use super::via::{self, Started, Via, ViaArgs};

#[derive(Args)]
pub(super) struct WriteArgs {
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    program: ProgramArgs,
    /// Leave the program there without starting it
    #[arg(long)]
    no_run: bool,
    #[command(flatten)]
    flash: FlashArgs,
    #[command(flatten)]
    via: ViaArgs,
}

pub(super) fn write(args: &WriteArgs) -> Outcome {
    let profile = args.board.profile()?;
    if args.via.via == Via::Xmodem {
        let file = args.program.file.as_deref().ok_or_else(|| {
            Failure::new(USAGE, "XMODEM sends a file: say which, such as PROG.COM")
        })?;
        return via::send_file(&args.via, file, !args.no_run, &args.board);
    }
    if args.flash.is_wanted() {
        args.via.check_for_monitor()?;
        let order = flash::Order { dry_run: args.via.dry_run, run: !args.no_run };
        return flash::write(&args.flash, &order, &args.program, &args.board);
    }
    let program = args.program.for_memory(&profile, args.via.stock().is_some())?;
    let order = Order { run: !args.no_run, force: args.flash.force };
    program_to_board(&args.via, &program, order, &args.board).map(|_| 0)
}

/// The rest of the order, besides the program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    /// It is started.
    pub(super) run: bool,
    /// All of it is sent, whatever is there.
    pub(super) force: bool,
}

/// Brings a program into memory by whoever takes it there, and starts it if asked to.
pub(super) fn program_to_board(
    args: &ViaArgs,
    program: &Program,
    order: Order,
    board: &BoardArgs,
) -> Result<Started, Failure> {
    match args.stock() {
        Some(stock) => via::write(stock, args, program, order.run, board),
        None => to_our_monitor(args, program, order, board),
    }
}

/// The addresses that our monitor takes programs at: symbols of its layout.
pub(super) fn loads(profile: &Profile) -> Result<(u16, u16), Failure> {
    let monitor = build(profile, ProgramKind::Monitor)?;
    let symbol = |name| monitor.program.symbol(name);
    Ok((symbol("LOADLO").unwrap_or(0), symbol("LOADHI").unwrap_or(u16::MAX)))
}

fn to_our_monitor(
    args: &ViaArgs,
    program: &Program,
    order: Order,
    board: &BoardArgs,
) -> Result<Started, Failure> {
    args.check_for_monitor()?;
    let bytes = program.image.flat(0xFF);
    let Some((address, last)) = program.image.bounds() else { return Err(LoadError::Empty.into()) };
    if args.dry_run {
        // What the monitor itself would refuse.
        let takes = loads(&board.profile()?)?;
        if address < takes.0 || last > takes.1 {
            return Err(LoadError::DoesNotFit { first: address, last, accepts: takes }.into());
        }
        let name = &program.name;
        let count = bytes.len();
        cli_support::tell!(
            "{name}: {count} bytes would go to {address:04X}h-{last:04X}h; no port was opened"
        );
        return Ok(Started::Nothing);
    }
    let (mut link, monitor) = board.target()?.reach()?;
    let bar = progress_bar(bytes.len());
    let moved = |done| bar.set_position(done as u64);
    let loaded = if order.force {
        let all = UploadSummary { sent: bytes.len(), resets: 0 };
        loader::upload_all(&mut link, &monitor, address, &bytes, moved).map(|()| all)
    } else {
        loader::upload_missing(&mut link, &monitor, address, &bytes, moved)
    };
    bar.finish_and_clear();
    let left = "the monitor listens, the program is there in part: the same command goes on";
    let updated = or_interrupted(loaded, left)?;
    let what = format!("{}: {} bytes at {address:04X}h", program.name, bytes.len());
    cli_support::tell!("{what}, verified on the board{}", how(updated, bytes.len()));
    if !order.run {
        return Ok(Started::Nothing);
    }
    start(&mut link, program.entry, program.speaks)?;
    let heard = link.take_unframed();
    Ok(Started::Link(link, heard))
}

/// Returns a note on the bytes that an upload did not have to send.
fn how(updated: UploadSummary, count: usize) -> String {
    let there = count.saturating_sub(updated.sent);
    let sent = match (updated.sent, there) {
        (0, _) => "; all was there already, --force sends it".to_owned(),
        (_, 0) => String::new(),
        (sent, there) => format!("; {there} of them were there already, {sent} sent"),
    };
    let reset = if updated.resets > 0 { "; the board was reset meanwhile" } else { "" };
    sent + reset
}

/// Starts a program; one that speaks the protocol reports its identity.
pub(super) fn start(link: &mut Link, entry: u16, speaks: bool) -> Result<(), LoadError> {
    if speaks {
        let running = loader::run(link, entry)?;
        cli_support::tell!("running: {running}");
    } else {
        loader::jump(link, entry)?;
        cli_support::tell!("running at {entry:04X}h");
    }
    Ok(())
}

/// Draws on a terminal only.
pub(super) fn progress_bar(bytes: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:40} {bytes}/{total_bytes}, {eta} left");
    ProgressBar::new(bytes as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
