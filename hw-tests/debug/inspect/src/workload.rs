//! What profile and coverage measure: the evaluator over positions, or a user's program.

use std::path::PathBuf;
use std::time::Duration;

use board_debugger::{LoadedProgram, board_with_program};
use board_simulator::profiling::StepCounter;
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, USAGE};
use cli_support::text::unescape;
use firmware::code_map::CodeMap;
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use firmware_wire::Request;
use sargon_corpus::args::{PositionArgs, PositionStream};
use sargon_corpus::encode;
use sargon_debugging::start_evaluator;

use super::session::{ProgramArgs, board_time, program_error};
use crate::ExitResult;

/// Maximum T-states of a position.
const MAX_POSITION_T_STATES: u64 = 20_000_000;

#[derive(Args)]
pub(super) struct Workload {
    #[command(flatten)]
    pub(super) positions: PositionArgs,
    /// The evaluator's behaviour
    #[arg(long, value_name = "corrected|original|fast", default_value_t)]
    pub(super) behaviour: Behaviour,
    #[command(flatten)]
    pub(super) user: UserProgram,
}

/// Options for a user's program.
#[derive(Args)]
#[command(next_help_heading = "Program")]
pub(super) struct UserProgram {
    /// Measure this program instead of the evaluator: source (.asm), ELF (.elf) or Intel HEX (.hex)
    #[arg(long, value_name = "FILE")]
    pub(super) program: Option<PathBuf>,
    /// Run the program for this time of the board, or until it waits in HALT
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = board_time())]
    run: Duration,
    /// Text to send to the program, with the escapes \r, \n and \xHH
    #[arg(long, value_name = "TEXT", requires = "program", value_parser = unescape)]
    pub(super) send: Option<std::vec::Vec<u8>>,
    #[command(flatten)]
    how: ProgramArgs,
}

/// What has run on each board, and the positions, which may include invalid lines.
pub(super) struct Measured {
    pub(super) runs: Vec<(StepCounter, CodeMap)>,
    pub(super) positions: Option<PositionStream>,
}

impl Workload {
    /// Runs the program or the positions on simulated boards; each runs the evaluator with its
    /// behaviour.
    pub(super) fn run(&self, boards: &[(&BoardProfile, Behaviour)]) -> ExitResult<Measured> {
        if self.user.program.is_some() {
            let runs = boards.iter().map(|(profile, _)| self.run_program(profile));
            return Ok(Measured { runs: runs.collect::<Result<_, _>>()?, positions: None });
        }
        let start = |(profile, behaviour): &(&BoardProfile, Behaviour)| {
            let evaluator = Evaluator { behaviour: *behaviour, own: None };
            let (machine, code) = start_evaluator(profile, &evaluator)?;
            Ok::<_, CommandError>((machine, StepCounter::new(&code), code))
        };
        let mut machines = boards.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        let mut positions = self.positions.open(false)?;
        positions.for_each(
            |named| Request::Position { squares: encode::squares(&named.position()) },
            |named, request, _| {
                for (machine, counter, _) in &mut machines {
                    machine.send(&request);
                    if !counter.run(&mut machine.board, MAX_POSITION_T_STATES)
                        || machine.take_replies().is_empty()
                    {
                        let problem = format!("{}: the board does not reply", named.id);
                        return Err(CommandError::new(ENVIRONMENT, problem));
                    }
                }
                Ok(())
            },
        )?;
        let runs = machines.into_iter().map(|(_, counter, code)| (counter, code)).collect();
        Ok(Measured { runs, positions: Some(positions) })
    }

    fn run_program(&self, profile: &BoardProfile) -> Result<(StepCounter, CodeMap), CommandError> {
        let program = self.load(profile)?.ok_or_else(|| CommandError::new(USAGE, "no program"))?;
        let (mut board, code) = board_with_program(profile, program)?;
        board.line_mut().to_board.extend(self.user.send.iter().flatten());
        let mut counter = StepCounter::new(&code);
        counter.run(&mut board, (self.user.run.as_secs_f64() * profile.clock_hz as f64) as u64);
        Ok((counter, code))
    }

    /// Loads the program; `None` if positions are measured.
    pub(super) fn load(&self, profile: &BoardProfile) -> ExitResult<Option<LoadedProgram>> {
        let Some(path) = &self.user.program else { return Ok(None) };
        if !self.positions.is_empty() {
            return Err(CommandError::new(USAGE, "--program excludes positions; omit one of them"));
        }
        let program = self.user.how.file(path).load(profile).map_err(program_error)?;
        eprint!("{}", program.warnings);
        Ok(Some(program))
    }
}

impl Measured {
    /// Describes what was measured, on a board.
    pub(super) fn title(&self, workload: &Workload, profile: &BoardProfile) -> String {
        let name = workload.user.program.as_ref().and_then(|path| path.file_name());
        let name = name.unwrap_or_default().to_string_lossy();
        match &self.positions {
            None => format!("{name} on {}", profile.name),
            Some(positions) => format!("{} positions on {}", positions.count(), profile.name),
        }
    }

    /// Finishes a command: exit code 3 if there were invalid lines of positions.
    pub(super) fn finish(&self, outcome: CommandResult) -> CommandResult {
        match &self.positions {
            None => outcome,
            Some(positions) => positions.finish(outcome),
        }
    }
}
