//! `hw-inspect coverage`: the lines and branches of the Z80 code that run.

use std::path::{Path, PathBuf};

use board_debugger::profiling::{Coverage, FileCoverage, coverage_table};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED};
use cli_support::files::write_output;
use firmware::BUILT_IN_ROOT;
use firmware::code_map::CodeMap;
use firmware::profile::BoardProfile;
use sargon_corpus as corpus;
use sargon_debugging::CoverageWorkload;
use serde_json::json;

use super::workload::Workload;
use cli_support::output::{json_line, print};

/// Minimum line coverage of the built-in programs, in percent.
const MIN_LINE_COVERAGE_PERCENT: f64 = 98.0;

#[derive(Args)]
pub(super) struct CoverageArgs {
    /// A simulated board's profile; may be given again
    #[arg(long, value_name = "PROFILE", default_values = ["rc2014-classic", "rc2014-zed"])]
    board: Vec<String>,
    /// Run only every NUMBERth case of the corpus, for a quick look
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    every: std::num::NonZeroUsize,
    /// Minimum line coverage; the default is 98 for the built-in programs and 0 for others
    #[arg(long, value_name = "PERCENT")]
    least: Option<f64>,
    /// Write a tracefile for genhtml and editors, and the sources to a folder of its name that ends
    /// in .sources
    #[arg(long, value_name = "FILE.info")]
    lcov: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    workload: Workload,
}

pub(super) fn coverage(args: &CoverageArgs) -> CommandResult {
    let profiles: Result<Vec<_>, _> =
        args.board.iter().map(|name| BoardProfile::named(name)).collect();
    let profiles = profiles?;
    let mut least = args.least.unwrap_or(0.0);
    let CoverageWorkload { coverage, code } = match run_program(args, &profiles)? {
        Some(workload) => workload,
        None => {
            least = args.least.unwrap_or(MIN_LINE_COVERAGE_PERCENT);
            let cases =
                corpus::builtin_corpus().map_err(|error| CommandError::new(ENVIRONMENT, error))?;
            let cases: Vec<_> = cases.into_iter().step_by(args.every.get()).collect();
            CoverageWorkload::run(&profiles, &cases)?
        }
    };
    let files = coverage.files();
    let total = FileCoverage::total(&files);
    if let Some(file) = &args.lcov {
        write_lcov(file, &coverage, &code)?;
    }
    if args.json {
        print(&json_line(&json!({ "files": files, "total": total }))?)?;
    } else {
        print(&coverage_table(&files, &code))?;
    }
    if total.percent() < least {
        let percent = total.percent();
        let problem =
            format!("{percent:.1} % of the lines have run; at least {least} % are required");
        return Err(CommandError::new(FAILED, problem));
    }
    Ok(0)
}

/// Returns the coverage of the user's program on each board; `None` without a program.
fn run_program(
    args: &CoverageArgs,
    profiles: &[BoardProfile],
) -> Result<Option<CoverageWorkload>, CommandError> {
    let mut workload = CoverageWorkload { coverage: Coverage::default(), code: Vec::new() };
    for profile in profiles {
        let Some((counter, code)) = args.workload.run(profile)? else { return Ok(None) };
        workload.coverage.add(&counter, &code);
        workload.code.push(code);
    }
    Ok(Some(workload))
}

/// Writes a tracefile and, in a folder beside it, the sources that are embedded in the program: a
/// tracefile refers to files.
fn write_lcov(file: &Path, coverage: &Coverage, code: &[CodeMap]) -> Result<(), CommandError> {
    let failed = |path: &Path, error: std::io::Error| {
        CommandError::new(ENVIRONMENT, format!("can't write {}: {error}", path.display()))
    };
    let folder = file.with_extension("sources").join("firmware");
    let own = |name: &str| code.iter().find_map(|one| one.path(name)).map(Path::to_owned);
    let mut paths = std::collections::HashMap::new();
    for one in coverage.files() {
        let path = match (own(&one.file), one.file.strip_prefix(BUILT_IN_ROOT)) {
            (Some(path), _) => path,
            (None, Some(name)) => {
                std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
                let path = folder.join(name);
                write_output(&path, firmware::source(name).unwrap_or_default().as_bytes())?;
                std::fs::canonicalize(&path).map_err(|error| failed(&path, error))?
            }
            // A source that is not where it was when the program was made.
            (None, None) => continue,
        };
        paths.insert(one.file.clone(), path.display().to_string());
    }
    let text = coverage.lcov(|name| paths.get(name).cloned().unwrap_or_else(|| name.to_owned()));
    write_output(file, text.as_bytes())
}
