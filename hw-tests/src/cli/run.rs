//! `hw-tests run`.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use firmware::wire::status;
use hw_tests::board::heading;
use hw_tests::corpus::{self, Case};
use hw_tests::report::{self, Overview};
use hw_tests::rig::Rig;
use hw_tests::runner::{Counts, Ended, Options, run_cases};
use indicatif::{ProgressBar, ProgressStyle};
use rcflash::exit::{BUG, Failure, INCOMPLETE, INTERRUPTED, NOTHING, Outcome, RIG, WRONG};

use super::{BoardArgs, interruption, print, read};

#[derive(Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Run these positions (EPD) instead of the built-in corpus; may be given again
    #[arg(long, value_name = "FILE")]
    corpus: Vec<PathBuf>,
    /// Only cases with this tag, or with this text in their name; may be given again
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
}

pub(super) fn run(args: &RunArgs) -> Outcome {
    let cases = selected(args)?;
    if cases.is_empty() {
        return Err(Failure::new(NOTHING, "no case is selected; --filter takes tags and names"));
    }
    let interrupted = interruption()?;
    let began = Instant::now();
    let mut plan = args.board.plan()?;
    if let Some(recording) = &mut plan.recording {
        recording.cases = cases.iter().map(|case| case.id.clone()).collect();
    }
    let mut rig = Rig::prepare(&plan)?;
    eprintln!("{} on {}", rig.application, rig.board());
    if !rig.own.is_empty() {
        eprintln!("with routines of your own: {}{}", rig.own.join(", "), not_judged(&rig));
    }
    let bar = progress_bar(cases.len());
    let options = Options { repeat: 1, fail_fast: false, interrupted: &interrupted };
    let mut overview = Overview::default();
    let mut judged = Vec::with_capacity(cases.len());
    let course = run_cases(&mut rig, cases.iter().cloned(), options, |result| {
        overview.add(&result);
        judged.push(result.id);
        bar.set_position(judged.len() as u64);
    });
    bar.finish_and_clear();
    let counts = overview.counts();
    check_verdicts(&cases, judged, counts)?;
    print(&overview.table())?;
    print(&overview.flags())?;
    print(&overview.troubles())?;
    print(&report::summary(counts, &course, rig.stats(), began.elapsed()))?;
    Ok(exit_code(counts, &course.ended))
}

/// Makes sure that each case has exactly one verdict.
fn check_verdicts(cases: &[Case], mut judged: Vec<String>, counts: Counts) -> Result<(), Failure> {
    let mut expected: Vec<_> = cases.iter().map(|case| &case.id).collect();
    expected.sort();
    judged.sort();
    if judged.iter().eq(expected.iter().copied()) && counts.is_consistent() {
        return Ok(());
    }
    let (cases, results) = (expected.len(), judged.len());
    Err(Failure::new(BUG, format!("{cases} cases have {results} verdicts, not one each")))
}

/// The status bits that routines of the user's own need not set.
fn not_judged(rig: &Rig) -> String {
    let judged = rig.standard().status;
    let bits = [(status::OVERFLOW, "overflow"), (status::SHORT, "short")];
    let left: Vec<_> =
        bits.iter().filter(|(bit, _)| judged & bit == 0).map(|(_, name)| *name).collect();
    if left.is_empty() { String::new() } else { format!("; not judged: {}", left.join(", ")) }
}

/// A wrong residue outweighs everything; then what kept cases from being judged.
fn exit_code(counts: Counts, ended: &Ended) -> u8 {
    match ended {
        _ if counts.fail > 0 => WRONG,
        Ended::Interrupted => INTERRUPTED,
        Ended::BoardLost(_) => RIG,
        _ if counts.timeout + counts.error > 0 => RIG,
        _ if counts.pass < counts.cases => INCOMPLETE,
        _ => 0,
    }
}

fn selected(args: &RunArgs) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for path in &args.corpus {
        let text = String::from_utf8_lossy(&read(path)?).into_owned();
        let name = path.display().to_string();
        let some = corpus::parse_positions(&name, &text);
        cases.extend(some.map_err(|error| Failure::new(RIG, error))?);
    }
    if args.corpus.is_empty() {
        cases = corpus::shipped().map_err(|error| Failure::new(RIG, error))?;
    }
    if let (Some(file), []) = (&args.board.replay, &args.filter[..]) {
        let recorded = heading(file).map_err(|error| Failure::new(RIG, error))?.cases;
        cases.retain(|case| recorded.contains(&case.id));
    }
    let wanted = |case: &Case| {
        let matches = |text: &String| case.tags.contains(text) || case.id.contains(text);
        args.filter.is_empty() || args.filter.iter().any(matches)
    };
    cases.retain(wanted);
    Ok(cases)
}

/// Draws on a terminal only.
fn progress_bar(cases: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases, {eta} left");
    ProgressBar::new(cases as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
