//! A user's program to measure instead of the evaluator.

use std::path::PathBuf;
use std::time::Duration;

use board_debugger::profiling::StepCounter;
use board_debugger::{LoadedProgram, board_with_program};
use clap::Args;
use cli_support::exit::CommandError;
use cli_support::text::unescape;
use firmware::code_map::CodeMap;
use firmware::profile::BoardProfile;

use super::session::{ProgramArgs, board_time, program_error};

#[derive(Args)]
pub(super) struct Workload {
    /// Measure this program instead of the evaluator: source (.asm), ELF (.elf) or Intel HEX (.hex)
    #[arg(long, value_name = "FILE", help_heading = "Program")]
    pub(super) program: Option<PathBuf>,
    /// Run the program for this time of the board, or until it waits in HALT
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1s",
        value_parser = board_time(),
        help_heading = "Program"
    )]
    run: Duration,
    /// Text to send to the program, with the escapes \r, \n and \xHH
    #[arg(
        long,
        value_name = "TEXT",
        requires = "program",
        value_parser = unescape,
        help_heading = "Program"
    )]
    pub(super) send: Option<std::vec::Vec<u8>>,
    #[command(flatten)]
    how: ProgramArgs,
}

impl Workload {
    pub(super) fn run(
        &self,
        profile: &BoardProfile,
    ) -> Result<Option<(StepCounter, CodeMap)>, CommandError> {
        let Some(program) = self.load(profile)? else { return Ok(None) };
        let (mut board, code) = board_with_program(profile, program)?;
        board.line_mut().to_board.extend(self.send.iter().flatten());
        let mut counter = StepCounter::new(&code);
        let t_states = self.run.as_secs_f64() * profile.clock_hz as f64;
        counter.run(&mut board, t_states as u64);
        Ok(Some((counter, code)))
    }

    pub(super) fn load(
        &self,
        profile: &BoardProfile,
    ) -> Result<Option<LoadedProgram>, CommandError> {
        let Some(path) = &self.program else { return Ok(None) };
        let program = self.how.file(path).load(profile).map_err(program_error)?;
        eprint!("{}", program.warnings);
        Ok(Some(program))
    }

    pub(super) fn name(&self) -> String {
        let path = self.program.as_deref();
        path.and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy().into_owned()
    }
}
