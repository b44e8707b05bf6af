//! Computes the checksums of a layout and writes them into the image.

use super::error::{Errors, LinkError};
use super::layout::{Checksum, Layout};
use super::symbols::SymbolTable;
use crate::image::{Image, ImageRun};

/// A checksum in an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenChecksum {
    /// The entry in the layout.
    pub rule: Checksum,
    /// The value.
    pub value: u32,
}

/// Writes the checksums of the layout into the image, in order: later ones cover earlier ones.
pub(super) fn write(
    image: &mut Image,
    layout: &Layout,
    symbols: &SymbolTable,
    errors: &mut Errors,
) -> Vec<WrittenChecksum> {
    let mut written = Vec::new();
    for rule in &layout.checksums {
        if let Some(address) = rule.place().map(|at| at as u16).find(|at| image.byte(*at).is_some())
        {
            let near = symbols.nearest(address).map(|(symbol, _)| symbol.name.to_string());
            errors.push(|| LinkError::Checksum {
                kind: rule.kind.name(),
                at: rule.at,
                address,
                near,
            });
            continue;
        }
        let bytes: Vec<u8> = (rule.from..=rule.to)
            .map(|address| image.byte(address).unwrap_or(layout.fill()))
            .collect();
        let value = rule.kind.of(&bytes);
        let bytes = value.to_le_bytes()[..rule.kind.size() as usize].to_vec();
        let runs = image.runs().iter().cloned();
        *image = Image::new(runs.chain([ImageRun { address: rule.at, bytes }]));
        written.push(WrittenChecksum { rule: rule.clone(), value });
    }
    written
}
