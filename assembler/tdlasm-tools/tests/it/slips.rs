//! Slips of newcomers: each has a message, and its fix gives the program that was meant.

use tdlasm::diag::{Diagnostic, LintLevels};
use tdlasm::source::MemoryLoader;
use tdlasm::{Assembly, Options, asm};
use tdlasm_tools::convert::translate;

/// The slip, the message's code, a part of the message or its help, and the fixed text.
type Slip = (&'static str, &'static str, &'static str, Option<&'static str>);

const SLIPS: &[Slip] = &[
    // Registers are numbers.
    (" MOV A,5", "W18", "did you mean MVI A,5?", Some(" MVI A,5")),
    (" mov b,7", "W18", "did you mean mvi b,7?", Some(" mvi b,7")),
    (" ADD 7 ; seven", "W18", "did you mean ADI 7?", Some(" ADI 7 ; seven")),
    (" CMP 0", "W18", "did you mean CPI 0?", Some(" CPI 0")),
    (" SBB 2+1", "W18", "did you mean SBI 2+1?", Some(" SBI 2+1")),
    (" MOV 5,A", "W18", "the register L", None),
    (" INR 3", "W18", "the register E", None),
    (" PUSH 0", "W18", "the register B", None),
    (" MOV A,10", "Q08", "did you mean MVI A,10?", Some(" MVI A,10")),
    (" ANA 0FH", "Q08", "did you mean ANI 0FH?", Some(" ANI 0FH")),
    (" MVI A,B", "W19", "did you mean MOV A,B?", Some(" MOV A,B")),
    (" MVI M,C", "W19", "did you mean MOV M,C?", Some(" MOV M,C")),
    (" ADI C", "W19", "did you mean ADD C?", Some(" ADD C")),
    (" CPI M", "W19", "did you mean CMP M?", Some(" CMP M")),
    (" LXI H,D", "W19", "D is the number 2", None),
    (" JMP H", "W19", "H is the number 4", None),
    (" DAD X", "W20", "is assembled with H", None),
    (" PUSH SP", "W20", "is assembled with PSW", None),
    (" LXI PSW,1", "W20", "is assembled with SP", None),
    (" INX M", "W20", "is assembled with SP", None),
    (" MOV A,(X)", "W11", "0(X)", Some(" MOV A,0(X)")),
    (" LDAX H", "W13", "use M for the byte", None),
    // Labels.
    (" JMP LOOP\nLOOP NOP", "W21", "write LOOP:", Some(" JMP LOOP\nLOOP: NOP")),
    ("N = 5\n N", "W21", "write .WORD N", None),
    ("LOOP NOP", "O01", "write LOOP: NOP", Some("LOOP: NOP")),
    (" RET:", "W22", "did you mean RET?", Some(" RET")),
    ("COUNTER1 = 1\nCOUNTER2 = 2", "W23", "only six characters", None),
    ("COUNTER1: NOP\nCOUNTER2: NOP", "M01", "only six characters", None),
    // Numbers and texts.
    (" .LOC 8000", "W24", "did you mean 8000H?", Some(" .LOC 8000H")),
    (" MVI A,FFH", "U01", "write 0FFH", Some(" MVI A,0FFH")),
    (" MVI A,0x1F", "Q03", "write 1FH", Some(" MVI A,1FH")),
    (" MVI A,300", "Q01", "012CH", None),
    (" MVI A,'AB'", "Q01", "4142H does not fit a byte; only 42H is used; a byte is one", None),
    (" .BYTE 256", "Q01", "0100H", None),
    // Flow.
    (" JMP 0\n INX H", "W25", "has no label", None),
    (" PUSH H\n INX H\n RET", "W26", "returns to what PUSH put", None),
    ("HERE: JMPR HERE+200", "R02", "the absolute jump", None),
    // Other assemblers.
    (" LD A,5", "O01", "MVI A,5", Some(" MVI A,5")),
    ("N EQU 5", "O01", "write N = 5", Some("N = 5")),
    (" DB 5", "O01", ".BYTE 5", Some(" .BYTE 5")),
    (" ORG 100H", "O01", ".LOC 100H", Some(" .LOC 100H")),
    (" MOV A,(HL)", "U01", "M for the byte", None),
    ("LOOP: NOP\n JMPP LOOP", "O01", "did you mean JMP?", Some("LOOP: NOP\n JMP LOOP")),
    ("LOOP: NOP", "W27", "LOOP is not used", None),
    // More operands than the instruction takes, and text that is no comment.
    ("AT: RET Z\n JMP AT", "Q11", "in this dialect: RZ", Some("AT: RZ\n JMP AT")),
    ("AT: CALL NZ,AT\n JMP AT", "Q11", "in this dialect: CNZ AT", Some("AT: CNZ AT\n JMP AT")),
    (" ADD A,B", "Q11", "in this dialect: ADD B", Some(" ADD B")),
    (" OUT (C),A", "Q11", "in this dialect: OUTP A", Some(" OUTP A")),
    (" STA 5(X)", "Q11", "MOV 5(X),A", None),
    (" LDA 5(IY)", "Q11", "MOV A,5(Y)", None),
    ("AT: DJNZ B,AT", "Q11", "its forms are DJNZ", None),
    (" NOP // wait", "Q02", "a comment begins with a semicolon", None),
    (" .BLKB 4,0FFH", "Q02", "takes no further operand", None),
    // What is silent in ZASM and means something else elsewhere.
    ("AT: NOP\n JP AT", "W30", "did you mean JMP?", Some("AT: NOP\n JMP AT")),
    (" cp 5", "W30", "did you mean cpi?", Some(" cpi 5")),
    (" MVI A,#5", "W31", "did you mean 5?", Some(" MVI A,5")),
    (" LXI H,#100H", "W31", "FEFFH; did you mean 100H?", Some(" LXI H,100H")),
    (" LDA #5", "W31", "did you mean MVI A,5?", None),
    (" .ASCII \"A\",10,\"B\"", "W32", "\"A\"[13]\"B\"", None),
    (" .ASCIZ \"SAY \"\"HI\"\"\"", "W32", "another delimiter", None),
    (" .ASCIZ 'line\\n'", "W32", "[10] for \\n", None),
    ("P: LXI H,(P)\n LXI D,P", "W33", "LHLD P loads from that address", None),
    ("P: LXI D,P\n MVI A,(5)", "W33", "LDA 5 loads", None),
    ("A1 = 1\n .IFN A1>2,[\n NOP\n]", "W34", ".IFG A-B", None),
    ("A1 == 1+2<3", "W34", "by parentheses", None),
    (" .IFN 1,[\n NOP", "W35", "a ] ends it", None),
    (" NOP\n .END\n HLT", "W36", "not assembled", None),
    (" BIT A,3", "W19", "BIT NUMBER,A", None),
    // Spellings of other assemblers.
    (" RST 38H", "Q01", "RST 7", None),
    (" MVI A,&80", "A01", "write 80H", None),
    (" MVI A,%1010", "U01", "write 1010B", Some(" MVI A,1010B")),
    ("AT: JMP $", "U01", "is a period", Some("AT: JMP .")),
    (" MVI A,1<<3", "A01", "a single < or >", None),
    (" MVI A,5 AND 3", "A01", "and is &", None),
    (" MVI A,5|3", "A01", "or is !", None),
    ("my_label: NOP", "O01", "write $ for the underscore", None),
    ("PUTC MACRO C", "O01", ".DEFINE PUTC[C]=[", None),
    ("VAR SET 5", "O01", "write VAR = 5", Some("VAR = 5")),
    (" LDX #5", "O01", "MVI, MOV, LXI or LDA", None),
    (" JSR 5", "O01", "CALL", Some(" CALL 5")),
    ("Loop: NOP\nLOOP: NOP", "M01", "capital and small letters", None),
    (".L: NOP\n.L: NOP", "M01", "two periods", None),
    ("* comment", "L01", "a semicolon", None),
    (" .ASCII HELLO", "A04", "two equal delimiters", None),
    (" .IFDEF X1\n NOP", "A02", "a closing ]", None),
    (" MVI A,0b101", "Q03", "write 101B", Some(" MVI A,101B")),
    (" MVI A,H'FF'", "A01", "0FFH", None),
    (" MOV A,[HL]", "A01", "M is the byte", None),
    (" MOV A,X+5", "Q08", "5(X)", None),
    (" JMP *+3", "A01", "is a period", None),
    (" JMP @B", "A01", "two periods", None),
    (" LXI H,&L1", "A01", "its name", None),
    (" CMP A,5", "Q11", "the accumulator is not named: CMP 5", None),
    (" STA 5,A", "Q11", "the accumulator is not named: STA 5", None),
    (" LDA 5,X", "Q11", "LXI and DAD", None),
    (" XCHG DE,HL", "Q11", "its forms are XCHG", None),
    (" NOP \\ NOP", "Q02", "one statement", None),
    (" JMP", "Q04", "its forms are JMP nn", None),
    (" .DEFINE MAX=40", "A04", "NAME = VALUE", None),
    ("#define MAX 40", "L01", "no preprocessor", None),
    ("MAX: = 40", "L01", "has no colon", None),
    ("MAX .EQU 40", "O01", "write MAX = 40", Some("MAX = 40")),
    (" .ASCII \"HELLO\"+80H", "A04", "without signs", None),
    (" .BYTE 5 DUP(0)", "A01", "no repetition", None),
    ("SECTION CODE", "O01", ".LOC with .PROG.", None),
];

/// Programs of newcomers, as `name TAB what was meant TAB source`.
const PROGRAMS: &str = include_str!("../data/slips.tsv");

/// A message without help must say it all.
#[test]
fn each_program_of_a_newcomer_has_a_message_with_help() {
    for row in PROGRAMS.lines().skip(1) {
        let [name, _, source] = *row.split('\t').collect::<Vec<_>>() else { panic!("{row}") };
        let text = source.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\");
        let assembly = assembled(text.trim_end(), &[]);
        let helps = assembly.diagnostics.iter().any(|one| one.help.is_some());
        let explains = ["the text that begins here is not closed"];
        let is_plain = |one: &Diagnostic| explains.contains(&&*one.message);
        assert!(
            helps || assembly.diagnostics.iter().any(is_plain),
            "{name}: {:?}",
            assembly.diagnostics
        );
    }
}

fn assembled(text: &str, levels: &[&str]) -> Assembly {
    let mut lint_levels = LintLevels::default();
    levels.iter().for_each(|level| lint_levels.add(level).expect("a level"));
    let options = Options { lint_levels, translate: Some(translate), ..Options::default() };
    let loader = MemoryLoader::new().with("slip.asm", format!("{text}\n .END\n"));
    asm::run(&loader, &["slip.asm".into()], &options)
}

fn found<'a>(assembly: &'a Assembly, code: &str) -> Option<&'a Diagnostic> {
    assembly.diagnostics.iter().find(|one| one.code.id() == code)
}

#[test]
fn each_slip_has_its_message_and_the_fix_is_what_was_meant() {
    for &(text, code, part, fixed) in SLIPS {
        let levels: &[&str] = if code == "W27" { &["unused-label"] } else { &[] };
        let assembly = assembled(text, levels);
        let one = found(&assembly, code)
            .unwrap_or_else(|| panic!("{text:?}: {:?}", assembly.diagnostics));
        let shown = format!("{}; {}", one.message, one.help.as_deref().unwrap_or_default());
        assert!(shown.contains(part), "{text:?}: {shown}");
        assert_eq!(one.fix.is_some(), fixed.is_some(), "{text:?}: {:?}", one.fix);
        if let (Some(fix), Some(fixed)) = (&one.fix, fixed) {
            let mut new = text.to_owned();
            let base = assembly.sources.source_at(fix.span.start).base;
            let at = |offset: u32| (offset - base) as usize;
            new.replace_range(at(fix.span.start)..at(fix.span.end), &fix.text);
            assert_eq!(new, fixed);
            let diagnostics = assembled(&new, &[]).diagnostics;
            assert_eq!(diagnostics, [], "{new:?}");
        }
        if let (true, "W27") = (fixed.is_none(), code) {
            assert!(assembled(text, &[]).diagnostics.is_empty(), "it is off by default");
        }
    }
}

/// What programs of the period do on purpose.
#[test]
fn idioms_are_no_slips() {
    for text in [
        " MVI A,JMP\n MVI A,'A'!80H\n .BYTE -1\n CPI 'Z'-'A'+1",
        " LXI H,'A'\n LXI D,5",
        "ACC = A\n MOV ACC,B\n MVI M,-1",
        "TABLE: JMP TABLE\n JMP TABLE\n JMP TABLE",
        " RET\n .BYTE 1,2\n JMP 0\nNEXT: INX H",
        " CPI 'A'\n JRC .+4\n RET\n SUI 7",
        " RET\n NOP\n NOP\n RET",
        " LXI H,BACK\n PUSH H\n INX D\nBACK: RET",
        " LXI H,0\n PUSH H\n INX D\n RET",
        " PUSH H\n RET",
        " POP H\n INX H\n RET",
        " PUSH H\n PUSH X\n POP X\n POP D\n RET",
        " PUSH B\n LSPD 5\n RET",
        " PUSH B\n INX SP\n INX SP\n RET",
        " PUSH B\n JMP TAIL\nTAIL: POP B\n RET",
        " .IFE 0,[ JMP 0\n]\n INX H",
        "SET: NOP\n CALL SET\nIN: .BLKB 1\nHLT: NOP",
        " .LOC 100H\n .LOC 0\n .LOC 256",
        " .RADIX 16\n .LOC 100",
        "LONGNAME = 1\nLONGNAME = 2\nlongname = 3",
        " .DEFINE LEAVE=[\n JMP 0\n]\n LEAVE\n INX H",
        // A table of jumps; conditions and masks; texts in brackets and by any delimiter.
        "TABLE: JMP TABLE\n JMP TABLE\n IN 5\n RET",
        "AT: JP AT\n CMP B\n JP AT\n CALL AT\n JP AT\n RZ\n JP AT\n POP PSW\n JP AT\n CP AT",
        " ANI #80H\n .BYTE #5\nT = #0\n LXI H,T",
        " .ASCII /say \"hi\"/[13]'x'\n .ASCIZ \"a\" \"b\"",
        " MVI A,(5+3)\n MVI B,1+(2<3)\n .IFN 300H>8,[ NOP ]",
    ] {
        assert_eq!(assembled(text, &[]).diagnostics, [], "{text}");
    }
}

#[test]
fn a_comment_allows_a_lint_on_its_line_or_the_next() {
    for text in [
        " MOV A,5 ; allow number-as-register",
        " MOV A,5 ;ALLOW W19, W18",
        "; allow unreachable number-as-register\n MOV A,5",
    ] {
        assert_eq!(assembled(text, &["error"]).diagnostics, [], "{text}");
    }
    for text in [
        " MOV A,5 ; allow unreachable",
        " MOV A,5 ; do not allow number-as-register",
        " NOP ; allow number-as-register\n MOV A,5",
        " MOV A,10 ; allow wrong-register",
    ] {
        assert_eq!(assembled(text, &[]).diagnostics.len(), 1, "{text}");
    }
}

/// Lints change no code: each slip assembles as ZASM assembles it.
#[test]
fn lints_leave_the_code_alone() {
    for (text, code) in [(" MOV A,5", [0x7D]), (" ADD 7", [0x87]), (" DAD X", [0x29])] {
        assert_eq!(assembled(text, &[]).modules[0].sections[0].runs[0].bytes, code);
    }
    // 3EH is MVI A, E5H PUSH H, F5H PUSH PSW (Zilog UM0080).
    assert_eq!(assembled(" MVI A,B", &[]).modules[0].sections[0].runs[0].bytes, [0x3E, 0]);
    assert_eq!(assembled(" PUSH SP", &[]).modules[0].sections[0].runs[0].bytes, [0xF5]);
}
