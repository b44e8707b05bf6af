//! Computes the checksums of a layout and writes them into the image.

use super::error::Errors;
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
            errors.push("L007", || {
                let near = symbols.nearest(address);
                let near =
                    near.map_or(String::new(), |(symbol, _)| format!(", after {}", symbol.name));
                format!(
                    "the {} checksum at {:04X}H has no place: the program has a byte at \
                     {address:04X}H{near}",
                    rule.kind.name(),
                    rule.at
                )
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
