//! `rcflash monitor`.

use cli_support::text::{Show, visible_stream};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::terminal::{LineEnd, Log, Options, Screen, talk};
use clap::Args;
use cli_support::exit::{Failure, Outcome, RIG};
use rcflash_rig::Pacing;
use rcflash_transport::{Lasting, Transport};

use super::stop_on_interrupt;
use super::target::{BoardArgs, Target};

#[derive(Args)]
pub(super) struct TerminalArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Show control characters of the board instead of passing them to the terminal
    #[arg(long, conflicts_with = "hex")]
    safe: bool,
    /// Show what passes as figures and characters, with offsets: < from the board, > to it
    #[arg(long)]
    hex: bool,
    /// Add what is shown of the board to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Send this file first
    #[arg(long, value_name = "FILE")]
    send: Option<PathBuf>,
    /// Rests in milliseconds after each character, and after each line besides; if not those of the
    /// rig file
    #[arg(long, value_name = "MS[,MS]", value_parser = pacing)]
    pace: Option<Pacing>,
    /// The time to wait for a port that has gone, as when its adapter was unplugged; 0 ends at once
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    reconnect: u64,
    /// Send the ends of lines in files and piped input as they are, not as carriage returns
    #[arg(long)]
    keep_line_ends: bool,
}

/// `2` or `2,20`.
fn pacing(text: &str) -> Result<Pacing, String> {
    const LONGEST: u64 = 60_000;
    let (character, line) = text.split_once(',').unwrap_or((text, "0"));
    let rest = |text: &str| {
        let ms = text.trim().parse().ok().filter(|ms| *ms <= LONGEST);
        ms.map(Duration::from_millis).ok_or_else(|| {
            "a pace is one or two numbers of milliseconds, such as 2 or 2,20".to_owned()
        })
    };
    Ok(Pacing { character: rest(character)?, line: rest(line)? })
}

pub(super) fn monitor(args: &TerminalArgs) -> Outcome {
    let target = args.board.target()?;
    let options = options(args, &target)?;
    let stop = stop_on_interrupt()?;
    let port = target.open()?;
    let again = args.board.clone();
    let reopen = move || -> io::Result<Box<dyn Transport + Send>> {
        let there = again.target().and_then(|target| target.open());
        there.map_err(|failure| io::Error::other(failure.message))
    };
    let patience = Duration::from_secs(args.reconnect);
    let mut port = Lasting::new(port, Box::new(reopen), patience, Arc::clone(&stop), note);
    let name = &target.rig.port;
    let baud = target.baud();
    cli_support::tell!("{name} at {baud} baud; Ctrl-] leaves, Ctrl-\\ sends a file");
    let left = talk(&mut port, &mut Console { is_safe: args.safe }, options, &stop);
    cli_support::tell!("");
    left?;
    Ok(0)
}

/// Reports events of the port, each in a line of its own whatever the user's terminal does.
fn note(text: &str) {
    cli_support::text::tell_text(&format!("{text}\r\n"));
}

fn options(args: &TerminalArgs, target: &Target) -> Result<Options, Failure> {
    let with = format!("{} at {} baud", target.rig.port, target.baud());
    let open = |path: &PathBuf| {
        Log::open(path, &with)
            .map_err(|error| Failure::new(RIG, format!("can't write {}: {error}", path.shown())))
    };
    Ok(Options {
        pacing: args.pace.unwrap_or(target.rig.pacing),
        line_end: if args.keep_line_ends { LineEnd::Keep } else { LineEnd::Return },
        hex: args.hex,
        log: args.log.as_ref().map(open).transpose()?,
        send: args.send.clone(),
    })
}

/// Standard output for the board's words, standard error for ours.
struct Console {
    /// Whether characters that a terminal obeys are shown instead.
    is_safe: bool,
}

impl Screen for Console {
    fn show(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut screen = io::stdout().lock();
        if self.is_safe {
            screen.write_all(visible_stream(bytes).as_bytes())?;
        } else {
            // What the board sends is for the terminal: that is what a terminal program is for.
            screen.write_all(bytes)?;
        }
        screen.flush()
    }

    fn note(&mut self, text: &str) {
        cli_support::text::tell_text(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_one_or_two_rests() {
        let ms = Duration::from_millis;
        let pace = |character, line| Ok(Pacing { character: ms(character), line: ms(line) });
        assert_eq!(pacing("2"), pace(2, 0));
        assert_eq!(pacing("2,20"), pace(2, 20));
        for wrong in ["", "x", "-1", "1,", "1,2,3", "60001", "99999999999999999999"] {
            assert!(pacing(wrong).is_err(), "{wrong}");
        }
    }
}
