//! `hw-inspect coverage`: the lines and branches of the Z80 code that run.

use std::path::{Path, PathBuf};

use board_simulator::profiling::{Coverage, FileCoverage, coverage_table};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED};
use cli_support::files::write_output;
use firmware::BUILT_IN_ROOT;
use firmware::code_map::CodeMap;
use firmware::profile::BoardProfile;
use serde_json::json;

use super::workload::Workload;
use cli_support::output::{json_line, print};

#[derive(Args)]
pub(super) struct CoverageArgs {
    /// A simulated board's profile; may be given again
    #[arg(long, value_name = "PROFILE", default_values = ["rc2014-classic", "rc2014-zed"])]
    board: Vec<String>,
    /// Minimum line coverage; below it the exit code is 1
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    least: f64,
    /// Also show the monitor, which has started the program
    #[arg(long, requires = "program", help_heading = "Program")]
    monitor: bool,
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
    let profiles =
        args.board.iter().map(|name| BoardProfile::named(name)).collect::<Result<Vec<_>, _>>()?;
    let boards: Vec<_> = profiles.iter().map(|one| (one, args.workload.behaviour)).collect();
    let measured = args.workload.run(&boards)?;
    let mut coverage = Coverage::default();
    measured.runs.iter().for_each(|(counter, code)| coverage.add(counter, code));
    let code: Vec<&CodeMap> = measured.runs.iter().map(|(_, code)| code).collect();
    let is_built_in = |file: &str| file.starts_with(BUILT_IN_ROOT);
    if args.workload.user.program.is_some() && !args.monitor {
        coverage.retain_files(|file| !is_built_in(file));
    }
    let mut files = coverage.files();
    files.sort_by_key(|file| is_built_in(&file.file));
    let total = FileCoverage::total(&files);
    if let Some(file) = &args.lcov {
        write_lcov(file, &coverage, &code)?;
    }
    print(&match args.json {
        true => json_line(&json!({ "files": files, "total": total }))?,
        false => coverage_table(&files, &code),
    })?;
    let (percent, least) = (total.percent(), args.least);
    let problem = format!("{percent:.1} % of the lines have run; at least {least} % are required");
    measured.finish(if percent < least { Err(CommandError::new(FAILED, problem)) } else { Ok(0) })
}

/// Writes a tracefile and, in a folder beside it, the sources that are embedded in the program: a
/// tracefile refers to files.
fn write_lcov(file: &Path, coverage: &Coverage, code: &[&CodeMap]) -> Result<(), CommandError> {
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
