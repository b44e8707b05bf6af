//! The cases of a run in a few bytes each, so that a run may have millions.

use std::collections::HashMap;
use std::sync::Arc;

use hil_harness::case_list::CaseList;
use sargon_corpus::{Case, CaseInput, encode, placement};
use sargon_reference::{Position, Square};

/// The clocks of a position without its own.
const DEFAULT_CLOCKS: &str = "0 1";

/// Cases, stored without what they have in common.
///
/// A case takes 4 bytes for its end and a record: the number of its template (1 byte for the first
/// 128), for a position the occupied squares (8), the pieces (half a byte each) and, as text, the
/// clocks unless they are `0 1`, and the part of the name that does not come from the
/// file.
#[derive(Debug, Clone, Default)]
pub struct CompactCases {
    /// Cases without the parts that are in the records.
    templates: Vec<Arc<Case>>,
    numbers: HashMap<Arc<Case>, u32>,
    records: Vec<u8>,
    /// The end of each record.
    ends: Vec<u32>,
}

impl CompactCases {
    /// Adds a case that was read from `file`.
    ///
    /// # Panics
    /// Panics if the records exceed 4 GB, which takes files of more than that.
    pub fn push(&mut self, file: &str, mut case: Case) {
        let line = case.id.strip_prefix(file).map(str::to_owned);
        let id = std::mem::take(&mut case.id);
        let name = line.inspect(|_| file.clone_into(&mut case.id)).unwrap_or(id);
        let mut record = Vec::new();
        let mut clocks = String::new();
        if let CaseInput::Position { fen, position, .. } = &mut case.subject {
            let board = std::mem::replace(position, Position::empty(position.to_move));
            record = pack(&board);
            let fields: Vec<_> = fen.splitn(5, ' ').collect();
            if fields[4] != DEFAULT_CLOCKS {
                clocks += fields[4];
            }
            clocks.push('\n');
            *fen = fields[1..4].join(" ");
        }
        let mut number = self.template(case);
        while number > 0x7F {
            self.records.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.records.push(number as u8);
        self.records.extend(record);
        self.records.extend(clocks.bytes().chain(name.bytes()));
        self.ends.push(u32::try_from(self.records.len()).expect("4 GB of records"));
    }

    fn template(&mut self, case: Case) -> u32 {
        let case = Arc::new(case);
        let Self { templates, numbers, .. } = self;
        *numbers.entry(case).or_insert_with_key(|case| {
            templates.push(Arc::clone(case));
            templates.len() as u32 - 1
        })
    }
}

impl CaseList<Case> for CompactCases {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn case(&self, index: usize) -> Case {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let record = &self.records[start..self.ends[index] as usize];
        let length = record.iter().take_while(|byte| **byte > 0x7F).count() + 1;
        let (number, mut record) = record.split_at(length);
        let number = number.iter().rfold(0, |number, byte| number << 7 | u32::from(byte & 0x7F));
        let mut case = Case::clone(&self.templates[number as usize]);
        if let CaseInput::Position { fen, position, .. } = &mut case.subject {
            unpack(&mut record, position);
            let end = record.iter().position(|byte| *byte == b'\n').expect("clocks end a line");
            let clocks = String::from_utf8_lossy(&record[..end]);
            let clocks = if clocks.is_empty() { DEFAULT_CLOCKS } else { &clocks };
            *fen = format!("{} {fen} {clocks}", placement(position));
            record = &record[end + 1..];
        }
        case.id += &String::from_utf8_lossy(record);
        case
    }
}

/// Returns the occupied squares as a set, and then their pieces, two a byte.
fn pack(position: &Position) -> Vec<u8> {
    let mut occupied = 0_u64;
    let mut codes = Vec::new();
    for (square, piece) in position.pieces() {
        occupied |= 1 << square.index();
        let code = encode::piece(piece);
        codes.push(code >> 4 | code & 7);
    }
    let pairs = codes.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4);
    occupied.to_le_bytes().into_iter().chain(pairs).collect()
}

/// Puts the pieces on an empty board and removes them from the record.
fn unpack(record: &mut &[u8], position: &mut Position) {
    let occupied = u64::from_le_bytes(take(record));
    let squares = Square::all().filter(|square| occupied >> square.index() & 1 != 0);
    let (pairs, rest) = record.split_at((occupied.count_ones() as usize).div_ceil(2));
    let codes = pairs.iter().flat_map(|pair| [pair & 15, pair >> 4]);
    for (square, code) in squares.zip(codes) {
        position.set(square, encode::decode_piece((code & 8) << 4 | code & 7));
    }
    *record = rest;
}

fn take<const LENGTH: usize>(record: &mut &[u8]) -> [u8; LENGTH] {
    let (first, rest) = record.split_first_chunk().expect("records are complete");
    *record = rest;
    *first
}

#[cfg(test)]
mod tests {
    use super::*;
    use sargon_corpus::{builtin_corpus, parse_positions};

    #[test]
    fn every_case_is_the_one_that_was_added() {
        let text = "r3k2r/8/8/2pP4/8/8/8/R3K2R w KQkq c6 12 345 residue \"c5=1\"; tags \"a b\";\n\
                    r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1 original \"a8=2\";\n\
                    4k3/8/8/8/8/8/8/4K2R w - - id \"two words\";\n\
                    4k3/8/8/8/8/8/8/4K2R w - - id \"m.epd too\";\n4k3/8/8/8/8/8/8/4K2R w - -\n\
                    4k3/8/8/8/8/8/8/4K2R w - - 0 12\n";
        let tagged = (0..300).map(|tag| format!("4k3/8/8/8/8/8/8/4K2R b - - tags \"{tag}\";\n"));
        let text = tagged.fold(text.to_owned(), |text, line| text + &line);
        let mut cases = parse_positions("m.epd", &text).expect("positions");
        cases.extend(builtin_corpus().expect("the corpus"));
        let mut compact = CompactCases::default();
        cases.iter().for_each(|case| compact.push("m.epd", case.clone()));
        assert_eq!(compact.cases().collect::<Vec<_>>(), cases);
    }
}
