//! A program of the user's on a simulated board, just before its first instruction.

use board_debugger::{LoadedProgram, board_with_program, parse_number, ram_layout};
use board_simulator::{BoardModel, QueueLine};
use firmware::code_map::{CodeMap, MappedProgram};
use firmware::profile::BoardProfile;
use tdlasm::link::link;

use crate::assemble::AssembleRequest;
use crate::board::SourceFile;
use crate::error::PageError;

pub(crate) struct Loaded {
    pub(crate) board: BoardModel<QueueLine>,
    pub(crate) code: CodeMap,
    pub(crate) entry: u16,
}

/// Assembles a program and loads it; `entry` overrides the source's entry point.
pub(crate) fn load(
    sources: &AssembleRequest,
    profile: &BoardProfile,
    entry: Option<&str>,
) -> Result<Loaded, PageError> {
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
        let symbol = known.symbols.get(&text.to_ascii_uppercase()).copied();
        let missing = || {
            PageError::new(format!(
                "invalid entry '{text}': expected an address or a label of the program"
            ))
        };
        parse_number(text).or(symbol).ok_or_else(missing)
    });
    let entry = chosen.transpose()?.or(linked.entry).unwrap_or(first);
    let (board, mut code) =
        board_with_program(profile, LoadedProgram::new(known, entry)).map_err(PageError::new)?;
    set_texts(&mut code, &sources.files);
    Ok(Loaded { board, code, entry })
}

/// Gives a map of code the texts that the page has.
pub(crate) fn set_texts(code: &mut CodeMap, files: &[SourceFile]) {
    for file in files {
        code.set_text(&file.name, &file.text);
    }
}
