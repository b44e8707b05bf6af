//! A program that another tool built: its memory, by what the files of the tool say.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use cli_support::text::Escape;
use firmware::code_map::MappedProgram;
use program_formats::{DebugInfo, ProgramFormat, SymbolKind, read_debug_info, read_program};
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
        for path in &self.symbols {
            let name = path.to_string_lossy();
            let mut more = read_debug_info(&read(loader, path)?, &name)
                .map_err(|error| error.in_file(&path.escaped().to_string()))?;
            for folder in [path.parent(), self.folder.as_deref()].into_iter().flatten() {
                more.locate_sources(folder);
            }
            info.merge(more);
        }
        let mut linked = MappedProgram { image: program.image, ..MappedProgram::default() };
        linked.add_debug_info(&info);
        let sections = data(&linked, &info);
        let code = code(&linked, &info);
        let code = code.into_iter().flat_map(|range| without(range, &sections)).collect();
        let (notes, has_unknown_code) = (info.notes, linked.lines.is_empty());
        Ok(Program { linked, code, sections, notes, has_unknown_code, ..Program::default() })
    }
}

/// Returns the memory that a program has for its data: areas without bytes, and those that the tool
/// says it may write.
fn data(mapped: &MappedProgram, info: &DebugInfo) -> Vec<Range<u32>> {
    let has_bytes = |range: &Range<u32>| {
        mapped
            .image
            .runs()
            .iter()
            .any(|run| u32::from(run.address) < range.end && range.start < run.end())
    };
    let areas = info.areas.iter().filter(|area| area.is_writable || !has_bytes(&area.addresses));
    areas.map(|area| area.addresses.clone()).collect()
}

/// Returns the memory of source lines with instructions, each up to a label that has none, as that of a table or a
/// variable.
fn code(mapped: &MappedProgram, info: &DebugInfo) -> Vec<Range<u32>> {
    let labels = info.symbols.iter().filter(|symbol| symbol.kind != SymbolKind::Constant);
    let labels: BTreeSet<u32> =
        labels.filter_map(|symbol| u16::try_from(symbol.value).ok()).map(u32::from).collect();
    let of_line = |line: &tdlasm::link::LinkedLine| {
        let start = u32::from(line.address);
        let end = labels.range(start + 1..line.end().max(start + 1)).next();
        start..end.copied().unwrap_or(line.end())
    };
    mapped.lines.iter().filter(|line| line.is_code).map(of_line).collect()
}

/// Returns what is left of a range.
fn without(range: Range<u32>, others: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut left = vec![range];
    for other in others {
        left = left
            .into_iter()
            .flat_map(|range| {
                let before = range.start..range.end.min(other.start);
                let after = range.start.max(other.end)..range.end;
                [before, after].into_iter().filter(|part| !part.is_empty())
            })
            .collect();
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use program_formats::read_debug_info;
    use tdlasm::image::{Image, ImageRun};

    fn ends(ranges: &[Range<u32>]) -> Vec<(u32, u32)> {
        ranges.iter().map(|range| (range.start, range.end)).collect()
    }

    /// Returns code and data.
    fn memory(run: &ImageRun, map: &str) -> [Vec<(u32, u32)>; 2] {
        let info = read_debug_info(map.as_bytes(), "a.noi").expect("a map");
        let image = Image::new([run.clone()]);
        let mut mapped = MappedProgram { image, ..MappedProgram::default() };
        mapped.add_debug_info(&info);
        [ends(&code(&mapped, &info)), ends(&data(&mapped, &info))]
    }

    #[test]
    fn lines_end_where_a_label_without_a_line_begins() {
        let run = ImageRun { address: 0x8000, bytes: vec![0; 8] };
        let map = "DEF l__CODE 0x8\nDEF s__CODE 0x8000\nDEF l__DATA 0x4\nDEF s__DATA 0x9000\n\
                   DEF A$a$1 0x8000\nDEF A$a$2 0x8001\nDEF table 0x8004\nDEF start 0x8000\n";
        let [code, data] = memory(&run, map);
        assert_eq!(code, [(0x8000, 0x8001), (0x8001, 0x8004)]);
        assert_eq!(data, [(0x9000, 0x9004)], "the area of code has bytes");
        let [code, _] = memory(&run, "DEF start 0x8000\nDEF table 0x8004\n");
        assert_eq!(code, [], "it is not known");
    }

    #[test]
    fn data_is_no_code() {
        assert_eq!(ends(&without(0..10, &[2..4, 8..12])), [(0, 2), (4, 8)]);
        assert!(without(2..4, &[1..3, 3..9]).is_empty());
    }
}
