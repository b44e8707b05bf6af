//! `hw-tests test`.

use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, FAILED, NOTHING_SELECTED};
use cli_support::output::{pluralize, print};
use cli_support::text::{Escape, eprint_message};
use testfile_suite::{
    Contract, Heading, Machine, RunOptions, SimulatedMachine, TestFile, TestResult, Verdict, run,
};

use super::CASES;

/// The end of the names of test files.
const ENDING: &str = ".test.toml";

#[derive(Args)]
pub(super) struct TestArgs {
    /// Test files, or folders with files named *.test.toml
    #[arg(required_unless_present = "contracts", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Check Clobbers, Stack and Cycles of the comments above this source's routines at every call;
    /// without FILE, by the test files in the source's folder
    #[arg(long, value_name = "SOURCE")]
    contracts: Vec<PathBuf>,
    /// Run cases with this tag, or with this text in their name
    #[arg(long, value_name = "TEXT", help_heading = CASES)]
    filter: Option<String>,
    /// Run cases with this tag
    #[arg(long, value_name = "TAG", help_heading = CASES)]
    tag: Vec<String>,
    /// Generate the inputs of properties from this number
    #[arg(long, value_name = "NUMBER", help_heading = CASES)]
    seed: Option<u64>,
    /// List the selected cases with their tags, and run none
    #[arg(long, help_heading = CASES)]
    list: bool,
}

/// What the files had in common so far.
#[derive(Default)]
struct Totals {
    selected: usize,
    failed: usize,
    broken_files: usize,
    /// The sources of `--contracts` that a test file names.
    used_sources: Vec<PathBuf>,
    unused_sources: usize,
}

pub(super) fn test(args: &TestArgs) -> CommandResult {
    let mut totals = Totals::default();
    let mut files = test_files(&args.files)?;
    if args.files.is_empty() {
        files = files_beside(&args.contracts)?;
    }
    for path in files {
        // After an error the other files are tested, too.
        if let Err(message) = test_file(&path, args, &mut totals)? {
            totals.broken_files += 1;
            eprint_message(format!("hw-tests: {message}"));
        }
    }
    let used = std::mem::take(&mut totals.used_sources);
    for source in args.contracts.iter().filter(|source| !used.contains(source)) {
        totals.unused_sources += 1;
        let source = source.escaped();
        eprint_message(format!("hw-tests: no test file names {source} among its sources"));
    }
    Ok(match totals {
        Totals { broken_files: 1.., .. } => ENVIRONMENT,
        Totals { failed: 1.., .. } => FAILED,
        Totals { unused_sources: 1.., .. } => NOTHING_SELECTED,
        Totals { selected: 0, .. } => {
            eprint_message("hw-tests: no case is selected; --list shows them");
            NOTHING_SELECTED
        }
        _ => 0,
    })
}

/// Tests a file. The inner error is about the file, the outer one about standard output.
fn test_file(
    path: &Path,
    args: &TestArgs,
    totals: &mut Totals,
) -> Result<Result<(), String>, CommandError> {
    let file = match TestFile::read(path) {
        Ok(file) => file,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let is_selected = |heading: &Heading| args.selects(heading);
    if args.list {
        let selected: Vec<_> = file.headings().filter(|one| is_selected(one)).collect();
        totals.selected += selected.len();
        print(&selected.into_iter().map(|heading| listed(path, heading)).collect::<String>())?;
        return Ok(Ok(()));
    }
    let contracts = match contracts(&file, args, totals) {
        Ok(contracts) => contracts,
        Err(message) => return Ok(Err(message)),
    };
    if args.files.is_empty() && contracts.is_empty() {
        return Ok(Ok(()));
    }
    let options = RunOptions { seed: args.seed, select: Some(&is_selected), contracts: &contracts };
    let mut machine = SimulatedMachine::new(&file.program);
    let mut results = Vec::new();
    let mut printed = Ok(());
    let ran = run(&file, &mut machine, &options, &mut |result| {
        if printed.is_ok() {
            printed = print(&lines(path, &result));
        }
        results.push(result);
    });
    printed?;
    print(&contracts.iter().filter(|one| !file.calls(one)).map(uncalled).collect::<String>())?;
    let count = |verdict| results.iter().filter(|result| result.verdict == verdict).count();
    totals.selected += results.len();
    totals.failed += count(Verdict::Fail);
    if !results.is_empty() {
        print(&summary(path, machine.name(), count))?;
    }
    Ok(ran.map_err(|error| error.to_string()))
}

impl TestArgs {
    fn selects(&self, heading: &Heading) -> bool {
        let has_tag = |tag: &String| heading.tags.contains(tag);
        let has_text = |text: &String| heading.name.contains(text.as_str()) || has_tag(text);
        self.filter.as_ref().is_none_or(has_text)
            && (self.tag.is_empty() || self.tag.iter().any(has_tag))
    }
}

/// Returns the test files that arguments name: themselves, and those in folders, sorted.
fn test_files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for argument in arguments {
        if !argument.is_dir() {
            files.push(argument.clone());
            continue;
        }
        let before = files.len();
        add_folder(argument, &mut files).map_err(|error| {
            let message = format!("can't read {}: {error}", argument.escaped());
            CommandError::new(ENVIRONMENT, message)
        })?;
        if files.len() == before {
            let message = format!("{} has no file named *{ENDING}", argument.escaped());
            return Err(CommandError::new(NOTHING_SELECTED, message));
        }
    }
    Ok(files)
}

/// Returns the test files in the folders of sources.
fn files_beside(sources: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let folder = |source: &PathBuf| match source.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut folders: Vec<_> = sources.iter().map(folder).collect();
    folders.dedup();
    test_files(&folders)
}

/// Returns the contracts to check in the sources of a test file.
fn contracts(
    file: &TestFile,
    args: &TestArgs,
    totals: &mut Totals,
) -> Result<Vec<Contract>, String> {
    let mut all = Vec::new();
    for source in &args.contracts {
        if let Some(found) = file.contracts(source)? {
            totals.used_sources.push(source.clone());
            all.extend(found);
        }
    }
    Ok(all)
}

fn uncalled(contract: &Contract) -> String {
    let (file, line) = &contract.place;
    let name = contract.name.escaped();
    format!(
        "note  {}:{line}: no test calls {name}, so its contract was not checked\n",
        file.escaped()
    )
}

fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        // Links are not followed, as they may lead back.
        if path.is_dir() && !path.is_symlink() {
            add_folder(&path, files)?;
        } else if path.to_string_lossy().ends_with(ENDING) {
            files.push(path);
        }
    }
    Ok(())
}

fn listed(path: &Path, heading: &Heading) -> String {
    let tags = heading.tags.iter().map(|tag| format!(" [{}]", tag.escaped()));
    let (line, name) = (heading.line, heading.name.escaped());
    format!("{}:{line}  {name}{}\n", path.escaped(), tags.collect::<String>())
}

/// Returns the lines about a result; none if there is nothing to say.
fn lines(path: &Path, result: &TestResult) -> String {
    let name = result.id.escaped();
    let reason = result.reason.as_deref().map(Escape::escaped);
    match (result.verdict, reason) {
        (Verdict::Pass, None) => String::new(),
        (Verdict::Pass, Some(reason)) => format!("ok    {name}: {reason}\n"),
        (Verdict::Skipped, reason) => format!("skip  {name}: {}\n", reason.unwrap_or_default()),
        (Verdict::Fail, reason) => {
            let mut text = format!("FAIL  {}:{}: {name}\n", path.escaped(), result.line);
            let differences = result.differences.iter().map(ToString::to_string);
            let routine = format!("calling {}", result.routine);
            for line in reason.into_iter().chain(differences).chain([routine]) {
                text += &format!("      {line}\n");
            }
            if let Some(case) = &result.case {
                text += &format!("\n{case}\n");
            }
            text
        }
    }
}

fn summary(path: &Path, machine: &str, count: impl Fn(Verdict) -> usize) -> String {
    let (passed, failed) = (count(Verdict::Pass), count(Verdict::Fail));
    let (verdict, part) = if failed > 0 { ("FAIL", failed) } else { ("PASS", passed) };
    let cases = pluralize(passed + failed, "case");
    let skipped = match count(Verdict::Skipped) {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    format!("{verdict} {part} of {cases} in {}, {machine}{skipped}\n", path.escaped())
}
