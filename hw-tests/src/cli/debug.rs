//! `hw-tests debug`: the debugger in a terminal.

use std::io::{self, IsTerminal};

use clap::Args;
use hw_tests::debug::view::View;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use rcflash::exit::{Failure, INTERRUPTED, Outcome, RIG};

use super::print;
use super::session::SessionArgs;

/// Size of the screen that is printed where there is no terminal.
const COLUMNS: u16 = 110;
const ROWS: u16 = 40;

#[derive(Args)]
pub(super) struct DebugArgs {
    #[command(flatten)]
    session: SessionArgs,
}

pub(super) fn debug(args: &DebugArgs) -> Outcome {
    let mut view = View::new(args.session.debugger()?);
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        print(&view.text(COLUMNS, ROWS))?;
        return Ok(0);
    }
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let outcome = show(&mut terminal, &mut view);
    ratatui::try_restore().map_err(failed)?;
    outcome.map_err(failed)
}

fn failed(error: io::Error) -> Failure {
    Failure::new(RIG, format!("the terminal: {error}"))
}

/// Draws and takes keys until one ends it; returns the exit code.
fn show(terminal: &mut DefaultTerminal, view: &mut View) -> io::Result<u8> {
    loop {
        terminal.draw(|frame| view.draw(frame))?;
        let Event::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        let KeyCode::Char(pressed) = key.code else { continue };
        if pressed == 'c' && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Ok(INTERRUPTED);
        }
        if !view.press(pressed) {
            return Ok(0);
        }
    }
}
