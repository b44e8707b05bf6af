//! A program of the user's that is measured instead of ours.

use std::path::PathBuf;

use board_debugger::commands::unescaped;
use board_debugger::profiling::StepCounter;
use board_debugger::{LoadedProgram, board_with_program};
use clap::Args;
use cli_support::exit::Failure;
use firmware::code::CodeMap;
use firmware::profile::Profile;

use super::session::{ProgramArgs, program_failure, seconds};

#[derive(Args)]
pub(super) struct Workload {
    /// Measure this program instead: source (.asm), ELF (.elf) or Intel HEX (.hex)
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Seconds of the board's time for which a program runs, unless it waits in HALT before
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    run: f64,
    /// Text that the program receives over its line, with \r, \n and \xHH in it
    #[arg(long, value_name = "TEXT", requires = "program", value_parser = unescaped)]
    send: Option<std::vec::Vec<u8>>,
    #[command(flatten)]
    how: ProgramArgs,
}

impl Workload {
    /// Runs the program, if there is one, with a meter.
    pub(super) fn run(&self, profile: &Profile) -> Result<Option<(StepCounter, CodeMap)>, Failure> {
        let Some(program) = self.load(profile)? else { return Ok(None) };
        let (mut board, code) = board_with_program(profile, program).map_err(program_failure)?;
        board.line_mut().to_board.extend(self.send.iter().flatten());
        let mut meter = StepCounter::new(&code);
        let t_states = self.run * profile.clock_hz as f64;
        meter.run(&mut board, t_states as u64);
        Ok(Some((meter, code)))
    }

    /// The program, if there is one.
    pub(super) fn load(&self, profile: &Profile) -> Result<Option<LoadedProgram>, Failure> {
        let Some(path) = &self.program else { return Ok(None) };
        let program = self.how.file(path).load(profile).map_err(program_failure)?;
        eprint!("{}", program.warnings);
        Ok(Some(program))
    }

    /// The bytes that the program gets.
    pub(super) fn input(&self) -> &[u8] {
        self.send.as_deref().unwrap_or_default()
    }

    /// Whether there is a program.
    pub(super) fn is_some(&self) -> bool {
        self.program.is_some()
    }

    /// The program's name.
    pub(super) fn name(&self) -> String {
        let path = self.program.as_deref();
        path.and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy().into_owned()
    }
}
