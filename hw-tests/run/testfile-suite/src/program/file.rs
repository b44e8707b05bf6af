//! A program that another tool built: its memory, by what the files of the tool say.

use std::path::Path;

use cli_support::text::Escape;
use firmware::code_map::MappedProgram;
use firmware::program_areas::ProgramAreas;
use program_formats::{DebugInfo, ProgramFormat, read_debug_info, read_program};
use tdlasm::source::Loader;

use super::{Program, ProgramFiles, read};

impl ProgramFiles {
    /// Reads a program and its symbols. Its sections are the memory that it may write.
    pub(super) fn read_built(&self, path: &Path, loader: &dyn Loader) -> Result<Program, String> {
        let file = path.escaped();
        let program = read_program(&read(loader, path)?, &path.to_string_lossy(), self.origin)
            .map_err(|error| format!("{file}: {error}"))?;
        let needs_origin = matches!(program.format, ProgramFormat::Binary | ProgramFormat::Object);
        if self.origin.is_some() && !needs_origin {
            return Err(format!("{file} contains its addresses: omit the origin"));
        }
        let mut info = program.debug;
        let locate = |info: &mut DebugInfo, file: &Path| {
            for folder in [file.parent(), self.folder.as_deref()].into_iter().flatten() {
                info.locate_sources(folder);
            }
        };
        locate(&mut info, path);
        for path in &self.symbols {
            let name = path.to_string_lossy();
            let mut more = read_debug_info(&read(loader, path)?, &name)
                .map_err(|error| error.in_file(&path.escaped().to_string()))?;
            locate(&mut more, path);
            info.merge(more);
        }
        let mut linked = MappedProgram { image: program.image, ..MappedProgram::default() };
        linked.add_debug_info(&info);
        let areas = ProgramAreas::of_built(&linked, &info);
        Ok(Program { linked, areas, notes: info.notes, ..Program::default() })
    }
}
