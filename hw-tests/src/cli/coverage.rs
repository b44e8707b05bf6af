//! `hw-tests coverage`: which lines and branches of the Z80 code run.

use clap::Args;
use firmware::profile::Profile;
use hw_tests::corpus;
use hw_tests::measure::{FileCoverage, Workout, coverage_table};
use rcflash::exit::{Failure, Outcome, RIG, WRONG};
use serde_json::json;

use super::{json_line, print};

#[derive(Args)]
pub(super) struct CoverageArgs {
    /// A simulated board's profile; may be given again
    #[arg(long, value_name = "PROFILE", default_values = ["rc2014-classic", "rc2014-zed"])]
    board: Vec<String>,
    /// Only every so many cases of the corpus, for a quick look
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    every: std::num::NonZeroUsize,
    /// Fail unless so many percent of the lines have run
    #[arg(long, value_name = "PERCENT", default_value_t = 98.0)]
    least: f64,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn coverage(args: &CoverageArgs) -> Outcome {
    let profiles: Result<Vec<_>, _> = args.board.iter().map(|name| Profile::named(name)).collect();
    let cases = corpus::shipped().map_err(|error| Failure::new(RIG, error))?;
    let cases: Vec<_> = cases.into_iter().step_by(args.every.get()).collect();
    let Workout { coverage, code } = Workout::run(&profiles?, &cases)?;
    let files = coverage.files();
    let total = FileCoverage::total(&files);
    if args.json {
        print(&json_line(&json!({ "files": files, "total": total }))?)?;
    } else {
        print(&coverage_table(&files, &code))?;
    }
    if total.percent() < args.least {
        let (percent, least) = (total.percent(), args.least);
        return Err(Failure::new(
            WRONG,
            format!("{percent:.1} % of the lines have run, not {least} %"),
        ));
    }
    Ok(0)
}
