//! `hw-tests test`.

mod executor;
mod measure;
mod printer;

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clap::{Args, ValueEnum};
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, NOTHING_SELECTED};
use cli_support::file_roles::{NamedFile, refuse_overwriting};
use cli_support::output::{json_line, print};
use cli_support::text::{Escape, eprint_message};
use hil_harness::report;
use hil_harness::select::{NamePatterns, Selection, Shard};
use tdlasm::source::{DiskLoader, Loader};
use testfile_suite::{
    BoardMachine, Contract, Heading, ListedCase, TestCase, TestFile, TestFiles, run_build,
};

use super::CASES;
use super::execution::{ExecutionArgs, print_end};
use hil_harness::args::BoardArgs;

/// The message of a selection without cases.
const NONE_SELECTED: &str = "no case is selected";
/// The end of the names of test files.
const ENDING: &str = ".test.toml";

#[derive(Args)]
pub(super) struct TestArgs {
    /// Test files, or folders with files named *.test.toml
    #[arg(required_unless_present = "contracts", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Check SOURCE's contract comments (Clobbers, Stack, Cycles) at every call
    ///
    /// Without FILE, the test files in the folder of SOURCE are run.
    #[arg(long, value_name = "SOURCE")]
    contracts: Vec<PathBuf>,
    /// Only cases with this name; * matches any text, ? any character; repeatable
    #[arg(long, value_name = "PATTERN", help_heading = CASES)]
    case: Vec<String>,
    /// Only cases with this tag; repeatable
    #[arg(long, value_name = "TAG", help_heading = CASES)]
    tag: Vec<String>,
    /// Don't run the commands of test files that build their programs
    #[arg(long)]
    no_build: bool,
    /// Generate the inputs of properties from this number
    #[arg(long, value_name = "NUMBER", help_heading = CASES)]
    seed: Option<u64>,
    /// Only this part of the cases: 2/5 is the second of five parts
    #[arg(long, value_name = "PART/PARTS", help_heading = CASES)]
    shard: Option<Shard>,
    /// List the selected cases with their tags, and run none; with =json an object of JSON a case
    ///
    /// The object has file, line, name, tags and skip, for editors.
    #[arg(
        long,
        value_name = "text|json",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = CASES
    )]
    list: Option<ListFormat>,
    #[command(flatten)]
    execution: ExecutionArgs,
    #[command(flatten)]
    measure: measure::MeasureArgs,
    #[command(flatten)]
    board: BoardArgs,
}

/// Format of the list of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    Text,
    Json,
}

/// Loads files from the disk, and keeps their names.
#[derive(Default)]
struct RecordingLoader(RefCell<Vec<NamedFile>>);

impl Loader for RecordingLoader {
    fn load(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.borrow_mut().push(NamedFile::new("a file of the tests", path));
        DiskLoader.load(path)
    }

    fn exists(&self, path: &Path) -> bool {
        DiskLoader.exists(path)
    }
}

/// A file that is tested.
struct Tested {
    file: Arc<TestFile>,
    contracts: Arc<[Contract]>,
}

/// The selection of cases by their names and tags.
struct CaseFilter<'a> {
    names: NamePatterns,
    tags: &'a [String],
}

impl CaseFilter<'_> {
    fn selects(&self, heading: &Heading) -> bool {
        let has_tag = |tag: &String| heading.tags.contains(tag);
        self.names.includes(&heading.name)
            && (self.tags.is_empty() || self.tags.iter().any(has_tag))
    }
}

pub(super) fn test(args: &TestArgs) -> CommandResult {
    if args.list.is_some() {
        return test_or_list(args);
    }
    args.execution.with_report(args.board.force, || test_or_list(args))
}

fn test_or_list(args: &TestArgs) -> CommandResult {
    let mut paths = test_files(&args.files)?;
    if args.files.is_empty() {
        paths = files_beside(&args.contracts)?;
    }
    // After an error the other files are tested, too.
    let loader = RecordingLoader::default();
    let free = args
        .board
        .names_board()
        .then(|| BoardMachine::free_memory(|kinds| args.board.choose_kind(kinds)));
    let free = free.transpose()?;
    let read: Vec<_> = paths.iter().map(|path| args.read(path, &loader, free)).collect();
    refuse_overwriting(&args.outputs(), &loader.0.into_inner())?;
    for message in read.iter().filter_map(|read| read.as_ref().err()).flatten() {
        eprint_message(format!("hw-tests: {message}"));
    }
    let is_broken = read.iter().any(Result::is_err);
    let files: Vec<Tested> = read.into_iter().flatten().flatten().collect();
    let filter = args.filter(&files);
    let code = match args.list {
        Some(format) => list(&files, format, &filter)?,
        None => run_files(&files, args, &filter)?,
    };
    let unused = args.report_unused_sources(&files);
    Ok(match code {
        _ if is_broken => ENVIRONMENT,
        0 if unused > 0 => NOTHING_SELECTED,
        NOTHING_SELECTED => {
            let headings = files.iter().flat_map(|one| one.file.headings());
            let selected: Vec<_> = headings.filter(|one| filter.selects(one)).collect();
            let are_skipped = !selected.is_empty() && selected.iter().all(|one| one.skip.is_some());
            let why = if are_skipped { "every selected case is skipped" } else { NONE_SELECTED };
            eprint_message(format!("hw-tests: {why}; --list shows them"));
            code
        }
        code => code,
    })
}

fn list(files: &[Tested], format: ListFormat, filter: &CaseFilter) -> CommandResult {
    let mut code = NOTHING_SELECTED;
    for Tested { file, .. } in files {
        let selected: Vec<_> = file.headings().filter(|one| filter.selects(one)).collect();
        if !selected.is_empty() {
            code = 0;
        }
        let line = |heading| listed(&file.path, heading, format);
        print(&selected.into_iter().map(line).collect::<Result<String, _>>()?)?;
    }
    Ok(code)
}

fn run_files(files: &[Tested], args: &TestArgs, filter: &CaseFilter) -> CommandResult {
    let mut cases = Vec::new();
    for Tested { file, contracts } in files {
        let of_file = TestCase::all(file, contracts).into_iter();
        cases.extend(of_file.filter(|case| filter.selects(case.heading())));
        let is_skipped = |one: &&Heading| one.skip.is_some() && filter.selects(one);
        let uncalled = contracts.iter().filter(|one| !file.calls(one)).map(uncalled);
        print(&uncalled.collect::<String>())?;
        let reason = |one: &Heading| printer::skipped(&one.name, one.skip.as_deref());
        print(&file.headings().filter(is_skipped).map(reason).collect::<String>())?;
    }
    let selection = Selection { shard: args.shard, ..Selection::default() };
    let cases = selection.of::<TestFiles>(cases);
    if cases.is_empty() {
        return Ok(NOTHING_SELECTED);
    }
    let measurements = args.measure.start(args.board.names_board())?;
    let measurements = Arc::new(Mutex::new(measurements));
    let done = executor::run(args, &cases, &measurements)?;
    print_end(&done)?;
    args.measure.finish(&mut measure::lock(&measurements))?;
    print(&report::missing_boards_text(&done.boards))?;
    Ok(done.exit_code())
}

impl TestArgs {
    /// Reads a test file; `None` if it has nothing to do with the contracts that are checked. On a
    /// board the memory `free` is left to its program.
    ///
    /// # Errors
    /// Returns a message for each error in the file.
    fn read(
        &self,
        path: &Path,
        loader: &RecordingLoader,
        free: Option<(u16, u16)>,
    ) -> Result<Option<Tested>, Vec<String>> {
        if !self.no_build {
            run_build(path).map_err(|errors| errors.messages())?;
        }
        let file = TestFile::read(path, loader, free.map(|(first, _)| first));
        let file = file.map_err(|errors| errors.messages())?;
        for note in &file.program.notes {
            eprint_message(format!("hw-tests: {}: {note}", path.escaped()));
        }
        if let Some(free) = free {
            let unfit = file.program.simulated_only.map(str::to_owned);
            let unfit = unfit.or_else(|| file.program.check_room(free).err());
            unfit.map_or(Ok(()), |why| Err(vec![format!("{}: {why}", path.escaped())]))?;
        }
        let contracts = contracts(&file, self).map_err(|message| vec![message])?;
        let is_other =
            self.files.is_empty() && !self.contracts.iter().any(|source| names(&file, source));
        let tested = Tested { file: Arc::new(file), contracts: contracts.into() };
        Ok(Some(tested).filter(|_| !is_other))
    }

    /// Returns the files that are written.
    fn outputs(&self) -> Vec<NamedFile> {
        let own = self.measure.outputs();
        let all = own.into_iter().chain([("--record", &self.board.record)]);
        let named = all.filter_map(|(option, path)| Some(NamedFile::new(option, path.as_deref()?)));
        named.chain(self.execution.outputs()).collect()
    }

    /// Prints a message for each source of `--contracts` that no test file names, and returns their
    /// number.
    fn report_unused_sources(&self, files: &[Tested]) -> usize {
        let is_used = |source: &PathBuf| files.iter().any(|one| names(&one.file, source));
        let unused: Vec<_> = self.contracts.iter().filter(|source| !is_used(source)).collect();
        for source in &unused {
            let source = source.escaped();
            eprint_message(format!(
                "hw-tests: {source} is no source of a program that a test file names"
            ));
        }
        unused.len()
    }

    fn filter(&self, files: &[Tested]) -> CaseFilter<'_> {
        let headings = files.iter().flat_map(|one| one.file.headings());
        let names = NamePatterns::new(&self.case, headings.map(|one| one.name.as_str()));
        CaseFilter { names, tags: &self.tag }
    }
}

/// Returns the test files that arguments name.
fn test_files(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    named_files(arguments, &[ENDING], &format!("file named *{ENDING}"))
}

/// Returns the files that arguments name: themselves, and those in folders whose names end so,
/// sorted. A folder without `what` is an error.
pub(super) fn named_files(
    arguments: &[PathBuf],
    endings: &[&str],
    what: &str,
) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for argument in arguments {
        if !argument.is_dir() {
            files.push(argument.clone());
            continue;
        }
        let before = files.len();
        add_folder(argument, endings, &mut files)?;
        if files.len() == before {
            let message = format!("{} has no {what}", argument.escaped());
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

/// Returns `true` if a test file has this source.
fn names(file: &TestFile, source: &Path) -> bool {
    matches!(file.contracts(source), Ok(Some(_)))
}

/// Returns the contracts to check in the sources of a test file.
fn contracts(file: &TestFile, args: &TestArgs) -> Result<Vec<Contract>, String> {
    let mut all = Vec::new();
    for source in &args.contracts {
        all.extend(file.contracts(source)?.unwrap_or_default());
    }
    Ok(all)
}

fn uncalled(contract: &Contract) -> String {
    let (file, line) = &contract.location;
    let name = contract.name.escaped();
    format!(
        "note  {}:{line}: no test calls {name}, so its contract was not checked\n",
        file.escaped()
    )
}

/// Adds the files of a folder and of those in it whose names end so.
pub(super) fn add_folder(
    folder: &Path,
    endings: &[&str],
    files: &mut Vec<PathBuf>,
) -> Result<(), CommandError> {
    let unreadable =
        |error| CommandError::new(ENVIRONMENT, format!("can't read {}: {error}", folder.escaped()));
    add_files(folder, endings, files).map_err(unreadable)
}

fn add_files(folder: &Path, endings: &[&str], files: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        // Links are not followed, as they may lead back.
        if path.is_dir() && !path.is_symlink() {
            add_files(&path, endings, files)?;
        } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
            // The names of cases are the same with and without `.`.
            files.push(path.strip_prefix(".").unwrap_or(&path).to_owned());
        }
    }
    Ok(())
}

/// Returns the line of a case in a list.
fn listed(path: &Path, heading: &Heading, format: ListFormat) -> Result<String, CommandError> {
    if format == ListFormat::Json {
        return json_line(&ListedCase { file: path.display().to_string(), heading });
    }
    let tags = heading.tags.iter().map(|tag| format!(" [{}]", tag.escaped()));
    let (line, name) = (heading.line, heading.name.escaped());
    Ok(format!("{}:{line}  {name}{}\n", path.escaped(), tags.collect::<String>()))
}
