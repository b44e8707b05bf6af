//! `hw-tests new`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, USAGE};
use cli_support::output::print;
use cli_support::text::Escape;

/// The letters of a label that count.
const LABEL: usize = 6;

#[derive(Args)]
pub(super) struct NewArgs {
    /// The name of the routine and of its files: letters and digits
    name: String,
    /// The folder in which the files are created
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    dir: PathBuf,
}

pub(super) fn create(args: &NewArgs) -> CommandResult {
    let label = label(&args.name)?;
    let fill = |template: &str| template.replace("$LABEL", &label).replace("$NAME", &args.name);
    let files = [
        (PathBuf::from(format!("{}.asm", args.name)), fill(SOURCE)),
        (PathBuf::from(format!("{}.test.toml", args.name)), fill(TESTS)),
        (Path::new(".github").join("workflows").join("test.yml"), WORKFLOW.to_owned()),
    ];
    // Nothing is written if one of them is there.
    for (name, text) in &files {
        let path = plain(&args.dir, name);
        if path.symlink_metadata().is_ok() && !is_same(&path, text) {
            let message = format!("{} exists: choose another name or --dir", path.escaped());
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
    let tests = plain(&args.dir, &files[1].0);
    print(&format!("Run the tests: hw-tests test {}\n", tests.escaped()))?;
    Ok(0)
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
    let name = name.escaped();
    let message = format!(
        "'{name}' can't be a label: expected letters and digits such as mul16, and no name of a \
         register or directive"
    );
    Err(CommandError::new(USAGE, message))
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
