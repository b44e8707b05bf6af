//! The attackers array: the pieces that take part in the exchange on a square, in order.

use std::fmt;

use super::position::{Colour, Piece, PieceKind};

/// Slots of a section: pawns, knights, bishops, rooks, queen, king. Each has room for two.
const SLOTS: usize = 6;

/// One side's section: a count and six slots of two entries in capture order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Section {
    count: u8,
    slots: [(u8, u8); SLOTS],
}

/// Both sides' sections. Entries are point values; 0 is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct AttackersArray {
    white: Section,
    black: Section,
}

/// An array, and whether it had room for all pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FiledArray {
    /// The array.
    pub array: AttackersArray,
    /// `true` if a piece was left out because the array was full.
    pub overflow: bool,
}

/// The position of a piece in its side's section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The slot: 0 is the pawns', 5 the king's.
    pub slot: usize,
    /// Whether it comes before the other entry of the slot.
    pub comes_first: bool,
}

impl FiledArray {
    /// Inserts a piece into its own slot, or into the queen's if a queen is before it on its line
    /// (the queen herself included). The second of a slot comes after the first. A full slot passes
    /// the piece to the next slot with room, where it comes first. Returns `None` and leaves the
    /// piece out if there is no room up to the king's slot.
    pub fn insert(&mut self, piece: Piece, behind_queen: bool) -> Option<Entry> {
        let slot = if behind_queen { PieceKind::Queen } else { piece.kind } as usize;
        let section = self.array.section_mut(piece.colour);
        let value = piece.kind.value();
        let entry = match section.slots[slot] {
            (0, _) | (_, 0) => Entry { slot, comes_first: section.slots[slot].0 == 0 },
            _ => {
                let free = section.slots[slot + 1..].iter().position(|entries| entries.1 == 0);
                let Some(distance) = free else {
                    self.overflow = true;
                    return None;
                };
                Entry { slot: slot + 1 + distance, comes_first: true }
            }
        };
        let entries = &mut section.slots[entry.slot];
        *entries = if entry.comes_first { (value, entries.0) } else { (entries.0, value) };
        section.count += 1;
        Some(entry)
    }
}

impl AttackersArray {
    /// Returns the number of a side's pieces that take part.
    pub fn count(&self, colour: Colour) -> u8 {
        self.section(colour).count
    }

    /// Returns the values of a side's pieces in the order of capture, at most its count.
    pub fn in_order(&self, colour: Colour) -> Vec<u8> {
        let section = self.section(colour);
        let entries = section.slots.iter().flat_map(|&(first, second)| [first, second]);
        entries.filter(|value| *value != 0).take(usize::from(section.count)).collect()
    }

    /// Encodes the array as in the article (Table 1): White's section, then Black's, each a count
    /// and six bytes with the first entry in the low half.
    pub fn to_bytes(&self) -> [u8; 14] {
        let mut bytes = [0; 14];
        for (half, section) in bytes.chunks_mut(7).zip([&self.white, &self.black]) {
            half[0] = section.count;
            for (byte, (first, second)) in half[1..].iter_mut().zip(section.slots) {
                *byte = first | second << 4;
            }
        }
        bytes
    }

    /// Decodes the article's form.
    ///
    /// # Examples
    /// ```
    /// use sargon_reference::{AttackersArray, Colour};
    ///
    /// let bytes = [3, 0, 0x33, 3, 0, 0, 0, 2, 1, 0, 0, 0, 9, 0];
    /// let array = AttackersArray::from_bytes(&bytes);
    /// assert_eq!(array.in_order(Colour::White), [3, 3, 3]);
    /// assert_eq!(array.in_order(Colour::Black), [1, 9]);
    /// assert_eq!(array.to_bytes(), bytes);
    /// ```
    pub fn from_bytes(bytes: &[u8; 14]) -> Self {
        let section = |half: &[u8]| {
            let mut slots = [(0, 0); SLOTS];
            for (slot, byte) in slots.iter_mut().zip(&half[1..]) {
                *slot = (byte & 0x0F, byte >> 4);
            }
            Section { count: half[0], slots }
        };
        Self { white: section(&bytes[..7]), black: section(&bytes[7..]) }
    }

    fn section(&self, colour: Colour) -> &Section {
        match colour {
            Colour::White => &self.white,
            Colour::Black => &self.black,
        }
    }

    fn section_mut(&mut self, colour: Colour) -> &mut Section {
        match colour {
            Colour::White => &mut self.white,
            Colour::Black => &mut self.black,
        }
    }
}

impl fmt::Display for AttackersArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |section: &Section| {
            let slots = section.slots.map(|(first, second)| format!("{second:X}{first:X}"));
            format!("{} {}", section.count, slots.join(" "))
        };
        write!(f, "white {} | black {}", side(&self.white), side(&self.black))
    }
}
