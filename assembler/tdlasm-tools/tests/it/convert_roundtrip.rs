//! Conversion to the other dialect and back: programs keep their bytes and comments, and any text
//! can be converted.

use proptest::prelude::*;

use tdlasm::source::MemoryLoader;
use tdlasm::{Options as AssemblyOptions, assemble};
use tdlasm_tools::convert::{Dialect, Options, convert};

use crate::converted_programs::{Taste, converted, image, program, sources};

/// Operands that mix numbers and addresses.
const ANYTHING: &[&str] =
    &["0", "2", "0FFFFH", "'Z'", "K0", "K1", "KV", "L0", "L1", "L0-L1", "H", "..T"];

const OPERATORS: &[&str] = &["+", "-", "*", "/", "@", "&", "!", "^"];

/// The comments of a program of [`program`]'s.
fn comments(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().filter_map(|line| line.find("; #").map(|at| line[at..].to_owned())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn programs_have_the_same_bytes_and_comments_after_there_and_back(
        source in program(Taste { atoms: ANYTHING, operators: OPERATORS, shifts: &["<", ">"] }, 60),
    ) {
        let wanted = image(source.as_str());
        prop_assume!(wanted.is_some());
        let there = converted(source.as_str(), Dialect::Zilog);
        let back = converted(there.text.clone(), Dialect::Tdl);
        prop_assert_eq!(comments(&there.text), comments(source.as_bytes()));
        prop_assert_eq!(comments(&back.text), comments(source.as_bytes()));
        prop_assert_eq!(image(back.text.clone()), wanted, "{}\n{}", source, String::from_utf8_lossy(&there.text));
    }
}

/// Definitions that change what later lines mean.
const DEFINITIONS: &str = "\
        .LOC 100H
        .DEFINE LOAD[N]=[
        MVI B,N
]
        .DEFINE VAL=[5+3]
        .DEFINE CMA=[RET]
        .OPSYN .IFN,IF
        .SYN A,RA
        .OPSYN NOP,REST
R1 == 3
K0 == 1
KV = 1
L0:     NOP
..T:    NOP
";

/// Lines that are hard or impossible to convert.
const LINES: &[&str] = &[
    " LOAD 10\n",
    " LOAD [7]\n",
    " CMA\n",
    " RLC\n",
    " REST\n",
    " MVI A,VAL\n",
    " JP VAL\n",
    " CP L0\n",
    " MOV R1,B\n",
    " ADD R1\n",
    " MOV RA,B\n",
    " RST R1\n",
    " IF K0,[ NOP ]\n",
    " .IFE K0,[\n MVI A,1\n] [\n JP 10H ; [10]\n]\n",
    " .IFE K0,[ MVI A,1\n NOP ]\n NOP\n",
    " .IFN K0,MVI A,10\n",
    " .IFN K0,[\n .RADIX 16\n]\n",
    " .IFIDN [a][b],[NOP]\n",
    " .RADIX 16\n",
    " .RADIX 8\n",
    " .RADIX 2\n",
    " .RADIX 10\n",
    " .BYTE 10,11B,1.,10H,'A'\n",
    " .BYTE 10B\n",
    " .WORD VAL*10\n",
    " .WORD JMP,B\n",
    " .WORD 1,.\n",
    " .WORD 1/0\n",
    " .WORD 1<K0\n",
    " .WORD 1<KV\n",
    " .WORD .+10\n",
    " JP 1/0\n",
    " JP 10\n",
    " CPI 10\n",
    " IN 10\n",
    " OUT R1\n",
    " K0\n",
    " KV = KV+1\n",
    " KV = VAL\n",
    " .ASCII /a\n MOV A,B\n/\n",
    " .ASCII 'JP'[10]\"it's\" ; 'x\n",
    " .ASCIS [K0]\n",
    " .ASCIZ ]JP]\n",
    " .REMARK /x\n JP 5\n .RADIX 16/\n",
    " .TITLE /x;y/\n",
    " .RAD40 ABC\n",
    " .BLKW K0\n",
    " LXI H,L0\n",
    " JMPR .+2\n",
    " MOV A,K0(X)\n",
    " MOV A,(K0) (Y)\n",
    " MVI 7,1\n",
    " MVI A,'; JP'\n",
    " SHLD (L0)\n",
    " PUSH PSW\n",
    " LDAX D ; (HL) ' \"\n",
    "; .RADIX 16 .DEFINE NOP=[\n",
    "\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn statements_that_stay_do_not_change_what_others_mean(
        lines in prop::collection::vec(prop::sample::select(LINES), 0..40),
    ) {
        let source = format!("{DEFINITIONS}{}\n .END\n", lines.concat());
        let wanted = image(source.as_str());
        prop_assume!(wanted.is_some());
        let there = converted(source.as_str(), Dialect::Zilog);
        let back = converted(there.text.clone(), Dialect::Tdl);
        let shown = String::from_utf8_lossy(&there.text);
        prop_assert_eq!(image(back.text.clone()), wanted, "{}\n{}\n{}", source, shown, String::from_utf8_lossy(&back.text));
    }

    #[test]
    fn any_bytes_are_converted_or_stay(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        lines in prop::collection::vec(prop::sample::select(WORDS), 0..60),
    ) {
        for text in [bytes, lines.concat().into_bytes()] {
            for to in [Dialect::Zilog, Dialect::Tdl] {
                let once = converted(text.clone(), to);
                prop_assert!(once.notes.iter().all(|note| note.line > 0 && note.column > 0));
                converted(once.text.clone(), Dialect::Zilog);
                converted(once.text, Dialect::Tdl);
            }
        }
    }
}

/// The modules that each file assembles to, as text.
fn modules(files: &[(String, String)]) -> Vec<String> {
    let loader = files
        .iter()
        .fold(MemoryLoader::new(), |loader, (name, text)| loader.with(name, text.as_str()));
    let one = |name: &String| {
        let assembly = assemble(&loader, &[name.into()], &AssemblyOptions::default());
        format!(
            "{:?}",
            assembly.map(|assembly| assembly.modules).map_err(|error| error.to_string())
        )
    };
    files.iter().map(|(name, _)| one(name)).collect()
}

#[test]
fn the_evaluator_is_the_same_after_there_and_back() {
    let files = sources("sargon-src");
    let convert_all = |files: &[(String, String)], to| -> Vec<(String, String)> {
        let loader = files
            .iter()
            .fold(MemoryLoader::new(), |loader, (name, text)| loader.with(name, text.as_str()));
        let one = |name: &str| convert(&loader, name.as_ref(), &Options::new(to)).expect("a file");
        let text = |name: &str| String::from_utf8(one(name).text).expect("text");
        files.iter().map(|(name, _)| (name.clone(), text(name))).collect()
    };
    let back = convert_all(&convert_all(&files, Dialect::Zilog), Dialect::Tdl);
    assert!(files.len() > 8, "{} files", files.len());
    assert_eq!(modules(&files), modules(&back));
    assert!(modules(&files).iter().all(|module| module.starts_with("Ok(")));
}

#[test]
fn huge_texts_are_converted_in_linear_time() {
    let texts = [
        format!(" .WORD {}1{}\n", "(".repeat(40_000), ")".repeat(40_000)),
        format!(" DW {}1\n", "1+".repeat(80_000)),
        format!(" DW {}1\n", "-".repeat(40_000)),
        "A".repeat(800_000),
        "X MACRO\n".repeat(8_000),
        " .ASCII 'a\n [\n".repeat(4_000),
        "A$: A.: a: A%:".repeat(2_000),
    ];
    for text in texts {
        for to in [Dialect::Zilog, Dialect::Tdl] {
            converted(text.as_str(), to);
        }
    }
}

/// Pieces of statements of both dialects.
const WORDS: &[&str] = &[
    "LD ",
    "JP ",
    "MOV ",
    "MVI ",
    "ADD ",
    "RST ",
    "EX AF,AF'",
    "A",
    "(HL)",
    "(IX",
    "IY",
    "5(X)",
    "(Y)",
    "DB ",
    "DS ",
    "ORG ",
    "EQU ",
    "DEFL ",
    "INCLUDE ",
    "MACRO ",
    "ENDM",
    "IF ",
    "ENDIF",
    "END",
    ".END",
    ".BYTE ",
    ".ASCII ",
    ".ASCIS ",
    ".DEFINE ",
    ".IFE ",
    ".RADIX ",
    ".INSERT ",
    ".EXTERN ",
    ".OPSYN ",
    ".LOC ",
    ".JP ",
    "NAME",
    "__L",
    "G__L",
    "..L",
    "X",
    "1",
    "0FFH",
    "101B",
    "$",
    ".",
    "$1F",
    "%1",
    "'A'",
    "''",
    "'",
    "\"",
    "^H",
    "#",
    "@",
    "&",
    "|",
    "!",
    "~",
    "<<",
    "<",
    ">",
    "+",
    "-",
    "*",
    "/",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "::",
    "=",
    "==",
    "=\\",
    ";",
    "\n",
    "\n",
    "\n",
    "\r",
    " ",
    " ",
    "\t",
    "\x1A",
];
