//! The statements of generated programs, each with its bytes.

use super::Program;
use super::expression::Expression;

/// The macros that generated programs call.
pub(super) const MACROS: &str = "\
 .DEFINE PAIR[P1,P2(7)]=[
 .BYTE P1,P2
]
 .DEFINE HOP[VALUE,%PAST]=[
 JMPR %PAST
 .WORD VALUE
%PAST: NOP
]
 .DEFINE DOWN[N]=[
 .BYTE N
 .IFG N,[
 DOWN \\N-1
]
]";

const REGISTERS: [&str; 8] = ["B", "C", "D", "E", "H", "L", "M", "A"];
const PAIRS: [&str; 4] = ["B", "D", "H", "SP"];

impl Program {
    /// One statement, or a few lines that belong together.
    pub(super) fn statement(&mut self) {
        let kinds = if self.is_full() { 4 } else { 16 };
        match self.random.below(kinds) {
            0 => self.line(""),
            1 => self.count(),
            2 => self.conditional(0, false),
            3 => self.labels(),
            4 | 5 => self.register_operation(),
            6 | 7 => self.byte_operation(),
            8 | 9 => self.word_operation(),
            10 => self.indexed_operation(),
            11 => self.loop_back(),
            12 => self.data(),
            13 => self.text(),
            14 => self.macro_call(),
            _ => self.rarity(),
        }
    }

    pub(super) fn register_operation(&mut self) {
        let to = self.random.below(8);
        let from = self.random.below(8);
        let a = REGISTERS[to];
        let b = REGISTERS[from];
        let operation = self.random.below(8);
        match self.random.below(4) {
            0 if (to, from) != (6, 6) => {
                self.code(&format!(" MOV {a},{b}"), &[(0x40 + to * 8 + from) as u8]);
            }
            1 => self.code(&format!(" inr {a}"), &[(to * 8 + 4) as u8]),
            2 => self.code(
                &format!("\tBIT {operation},{a}"),
                &[0xCB, (0x40 + operation * 8 + to) as u8],
            ),
            _ => {
                let name = ["ADD", "ADC", "SUB", "SBB", "ANA", "XRA", "ORA", "CMP"][operation];
                self.code(&format!(" {name} {b}"), &[(0x80 + operation * 8 + from) as u8]);
            }
        }
    }

    fn byte_operation(&mut self) {
        let value = Expression::byte(&mut self.random);
        let operation = self.random.below(8);
        let (opcode, text) = if self.random.below(2) == 0 {
            (operation * 8 + 6, format!(" MVI {},{}", REGISTERS[operation], value.text))
        } else {
            let name = ["ADI", "ACI", "SUI", "SBI", "ANI", "XRI", "ORI", "CPI"][operation];
            (0xC6 + operation * 8, format!("\t{name}\t{}", value.text))
        };
        self.code(&text, &[opcode as u8, value.value as u8]);
    }

    fn word_operation(&mut self) {
        let pair = self.random.below(4);
        let load = (format!("LXI {},", PAIRS[pair]), vec![(pair * 16 + 1) as u8]);
        let plain = |name: &str, bytes: &[u8]| (format!("{name} "), bytes.to_vec());
        let others = [
            plain("JMP", &[0xC3]),
            plain("CALL", &[0xCD]),
            plain("JP", &[0xF2]),
            plain("LDA", &[0x3A]),
            plain("SBCD", &[0xED, 0x43]),
            plain("LIYD", &[0xFD, 0x2A]),
        ];
        let (name, mut bytes) = others.get(self.random.below(9)).cloned().unwrap_or(load);
        let (text, value) = self.address(bytes.len());
        bytes.extend(value.to_le_bytes());
        self.code(&format!(" {name}{text}"), &bytes);
    }

    fn indexed_operation(&mut self) {
        let (prefix, index) = self.random.pick(&[(0xDD, "X"), (0xFD, "Y")]);
        let displacement = self.random.below(256) as u8 as i8;
        let register = self.random.pick(&[0usize, 1, 2, 3, 4, 5, 7]);
        let name = REGISTERS[register];
        let bits = (register * 8) as u8;
        let byte = displacement as u8;
        let text = format!("{displacement}({index})");
        match self.random.below(3) {
            0 => self.code(&format!(" MOV {name},{text}"), &[prefix, 0x46 + bits, byte]),
            1 => self.code(&format!(" SUB {text}"), &[prefix, 0x96, byte]),
            _ => self.code(&format!(" SET 3,{text}"), &[prefix, 0xCB, byte, 0xDE]),
        }
    }

    /// A loop with a local label, whose scope ends at the next global one.
    fn loop_back(&mut self) {
        let label = self.new_label();
        let global = self.define(label);
        self.code(&format!("{global} ..LOOP: NOP"), &[0]);
        let length = self.random.below(60);
        for _ in 0..length / 8 {
            self.code(" DCX H", &[0x2B]);
        }
        let offset = -3 - (length / 8) as i8;
        self.code(" DJNZ ..LOOP", &[0x10, offset as u8]);
        let distance = self.random.below(256) as i32 - 126;
        let text = format!(" JRC .{distance:+}");
        let byte = (distance - 2) as u8;
        self.code(&text, &[0x38, byte]);
    }

    /// A new label, and some pending ones.
    fn labels(&mut self) {
        let label = self.new_label();
        let mut text = self.define(label);
        for _ in 0..self.random.below(5).min(self.pending.len()) {
            let at = self.random.below(self.pending.len());
            let label = self.pending.swap_remove(at);
            text.push_str(&self.define(label));
        }
        self.line(&text);
    }

    /// Increments `J`, and sometimes emits it as a byte.
    fn count(&mut self) {
        let step = self.random.below(50) as u16;
        self.counter = self.counter.wrapping_add(step);
        self.line(&format!("J = J+{step}"));
        if self.random.below(4) == 0 && !self.is_full() {
            self.code(" .BYTE J&0FFH,J > 8", &[self.counter as u8, (self.counter >> 8) as u8]);
        }
    }
}
