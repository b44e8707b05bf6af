//! `hw-tests new`.

mod existing;
mod tools;

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, USAGE};
use cli_support::output::print;
use cli_support::text::{Escape, eprint_message};
use testfile_suite::{Written, run_build_of};

use existing::BuiltProgram;
use tools::{Recipe, Tool};

/// The letters of a label that count.
const LABEL: usize = 6;

#[derive(Args)]
pub(super) struct NewArgs {
    /// The name of the routine and of its files; with --for or --program, of a program that is there
    name: String,
    /// Assembler or compiler that builds the program; by default its source is TDL's dialect
    #[arg(long = "for", value_name = "TOOL")]
    tool: Option<Tool>,
    /// Program to test; default: that named NAME, here or in a folder such as build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Symbols and lines of the program; default: those named as it is
    #[arg(long, value_name = "FILE")]
    symbols: Vec<PathBuf>,
    /// Address of a binary; default: the lowest of its symbols
    #[arg(long, value_name = "ADDRESS", value_parser = testfile_suite::parse_address)]
    origin: Option<u16>,
    /// Command that builds the program; default: make, or a command for the source NAME
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// The folder of the project, in which files are created
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    dir: PathBuf,
}

/// Names and texts of files, of which the second is the test file.
type NewFiles = Vec<(PathBuf, String)>;

pub(super) fn create(args: &NewArgs) -> CommandResult {
    if Path::new(&args.name).file_name() != Some(OsStr::new(&args.name)) {
        return Err(no_label(&args.name));
    }
    let tests = PathBuf::from(format!("{}.test.toml", args.name));
    let files = match (existing_program(args), args.tool) {
        (Some(program), _) => vec![(tests.clone(), test_file(args, program)?)],
        (None, Some(tool)) => foreign_project(&args.name, tool)?,
        (None, None) => tdl_project(&args.name)?,
    };
    // Nothing is written if one of them is there.
    for (name, text) in &files {
        let path = plain(&args.dir, name);
        if path.symlink_metadata().is_ok() && !is_same(&path, text) {
            let mut message = format!("{} exists: choose another name or --dir", path.escaped());
            if args.tool.is_none() && *name != tests {
                message += ", or name the tool that builds it, as in --for sjasmplus";
            }
            return Err(CommandError::new(ENVIRONMENT, message));
        }
    }
    for (name, text) in &files {
        let path = plain(&args.dir, name);
        write_new(&path, text).map_err(|error| {
            let message = format!("can't create {}: {error}", path.escaped());
            CommandError::new(ENVIRONMENT, message)
        })?;
        print(&format!("{}\n", path.escaped()))?;
    }
    if let Some(missing) = args.tool.and_then(|tool| missing(&tool.recipe())) {
        eprint_message(format!("hw-tests: note: {missing}"));
    }
    let tests = plain(&args.dir, &tests);
    print(&format!("Run the tests: hw-tests test {}\n", tests.escaped()))?;
    Ok(0)
}

/// The source of a routine in TDL's dialect, its tests and a workflow.
fn tdl_project(name: &str) -> Result<NewFiles, CommandError> {
    let label = label(name)?;
    let fill = |template: &str| template.replace("$LABEL", &label).replace("$NAME", name);
    Ok(vec![
        (PathBuf::from(format!("{name}.asm")), fill(SOURCE)),
        (PathBuf::from(format!("{name}.test.toml")), fill(TESTS)),
        (Path::new(".github").join("workflows").join("test.yml"), WORKFLOW.to_owned()),
    ])
}

/// The source of a routine for a tool, its tests, and what the linker reads.
fn foreign_project(name: &str, tool: Tool) -> Result<NewFiles, CommandError> {
    if !tools::is_label(name) {
        return Err(no_label(name));
    }
    let recipe = tool.recipe();
    let fill = |template: &str| template.replace("$NAME", name);
    let paths = |paths: &[&str]| paths.iter().map(|path| PathBuf::from(fill(path))).collect();
    let program = BuiltProgram {
        program: PathBuf::from(fill(recipe.program)),
        symbols: paths(recipe.symbols),
        origin: recipe.is_binary.then_some(tools::ORIGIN),
    };
    let header = header(&program, Some(&fill(recipe.build)), Some(&recipe));
    let (source, cases) = tool.routine();
    let mut files = vec![
        (PathBuf::from(format!("{name}.{}", recipe.extension)), fill(&source)),
        (PathBuf::from(format!("{name}.test.toml")), header + &fill(cases)),
    ];
    files.extend(recipe.link_file.map(|(file, text)| (PathBuf::from(fill(file)), fill(text))));
    Ok(files)
}

/// A program of the user's, and what builds it.
struct ExistingProgram {
    /// The path, if it is known before the build.
    path: Option<PathBuf>,
    build: Option<String>,
}

/// Returns the program that the arguments name or that has the name; or what builds it.
fn existing_program(args: &NewArgs) -> Option<ExistingProgram> {
    let recipe = args.tool.map(Tool::recipe).filter(|recipe| recipe.link_file.is_none());
    let source = recipe
        .as_ref()
        .filter(|recipe| args.dir.join(format!("{}.{}", args.name, recipe.extension)).is_file());
    let made = existing::has_makefile(&args.dir).then(|| "make -s".to_owned());
    let by_tool = source.map(|recipe| recipe.build.replace("$NAME", &args.name));
    let is_by_tool = args.build.is_none() && made.is_none() && by_tool.is_some();
    let path = match source.filter(|_| is_by_tool && args.program.is_none()) {
        Some(recipe) => Some(args.dir.join(recipe.program.replace("$NAME", &args.name))),
        None => args.program.clone().or_else(|| existing::find_program(&args.dir, &args.name)),
    };
    let is_there = path.is_some() || source.is_some() || args.build.is_some();
    let build = args.build.clone().or(made).or(by_tool);
    is_there.then_some(ExistingProgram { path, build })
}

/// Returns the test file of a program of the user's, with a case that passes.
fn test_file(args: &NewArgs, found: ExistingProgram) -> Result<String, CommandError> {
    let failed = |message: String| CommandError::new(ENVIRONMENT, message);
    let ExistingProgram { path, build } = found;
    let recipe = args.tool.map(Tool::recipe);
    let is_built = path.as_ref().is_some_and(|path| path.is_file());
    let tests = args.dir.join(format!("{}.test.toml", args.name));
    if let (Some(build), false) = (&build, is_built) {
        if let Some(missing) = recipe.as_ref().and_then(missing) {
            return Err(failed(missing));
        }
        let text = format!("build = {}\n", Written::text(build));
        run_build_of(&tests, &text).map_err(|errors| failed(errors.0[0].message.clone()))?;
    }
    let path = path.or_else(|| existing::find_program(&args.dir, &args.name));
    let program = path.ok_or_else(|| {
        let message = "no program named {} is here: build it first, or name it by --program FILE";
        failed(message.replace("{}", &args.name))
    })?;
    let program = program.strip_prefix(".").map(Path::to_owned).unwrap_or(program);
    let program = BuiltProgram { program, symbols: args.symbols.clone(), origin: args.origin };
    let mut program = program.complete(&args.dir)?;
    for path in [&mut program.program].into_iter().chain(&mut program.symbols) {
        *path = match path.strip_prefix(&args.dir) {
            Ok(inner) => inner.to_owned(),
            Err(_) if args.dir == Path::new(".") => path.clone(),
            Err(_) => std::path::absolute(&path).unwrap_or_else(|_| path.clone()),
        };
    }
    let header = header(&program, build.as_deref(), recipe.as_ref());
    let routine = existing::first_routine(&tests, &header)?;
    if !routine.returns {
        eprint_message(format!(
            "hw-tests: note: no routine returns when it is called without arguments: give {} what it \
             takes, in {}",
            routine.name.escaped(),
            tests.escaped()
        ));
    }
    let name = Written::text(&routine.name);
    let title = Written::text(&format!("{} returns", routine.name));
    Ok(format!("{header}\n[[case]]\nname = {title}\ncall = {name}\n{ARGUMENTS}"))
}

/// What a user adds to a case of a routine that is not known.
const ARGUMENTS: &str = "\
# What it takes, and what it must return:
# in = { A = 3, HL = 0x9000 }
# expect = { A = 7, flags = \"NC\" }
";

/// Returns the beginning of a test file.
fn header(program: &BuiltProgram, build: Option<&str>, recipe: Option<&Recipe>) -> String {
    let text = |path: &PathBuf| Written::text(&path.to_string_lossy().replace('\\', "/"));
    let symbols = program.symbols.iter().map(text).collect();
    let mut lines = vec![format!("program = {}", text(&program.program))];
    lines.extend(program.origin.map(|origin| format!("origin = 0x{origin:04X}")));
    if !program.symbols.is_empty() {
        lines.push(format!("symbols = {}", Written::Array(symbols)));
    }
    if let Some(build) = build {
        lines.extend(recipe.map(|recipe| format!("# {}: {}", recipe.executable, recipe.install)));
        lines.push(format!("build = {}", Written::text(build)));
    }
    lines.join("\n") + "\n"
}

/// Returns a message if a tool is not installed.
fn missing(recipe: &Recipe) -> Option<String> {
    let Recipe { executable, install, .. } = recipe;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let file = format!("{executable}{}", std::env::consts::EXE_SUFFIX);
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(&file).is_file());
    (!is_there).then(|| format!("{executable} is not on the path: install it ({install})"))
}

/// Joins a folder and a file without `./`.
fn plain(folder: &Path, name: &Path) -> PathBuf {
    let path = folder.join(name);
    path.strip_prefix(".").map(Path::to_owned).unwrap_or(path)
}

/// Returns the label of a routine: the first letters of the name, in capitals.
fn label(name: &str) -> Result<String, CommandError> {
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric());
    let label: String = name.to_ascii_uppercase().chars().take(LABEL).collect();
    if is_name && tdlasm::assemble_text(SOURCE.replace("$LABEL", &label)).is_ok() {
        return Ok(label);
    }
    Err(no_label(name))
}

fn no_label(name: &str) -> CommandError {
    let name = name.escaped();
    let message = format!(
        "'{name}' can't be a label: expected letters and digits such as mul16, and no name of a \
         register or directive"
    );
    CommandError::new(USAGE, message)
}

/// The workflow is the same for every routine of a project.
fn is_same(path: &Path, text: &str) -> bool {
    text == WORKFLOW && std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes())
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    if is_same(path, text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // `create_new` fails if the file has appeared since it was looked for.
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// T-states by Zilog's UM0080: ADD 4, RET 11 or 5 and 10, LD 7.
const SOURCE: &str = "\
; $LABEL - adds two bytes, at most 255.

        .IDENT $LABEL
        .INTERN $LABEL

; $LABEL - adds two bytes; a sum over 255 becomes 255.
;   Entry:    A, B = summands
;   Exit:     A = sum, or 255; C if the sum was over 255
;   Errors:   none
;   Clobbers: F
;   Stack:    0 bytes
;   Cycles:   15..26
$LABEL: ADD     B
        RNC
        MVI     A,0FFH
        RET
        .END
";

const TESTS: &str = "\
sources = [\"$NAME.asm\"]

[[case]]
name = \"small sum\"
call = \"$LABEL\"
in = { A = 3, B = 4 }
expect = { A = 7, flags = \"NC\" }

[[case]]
name = \"limit\"
call = \"$LABEL\"
in = { A = 0xFF, B = 1 }
expect = { A = 0xFF, flags = \"C\", clobbers = \"F\", cycles = 26, stack = 0 }

[[property]]
name = \"sum of all bytes\"
call = \"$LABEL\"
args = { A = \"u8\", B = \"u8\" }
check = \"out.A == A + B || A + B > 255 && out.A == 255\"
exhaustive = true
";

const WORKFLOW: &str = "\
name: test
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    env:
      # The repository that has the crate hw-tests.
      HW_TESTS: https://example.invalid/sargon-z80
    steps:
      - uses: actions/checkout@v4.2.2
      - run: cargo install --locked --git \"$HW_TESTS\" hw-tests
      - run: hw-tests test .
";
