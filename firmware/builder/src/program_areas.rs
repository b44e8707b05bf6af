//! Which addresses of a program are code, which data, and which it may write.

mod reachable;

use std::collections::BTreeSet;
use std::ops::Range;

use program_formats::DebugInfo;
use tdlasm::image::Image;
use tdlasm::link::{PlacedSection, Program};

use crate::code_map::MappedProgram;
use reachable::reachable;

/// The addresses of a program by their use. Ranges end at 10000H at most.
#[derive(Debug, Clone, Default)]
pub struct ProgramAreas {
    /// Code, which is not written.
    pub code: Vec<Range<u32>>,
    /// What may be written: sections, which include reserved space; of a program that another tool
    /// built, what the tool says.
    pub sections: Vec<Range<u32>>,
    /// Data, as far as that is known, which is not executed.
    pub data: Vec<Range<u32>>,
    /// Whether it is not known what is code, as without source lines.
    has_unknown_code: bool,
}

impl ProgramAreas {
    /// Returns the areas of a program that was linked here.
    pub fn of_linked(program: &Program, mapped: &MappedProgram) -> Self {
        let sections = program.sections.iter().map(PlacedSection::addresses).collect();
        let code = code(mapped).collect();
        Self { code, sections, data: labelled_data(mapped), has_unknown_code: false }
    }

    /// Returns the areas of a program that another tool built, by what its files say.
    pub fn of_built(mapped: &MappedProgram, info: &DebugInfo) -> Self {
        let sections = writable(&mapped.image, info);
        let code = code(mapped).flat_map(|range| without(range, &sections)).collect();
        let data = [&sections[..], &labelled_data(mapped)].concat();
        Self { code, sections, data, has_unknown_code: mapped.lines.is_empty() }
    }

    /// Adds the code and the sections of another program beside this one.
    pub fn add(&mut self, other: Self) {
        self.code.extend(other.code);
        self.sections.extend(other.sections);
    }

    /// Adds what is known of code by the routines that are called: what they reach, if it is not known
    /// what is code; and data that is called is none.
    pub fn add_routines(&mut self, image: &Image, routines: &[u16]) {
        for routine in routines.iter().map(|address| u32::from(*address)) {
            let called = self.data.iter_mut().filter(|range| range.contains(&routine));
            called.for_each(|range| range.end = routine);
        }
        if self.has_unknown_code {
            self.code.extend(reachable(image, routines.iter().copied()));
        }
    }
}

/// Returns the addresses of lines with instructions.
fn code(mapped: &MappedProgram) -> impl Iterator<Item = Range<u32>> {
    let lines = mapped.lines.iter().filter(|line| line.is_code);
    lines.map(|line| u32::from(line.address)..line.end())
}

/// Returns the addresses of data from a label to the next code. What precedes the label follows
/// code, and may be instructions that are written as bytes.
fn labelled_data(mapped: &MappedProgram) -> Vec<Range<u32>> {
    let labels: BTreeSet<u16> = mapped.labels.iter().map(|(address, _)| *address).collect();
    let mut data: Vec<Range<u32>> = Vec::new();
    for line in mapped.lines.iter().filter(|line| !line.is_code) {
        let start = u32::from(line.address);
        let is_labelled = labels.contains(&line.address);
        match data.last_mut() {
            Some(last) if last.end == start => last.end = line.end(),
            _ if is_labelled => data.push(start..line.end()),
            _ => {}
        }
    }
    data
}

/// Returns the memory that a program has for its data: areas without bytes, and those that the tool
/// says it may write.
fn writable(image: &Image, info: &DebugInfo) -> Vec<Range<u32>> {
    let has_bytes = |range: &Range<u32>| {
        let mut runs = image.runs().iter();
        runs.any(|run| u32::from(run.address) < range.end && range.start < run.end())
    };
    let areas = info.areas.iter().filter(|area| area.is_writable || !has_bytes(&area.addresses));
    areas.map(|area| area.addresses.clone()).collect()
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
    use tdlasm::image::ImageRun;

    fn ends(ranges: &[Range<u32>]) -> Vec<(u32, u32)> {
        ranges.iter().map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn areas_without_bytes_are_data() {
        let run = ImageRun { address: 0x8000, bytes: vec![0; 8] };
        let map = "DEF l__CODE 0x8\nDEF s__CODE 0x8000\nDEF l__DATA 0x4\nDEF s__DATA 0x9000\n\
                   DEF A$a$1 0x8000\nDEF A$a$2 0x8001\nDEF table 0x8004\nDEF start 0x8000\n";
        let info = read_debug_info(map.as_bytes(), "a.noi").expect("a map");
        let data = ends(&writable(&Image::new([run]), &info));
        assert_eq!(data, [(0x9000, 0x9004)], "the area of code has bytes");
    }

    #[test]
    fn data_is_no_code() {
        assert_eq!(ends(&without(0..10, &[2..4, 8..12])), [(0, 2), (4, 8)]);
        assert!(without(2..4, &[1..3, 3..9]).is_empty());
    }
}
