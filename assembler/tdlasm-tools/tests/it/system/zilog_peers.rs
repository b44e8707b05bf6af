//! Other assemblers make the same bytes of sources in Zilog's notation.

use std::fs;
use std::path::Path;
use std::process::Command;

use tdlasm::link::{Layout, link};
use tdlasm::source::DiskLoader;
use tdlasm::{Notation, Options, assemble};

use super::peer::Peer;
use crate::generator::random::Random;
use crate::zilog_forms::{Instruction, assembled, instructions};

/// Programs for each assembler.
const PROGRAMS: u64 = 200;
const LINES: usize = 60;
/// The instructions with halves of index registers.
const HALVES: usize = 92;
/// What pasmo lacks beside the instructions that copy an indexed byte.
const PASMO_LACKS: [&str; 2] = ["IN F,(C)", "OUT (C),0"];

impl Peer {
    /// Returns the instruction in the spelling of the assembler, if it has it.
    fn spelling(self, instruction: &Instruction) -> Option<String> {
        let Instruction { text, code, .. } = instruction;
        let has_copy = code.len() == 4 && code[1] == 0xCB && code[3] & 7 != 6;
        match self {
            Peer::Pasmo if has_copy || PASMO_LACKS.contains(&&**text) => None,
            Peer::Z80asm if has_copy || has_half(text) => None,
            Peer::Z80asm => Some(text.replace("SLL", "SLI")),
            _ => Some(text.clone()),
        }
    }
}

/// Returns `true` for a half of an index register. z80asm 1.8 lacks INC and DEC of them, and takes
/// IXL for IXH in arithmetic; it ignores the register of a copy.
fn has_half(text: &str) -> bool {
    ["IXH", "IXL", "IYH", "IYL"].iter().any(|half| text.contains(half))
}

/// Compares the bytes that an assembler makes of a source with ours.
fn compare(peer: Peer, source: &str) {
    let ours = assembled(source).unwrap_or_else(|messages| panic!("{messages}\n{source}"));
    let theirs = peer
        .try_assemble(source.as_bytes(), 0x100)
        .unwrap_or_else(|printed| panic!("{peer:?}: {printed}\n{source}"));
    let different = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
    assert!(
        different.is_none() && ours.len() == theirs.len(),
        "{peer:?} differs {different:?} bytes behind the origin, {} and {}:\n{source}",
        ours.len(),
        theirs.len()
    );
}

#[test]
fn other_assemblers_give_every_instruction_the_same_code() {
    for peer in Peer::COMMON {
        let all = instructions();
        let known: Vec<String> = all.iter().filter_map(|one| peer.spelling(one)).collect();
        let count = match peer {
            // Of each index register the shifts, RES and SET of 8 bits, to 7 registers.
            Peer::Pasmo => 1136 - 2 * 24 * 7 - PASMO_LACKS.len(),
            Peer::Z80asm => 1136 - 2 * 24 * 7 - HALVES,
            _ => 1136,
        };
        assert_eq!(known.len(), count, "{peer:?}");
        let lines: String = known.iter().map(|text| format!("\t{text}\n")).collect();
        compare(peer, &format!("\tORG 100H\n{lines}"));
    }
}

#[test]
fn other_assemblers_make_the_same_of_programs_in_zilogs_notation() {
    for peer in Peer::COMMON {
        let instructions: Vec<String> =
            instructions().iter().filter_map(|one| peer.spelling(one)).collect();
        for seed in 1..=PROGRAMS {
            let random = Random::new(seed);
            let mut program = Program { peer, random, labels: 1, text: String::new() };
            program.write(&instructions);
            compare(peer, &program.text);
        }
    }
}

/// The example programs and the header of Debian's package of z80asm.
const EXAMPLES: &str = "/usr/share/doc/z80asm/examples";
const HEADERS: &str = "/usr/share/z80asm/headers";

#[test]
fn example_programs_of_z80asm_need_no_change() {
    for name in ["hello", "macro"] {
        let file = Path::new(EXAMPLES).join(format!("{name}.asm"));
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("a.bin");
        let mut command = Command::new("z80asm");
        command.current_dir(EXAMPLES).arg("-I").arg(format!("{HEADERS}/"));
        let status = command.arg("-o").arg(&output).arg(&file).status().expect("z80asm");
        assert!(status.success(), "{name}");
        let mut options = Options { notation: Notation::Zilog, ..Options::default() };
        options.include_dirs = vec![HEADERS.into()];
        let assembly = assemble(&DiskLoader, &[file], &options).expect("a program without errors");
        let program = link(&assembly.modules, &Layout::flat(0)).expect("a program that links");
        let theirs = fs::read(output).expect("the program");
        // The room that DS reserves at the end has no bytes here.
        let mut ours = program.image.flat(0);
        ours.resize(theirs.len(), 0);
        assert!(ours == theirs, "{name}");
    }
}

/// A program, as it is generated.
struct Program {
    peer: Peer,
    random: Random,
    labels: usize,
    text: String,
}

impl Program {
    fn write(&mut self, instructions: &[String]) {
        self.text += "; generated\n\tORG 100H\nK0:\tEQU 3\n";
        // z80asm takes 0 for a symbol from further below.
        self.text += match self.peer {
            Peer::Z80asm => "K2:\tEQU 7\nK1:\tEQU K2+1\nL0:\tNOP\n",
            _ => "K1:\tEQU K2+1\nK2:\tEQU 7\nL0:\tNOP\n",
        };
        match self.peer {
            Peer::Pasmo => {
                self.text += "PAIR\tMACRO WHERE,WHAT\n\tLD HL,WHERE\n\tDB WHAT,WHAT\n\tENDM\n"
            }
            Peer::Z80asm => self.text += "LOAD:\tMACRO WHERE\n\tLD HL,WHERE\n\tENDM\n",
            _ => {}
        }
        for _ in 0..LINES {
            self.statement(instructions);
        }
        for label in 0..self.labels {
            self.text += &format!("\tDW L{label}\n");
        }
    }

    fn statement(&mut self, instructions: &[String]) {
        let instruction = &instructions[self.random.below(instructions.len())];
        let (value, byte) = (self.value(), self.byte());
        let line = match self.random.below(14) {
            0 => return self.label(),
            1 => return self.conditional(instructions),
            2 => format!("DB {byte},'It',{byte}"),
            3 => format!("DW {value},{byte}"),
            4 => format!("DS {}", self.random.below(20)),
            5 => format!("LD BC,{value} ; {instruction}"),
            6 => format!("ld\ta , {byte}"),
            7 => format!("JR NZ,$+{}", self.random.below(100)),
            8 => format!("LD (IX-{}),{byte}", 1 + self.random.below(128)),
            9 => format!("set {},(iy + {})", self.random.below(8), self.random.below(128)),
            10 if self.peer == Peer::Pasmo => format!("PAIR {value}, {byte}"),
            10 if self.peer == Peer::Z80asm => format!("LOAD {value}"),
            11 if self.peer == Peer::Pasmo => {
                format!("REPT {}\n\t{instruction}\n\tENDM", 1 + self.random.below(4))
            }
            _ => instruction.clone(),
        };
        self.text += &format!("\t{line}\n");
    }

    fn label(&mut self) {
        // Of these only pasmo takes labels without colon.
        let colon = if self.peer == Peer::Pasmo && self.random.below(2) == 0 { "" } else { ":" };
        self.text += &format!("L{}{colon}\n", self.labels);
        self.labels += 1;
    }

    fn conditional(&mut self, instructions: &[String]) {
        let one = &instructions[self.random.below(instructions.len())];
        let other = &instructions[self.random.below(instructions.len())];
        let condition = self.random.pick(&["K0-3", "K2", "K0-2", "K2-7"]);
        let inner = self.random.pick(&["0", "1"]);
        self.text += &format!(
            "\tIF {condition}\n\t{one}\n\tELSE\n\tIF {inner}\n\t{other}\n\tENDIF\n\tENDIF\n"
        );
    }

    fn byte(&mut self) -> String {
        let number = self.random.below(0x100);
        match self.random.below(9) {
            0 => format!("{number:03X}H"),
            1 => format!("0x{number:02X}"),
            2 => format!("{number:08b}B"),
            3 => format!("%{number:08b}"),
            4 => format!("${number:02x}"),
            5 => "'A'".to_owned(),
            6 => "K1+(K2*3)".to_owned(),
            7 => format!("K0+{}/K2", number),
            _ => number.to_string(),
        }
    }

    fn value(&mut self) -> String {
        let (label, byte) = (self.random.below(self.labels), self.byte());
        match self.random.below(5) {
            0 => format!("L{label}+{byte}"),
            1 => format!("L{label}-K2"),
            2 => self.random.word().to_string(),
            3 => "$".to_owned(),
            _ => byte,
        }
    }
}
