//! `hw-tests diff`.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use board_simulator::Pace;
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED, INTERRUPTED, USAGE};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use hil_harness::board::BoardKind;
use hil_harness::case_list::CaseList;
use rcflash_rig::{DEFAULT_BOARD, RigFile};
use sargon_suite::pair::{PairOutcome, compare_boards};
use sargon_suite::{BoardConfig, LiveBoard, NO_REPLY};

use super::select::SelectArgs;
use cli_support::files::read_input as read;
use cli_support::interrupt::install_handler;
use cli_support::output::{pluralize, print};
use sargon_suite::args::read_program;

#[derive(Args)]
pub(super) struct DiffArgs {
    /// Board, given twice: direct, simulated, real-time, mame, or a port
    ///
    /// Options follow after commas: profile=NAME, app=FILE, rom=FILE, behaviour=original.
    #[arg(long, value_name = "BOARD", required = true)]
    board: Vec<BoardSide>,
    #[command(flatten)]
    select: SelectArgs,
}

/// Options of one of the two boards.
#[derive(Debug, Clone, Default)]
struct BoardSide {
    source: String,
    profile: Option<String>,
    app: Option<PathBuf>,
    rom: Option<PathBuf>,
    behaviour: Behaviour,
}

impl FromStr for BoardSide {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(',');
        let source = words.next().filter(|source| !source.is_empty());
        let source = source
            .ok_or("invalid board: expected direct, simulated, real-time, mame, or a port")?;
        let mut side = Self { source: source.to_owned(), ..Self::default() };
        for word in words {
            match word.split_once('=') {
                Some(("profile", name)) => side.profile = Some(name.to_owned()),
                Some(("app", file)) => side.app = Some(file.into()),
                Some(("rom", file)) => side.rom = Some(file.into()),
                Some(("behaviour", name)) => {
                    side.behaviour = name.parse().map_err(|_| {
                        format!("invalid behaviour '{name}': expected corrected, original or fast")
                    })?;
                }
                _ => {
                    let expected = "expected profile=, app=, rom= or behaviour=";
                    return Err(format!("invalid option '{word}': {expected}"));
                }
            }
        }
        Ok(side)
    }
}

impl BoardSide {
    fn plan(&self, stop: &Arc<AtomicBool>) -> Result<BoardConfig, CommandError> {
        let rom = self.rom.as_deref().map(read).transpose()?;
        let mut profile = self.profile.as_deref().unwrap_or(DEFAULT_BOARD).to_owned();
        let board = match self.source.as_str() {
            "direct" => BoardKind::InProcess { rom },
            "simulated" => BoardKind::Simulated { rom, pace: Pace::Free },
            "real-time" => BoardKind::Simulated { rom, pace: Pace::RealTime },
            "mame" => BoardKind::Mame { machine: None, rom },
            port => {
                let rig = RigFile::read(None)?.resolve(port)?;
                profile = self.profile.clone().unwrap_or_else(|| rig.board.clone());
                BoardKind::Serial(rig)
            }
        };
        Ok(BoardConfig {
            board,
            suite: Evaluator { behaviour: self.behaviour, own: None }.into(),
            application: self.app.as_deref().map(read_program).transpose()?,
            cancel: Some(Arc::clone(stop)),
            ..BoardConfig::simulated(BoardProfile::named(&profile)?)
        })
    }
}

pub(super) fn diff(args: &DiffArgs) -> CommandResult {
    let [a, b] = &args.board[..] else {
        let why = "expected two boards to compare: give --board twice";
        return Err(CommandError::new(USAGE, why));
    };
    let cases: Vec<_> = args.select.cases(None)?.cases().collect();
    let stop = install_handler()?;
    let mut rigs = [LiveBoard::prepare(&a.plan(&stop)?)?, LiveBoard::prepare(&b.plan(&stop)?)?];
    for (name, rig) in ["A", "B"].iter().zip(&rigs) {
        cli_support::eprint_message!("{name}: {} on {}", rig.application, rig.board());
    }
    let [a, b] = &mut rigs;
    match compare_boards([a, b], &cases, &stop) {
        PairOutcome::Agree { squares, timed } => {
            let cases = pluralize(cases.len(), "case");
            let squares = pluralize(squares, "square");
            print(&format!(
                "PASS: A, B and the reference agree on {cases}, {squares}; T-states compared on {timed}\n"
            ))?;
            Ok(0)
        }
        PairOutcome::Diverge { case, fen, divergence } => {
            // As in a run, only a wrong value is a FAIL.
            let (word, code) = match divergence.field == NO_REPLY {
                true => ("INCOMPLETE", ENVIRONMENT),
                false => ("FAIL", FAILED),
            };
            print(&format!("{word}: {case} {}\n    {divergence}\n", fen.unwrap_or_default()))?;
            Ok(code)
        }
        PairOutcome::Interrupted => Err(CommandError::new(INTERRUPTED, "interrupted")),
        PairOutcome::Lost { board, case, reason } => Err(CommandError::new(
            ENVIRONMENT,
            format!("lost the connection to {board} at {case}: {reason}"),
        )),
    }
}
