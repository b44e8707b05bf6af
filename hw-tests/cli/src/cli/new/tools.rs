//! Assemblers and compilers: where to get them, and a project for each.

use clap::ValueEnum;

/// An assembler or compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Tool {
    Asl,
    Gas,
    Pasmo,
    Rasm,
    Sdcc,
    Sjasmplus,
    Vasm,
    Wla,
    Z80asm,
    Z88dk,
    Zasm,
    Zmac,
}

/// How a tool makes a program. In all texts, `$NAME` is the name of the routine and of its files.
pub(super) struct Recipe {
    /// The first program of the command.
    pub(super) executable: &'static str,
    /// How to install the tool: a command, or its page.
    pub(super) install: &'static str,
    /// The extension of a source.
    pub(super) extension: &'static str,
    /// What a source has before its first routine.
    header: &'static str,
    /// What the linker reads beside the source: the name of the file, and its text.
    pub(super) link_file: Option<(&'static str, &'static str)>,
    /// The command, which is run in the folder of the test file.
    pub(super) build: &'static str,
    /// The program that it makes.
    pub(super) program: &'static str,
    /// The files with symbols and lines that it makes.
    pub(super) symbols: &'static [&'static str],
    /// Whether the program is a binary, which does not contain its address.
    pub(super) is_binary: bool,
}

/// The address of the routine in all sources.
pub(super) const ORIGIN: u16 = 0x8000;

const ASSEMBLED: Recipe = Recipe {
    executable: "",
    install: "",
    extension: "asm",
    header: "        org  8000h\n",
    link_file: None,
    build: "",
    program: "$NAME.hex",
    symbols: &[],
    is_binary: false,
};

impl Tool {
    pub(super) fn recipe(self) -> Recipe {
        match self {
            Self::Asl => Recipe {
                executable: "asl",
                install: "http://john.ccac.rwth-aachen.de:8000/as/",
                header: "        cpu  z80\n        org  8000h\n",
                build: "asl -U -q -L -olist $NAME.lst -g MAP -o $NAME.p $NAME.asm && \
                        p2hex -q -F Intel $NAME.p $NAME.hex",
                symbols: &["$NAME.map"],
                ..ASSEMBLED
            },
            Self::Gas => Recipe {
                executable: "z80-unknown-coff-as",
                install: "apt install binutils-z80",
                extension: "s",
                header: "        .text           ; linked at 8000H\n        .globl $NAME\n",
                build: "z80-unknown-coff-as -gstabs -o $NAME.o $NAME.s && \
                        z80-unknown-coff-ld -Ttext 0x8000 -o $NAME.out $NAME.o",
                program: "$NAME.out",
                ..ASSEMBLED
            },
            Self::Pasmo => Recipe {
                executable: "pasmo",
                install: "apt install pasmo",
                build: "pasmo --hex $NAME.asm $NAME.hex $NAME.sym",
                symbols: &["$NAME.sym"],
                ..ASSEMBLED
            },
            Self::Rasm => Recipe {
                executable: "rasm",
                install: "https://github.com/EdouardBERGE/rasm",
                header: "        org  #8000\n",
                build: "rasm $NAME.asm -ob $NAME.bin -os $NAME.sym -s -sa",
                program: "$NAME.bin",
                symbols: &["$NAME.sym"],
                is_binary: true,
                ..ASSEMBLED
            },
            Self::Sdcc => Recipe {
                executable: "sdcc",
                install: "apt install sdcc",
                extension: "c",
                build: "sdcc -mz80 --debug --no-std-crt0 --nostdlib --code-loc 0x8000 \
                        --data-loc 0x9000 -o $NAME.ihx $NAME.c",
                program: "$NAME.ihx",
                symbols: &["$NAME.noi"],
                ..ASSEMBLED
            },
            Self::Sjasmplus => Recipe {
                executable: "sjasmplus",
                install: "https://github.com/z00m128/sjasmplus",
                header: "        DEVICE NOSLOT64K\n        ORG  0x8000\n",
                build: "sjasmplus --nologo --fullpath=off --hex=$NAME.hex --sld=$NAME.sld $NAME.asm",
                symbols: &["$NAME.sld"],
                ..ASSEMBLED
            },
            Self::Vasm => Recipe {
                executable: "vasmz80_oldstyle",
                install: "http://sun.hasenbraten.de/vasm/",
                header: "        org  $8000\n",
                build: "vasmz80_oldstyle -quiet -Fbin -L $NAME.lst -o $NAME.bin $NAME.asm",
                program: "$NAME.bin",
                symbols: &["$NAME.lst"],
                is_binary: true,
                ..ASSEMBLED
            },
            Self::Wla => Recipe {
                executable: "wla-z80",
                install: "https://github.com/vhelin/wla-dx",
                header: WLA_HEADER,
                link_file: Some(("$NAME.link", "[objects]\n$NAME.o\n")),
                build: "wla-z80 -i -o $NAME.o $NAME.asm && \
                        wlalink -b -S -A $NAME.link $NAME.bin",
                program: "$NAME.bin",
                symbols: &["$NAME.sym"],
                is_binary: true,
                ..ASSEMBLED
            },
            Self::Z80asm => Recipe {
                executable: "z80asm",
                install: "apt install z80asm",
                build: "z80asm -o $NAME.bin --label=$NAME.lbl --list=$NAME.lst $NAME.asm",
                program: "$NAME.bin",
                symbols: &["$NAME.lbl", "$NAME.lst"],
                is_binary: true,
                ..ASSEMBLED
            },
            Self::Z88dk => Recipe {
                executable: "z88dk-z80asm",
                install: "https://z88dk.org",
                header: "        SECTION code\n        ORG  $8000\n",
                build: "z88dk-z80asm -b -m -debug -o=$NAME.bin $NAME.asm",
                program: "$NAME_code.bin",
                symbols: &["$NAME.map"],
                is_binary: true,
                ..ASSEMBLED
            },
            Self::Zasm => Recipe {
                executable: "zasm",
                install: "https://github.com/Megatokio/zasm",
                header: "#target ram\n#code CODE,8000H,*\n",
                build: "zasm -uwy -b -i $NAME.asm -l $NAME.lst -o $NAME.bin",
                program: "$NAME.bin",
                symbols: &["$NAME.lst"],
                is_binary: true,
                ..ASSEMBLED
            },
            Self::Zmac => Recipe {
                executable: "zmac",
                install: "http://48k.ca/zmac.html",
                extension: "z",
                build: "zmac --od . --oo hex,lst,bds $NAME.z",
                symbols: &["$NAME.bds"],
                ..ASSEMBLED
            },
        }
    }

    /// Returns the source of a routine, and the cases that test it.
    pub(super) fn routine(self) -> (String, &'static str) {
        match self {
            Self::Sdcc => (C_SOURCE.to_owned(), C_CASES),
            _ => (format!("{}{SOURCE}", self.recipe().header), CASES),
        }
    }
}

const WLA_HEADER: &str = "\
        .MEMORYMAP
        DEFAULTSLOT 0
        SLOT 0 START $8000 SIZE $4000
        .ENDME
        .ROMBANKMAP
        BANKSTOTAL 1
        BANKSIZE $4000
        BANKS 1
        .ENDRO
        .BANK 0 SLOT 0
        .ORGA $8000
";

/// T-states by Zilog's UM0080, of each turn: ADD HL 11, RLCA 4, JR 12 or 7 and 11, DJNZ 13, at last 8.
/// The others: LD 10, 4 and 7, RET 10.
const SOURCE: &str = "
; $NAME - multiplies two bytes.
;   Entry:    A, E = factors
;   Exit:     HL = product
;   Clobbers: A B D F
;   Stack:    0 bytes
;   Cycles:   346..394
$NAME:
        ld   hl,0
        ld   d,l
        ld   b,8
$NAME_bit:
        add  hl,hl
        rlca
        jr   nc,$NAME_next
        add  hl,de
$NAME_next:
        djnz $NAME_bit
        ret
";

const CASES: &str = "
[[case]]
name = \"largest product\"
call = \"$NAME\"
in = { A = 255, E = 255 }
expect = { HL = 65025, clobbers = \"A B D F\", cycles = 394, stack = 0 }

[[property]]
name = \"product of all bytes\"
call = \"$NAME\"
args = { A = \"u8\", E = \"u8\" }
check = \"HL == in.A * in.E\"
exhaustive = true
";

const C_SOURCE: &str = "\
/* Returns the product of two bytes. */
unsigned int $NAME(unsigned char a, unsigned char b)
{
    unsigned int product = 0;
    unsigned int factor = a;

    for (; b != 0; b >>= 1) {
        if (b & 1)
            product += factor;
        factor <<= 1;
    }
    return product;
}
";

/// SDCC 4.2 passes the first byte in A and the second in L, and returns a word in DE (manual, 4.3.3).
const C_CASES: &str = "
# SDCC passes the first byte in A, the second in L, and returns a word in DE (since version 4.2;
# before, and with --sdcccall 0, arguments are on the stack).
[[case]]
name = \"largest product\"
call = \"$NAME\"
in = { A = 255, L = 255 }
expect.DE = 65025

[[property]]
name = \"product of all bytes\"
call = \"$NAME\"
args = { A = \"u8\", L = \"u8\" }
check = \"DE == in.A * in.L\"
exhaustive = true
";

/// Words that a tool does not accept as a label or as a name of C: registers, conditions, instructions,
/// directives, keywords of C.
const RESERVED: &str = "a b c d e f h i l m p r af bc de hl ix iy sp nc nz pe po \
    adc add and bit call ccf cp cpd cpdr cpi cpir cpl daa dec di djnz ei ex exx halt im in inc ind \
    indr ini inir jp jr ld ldd lddr ldi ldir neg nop or otdr otir out outd outi pop push res ret \
    reti retn rl rla rlc rlca rld rr rra rrc rrca rrd rst sbc scf set sla sll sra srl sub xor \
    align byte db defb defm defs defw dm ds dw end endif endm equ include macro mod module not org \
    section shl shr word \
    auto break case char const continue default do double else enum extern float for goto if int \
    long main register return short signed sizeof static struct switch typedef union unsigned void \
    volatile while";

/// Returns `true` for a name that is a label in every assembler and a function in C.
pub(super) fn is_label(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && RESERVED.split_whitespace().all(|word| !word.eq_ignore_ascii_case(name))
}
