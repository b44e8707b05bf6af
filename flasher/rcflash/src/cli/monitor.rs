//! `rcflash monitor`.

use cli_support::text::{Escape, escape_stream};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::terminal::{Log, Screen, Script, SessionOptions, run_session};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, USAGE};
use cli_support::files::read_input;
use cli_support::time::parse_time;
use rcflash_link::rig::Pacing;
use rcflash_transport::{ReconnectingTransport, Transport};

use super::stop_on_interrupt;
use super::target::{BoardArgs, Target};

#[derive(Args)]
pub(super) struct MonitorArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Escape control characters of the board instead of passing them to the terminal
    #[arg(long, conflicts_with = "hex")]
    safe: bool,
    /// Show all traffic as a hex dump: < from the board, > to it
    #[arg(long)]
    hex: bool,
    /// Append the output of the board to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Send this file first
    #[arg(long, value_name = "FILE")]
    send: Option<PathBuf>,
    /// Delay in milliseconds after each character, and in addition after each line
    ///
    /// The default is that of the rig file, if any.
    #[arg(long, value_name = "MS[,MS]", value_parser = parse_pacing)]
    pace: Option<Pacing>,
    /// How long to wait for a disconnected port before giving up; 0s exits at once
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_time)]
    reconnect: Duration,
    /// Send piped input at once instead of line by line, each after the prompt or an idle line
    #[arg(long)]
    no_wait: bool,
    /// Run a script of lines `send TEXT`, `expect TEXT` and `timeout TIME`; exit 1 if a text
    /// does not come
    #[arg(long, value_name = "FILE", conflicts_with = "send")]
    script: Option<PathBuf>,
    /// Begin each line with the seconds since the start
    #[arg(long)]
    timestamps: bool,
}

/// Parses delays, such as `2` or `2,20`.
fn parse_pacing(text: &str) -> Result<Pacing, String> {
    const MAX_DELAY_MS: u64 = 60_000;
    let (character, line) = text.split_once(',').unwrap_or((text, "0"));
    let rest = |text: &str| {
        let ms = text.trim().parse().ok().filter(|ms| *ms <= MAX_DELAY_MS);
        ms.map(Duration::from_millis).ok_or_else(|| {
            format!("invalid pace '{text}': expected one or two delays in milliseconds, as in 2,20")
        })
    };
    Ok(Pacing { char_delay: rest(character)?, line_delay: rest(line)? })
}

pub(super) fn monitor(args: &MonitorArgs) -> CommandResult {
    let target = args.board.target()?;
    let options = session_options(args, &target)?;
    let stop = stop_on_interrupt()?;
    let port = target.open()?;
    let again = args.board.clone();
    let reopen = move || -> io::Result<Box<dyn Transport + Send>> {
        let transport = again.target().and_then(|target| Ok(target.open()?));
        transport.map_err(|failure| io::Error::other(failure.message))
    };
    let reconnect_timeout = args.reconnect;
    let mut port = ReconnectingTransport::new(
        port,
        Box::new(reopen),
        reconnect_timeout,
        Arc::clone(&stop),
        print_port_event,
    );
    let name = &target.rig.port;
    let baud = target.baud();
    cli_support::eprint_message!("{name} at {baud} baud; Ctrl-] exits, Ctrl-\\ sends a file");
    let left = run_session(&mut port, &mut Console { is_safe: args.safe }, options, &stop);
    cli_support::eprint_message!("");
    left?;
    Ok(0)
}

/// Prints an event of the port. The terminal may be in raw mode, so the line ends with CR LF.
fn print_port_event(text: &str) {
    cli_support::text::eprint_escaped(&format!("{text}\r\n"));
}

fn session_options(args: &MonitorArgs, target: &Target) -> Result<SessionOptions, CommandError> {
    let with = format!("{} at {} baud", target.rig.port, target.baud());
    let open = |path: &PathBuf| {
        Log::open(path, &with).map_err(|error| {
            CommandError::new(ENVIRONMENT, format!("can't write {}: {error}", path.escaped()))
        })
    };
    Ok(SessionOptions {
        pacing: args.pace.unwrap_or(target.rig.pacing),
        hex: args.hex,
        log: args.log.as_ref().map(open).transpose()?,
        send: args.send.clone(),
        no_wait: args.no_wait,
        timestamps: args.timestamps,
        script: args.script.as_deref().map(read_script).transpose()?,
    })
}

fn read_script(path: &Path) -> Result<Script, CommandError> {
    let bytes = read_input(path)?;
    Script::parse(&String::from_utf8_lossy(&bytes)).map_err(|(line, message)| {
        CommandError::new(USAGE, format!("{}:{line}: {message}", path.escaped()))
    })
}

/// Shows the board's output on standard output and notes on standard error.
struct Console {
    /// Whether control characters are escaped.
    is_safe: bool,
}

impl Screen for Console {
    fn show(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut screen = io::stdout().lock();
        if self.is_safe {
            screen.write_all(escape_stream(bytes).as_bytes())?;
        } else {
            // Unescaped: the board controls the terminal, as with any terminal program.
            screen.write_all(bytes)?;
        }
        screen.flush()
    }

    fn note(&mut self, text: &str) {
        cli_support::text::eprint_escaped(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_one_or_two_delays() {
        let ms = Duration::from_millis;
        let pace = |character, line| Ok(Pacing { char_delay: ms(character), line_delay: ms(line) });
        assert_eq!(parse_pacing("2"), pace(2, 0));
        assert_eq!(parse_pacing("2,20"), pace(2, 20));
        for wrong in ["", "x", "-1", "1,", "1,2,3", "60001", "99999999999999999999"] {
            assert!(parse_pacing(wrong).is_err(), "{wrong}");
        }
    }
}
