//! The evaluator's sources as an editor has them.

use firmware::BUILT_IN_ROOT;
use firmware::build::evaluator_defines;
use firmware::code_map::CodeMap;
use firmware::evaluator::Behaviour;

use crate::board::SourceFile;
use crate::error::PageError;

/// The files that follow XCHNG's, in the order in which people read them.
const FILES: [&str; 11] = [
    "nextad.asm",
    "attack.asm",
    "atksav.asm",
    "pinfnd.asm",
    "pnck.asm",
    "points.asm",
    "newlst.asm",
    "trace.asm",
    "tables.asm",
    "data.asm",
    "sargon.asm",
];

/// The file of names that listings of the original need.
const NAMES: &str = "names.asm";

pub(crate) fn sources(behaviour: Behaviour) -> Result<Vec<SourceFile>, PageError> {
    let first: &[&str] = match behaviour {
        Behaviour::Fast => &["xchfst.asm", "spread.asm"],
        Behaviour::Corrected | Behaviour::Original => &["xchng.asm"],
    };
    first.iter().chain(&FILES).map(|name| shipped(name)).collect()
}

/// Returns the name by which the page knows a source: the evaluator's files are in its editor.
pub(crate) fn page_name(file: &str) -> &str {
    let is_edited = |name: &&str| {
        ["xchng.asm", "xchfst.asm", "spread.asm", NAMES].iter().chain(&FILES).any(|one| one == name)
    };
    file.strip_prefix(BUILT_IN_ROOT).filter(is_edited).unwrap_or(file)
}

/// Gives a map of the board's code the evaluator's texts that the page has.
pub(crate) fn set_texts(code: &mut CodeMap, files: &[SourceFile]) {
    for file in files {
        code.set_text(&format!("{BUILT_IN_ROOT}{}", file.name), &file.text);
    }
}

/// A file that the firmware carries.
fn shipped(name: &str) -> Result<SourceFile, PageError> {
    let text = firmware::source(name)
        .ok_or_else(|| PageError::new(format!("the evaluator has no file {name}")))?;
    Ok(SourceFile { name: name.to_owned(), text: text.to_owned() })
}

/// The evaluator's files with other texts for some of them.
pub(crate) fn edited(
    behaviour: Behaviour,
    files: &[SourceFile],
) -> Result<Vec<SourceFile>, PageError> {
    let mut all = sources(behaviour)?;
    for file in files {
        match all.iter_mut().find(|one| one.name == file.name) {
            Some(one) => one.text.clone_from(&file.text),
            None => all.push(file.clone()),
        }
    }
    // An override routine may include it; the built-in ones do not.
    if files.iter().any(|file| file.text.contains(NAMES)) && all.iter().all(|one| one.name != NAMES)
    {
        all.push(shipped(NAMES)?);
    }
    Ok(all)
}

/// The symbols that are defined before the first line of each of them.
pub(crate) fn defines(behaviour: Behaviour) -> Vec<(String, u16)> {
    let defines = evaluator_defines(behaviour).into_iter();
    defines.map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_in_the_editor_are_known_without_the_firmwares_root() {
        for behaviour in Behaviour::ALL {
            for SourceFile { name, .. } in sources(behaviour).expect("they ship") {
                assert_eq!(page_name(&format!("{BUILT_IN_ROOT}{name}")), name);
            }
        }
        for file in ["firmware:/crc16.asm", "crc16.asm", "src/xchng.asm"] {
            assert_eq!(page_name(file), file);
        }
    }

    #[test]
    fn every_evaluator_has_its_files_and_an_edit_takes_the_place_of_one() {
        for behaviour in Behaviour::ALL {
            assert!(sources(behaviour).expect("they ship").len() > 11);
        }
        let mine = SourceFile { name: "xchng.asm".to_owned(), text: "; mine".to_owned() };
        let all = edited(Behaviour::Corrected, &[mine]).expect("they ship");
        assert_eq!(all[0].text, "; mine");
        assert_eq!(all.len(), 12);
    }
}
