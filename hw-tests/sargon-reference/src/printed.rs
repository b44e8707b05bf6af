//! The evaluator as it was printed in 1978: its array and pin list are bytes that lie behind one
//! another in memory, so that whatever leaves the one changes the other.
//!
//! Its faults are those of the program that the authors published in that year. Where the printed
//! program depends on what else lies in memory, a bound stands in for it: a pin list with room for
//! all pins, zeros where no pin is, and behind it a fence where walks end. The board is assembled
//! with the same bound.

use super::array::AttackersArray;
use super::attack::{Met, scan};
use super::exchange::{ExchangeResult, play_out};
use super::pins::{Candidate, Pin, candidates};
use super::position::{Colour, Direction, Kind, Piece, Position, Square};
use super::{Examination, Verdict};

/// Bytes of a section: its count and six slots.
const SECTION: usize = 7;
/// Offset of the pinned squares: directly after the array.
const PINS: usize = 2 * SECTION;
/// Room for pins: four royal pieces with eight lines each.
const ROOM: usize = 32;
/// Offset of the fence, after the squares and the directions of the pins.
const FENCE: usize = PINS + 2 * ROOM;
/// The fence's byte: any walk finds it, and its low half holds no piece.
const FENCE_BYTE: u8 = 0x10;

/// The array, the pin list and the fence.
struct Memory {
    bytes: [u8; FENCE + 1],
    pins: usize,
}

/// Side effects of filing all attackers of a square.
#[derive(Debug, Clone, Copy, Default)]
struct Filed {
    overflow: bool,
    misfiled: bool,
}

/// The state of one side's walk along its section.
struct Walk {
    count: u8,
    at: usize,
}

/// Examines every occupied square, a1 to h1 first; what one square does to the pin list, later ones
/// see.
pub(super) fn examine(position: &Position) -> Examination {
    let mut memory = Memory::new();
    let pins = memory.find_pins(position);
    let verdicts = position.pieces().map(|(square, piece)| {
        let filed = memory.attackers(position, square);
        let array = memory.array();
        let outcome = memory.exchange(piece);
        let Filed { overflow, misfiled } = filed;
        Verdict { square, piece, array, overflow, misfiled, outcome }
    });
    let verdicts = verdicts.collect();
    Examination { pins, verdicts, pins_left: memory.pin_list().collect() }
}

/// Plays out an exchange on a given array, with an empty pin list behind it.
pub(super) fn exchange(target: Piece, array: &AttackersArray) -> ExchangeResult {
    let mut memory = Memory::new();
    memory.bytes[..PINS].copy_from_slice(&array.to_bytes());
    memory.exchange(target)
}

impl Memory {
    fn new() -> Self {
        let mut bytes = [0; FENCE + 1];
        bytes[FENCE] = FENCE_BYTE;
        Self { bytes, pins: 0 }
    }

    fn array(&self) -> AttackersArray {
        let mut bytes = [0; PINS];
        bytes.copy_from_slice(&self.bytes[..PINS]);
        AttackersArray::from_bytes(&bytes)
    }

    /// The pins as they are in the list now.
    fn pin_list(&self) -> impl Iterator<Item = (u8, i8)> {
        let (squares, steps) = self.bytes[PINS..FENCE].split_at(ROOM);
        squares.iter().zip(steps).take(self.pins).map(|(square, step)| (*square, *step as i8))
    }

    /// Lists the pins, and also returns them as they were found.
    fn find_pins(&mut self, position: &Position) -> Vec<Pin> {
        let mut found = Vec::new();
        candidates(position, &mut |Candidate { royal, square, pin, by_queen }| {
            if royal.kind == Kind::Queen && by_queen && self.is_held(position, square, royal) {
                return;
            }
            self.bytes[PINS + self.pins] = number(pin.square);
            self.bytes[PINS + ROOM + self.pins] = step(pin.direction) as u8;
            self.pins += 1;
            found.push(pin);
        });
        found
    }

    /// Whether a queen has more defenders than attackers by counts, with the pins found so far.
    fn is_held(&mut self, position: &Position, square: Square, queen: Piece) -> bool {
        self.attackers(position, square);
        let count = |colour: Colour| self.bytes[section(colour)];
        let more = count(queen.colour).wrapping_sub(count(queen.colour.other())).wrapping_sub(1);
        more as i8 >= 0
    }

    /// Fills the array for a square.
    fn attackers(&mut self, position: &Position, target: Square) -> Filed {
        self.bytes[..PINS].fill(0);
        self.bytes[FENCE] = FENCE_BYTE;
        let mut filed = Filed::default();
        scan(position, target, &mut |Met { square, piece, direction, behind_queen }| {
            if self.is_barred(square, direction) {
                return;
            }
            // The test for pins has put the direction where the scan's flags were.
            let flag = if self.pins > 0 { step(direction) < 0 } else { behind_queen };
            filed.misfiled |= flag != behind_queen && piece.kind != Kind::Queen;
            filed.overflow |= self.file(piece, flag);
        });
        filed
    }

    /// Files a piece; `true` if somebody was pushed out of a byte, or the byte is not the
    /// section's.
    fn file(&mut self, piece: Piece, behind_queen: bool) -> bool {
        let start = section(piece.colour);
        let kind = if behind_queen { Kind::Queen } else { piece.kind };
        let slot = start + 1 + kind as usize;
        let value = piece.kind.value();
        self.bytes[start] = self.bytes[start].wrapping_add(1);
        match (self.bytes[slot] & 0x0F, self.bytes[slot] >> 4) {
            (0, _) => self.push(slot, value),
            (low, 0) => {
                self.bytes[slot] = value << 4 | low;
                false
            }
            _ => self.push(slot + 1, value) || slot + 1 == start + SECTION,
        }
    }

    /// Puts a value into the low half; who was there goes high, and who was high is lost: `true` if
    /// somebody was.
    fn push(&mut self, slot: usize, value: u8) -> bool {
        let before = self.bytes[slot];
        self.bytes[slot] = before << 4 | value;
        before >> 4 != 0
    }

    /// Whether pins keep a piece from moving along `direction`, by what is in the list now.
    fn is_barred(&self, square: Square, direction: Direction) -> bool {
        let mut own = self.pin_list().filter(|(pinned, _)| *pinned == number(square));
        match (own.next(), own.next()) {
            (None, _) => false,
            (Some((_, along)), None) => along.unsigned_abs() != step(direction).unsigned_abs(),
            _ => true,
        }
    }

    fn exchange(&mut self, target: Piece) -> ExchangeResult {
        let walk = |colour| {
            let at = section(colour);
            Walk { count: self.bytes[at], at }
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

    /// The next of a side: the low half of the next byte that is not 0, wherever that is. An empty
    /// low half reads as nobody.
    fn next(&mut self, walk: &mut Walk, short: &mut bool) -> Option<u8> {
        walk.count = walk.count.checked_sub(1)?;
        loop {
            walk.at += 1;
            *short |= walk.at == SECTION || walk.at == PINS;
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

/// Pins as the program lists them.
pub(super) fn as_listed(pins: &[Pin]) -> Vec<(u8, i8)> {
    pins.iter().map(|pin| (number(pin.square), step(pin.direction))).collect()
}

/// Returns the offset of a colour's section.
fn section(colour: Colour) -> usize {
    match colour {
        Colour::White => 0,
        Colour::Black => SECTION,
    }
}

/// The number of a square on the program's board of ten squares a row with two rows below: a1 is
/// 21.
fn number(square: Square) -> u8 {
    21 + square.file() + 10 * square.rank()
}

/// A step on that board.
fn step(direction: Direction) -> i8 {
    direction.files + 10 * direction.ranks
}
