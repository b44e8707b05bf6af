//! `hw-tests batch`.

mod bare;
mod console;
mod executor;
mod stand_in;
mod suite;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, NOTHING_SELECTED, USAGE};
use cli_support::file_roles::{NamedFile, refuse_overwriting};
use cli_support::files::read_input;
use cli_support::output::print;
use cli_support::text::{Escape, eprint_message};
use cli_support::time::{parse_time, time_within};
use firmware::profile::BoardProfile;
use hil_harness::args::BoardArgs;
use hil_harness::board::BoardKind;
use hil_harness::campaign::{ConnectedBoard, Observer, RunConfig};
use hil_harness::live::{BoardConfig, ProgramLimits};
use hil_harness::report;
use hil_harness::select::{NamePatterns, Selection, Shard};
use hil_harness::suite::{CaseResult, Verdict};
use program_formats::read_program;
use rcflash_link::rig::DEFAULT_BOARD;
use rcflash_monitors::ResidentMonitor;

use super::CASES;
use super::execution::{ExecutionArgs, print_end, run_on};
use super::test::named_files;
use executor::{BatchExecutor, BatchPlan};
use suite::{Batch, Criteria, ProgramCase, ProgramFile};

/// The ends of the names of programs in folders.
const ENDINGS: [&str; 8] = [".ihx", ".hex", ".com", ".elf", ".s19", ".srec", ".mot", ".cmd"];
/// Where programs for CP/M begin.
const CPM_ORIGIN: u16 = 0x0100;
/// Heading of the help.
const END: &str = "End of a program";

#[derive(Args)]
pub(super) struct BatchArgs {
    /// Programs, or folders with files named *.ihx, .hex, .com, .elf, .s19, .srec, .mot or .cmd
    #[arg(required = true, value_name = "PROGRAM")]
    programs: Vec<PathBuf>,
    /// Load address of binaries; of .com it is 0100H
    #[arg(long, value_name = "ADDRESS", value_parser = testfile_suite::parse_address)]
    origin: Option<u16>,
    /// A line with this text ends a program, which passes; * matches any text; repeatable
    #[arg(long, value_name = "TEXT", help_heading = END)]
    pass: Vec<String>,
    /// A line with this text ends a program, which fails; * matches any text; repeatable
    #[arg(long, value_name = "TEXT", help_heading = END)]
    fail: Vec<String>,
    /// A program that returns to the monitor passes; so does one that crashes to it
    #[arg(long, conflicts_with = "pass", help_heading = END)]
    return_passes: bool,
    /// A program fails that sends nothing for this long
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5s",
        value_parser = time_within(Duration::from_millis(100)..=Duration::from_secs(86_400)),
        help_heading = END
    )]
    silence: Duration,
    /// A program fails that has not ended after this time
    #[arg(
        long,
        value_name = "TIME",
        default_value = "60s",
        value_parser = parse_time,
        help_heading = END
    )]
    timeout: Duration,
    /// The same in T-states, on a simulated board in this process
    #[arg(long, value_name = "NUMBER", conflicts_with = "timeout", help_heading = END)]
    t_states: Option<u64>,
    /// Only programs with this name; * matches any text, ? any character; repeatable
    #[arg(long, value_name = "PATTERN", help_heading = CASES)]
    case: Vec<String>,
    /// Only this part of the programs: 2/5 is the second of five parts
    #[arg(long, value_name = "PART/PARTS", help_heading = CASES)]
    shard: Option<Shard>,
    #[command(flatten)]
    execution: ExecutionArgs,
    #[command(flatten)]
    board: BoardArgs,
}

pub(super) fn batch(args: &BatchArgs) -> CommandResult {
    args.execution.with_report(args.board.force, || run_programs(args))
}

fn run_programs(args: &BatchArgs) -> CommandResult {
    let files = args.files()?;
    let inputs: Vec<_> = files.iter().map(|file| NamedFile::new("a program", file)).collect();
    let record = args.board.record.iter().map(|path| NamedFile::new("--record", path));
    refuse_overwriting(&record.chain(args.execution.outputs()).collect::<Vec<_>>(), &inputs)?;
    let cases = args.cases(&files);
    let selection =
        Selection { names: args.case.clone(), shard: args.shard, ..Selection::default() };
    let cases = selection.of::<Batch>(cases);
    if cases.is_empty() {
        eprint_message("hw-tests: no program is selected");
        return Ok(NOTHING_SELECTED);
    }
    let config = RunConfig {
        profile: args.board.profile_name().unwrap_or_else(|| DEFAULT_BOARD.to_owned()),
        shard: args.shard.map(|shard| shard.to_string()),
        ..args.execution.config::<Batch>(String::new(), &args.board)?
    };
    let (single, each) = (|| args.plan(&cases), |board| args.plan_for(board));
    let prepare = &BatchExecutor::prepare;
    let done = run_on(&args.board, &config, &cases, single, each, prepare, &mut Printer)?;
    print_end(&done)?;
    print(&report::missing_boards_text(&done.boards))?;
    Ok(done.exit_code())
}

impl BatchArgs {
    /// Returns the files of the programs: those that are named, and those in folders, sorted.
    fn files(&self) -> Result<Vec<PathBuf>, CommandError> {
        let what = format!("program, such as *{}", ENDINGS[0]);
        let mut files = named_files(&self.programs, &ENDINGS, &what)?;
        let mut seen = std::collections::HashSet::new();
        files.retain(|file| seen.insert(file.clone()));
        Ok(files)
    }

    fn cases(&self, files: &[PathBuf]) -> Vec<ProgramCase> {
        let patterns = |texts: &[String]| {
            let globs: Vec<_> = texts.iter().map(|text| format!("*{text}*")).collect();
            (!globs.is_empty()).then(|| NamePatterns::new(&globs, std::iter::empty::<&str>()))
        };
        let criteria = Arc::new(Criteria {
            pass: patterns(&self.pass),
            fail: patterns(&self.fail),
            return_passes: self.return_passes,
        });
        let case = |file: &PathBuf| ProgramCase {
            id: file.to_string_lossy().into_owned(),
            program: self.read(file).map(Arc::new),
            criteria: Arc::clone(&criteria),
        };
        files.iter().map(case).collect()
    }

    fn read(&self, file: &Path) -> Result<ProgramFile, String> {
        let content = read_input(file).map_err(|error| error.message)?;
        let program = read_program(&content, &file.to_string_lossy(), self.origin)
            .map_err(|error| error.to_string())?;
        let (first, last) = program.image.bounds().unwrap_or_default();
        let entry = program.start.unwrap_or(first);
        Ok(ProgramFile { image: program.image, entry, top: last.saturating_add(1) })
    }

    /// Returns the plan of a run on a single board: without an option for one, a simulated board in
    /// this process, with a stock monitor if one is named, and CP/M if all programs are for that.
    fn plan(&self, cases: &[ProgramCase]) -> Result<BatchPlan, CommandError> {
        if self.board.names_target() {
            return self.board.plan().and_then(|config| self.plan_for(config));
        }
        let mut config = self.board.plan_simulated()?;
        let mut programs = cases.iter().filter_map(|case| case.program.as_ref().ok()).peekable();
        if programs.peek().is_some() && programs.all(|program| program.entry == CPM_ORIGIN) {
            config.stock_monitor.get_or_insert(ResidentMonitor::Cpm);
        }
        self.plan_for(BoardConfig { board: BoardKind::InProcess, ..config })
    }

    fn plan_for(&self, board: BoardConfig) -> Result<BatchPlan, CommandError> {
        let usage = |why: &str| Err(CommandError::new(USAGE, why));
        if matches!(board.board, BoardKind::Replay(_)) {
            return usage("batch runs no replay: name another board");
        }
        if board.in_flash {
            return usage("batch loads programs into RAM: omit --flash");
        }
        let is_in_process = board.board == BoardKind::InProcess;
        let total = match self.t_states {
            None => self.timeout,
            Some(_) if !is_in_process => {
                return usage("only a board in this process counts T-states: give --timeout");
            }
            Some(count) => time_of(count, &board.profile),
        };
        let stand_in = match &board.stock_monitor {
            Some(monitor) if is_in_process => {
                let found = stand_in::maker(monitor, board.profile.is_z180());
                let why = "this monitor is not simulated: name a board by --port or --rig";
                Some(found.ok_or_else(|| CommandError::new(USAGE, why))?)
            }
            _ => None,
        };
        let limits = ProgramLimits { silence: self.silence, total };
        Ok(BatchPlan { board, stand_in, limits })
    }
}

/// Returns the duration of T-states on a board.
fn time_of(t_states: u64, profile: &BoardProfile) -> Duration {
    let nanoseconds = u128::from(t_states) * 1_000_000_000 / u128::from(profile.clock_hz.max(1));
    Duration::from_nanos(nanoseconds.try_into().unwrap_or(u64::MAX))
}

/// Prints a line for each program.
struct Printer;

impl Observer<Batch> for Printer {
    fn on_ready(&mut self, board: &ConnectedBoard) {
        eprint_message(format!("{} on {}", board.program, board.name));
    }

    fn on_board_message(&mut self, text: &str) {
        eprint_message(text);
    }

    fn on_result(&mut self, result: &CaseResult<Batch>) {
        let word = match result.verdict {
            Verdict::Pass => "ok",
            Verdict::Fail => "FAIL",
            Verdict::Flaky => "FLAKY",
            other => other.as_str(),
        };
        let why = result.reason.iter().chain(&result.differences);
        let why: String = why.map(|line| format!("\n      {}", line.escaped())).collect();
        let seconds = result.elapsed_us as f64 / 1e6;
        // The summary at the end is printed the same way, and returns the error.
        let _ = print(&format!("{word:<5} {seconds:6.2} s  {}{why}\n", result.id.escaped()));
    }
}
