//! The program that is measured: labels, locals, forward references, expressions, data, comments.

use std::fmt::Write;

/// Lines of one block of the program.
const BLOCK: usize = 14;
/// After this many blocks the location counter goes back, so that the program stays below 64 KB.
const BLOCKS_A_ROUND: usize = 800;

/// A program of at least `lines` lines without macros.
pub(crate) fn plain(lines: usize) -> String {
    let mut text = String::with_capacity(lines * 22);
    text.push_str("BASE==100H\n");
    let blocks = lines.div_ceil(BLOCK);
    for block in 0..blocks {
        if block % BLOCKS_A_ROUND == 0 {
            text.push_str("\t.LOC 100H\n");
        }
        write_block(&mut text, block);
    }
    let _ = write!(text, "L{blocks:05}: RET\n\t.END\n");
    text
}

fn write_block(text: &mut String, block: usize) {
    let _ = write!(
        text,
        "L{block:05}: MVI A,{low}\t; load a counter\n\
         \tLXI H,T{block:05}+2*3\n\
         ..A:\tMOV A,M\n\
         \tINX H\n\
         \tADI (BASE&0FH)+{digit}\n\
         \tMOV 3(X),A\n\
         \tDCR B\n\
         \tJRNZ ..A\n\
         \tJMP L{next:05}\n\
         ; a line that is only a comment, as programs have many of them\n\
         T{block:05}:\t.BYTE 1,2,'A',0FFH,{digit}\n\
         \t.WORD L{block:05},T{block:05}-L{block:05}\n\
         \t.ASCII 'some text of ours'\n\n",
        low = block % 256,
        digit = block % 7,
        next = block + 1,
    );
}

/// A program of at least `lines` lines, every tenth of which is a call of a macro of three lines.
pub(crate) fn with_macros(lines: usize) -> String {
    let mut text =
        String::from("\t.DEFINE STORE[WHAT,WHERE]=[\n\tMVI A,WHAT\n\tSTA WHERE\n]\n\t.LOC 100H\n");
    for line in 0..lines.div_ceil(10) {
        if line % 3000 == 0 {
            text.push_str("\t.LOC 100H\n");
        }
        let _ = writeln!(text, "\tSTORE {}+1,4000H+{}", line % 100, line % 1000);
        text.push_str(
            "\tMOV A,B\n\tXRA C\n\tMOV D,A\n\tINX H\n\tDCX B\n\tPUSH B\n\tPOP D\n\tNOP\n\tNOP\n",
        );
    }
    text.push_str("\t.END\n");
    text
}
