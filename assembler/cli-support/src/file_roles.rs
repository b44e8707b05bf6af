//! Refuses a command line by which a command would overwrite a file that it reads.
//!
//! Each program lists its arguments that name files, with a [`FileRole`]; [`crate::manual::main`]
//! compares their values before the command runs. A command that finds more files to read, such as
//! those that a source includes, passes them to [`refuse_overwriting`].

use std::any::TypeId;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};

use crate::exit::{CommandError, USAGE};
use crate::files::is_same_file;
use crate::text::Escape;

/// What a command does with the file or folder that an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// Reads the file.
    Read,
    /// Reads the file that is named after this text, as after `=` in `2=monitor.bin`; a value
    /// without the text names no file.
    ReadAfter(&'static str),
    /// Reads the files of the folder whose names have this ending.
    ReadFolder(&'static str),
    /// Reads the file before it replaces those of the folder that this argument names, and may
    /// therefore replace it, too.
    ReadBefore(&'static str),
    /// Looks up files in the folder. The command itself refuses to overwrite those that it reads.
    Search,
    /// Writes the file, or appends to it.
    Write,
    /// Writes files of these names into the folder.
    WriteFolder(&'static [&'static str]),
}

/// The role of an argument: the names of the command and its subcommand, such as `report merge`,
/// the identifier of the argument, such as `report_dir`, and its role. Without a command, the role
/// is that in all commands for which the table has no row.
pub type ArgumentRole = (&'static str, &'static str, FileRole);

/// A file that a command reads or writes, with what named it.
#[derive(Debug, Clone)]
pub struct NamedFile {
    /// The option, such as `--output`, or a description, such as `a source`.
    name: String,
    path: PathBuf,
    /// The folder in which the file may be replaced, though it is read.
    replaceable_in: Option<PathBuf>,
}

impl NamedFile {
    /// Creates a file that was named by an option or is described by a few words.
    pub fn new(name: &str, path: &Path) -> Self {
        Self { name: name.to_owned(), path: path.to_owned(), replaceable_in: None }
    }

    /// Returns `true` if writing `self` would change what is read from `other`.
    fn overwrites(&self, other: &Self) -> bool {
        let folder = other.replaceable_in.as_deref();
        // A link is followed when the file is written, and leads out of the folder.
        let may_replace =
            folder.is_some() && self.path.parent() == folder && !self.path.is_symlink();
        !may_replace && is_one_file(&self.path, &other.path)
    }
}

/// Refuses outputs that would overwrite an input or another output, by whatever path or link.
///
/// # Errors
/// Returns a usage error that names both files.
pub fn refuse_overwriting(outputs: &[NamedFile], inputs: &[NamedFile]) -> Result<(), CommandError> {
    for (index, output) in outputs.iter().enumerate() {
        let others = inputs.iter().chain(&outputs[..index]);
        // Several values of one option, such as the files to format, may be equal.
        let mut others = others.filter(|other| other.name != output.name);
        if let Some(other) = others.find(|other| output.overwrites(other)) {
            let path = output.path.escaped();
            let message = format!(
                "{} and {} name the same file, {path}: name another file for {}; nothing is written",
                other.name, output.name, output.name
            );
            return Err(CommandError::new(USAGE, message));
        }
    }
    Ok(())
}

/// Returns `true` if both paths name one file, whose content one of them could lose: no device, and
/// perhaps a file that does not exist yet.
fn is_one_file(one: &Path, other: &Path) -> bool {
    let other = if other.as_os_str() == "-" { Path::new("/dev/stdin") } else { other };
    if one.as_os_str() == "-" {
        return false;
    }
    match one.metadata() {
        Ok(found) => found.is_file() && is_same_file(one, other),
        Err(_) => !other.exists() && new_path(one) == new_path(other),
    }
}

/// Returns the path of a file that does not exist, with all links in its folder followed.
fn new_path(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str() != "" => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.join(path.file_name().unwrap_or(OsStr::new("..")))
}

/// Returns the files in a folder whose names have this ending; none if it cannot be read.
fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let has_ending = |path: &PathBuf| path.to_string_lossy().ends_with(ending);
    entries.map(|entry| entry.path()).filter(has_ending).collect()
}

/// Compares the files that the arguments of a command line name.
///
/// # Errors
/// Returns a usage error that names both arguments and the file.
pub fn check_arguments(
    command: &Command,
    matches: &ArgMatches,
    roles: &[ArgumentRole],
) -> Result<(), CommandError> {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    let (name, command, matches) = innermost(command, matches);
    for argument in command.get_arguments() {
        let Some(role) = role_of(&name, argument, roles) else { continue };
        // An argument that only other subcommands have is not defined here.
        let Ok(Some(values)) = matches.try_get_raw(argument.get_id().as_str()) else {
            continue;
        };
        for value in values {
            let file = NamedFile::new(&shown_name(argument), Path::new(value));
            match role {
                FileRole::Read => inputs.push(file),
                FileRole::ReadAfter(separator) => {
                    let text = value.to_string_lossy();
                    let path = text.split_once(separator).map(|(_, path)| path.into());
                    inputs.extend(path.map(|path| NamedFile { path, ..file }));
                }
                FileRole::ReadFolder(ending) => {
                    let found = files_in(&file.path, ending).into_iter();
                    inputs.extend(found.map(|path| NamedFile { path, ..file.clone() }));
                }
                FileRole::ReadBefore(argument) => {
                    let folder = matches.try_get_raw(argument).ok().flatten();
                    let folder = folder.and_then(|mut values| values.next());
                    let replaceable_in = folder.map(PathBuf::from);
                    inputs.push(NamedFile { replaceable_in, ..file });
                }
                FileRole::Search => {}
                FileRole::Write => outputs.push(file),
                FileRole::WriteFolder(names) => outputs.extend(
                    names
                        .iter()
                        .map(|name| NamedFile { path: file.path.join(name), ..file.clone() }),
                ),
            }
        }
    }
    refuse_overwriting(&outputs, &inputs)
}

/// Returns the subcommand that the user gave, with its name and its arguments.
fn innermost<'a>(
    mut command: &'a Command,
    mut matches: &'a ArgMatches,
) -> (String, &'a Command, &'a ArgMatches) {
    let mut names = Vec::new();
    while let Some((name, below)) = matches.subcommand()
        && let Some(subcommand) = command.find_subcommand(name)
    {
        names.push(name);
        (command, matches) = (subcommand, below);
    }
    (names.join(" "), command, matches)
}

fn role_of(command: &str, argument: &Arg, roles: &[ArgumentRole]) -> Option<FileRole> {
    let is_of = |(_, id, _): &&ArgumentRole| *id == argument.get_id().as_str();
    let mut rows = roles.iter().filter(is_of);
    let own = rows.clone().find(|(name, ..)| *name == command);
    own.or_else(|| rows.find(|(name, ..)| name.is_empty())).map(|(.., role)| *role)
}

/// Returns the name by which help and errors call an argument.
fn shown_name(argument: &Arg) -> String {
    match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => argument
            .get_value_names()
            .and_then(|names| names.first())
            .map_or_else(|| argument.get_id().as_str().to_uppercase(), ToString::to_string),
    }
}

/// Returns the arguments that name files and have no role, and the roles of arguments that do
/// not exist, as `command argument`. For tests.
pub fn roles_that_differ(command: &Command, roles: &[ArgumentRole]) -> Vec<String> {
    let mut command = command.clone();
    command.build();
    let mut arguments = Vec::new();
    add_arguments(&command, "", &mut arguments);
    let is_path = |argument: &Arg| argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let without_role = arguments
        .iter()
        .filter(|(name, argument)| is_path(argument) && role_of(name, argument, roles).is_none())
        .map(|(name, argument)| format!("{name} {}: has no role", argument.get_id()));
    let exists = |(command, id, _): &&ArgumentRole| {
        arguments.iter().any(|(name, argument)| {
            argument.get_id() == id && (command.is_empty() || command == name)
        })
    };
    let unknown = roles
        .iter()
        .filter(|row| !exists(row))
        .map(|(command, id, _)| format!("{command} {id}: does not exist"));
    without_role.chain(unknown).collect()
}

fn add_arguments<'a>(command: &'a Command, name: &str, all: &mut Vec<(String, &'a Arg)>) {
    all.extend(command.get_arguments().map(|argument| (name.to_owned(), argument)));
    for subcommand in command.get_subcommands() {
        let name = format!("{name} {}", subcommand.get_name());
        add_arguments(subcommand, name.trim_start(), all);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const ROLES: [ArgumentRole; 7] = [
        ("", "source", FileRole::Read),
        ("", "page", FileRole::ReadAfter("=")),
        ("", "own", FileRole::ReadFolder(".asm")),
        ("", "earlier", FileRole::ReadBefore("folder")),
        ("", "output", FileRole::Write),
        ("", "map", FileRole::Write),
        ("", "folder", FileRole::WriteFolder(&["report.json"])),
    ];

    fn tool() -> Command {
        let options = ["page", "own", "earlier", "output", "map", "folder"];
        let options = options
            .map(|name| Arg::new(name).long(name).value_parser(clap::value_parser!(PathBuf)));
        let build = Command::new("build").arg(Arg::new("source").value_name("FILE")).args(options);
        Command::new("tool").subcommand(build)
    }

    /// Checks a command line, in which `@` is the folder.
    fn check(folder: &Path, line: &str) -> Result<(), String> {
        let words = line.split(' ').map(|word| word.replace('@', &folder.to_string_lossy()));
        let mut command = tool();
        let matches = command
            .try_get_matches_from_mut(
                ["tool".to_owned(), "build".to_owned()].into_iter().chain(words),
            )
            .expect("valid arguments");
        check_arguments(&command, &matches, &ROLES).map_err(|error| {
            assert_eq!(error.code, USAGE);
            error.message
        })
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for file in ["a.asm", "b.asm", "report.json"] {
            fs::write(folder.path().join(file), file).expect("a scratch file");
        }
        folder
    }

    #[test]
    fn an_output_that_is_read_or_written_already_is_refused() {
        let folder = folder();
        let refused = [
            ("@/a.asm --output @/./a.asm", "FILE and --output"),
            ("@/a.asm --output @/b.asm --map @/b.asm", "--output and --map"),
            ("@/a.asm --output @/new --map @/./new", "--output and --map"),
            ("--page 1=@/b.asm --output @/b.asm", "--page and --output"),
            ("--own @ --map @/b.asm", "--own and --map"),
            ("@/report.json --folder @", "FILE and --folder"),
            ("@/a.asm --folder @ --output @/report.json", "--folder"),
        ];
        for (line, names) in refused {
            let message = check(folder.path(), line).expect_err(line);
            assert!(message.contains(names) && message.contains("name the same file"), "{message}");
        }
        let accepted = [
            "@/a.asm --output @/b.asm --map @/new",
            "--page 1 --output @/b.asm",
            "--own @ --output @/new",
            "@/a.asm --output - --map -",
            "@/a.asm --output /dev/null --map /dev/null",
            "--earlier @/report.json --folder @",
        ];
        for line in accepted {
            assert_eq!(check(folder.path(), line), Ok(()), "{line}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn links_lead_to_the_same_file() {
        use std::os::unix::fs::symlink;

        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        symlink("a.asm", path("link")).expect("a link");
        symlink(".", path("here")).expect("a link");
        fs::hard_link(path("a.asm"), path("hard")).expect("a link");
        for line in [
            "@/a.asm --output @/link",
            "@/link --output @/a.asm",
            "@/a.asm --output @/hard",
            "@/a.asm --output @/here/a.asm",
            "@/a.asm --output @/new --map @/here/new",
        ] {
            assert!(check(folder.path(), line).is_err(), "{line}");
        }
    }

    /// A file that is read first may be replaced in its folder, but not through a link that leads
    /// out of it.
    #[test]
    #[cfg(unix)]
    fn a_file_that_is_read_first_is_replaced_in_its_folder_only() {
        let folder = folder();
        let reports = folder.path().join("reports");
        fs::create_dir(&reports).expect("a folder");
        std::os::unix::fs::symlink("../report.json", reports.join("report.json")).expect("a link");
        assert!(check(folder.path(), "--earlier @/report.json --folder @/reports").is_err());
        assert!(
            check(folder.path(), "--earlier @/reports/report.json --folder @/reports").is_err()
        );
        assert_eq!(check(folder.path(), "--earlier @/reports/report.json --folder @"), Ok(()));
    }

    #[test]
    fn arguments_without_role_and_roles_without_argument_are_named() {
        assert_eq!(roles_that_differ(&tool(), &ROLES), [""; 0]);
        let roles = [("", "output", FileRole::Write), ("other", "map", FileRole::Write)];
        let differ = roles_that_differ(&tool(), &roles);
        assert!(differ.contains(&"build own: has no role".to_owned()), "{differ:?}");
        assert!(differ.contains(&"other map: does not exist".to_owned()), "{differ:?}");
    }
}
