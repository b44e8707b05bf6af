//! Breakpoints, watchpoints, displays and the pane of a program, saved between sessions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use board_debugger::Debugger;
use board_debugger::view::Screen;
use cli_support::files::write_atomic;

/// The folder of the sessions in the user's folder for state.
const FOLDER: &str = "hw-tests/debug";

/// The file with the session of a program: commands of the debugger, one a line.
pub(super) struct SavedSession {
    file: PathBuf,
    program: PathBuf,
}

impl SavedSession {
    /// Returns the session of a program, by its path.
    pub(super) fn of(program: &Path) -> Option<Self> {
        let program = program.canonicalize().ok()?;
        let mut hasher = DefaultHasher::new();
        program.hash(&mut hasher);
        let stem = program.file_stem()?.to_string_lossy().into_owned();
        let name = format!("{stem}-{:016x}", hasher.finish());
        let file = rcflash_transport::platform::files::state_dir().join(FOLDER).join(name);
        Some(Self { file, program })
    }

    /// Executes the commands of the saved session. Those that fail, since the program has changed,
    /// are counted in the status row.
    pub(super) fn restore(&self, screen: &mut Screen, debugger: &mut Debugger) {
        let Ok(text) = std::fs::read_to_string(&self.file) else { return };
        let (mut done, mut failed) = (0, 0);
        let present = debugger.saved_stops();
        let is_wanted =
            |line: &&str| !line.starts_with(';') && !present.iter().any(|command| command == line);
        for line in text.lines().filter(is_wanted) {
            let is_done = screen.restore_command(debugger, line);
            done += u32::from(is_done);
            failed += u32::from(!is_done);
        }
        let lost = if failed > 0 { format!(", {failed} no longer apply") } else { String::new() };
        screen.status = format!("saved session: {done} restored{lost}; --fresh begins without");
    }

    /// Saves the session; without anything to save, removes the file.
    ///
    /// # Errors
    /// Returns the system's error if the file can't be written.
    pub(super) fn save(&self, screen: &Screen, debugger: &Debugger) -> io::Result<()> {
        let mut lines = debugger.saved_stops();
        lines.extend(screen.layout_command());
        if lines.is_empty() {
            return match std::fs::remove_file(&self.file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        if let Some(folder) = self.file.parent() {
            rcflash_transport::platform::files::create_private_dir(folder)?;
        }
        let text = format!("; {}\n{}\n", self.program.display(), lines.join("\n"));
        write_atomic(&self.file, text.as_bytes())
    }
}
