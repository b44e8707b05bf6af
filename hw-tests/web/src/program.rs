//! A program of the user's on a simulated board, just before its first instruction.

use board_debugger::{LoadedProgram, board_with_program, parse_number, ram_layout};
use board_simulator::{BoardModel, QueueLine};
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::profile::BoardProfile;
use tdlasm::image::Image;
use tdlasm::link::link;

use crate::assemble::AssembleRequest;
use crate::board::SourceFile;
use crate::error::PageError;

/// A program that was assembled and linked for a board.
pub(crate) struct LinkedProgram {
    pub(crate) known: MappedProgram,
    pub(crate) entry: u16,
    /// What the user should know before the program runs; may be empty.
    pub(crate) notice: String,
}

pub(crate) struct Loaded {
    pub(crate) board: BoardModel<QueueLine>,
    pub(crate) code: CodeMap,
    pub(crate) entry: u16,
    /// What the user should know before the program runs; may be empty.
    pub(crate) notice: String,
}

/// Assembles a program and loads it; `entry` overrides the source's entry point.
pub(crate) fn load(
    sources: &AssembleRequest,
    profile: &BoardProfile,
    entry: Option<&str>,
) -> Result<Loaded, PageError> {
    let LinkedProgram { known, entry, notice } = linked(sources, profile, entry)?;
    let (board, mut code) =
        board_with_program(profile, LoadedProgram::new(known, entry)).map_err(PageError::new)?;
    set_texts(&mut code, &sources.files);
    Ok(Loaded { board, code, entry, notice })
}

/// Assembles and links a program; `entry` overrides the source's entry point.
pub(crate) fn linked(
    sources: &AssembleRequest,
    profile: &BoardProfile,
    entry: Option<&str>,
) -> Result<LinkedProgram, PageError> {
    let assembly = sources.assembly()?;
    if assembly.has_errors() {
        let render = tdlasm::diag::render::short(&assembly.diagnostics, &assembly.sources);
        return Err(PageError::new(format!("the program does not assemble:\n{render}")));
    }
    let linked = link(&assembly.modules, &ram_layout(profile))
        .map_err(|errors| PageError::new(format!("the program does not link:\n{errors}")))?;
    let known = MappedProgram::from(&linked);
    let (first, _) =
        known.image.bounds().ok_or_else(|| PageError::new("the program has no bytes"))?;
    let chosen = entry.filter(|text| !text.is_empty()).map(|text| {
        let symbol = known.symbols.find(text).ok().flatten();
        let missing = || {
            PageError::new(format!(
                "invalid entry '{text}': expected an address or a label of the program"
            ))
        };
        parse_number(text).or(symbol).ok_or_else(missing)
    });
    let entry = chosen.transpose()?.or(linked.entry).unwrap_or(first);
    let notice = placement_notice(&known.image, entry, profile)?;
    Ok(LinkedProgram { known, entry, notice })
}

/// Checks that a program can run where its bytes are: in RAM, or in place of the boot ROM. Returns
/// what the user should know before, which may be nothing.
pub(crate) fn placement_notice(
    image: &Image,
    entry: u16,
    profile: &BoardProfile,
) -> Result<String, PageError> {
    let BoardProfile { ram, rom, name, .. } = profile;
    let is_in_ram = ram.addresses().contains(&entry);
    let is_usable = |address: &u16| {
        ram.addresses().contains(address) || (!is_in_ram && rom.addresses().contains(address))
    };
    let mut addresses = image
        .runs()
        .iter()
        .flat_map(|run| (0..run.bytes.len()).map(|offset| run.address.wrapping_add(offset as u16)));
    if let Some(address) = addresses.find(|address| !is_usable(address)) {
        return Err(PageError::new(format!(
            "the program has bytes at {address:04X}h, and {name} has RAM at {:04X}h to {:04X}h: \
             change its .LOC",
            ram.start, ram.end
        )));
    }
    if is_in_ram {
        return Ok(String::new());
    }
    Ok(format!(
        "starts at {entry:04X}h, in ROM: runs in place of the monitor, as from an EPROM, and can't \
         change its bytes there; a program for RAM begins at {:04X}h",
        ram.start
    ))
}

/// Gives a map of code the texts that the page has.
pub(crate) fn set_texts(code: &mut CodeMap, files: &[SourceFile]) {
    for file in files {
        code.set_text(&file.name, &file.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::profile;

    fn loaded(text: &str) -> Result<Loaded, PageError> {
        let file = SourceFile { name: "a.asm".to_owned(), text: text.to_owned() };
        let sources = serde_json::from_value(serde_json::json!({ "files": [file] }));
        load(&sources.expect("a request"), &profile(None).expect("it ships"), None)
    }

    #[test]
    fn a_program_without_ram_is_refused_and_one_in_rom_is_reported() {
        let in_ram = loaded("START:\tJMP START\n\t.END START\n").map(|it| it.notice);
        assert_eq!(in_ram.expect("it loads"), "");
        let in_rom = loaded("\t.LOC 0\nSTART:\tJMP START\n\t.END START\n").expect("it loads");
        assert!(in_rom.notice.contains("0000h, in ROM"), "{}", in_rom.notice);
        // The classic board has nothing between the end of its ROM, 1FFFh, and its RAM at 8000h.
        let error = loaded("\t.LOC 7FFFH\nSTART:\tJMP START\n\t.END START\n").err();
        let message = error.expect("no memory there").message;
        assert!(message.contains("7FFFh") && message.contains("8000h to FFFFh"), "{message}");
    }
}
