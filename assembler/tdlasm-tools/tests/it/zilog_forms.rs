//! Every instruction that Zilog's notation has a spelling for, documented or not, with its code.
//!
//! The code follows from the fields of the opcode: C. Dinu, "Decoding Z80 Opcodes", and S. Young,
//! "The Undocumented Z80 Documented".

use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Notation, Options, assemble};

/// Operands with the same value in all assemblers: a byte, a word, a displacement, a target.
const BYTE: (&str, &[u8]) = ("05AH", &[0x5A]);
const WORD: (&str, &[u8]) = ("1234H", &[0x34, 0x12]);
const DISPLACEMENT: (&str, u8) = ("+5", 5);
/// The first address of the programs; it is the target of relative jumps.
const TARGET: &str = "$";

const REGISTERS: [&str; 8] = ["B", "C", "D", "E", "H", "L", "(HL)", "A"];
const PAIRS: [&str; 4] = ["BC", "DE", "HL", "SP"];
const CONDITIONS: [&str; 8] = ["NZ", "Z", "NC", "C", "PO", "PE", "P", "M"];
const OPERATIONS: [&str; 8] = ["ADD A,", "ADC A,", "SUB ", "SBC A,", "AND ", "XOR ", "OR ", "CP "];
const ROTATIONS: [&str; 8] = ["RLC", "RRC", "RL", "RR", "SLA", "SRA", "SLL", "SRL"];
const BIT_INSTRUCTIONS: [&str; 3] = ["BIT", "RES", "SET"];
const BLOCK: [[&str; 4]; 4] = [
    ["LDI", "CPI", "INI", "OUTI"],
    ["LDD", "CPD", "IND", "OUTD"],
    ["LDIR", "CPIR", "INIR", "OTIR"],
    ["LDDR", "CPDR", "INDR", "OTDR"],
];

/// What follows an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    None,
    Byte,
    Word,
    Relative,
}

/// An instruction: its spelling and its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) text: String,
    pub(crate) code: Vec<u8>,
    /// Whether Zilog documents it.
    pub(crate) documented: bool,
}

/// The instruction of an opcode without prefix, in which `n` is the operand.
fn plain(opcode: u8) -> (String, Operand) {
    let (x, y, z) = (opcode >> 6, usize::from(opcode >> 3 & 7), usize::from(opcode & 7));
    let (pair, q) = (PAIRS[y >> 1], y & 1);
    let of_two = |first: String, second: String| if q == 0 { first } else { second };
    let none = |text: String| (text, Operand::None);
    match (x, z) {
        (0, 0) => match y {
            0 => none("NOP".into()),
            1 => none("EX AF,AF'".into()),
            2 => ("DJNZ n".into(), Operand::Relative),
            3 => ("JR n".into(), Operand::Relative),
            _ => (format!("JR {},n", CONDITIONS[y - 4]), Operand::Relative),
        },
        (0, 1) if q == 0 => (format!("LD {pair},n"), Operand::Word),
        (0, 1) => none(format!("ADD HL,{pair}")),
        (0, 2) => match y {
            0 | 2 => none(format!("LD ({pair}),A")),
            1 | 3 => none(format!("LD A,({pair})")),
            4 => ("LD (n),HL".into(), Operand::Word),
            5 => ("LD HL,(n)".into(), Operand::Word),
            6 => ("LD (n),A".into(), Operand::Word),
            _ => ("LD A,(n)".into(), Operand::Word),
        },
        (0, 3) => none(of_two(format!("INC {pair}"), format!("DEC {pair}"))),
        (0, 4) => none(format!("INC {}", REGISTERS[y])),
        (0, 5) => none(format!("DEC {}", REGISTERS[y])),
        (0, 6) => (format!("LD {},n", REGISTERS[y]), Operand::Byte),
        (0, _) => none(["RLCA", "RRCA", "RLA", "RRA", "DAA", "CPL", "SCF", "CCF"][y].to_owned()),
        (1, _) if opcode == 0x76 => none("HALT".into()),
        (1, _) => none(format!("LD {},{}", REGISTERS[y], REGISTERS[z])),
        (2, _) => none(format!("{}{}", OPERATIONS[y], REGISTERS[z])),
        (_, 0) => none(format!("RET {}", CONDITIONS[y])),
        (_, 1) if q == 0 => none(format!("POP {}", pair.replace("SP", "AF"))),
        (_, 1) => none(["RET", "EXX", "JP (HL)", "LD SP,HL"][y >> 1].into()),
        (_, 2) => (format!("JP {},n", CONDITIONS[y]), Operand::Word),
        (_, 3) => match y {
            0 => ("JP n".into(), Operand::Word),
            2 => ("OUT (n),A".into(), Operand::Byte),
            3 => ("IN A,(n)".into(), Operand::Byte),
            _ => none(["", "", "", "", "EX (SP),HL", "EX DE,HL", "DI", "EI"][y].into()),
        },
        (_, 4) => (format!("CALL {},n", CONDITIONS[y]), Operand::Word),
        (_, 5) if q == 0 => none(format!("PUSH {}", pair.replace("SP", "AF"))),
        (_, 5) => ("CALL n".into(), Operand::Word),
        (_, 6) => (format!("{}n", OPERATIONS[y]), Operand::Byte),
        _ => none(format!("RST {:02X}H", y * 8)),
    }
}

/// The instruction of an opcode behind ED; `None` if it has none of its own.
fn extended(opcode: u8) -> Option<(String, Operand)> {
    let (x, y, z) = (opcode >> 6, usize::from(opcode >> 3 & 7), usize::from(opcode & 7));
    let (pair, q) = (PAIRS[y >> 1], y & 1);
    let none = |text: String| Some((text, Operand::None));
    match (x, z) {
        (1, 0) => none(format!("IN {},(C)", REGISTERS[y].replace("(HL)", "F"))),
        (1, 1) => none(format!("OUT (C),{}", REGISTERS[y].replace("(HL)", "0"))),
        (1, 2) => none(format!("{} HL,{pair}", if q == 0 { "SBC" } else { "ADC" })),
        // The long forms of LD HL,(n) and its reverse have no spelling.
        (1, 3) if pair == "HL" => None,
        (1, 3) if q == 0 => Some((format!("LD (n),{pair}"), Operand::Word)),
        (1, 3) => Some((format!("LD {pair},(n)"), Operand::Word)),
        (1, 4) if y == 0 => none("NEG".into()),
        (1, 5) if y < 2 => none(["RETN", "RETI"][y].into()),
        (1, 6) if [0, 2, 3].contains(&y) => none(format!("IM {}", y.saturating_sub(1))),
        (1, 7) if y < 6 => {
            none(["LD I,A", "LD R,A", "LD A,I", "LD A,R", "RRD", "RLD"][y].to_owned())
        }
        (2, 0..=3) if y >= 4 => none(BLOCK[y - 4][z].to_owned()),
        _ => None,
    }
}

/// The spelling behind the prefix of an index register; `None` if it is the same without one.
fn indexed(text: &str, index: &str) -> Option<String> {
    if text == "EX DE,HL" {
        return None;
    }
    if text == "JP (HL)" {
        return Some(format!("JP ({index})"));
    }
    if text.contains("(HL)") {
        return Some(text.replace("(HL)", &format!("({index}{})", DISPLACEMENT.0)));
    }
    let (mnemonic, operands) = text.split_once(' ')?;
    let operand = |word: &str| match word {
        "HL" => index.to_owned(),
        "H" | "L" => format!("{index}{word}"),
        "(SP)" | "SP" => word.to_owned(),
        other => other.to_owned(),
    };
    let changed: Vec<String> = operands.split(',').map(operand).collect();
    let changed = format!("{mnemonic} {}", changed.join(","));
    (changed != text).then_some(changed)
}

fn complete(
    prefix: &[u8],
    opcode: u8,
    text: &str,
    operand: Operand,
    documented: bool,
) -> Instruction {
    let mut code = [prefix, &[opcode]].concat();
    if text.contains(DISPLACEMENT.0) {
        code.push(DISPLACEMENT.1);
    }
    let (spelling, bytes): (&str, Vec<u8>) = match operand {
        Operand::None => ("", Vec::new()),
        Operand::Byte => (BYTE.0, BYTE.1.to_vec()),
        Operand::Word => (WORD.0, WORD.1.to_vec()),
        Operand::Relative => (TARGET, vec![0xFE]),
    };
    code.extend(bytes);
    let text = match operand {
        Operand::None => text.to_owned(),
        _ => text.replace('n', spelling),
    };
    Instruction { text, code, documented }
}

/// All instructions.
pub(crate) fn instructions() -> Vec<Instruction> {
    let mut all = Vec::new();
    for opcode in 0..=0xFF {
        if !matches!(opcode, 0xCB | 0xDD | 0xED | 0xFD) {
            let (text, operand) = plain(opcode);
            all.push(complete(&[], opcode, &text, operand, true));
            for (prefix, index) in [(0xDD, "IX"), (0xFD, "IY")] {
                if let Some(text) = indexed(&text, index) {
                    let is_half = text.contains("IXH")
                        || text.contains("IXL")
                        || text.contains("IYH")
                        || text.contains("IYL");
                    all.push(complete(&[prefix], opcode, &text, operand, !is_half));
                }
            }
        }
        if let Some((text, operand)) = extended(opcode) {
            let documented = !text.contains("F,") && !text.ends_with(",0");
            all.push(complete(&[0xED], opcode, &text, operand, documented));
        }
        all.extend(bit_instructions(opcode));
    }
    all
}

/// The instructions of an opcode behind CB, without and with an index register.
fn bit_instructions(opcode: u8) -> Vec<Instruction> {
    let (x, y) = (usize::from(opcode >> 6), usize::from(opcode >> 3 & 7));
    let register = REGISTERS[usize::from(opcode & 7)];
    let name = match x {
        0 => format!("{} ", ROTATIONS[y]),
        _ => format!("{} {y},", BIT_INSTRUCTIONS[x - 1]),
    };
    let documented = !name.starts_with("SLL");
    let plain =
        Instruction { text: format!("{name}{register}"), code: vec![0xCB, opcode], documented };
    let mut all = vec![plain];
    for (prefix, index) in [(0xDD, "IX"), (0xFD, "IY")] {
        let (copy, documented) = match register {
            "(HL)" => (String::new(), documented),
            // BIT has nothing to copy.
            _ if x == 1 => continue,
            _ => (format!(",{register}"), false),
        };
        let text = format!("{name}({index}{}){copy}", DISPLACEMENT.0);
        all.push(Instruction {
            text,
            code: vec![prefix, 0xCB, DISPLACEMENT.1, opcode],
            documented,
        });
    }
    all
}

/// Assembles a source in Zilog's notation, and returns its bytes from the first one on.
pub(crate) fn assembled(source: &str) -> Result<Vec<u8>, String> {
    let loader = MemoryLoader::new().with("a.asm", source);
    let options = Options { notation: Notation::Zilog, ..Options::default() };
    let assembly =
        assemble(&loader, &["a.asm".into()], &options).map_err(|error| error.to_string())?;
    let program = link(&assembly.modules, &Layout::flat(0)).map_err(|errors| errors.to_string())?;
    Ok(program.image.flat(0))
}

#[test]
fn every_instruction_has_its_code() {
    let all = instructions();
    assert_eq!(all.len(), 1136);
    let mut wrong = Vec::new();
    for Instruction { text, code, .. } in &all {
        let source = format!("\tORG 8000H\n\t{text}\n");
        match assembled(&source) {
            Ok(found) if found == *code => {}
            other => wrong.push(format!("{text}: {code:02X?}, {other:02X?}")),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
