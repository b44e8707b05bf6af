//! The evaluator as printed in 1978: its array and pin list are adjacent in memory, so that an
//! overflow of the one changes the other.
//!
//! Its bugs are those of the program that the authors published in that year. Where the printed
//! program depends on other contents of memory, this model has bounds: a pin list with room for all
//! pins, zeros in unused entries, and a sentinel after it that ends walks. The board's program is
//! assembled with the same bounds.

use super::array::AttackersArray;
use super::exchange::{ExchangeResult, play_out};
use super::pin::Pin;
use super::pins::{PinCandidate, scan_pin_candidates};
use super::position::{Colour, Direction, Piece, PieceKind, Position, Square};
use super::scan::{ScanHit, scan};
use super::{Evaluation, SquareResult};

/// Bytes of a section: its count and six slots.
const SECTION_BYTES: usize = 7;
/// Offset of the pinned squares: directly after the array.
const PINS_OFFSET: usize = 2 * SECTION_BYTES;
/// Room for pins: four royal pieces with eight lines each.
const MAX_PINS: usize = 32;
/// Offset of the sentinel, after the squares and the directions of the pins.
const SENTINEL_OFFSET: usize = PINS_OFFSET + 2 * MAX_PINS;
/// The sentinel: not 0, so that any walk stops, with an empty low half.
const SENTINEL: u8 = 0x10;

/// The array, the pin list and the sentinel.
struct Memory {
    bytes: [u8; SENTINEL_OFFSET + 1],
    pins: usize,
}

/// Side effects of filing all attackers of a square.
#[derive(Debug, Clone, Copy, Default)]
struct FilingEffects {
    overflow: bool,
    misfiled: bool,
}

/// The state of one side's walk along its section.
struct SectionCursor {
    count: u8,
    at: usize,
}

/// Evaluates every occupied square, a1 first; pin list changes affect later ones.
pub(super) fn evaluate(position: &Position) -> Evaluation {
    let mut memory = Memory::new();
    let pins = memory.find_pins(position);
    let verdicts = position.pieces().map(|(square, piece)| {
        let filed = memory.attackers(position, square);
        let array = memory.array();
        let outcome = memory.exchange(piece);
        let FilingEffects { overflow, misfiled } = filed;
        SquareResult { square, piece, array, overflow, misfiled, outcome }
    });
    let verdicts = verdicts.collect();
    Evaluation { pins, squares: verdicts, final_pin_list: memory.pin_list().collect() }
}

/// Evaluates an exchange on a given array, with an empty pin list after it.
pub(super) fn exchange(target: Piece, array: &AttackersArray) -> ExchangeResult {
    let mut memory = Memory::new();
    memory.bytes[..PINS_OFFSET].copy_from_slice(&array.to_bytes());
    memory.exchange(target)
}

impl Memory {
    fn new() -> Self {
        let mut bytes = [0; SENTINEL_OFFSET + 1];
        bytes[SENTINEL_OFFSET] = SENTINEL;
        Self { bytes, pins: 0 }
    }

    fn array(&self) -> AttackersArray {
        let mut bytes = [0; PINS_OFFSET];
        bytes.copy_from_slice(&self.bytes[..PINS_OFFSET]);
        AttackersArray::from_bytes(&bytes)
    }

    fn pin_list(&self) -> impl Iterator<Item = (u8, i8)> {
        let (squares, steps) = self.bytes[PINS_OFFSET..SENTINEL_OFFSET].split_at(MAX_PINS);
        squares.iter().zip(steps).take(self.pins).map(|(square, step)| (*square, *step as i8))
    }

    /// Fills the pin list, and returns the pins found.
    fn find_pins(&mut self, position: &Position) -> Vec<Pin> {
        let mut found = Vec::new();
        scan_pin_candidates(position, &mut |PinCandidate { royal, square, pin, by_queen }| {
            if royal.kind == PieceKind::Queen
                && by_queen
                && self.is_defended(position, square, royal)
            {
                return;
            }
            self.bytes[PINS_OFFSET + self.pins] = square_number(pin.square);
            self.bytes[PINS_OFFSET + MAX_PINS + self.pins] = direction_step(pin.direction) as u8;
            self.pins += 1;
            found.push(pin);
        });
        found
    }

    /// Returns `true` if a queen has more defenders than attackers, given the pins found so far.
    fn is_defended(&mut self, position: &Position, square: Square, queen: Piece) -> bool {
        self.attackers(position, square);
        let count = |colour: Colour| self.bytes[section_offset(colour)];
        let more = count(queen.colour).wrapping_sub(count(queen.colour.other())).wrapping_sub(1);
        more as i8 >= 0
    }

    fn attackers(&mut self, position: &Position, target: Square) -> FilingEffects {
        self.bytes[..PINS_OFFSET].fill(0);
        self.bytes[SENTINEL_OFFSET] = SENTINEL;
        let mut filed = FilingEffects::default();
        scan(position, target, &mut |ScanHit { square, piece, direction, behind_queen }| {
            if self.is_pinned_off(square, direction) {
                return;
            }
            // The test for pins has overwritten the scan's flags with the direction.
            let flag = if self.pins > 0 { direction_step(direction) < 0 } else { behind_queen };
            filed.misfiled |= flag != behind_queen && piece.kind != PieceKind::Queen;
            filed.overflow |= self.insert(piece, flag);
        });
        filed
    }

    /// Files a piece; returns `true` if an entry was pushed out of a byte, or the byte is outside
    /// the section.
    fn insert(&mut self, piece: Piece, behind_queen: bool) -> bool {
        let start = section_offset(piece.colour);
        let kind = if behind_queen { PieceKind::Queen } else { piece.kind };
        let slot = start + 1 + kind as usize;
        let value = piece.kind.value();
        self.bytes[start] = self.bytes[start].wrapping_add(1);
        match (self.bytes[slot] & 0x0F, self.bytes[slot] >> 4) {
            (0, _) => self.insert_low(slot, value),
            (low, 0) => {
                self.bytes[slot] = value << 4 | low;
                false
            }
            _ => self.insert_low(slot + 1, value) || slot + 1 == start + SECTION_BYTES,
        }
    }

    /// Puts a value into the low half, shifting its entry; `true` if that overwrote another.
    fn insert_low(&mut self, slot: usize, value: u8) -> bool {
        let before = self.bytes[slot];
        self.bytes[slot] = before << 4 | value;
        before >> 4 != 0
    }

    /// Returns `true` if the current pin list keeps a piece from moving along `direction`.
    fn is_pinned_off(&self, square: Square, direction: Direction) -> bool {
        let mut own = self.pin_list().filter(|(pinned, _)| *pinned == square_number(square));
        match (own.next(), own.next()) {
            (None, _) => false,
            (Some((_, along)), None) => {
                along.unsigned_abs() != direction_step(direction).unsigned_abs()
            }
            _ => true,
        }
    }

    fn exchange(&mut self, target: Piece) -> ExchangeResult {
        let walk = |colour| {
            let at = section_offset(colour);
            SectionCursor { count: self.bytes[at], at }
        };
        let mut side = walk(target.colour.other());
        let mut other = walk(target.colour);
        let mut short = false;
        let (residue, bookings) = play_out(target, || {
            let next = self.next(&mut side, &mut short);
            std::mem::swap(&mut side, &mut other);
            next
        });
        ExchangeResult { residue, bookings, short }
    }

    /// Returns a side's next piece: the low half of the next byte that is not 0, even outside the
    /// section. An empty low half means no piece.
    fn next(&mut self, walk: &mut SectionCursor, short: &mut bool) -> Option<u8> {
        walk.count = walk.count.checked_sub(1)?;
        loop {
            walk.at += 1;
            *short |= walk.at == SECTION_BYTES || walk.at == PINS_OFFSET;
            if self.bytes[walk.at] != 0 {
                break;
            }
        }
        let value = self.bytes[walk.at] & 0x0F;
        self.bytes[walk.at] >>= 4;
        walk.at -= 1;
        *short |= value == 0;
        (value != 0).then_some(value)
    }
}

/// Returns pins in the program's encoding.
pub(super) fn listed_pins(pins: &[Pin]) -> Vec<(u8, i8)> {
    pins.iter().map(|pin| (square_number(pin.square), direction_step(pin.direction))).collect()
}

/// Returns the offset of a colour's section.
fn section_offset(colour: Colour) -> usize {
    match colour {
        Colour::White => 0,
        Colour::Black => SECTION_BYTES,
    }
}

/// The number of a square on the program's board of ten squares per row: a1 is 21.
fn square_number(square: Square) -> u8 {
    21 + square.file() + 10 * square.rank()
}

/// A step on that board.
fn direction_step(direction: Direction) -> i8 {
    direction.files + 10 * direction.ranks
}
