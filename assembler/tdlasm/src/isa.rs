//! The instruction set: one table of forms for encoder, decoder, listing and manual.

mod decode;
mod flags;
mod table;
pub mod zilog;

pub use decode::{Decoded, decode};
pub use table::FORMS;

/// The operand classes of an instruction form, and where the operand is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// No operand.
    None,
    /// B C D E H L A in bits 0-2 of the opcode.
    Source,
    /// B C D E H L A in bits 3-5.
    Dest,
    /// M, the byte at HL, in bits 0-2.
    SourceMem,
    /// M in bits 3-5.
    DestMem,
    /// `d(X)` or `d(Y)`: the prefix, and a displacement after the opcode.
    Index,
    /// B D H SP in bits 4-5.
    Pair,
    /// B D H PSW in bits 4-5.
    StackPair,
    /// B D X SP in bits 4-5.
    PairX,
    /// B D Y SP in bits 4-5.
    PairY,
    /// B D in bits 4-5.
    Pointer,
    /// X or Y as the prefix.
    IndexPair,
    /// A bit number in bits 3-5.
    Bit,
    /// A restart number 0..7 in bits 3-5.
    Restart,
    /// A byte after the opcode.
    Byte,
    /// A word after the opcode, low byte first.
    Word,
    /// The target of a relative jump: a signed byte measured from the next instruction.
    Relative,
}

impl Slot {
    /// Returns the operand class as written in the manual.
    pub fn pattern(self) -> &'static str {
        match self {
            Slot::None => "",
            Slot::Source | Slot::Dest => "r",
            Slot::SourceMem | Slot::DestMem => "M",
            Slot::Index => "d(X)",
            Slot::Pair => "B/D/H/SP",
            Slot::StackPair => "B/D/H/PSW",
            Slot::PairX => "B/D/X/SP",
            Slot::PairY => "B/D/Y/SP",
            Slot::Pointer => "B/D",
            Slot::IndexPair => "X/Y",
            Slot::Bit => "b",
            Slot::Restart => "0..7",
            Slot::Byte => "n",
            Slot::Word => "nn",
            Slot::Relative => "target",
        }
    }
}

/// The opcode page of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Prefix {
    /// No prefix, except that of an index operand.
    None,
    /// CB; with an index operand, DD CB or FD CB.
    Cb,
    /// ED.
    Ed,
    /// DD, IX.
    X,
    /// FD, IY.
    Y,
}

/// T-states, as in the Z80 CPU user manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Clocks {
    /// If a condition holds or a block instruction repeats.
    pub taken: u8,
    /// Otherwise, and for every other instruction.
    pub not_taken: u8,
}

/// Whether a form is documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// The usual name of a documented opcode.
    Primary,
    /// A second name, which the disassembler never uses.
    Alias,
    /// An opcode that Zilog does not document.
    Undocumented,
}

/// A form of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The TDL mnemonic.
    pub mnemonic: &'static str,
    /// The operands, in source order.
    pub slots: [Slot; 2],
    /// The opcode page.
    pub prefix: Prefix,
    /// The opcode with all operand bits zero.
    pub opcode: u8,
    /// The execution time.
    pub clocks: Clocks,
    /// Whether the form does not exist on the 8080.
    pub z80_only: bool,
    /// Whether the form is documented.
    pub status: Status,
    /// Zilog's spelling, with `{0}` and `{1}` for the operands.
    pub zilog: &'static str,
}

impl Form {
    /// Returns the number of operands, 0..=2.
    pub fn arity(&self) -> usize {
        self.slots.iter().filter(|slot| **slot != Slot::None).count()
    }

    /// Returns `true` if a Z180 traps the opcode (Zilog UM0050, "TRAP").
    pub fn traps_on_z180(&self) -> bool {
        let is_input = self.prefix == Prefix::Ed && self.opcode == 0x40;
        // A Z180 has IN F,(C).
        self.status == Status::Undocumented && !is_input
    }

    /// Returns the form as written in the manual, such as `MOV r,d(X)`.
    pub fn pattern(&self) -> String {
        let operands: Vec<&str> =
            self.slots[..self.arity()].iter().map(|slot| slot.pattern()).collect();
        format!("{} {}", self.mnemonic, operands.join(",")).trim_end().to_owned()
    }

    /// Returns the value of the mnemonic in an expression: its opcode, the prefix in the high byte.
    pub fn value(&self) -> u16 {
        let opcode = u16::from(self.opcode);
        match self.prefix {
            Prefix::None => opcode,
            Prefix::Cb => opcode << 8 | 0xCB,
            Prefix::Ed => opcode << 8 | 0xED,
            Prefix::X => opcode << 8 | 0xDD,
            Prefix::Y => opcode << 8 | 0xFD,
        }
    }
}

/// The registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Register {
    /// The 8-bit registers and, as a pair, BC.
    B,
    /// Low half of BC.
    C,
    /// High half of DE and, as a pair, DE.
    D,
    /// Low half of DE.
    E,
    /// High half of HL and, as a pair, HL.
    H,
    /// Low half of HL.
    L,
    /// The byte at HL.
    M,
    /// The accumulator.
    A,
    /// The stack pointer.
    Sp,
    /// Accumulator and flags.
    Psw,
    /// IX.
    X,
    /// IY.
    Y,
}

impl Register {
    /// All registers with their names.
    pub const NAMES: [(&'static str, Register); 12] = [
        ("B", Register::B),
        ("C", Register::C),
        ("D", Register::D),
        ("E", Register::E),
        ("H", Register::H),
        ("L", Register::L),
        ("M", Register::M),
        ("A", Register::A),
        ("SP", Register::Sp),
        ("PSW", Register::Psw),
        ("X", Register::X),
        ("Y", Register::Y),
    ];

    /// Returns the register's name.
    pub fn name(self) -> &'static str {
        Register::NAMES[self as usize].0
    }

    /// Returns `true` for X and Y.
    pub fn is_index(self) -> bool {
        matches!(self, Self::X | Self::Y)
    }

    /// Returns the value of the name in an expression: the register's number in an opcode.
    pub fn value(self) -> u8 {
        match self {
            Register::Sp | Register::Psw => 6,
            Register::X | Register::Y => 4,
            eight_bit => eight_bit as u8,
        }
    }

    /// Returns the opcode bits of this register in an operand class, if it is valid there.
    pub fn bits(self, slot: Slot) -> Option<u8> {
        use Register::{A, B, C, D, E, H, L, M, Psw, Sp, X, Y};
        match (slot, self) {
            (Slot::Source, B | C | D | E | H | L | A) | (Slot::SourceMem, M) => Some(self.value()),
            (Slot::Dest, B | C | D | E | H | L | A)
            | (Slot::DestMem, M)
            | (Slot::Pair, B | D | H | Sp)
            | (Slot::StackPair, B | D | H | Psw)
            | (Slot::PairX, B | D | X | Sp)
            | (Slot::PairY, B | D | Y | Sp)
            | (Slot::Pointer, B | D) => Some(self.value() << 3),
            (Slot::IndexPair, X | Y) => Some(0),
            _ => None,
        }
    }

    /// Returns the 8-bit register with this number, 0..=7.
    pub fn from_number(number: u16) -> Option<Register> {
        Register::NAMES
            .get(usize::from(number))
            .filter(|_| number < 8)
            .map(|(_, register)| *register)
    }
}
