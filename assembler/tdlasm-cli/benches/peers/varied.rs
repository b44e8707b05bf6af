//! A program of mixed statements, in TDL and in the dialect of GNU as: macros, externals, texts,
//! expressions, data and long comments.

use super::Dialect;

/// Statements in both dialects: `L` is a new label, `R` an earlier one, `N` a number, `X` an
/// external, each in braces.
const STATEMENTS: [[&str; 2]; 24] = [
    ["{L}: MVI B,{N}", "{L}: ld b,{N}"],
    ["{L}: DCR B", "{L}: dec b"],
    ["{L}: PUSH H", "{L}: push hl"],
    ["{L} == {N}+BASE", "{L} = {N}+BASE"],
    ["\tMOV A,M", "\tld a,(hl)"],
    ["\tMOV 5(X),A", "\tld (ix+5),a"],
    ["\tXCHG", "\tex de,hl"],
    ["\tRET", "\tret"],
    ["\tLXI H,{R}+{N}*2-1", "\tld hl,{R}+{N}*2-1"],
    ["\tLXI D,{R}", "\tld de,{R}"],
    ["\tJMP {R}", "\tjp {R}"],
    ["\tSTA {R}+3", "\tld ({R}+3),a"],
    ["\tADI ({N}+{N}*3)&7FH", "\tadd a,({N}+{N}*3)&0x7f"],
    ["\tCPI 'A'", "\tcp 'A'"],
    ["\tCALL {X}", "\tcall {X}"],
    ["\tCNZ {X}", "\tcall nz,{X}"],
    ["\t.WORD {X}+{N}", "\t.word {X}+{N}"],
    ["\t.WORD {R},{R}+4", "\t.word {R},{R}+4"],
    ["\t.BYTE {N},{N},0FFH,{N}", "\t.byte {N},{N},0xff,{N}"],
    ["\t.ASCII \"the text of a message\"", "\t.ascii \"the text of a message\""],
    ["\tSTORE {N},{R}", "\tSTORE {N},{R}"],
    ["\tSTORE {N},{X}", "\tSTORE {N},{X}"],
    [";", ";"],
    ["", ""],
];
const COMMENT: &str = "; counts the entries of the table that are still to be sent, and stops \
                       before the end of the buffer";
const HEADS: [&str; 2] = [
    "\t.DEFINE STORE[WHAT,WHERE]=[\n\tMVI A,WHAT\n\tSTA WHERE\n]\nBASE==100H\n\t.EXTERN X0,X1,X2,\
     X3,X4,X5,X6,X7\n",
    "\t.macro STORE what,where\n\tld a,\\what\n\tld (\\where),a\n\t.endm\nBASE = 0x100\n",
];
/// Statements between two origins, so that the program stays below 64 KB.
const ROUND: usize = 8000;

/// Returns a program of about `lines` lines.
pub(super) fn program(lines: usize, dialect: Dialect) -> String {
    let dialect = usize::from(dialect != Dialect::Tdl);
    let mut text = HEADS[dialect].to_owned();
    let mut random = 1u32;
    // The high bits of a linear congruential generator.
    let mut draw = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as usize % below
    };
    let (mut labels, mut first) = (0, 0);
    for line in 0..lines {
        if line % ROUND == 0 {
            text += &["\t.LOC 100H\n".to_owned(), format!("\t.section s{line},\"x\"\n")][dialect];
            (labels, first) = (labels + 1, labels);
            text += &format!("{}:\n", label(first));
        }
        let mut rest = STATEMENTS[draw(STATEMENTS.len())][dialect];
        while let Some((before, after)) = rest.split_once('{') {
            text += before;
            match after.as_bytes()[0] {
                b'L' => {
                    labels += 1;
                    text += &label(labels - 1);
                }
                b'R' => text += &label(labels - 1 - draw((labels - first).min(200))),
                b'X' => text += &format!("X{}", draw(8)),
                _ => text += &draw(60).to_string(),
            }
            rest = &after[2..];
        }
        text += rest;
        let comment = draw(2 * COMMENT.len());
        text += if rest == ";" { COMMENT } else { "" };
        if comment < COMMENT.len() && !rest.starts_with(';') {
            text += "\t";
            text += &COMMENT[..comment + 1];
        }
        text.push('\n');
    }
    text + ["\t.END\n", ""][dialect]
}

/// Returns a name of six characters for each number below 60 million.
fn label(number: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let digit = |place: u32| char::from(DIGITS[number / 36usize.pow(place) % 36]);
    format!("L{}{}{}{}{}", digit(4), digit(3), digit(2), digit(1), digit(0))
}
