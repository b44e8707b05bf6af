//! `hw-tests diff`.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use board_simulator::Pace;
use clap::Args;
use cli_support::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE, WRONG};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::Profile;
use hil_harness::board::Choice;
use hil_harness::live::{LiveBoard, Plan};
use hil_harness::pair::{Compared, compare};
use hil_harness::runner::NO_ANSWER;
use rcflash_rig::{DEFAULT_BOARD, RigFile};

use super::read_program;
use super::select::SelectArgs;
use cli_support::files::read_input as read;
use cli_support::interrupt::interruption;
use cli_support::output::{counted, print};

#[derive(Args)]
pub(super) struct DiffArgs {
    /// A board, to be given twice: direct, simulated, real-time, mame, or a port; then, by commas,
    /// profile=NAME, app=FILE, rom=FILE, behaviour=1978
    #[arg(long, value_name = "BOARD", required = true)]
    board: Vec<Side>,
    #[command(flatten)]
    select: SelectArgs,
}

/// One of the two boards, as it was asked for.
#[derive(Debug, Clone, Default)]
struct Side {
    way: String,
    profile: Option<String>,
    app: Option<PathBuf>,
    rom: Option<PathBuf>,
    behaviour: Behaviour,
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(',');
        let way = words.next().filter(|way| !way.is_empty()).ok_or("a board has no name")?;
        let mut side = Self { way: way.to_owned(), ..Self::default() };
        for word in words {
            match word.split_once('=') {
                Some(("profile", name)) => side.profile = Some(name.to_owned()),
                Some(("app", file)) => side.app = Some(file.into()),
                Some(("rom", file)) => side.rom = Some(file.into()),
                Some(("behaviour", name)) => {
                    side.behaviour =
                        name.parse().map_err(|_| format!("'{name}' is no behaviour"))?;
                }
                _ => return Err(format!("'{word}' is not profile=, app=, rom= or behaviour=")),
            }
        }
        Ok(side)
    }
}

impl Side {
    fn plan(&self, stop: &Arc<AtomicBool>) -> Result<Plan, Failure> {
        let rom = self.rom.as_deref().map(read).transpose()?;
        let mut profile = self.profile.as_deref().unwrap_or(DEFAULT_BOARD).to_owned();
        let board = match self.way.as_str() {
            "direct" => Choice::Direct { rom },
            "simulated" => Choice::Simulated { rom, pace: Pace::Free },
            "real-time" => Choice::Simulated { rom, pace: Pace::RealTime },
            "mame" => Choice::Mame { machine: None, rom },
            port => {
                let rig = RigFile::read(None)?.find(port)?;
                profile = self.profile.clone().unwrap_or_else(|| rig.board.clone());
                Choice::Serial(rig)
            }
        };
        Ok(Plan {
            board,
            evaluator: Evaluator { behaviour: self.behaviour, own: None },
            application: self.app.as_deref().map(read_program).transpose()?,
            stop: Some(Arc::clone(stop)),
            ..Plan::simulated(Profile::named(&profile)?)
        })
    }
}

pub(super) fn diff(args: &DiffArgs) -> Outcome {
    let [a, b] = &args.board[..] else {
        let why = "give --board twice, once for each of the two boards that are to be compared";
        return Err(Failure::new(USAGE, why));
    };
    let cases = args.select.cases(None)?;
    let stop = interruption()?;
    let mut rigs = [LiveBoard::prepare(&a.plan(&stop)?)?, LiveBoard::prepare(&b.plan(&stop)?)?];
    for (name, rig) in ["A", "B"].iter().zip(&rigs) {
        cli_support::tell!("{name}: {} on {}", rig.application, rig.board());
    }
    let [a, b] = &mut rigs;
    match compare([a, b], &cases, &stop) {
        Compared::Alike { squares, timed } => {
            let cases = counted(cases.len(), "case");
            let squares = counted(squares, "square");
            print(&format!(
                "PASS: A, B and the reference agree on {cases}, {squares}; T-states compared on {timed}\n"
            ))?;
            Ok(0)
        }
        Compared::Different { case, fen, found } => {
            print(&format!("FAIL: {case} {}\n    {found}\n", fen.unwrap_or_default()))?;
            Ok(if found.what == NO_ANSWER { RIG } else { WRONG })
        }
        Compared::Interrupted => Err(Failure::new(INTERRUPTED, "interrupted")),
        Compared::Lost { board, case, why } => {
            Err(Failure::new(RIG, format!("{board} is lost at {case}: {why}")))
        }
    }
}
