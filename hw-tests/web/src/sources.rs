//! The evaluator's sources as an editor has them.

use firmware::build::evaluator_defines;
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
