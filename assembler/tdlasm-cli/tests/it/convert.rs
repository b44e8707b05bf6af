//! Conversion between TDL's and Zilog's mnemonics, statement by statement.

use assert_cmd::Command;

use tdlasm::source::MemoryLoader;
use tdlasm_tools::convert::{Conversion, Dialect, Options, convert};

const TABLE: &str = include_str!("../../../tdlasm/tests/data/opcodes.tsv");

fn converted(text: impl Into<Vec<u8>>, to: Dialect) -> Conversion {
    let loader = MemoryLoader::new().with("a.asm", text);
    convert(&loader, "a.asm".as_ref(), &Options::new(to)).expect("a file in memory")
}

/// Converts a text without unconverted statements.
fn whole(text: &str, to: Dialect) -> String {
    let conversion = converted(text, to);
    assert_eq!(conversion.notes, [], "{text}");
    String::from_utf8(conversion.text).expect("text")
}

fn zilog(text: &str) -> String {
    whole(text, Dialect::Zilog)
}

fn tdl(text: &str) -> String {
    whole(text, Dialect::Tdl)
}

/// Returns the places and reasons of unconverted statements.
fn kept(text: &str, to: Dialect) -> Vec<(u32, u32, String)> {
    let conversion = converted(text, to);
    let written = String::from_utf8(conversion.text).expect("text");
    for (written, line) in written.lines().zip(text.lines()) {
        // A mnemonic of both dialects is marked by a period.
        assert!(written == line || written.replacen('.', "", 1) == line, "{line}: {written}");
    }
    let kept = conversion.notes.into_iter().filter(|note| note.kept);
    kept.map(|note| (note.line, note.column, note.message)).collect()
}

#[test]
fn every_instruction_gets_the_spelling_of_the_table_and_comes_back() {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut source = String::new();
    let mut wanted = String::new();
    for row in rows {
        let fields: Vec<&str> = row.split('\t').collect();
        let operands = fields[1].replace("d(", "3(").replace("nn", "1234H");
        let operands = operands.replace('n', "0FFH").replace('e', ".+5");
        let spelling = fields[3].replace("+d", "+3").replace("nn", "1234H");
        let spelling = spelling.replace('n', "0FFH").replace('e', "$+5");
        let statement = format!(" {} {operands}", fields[0]);
        source += &format!("{} ; {}\n", statement.trim_end(), fields[0]);
        wanted += &format!(" {spelling} ; {}\n", fields[0]);
    }
    assert_eq!(source.lines().count(), 704);
    let there = zilog(&source);
    for (there, wanted) in there.lines().zip(wanted.lines()) {
        assert_eq!(there, wanted);
    }
    for (back, source) in tdl(&there).lines().zip(source.lines()) {
        let second_names = [("JNO", "JPO"), ("JO", "JPE"), ("CNO", "CPO"), ("CO", "CPE")];
        let rest = [("RNO", "RPO"), ("RO", "RPE")];
        let source = source.split(';').next().unwrap().trim();
        let (mnemonic, operands) = source.split_once(' ').unwrap_or((source, ""));
        let pair = second_names.iter().chain(&rest).find(|(second, _)| *second == mnemonic);
        let name = pair.map_or(mnemonic, |(_, first)| first);
        let back = back.split(';').next().unwrap().trim();
        assert_eq!(back, format!("{name} {operands}").trim());
    }
}

#[test]
fn directives_with_a_counterpart_are_converted() {
    for (from, to) in [
        (" .LOC 100H\n", " ORG 100H\n"),
        (" .BYTE 1,'A',-5\n", " DB 1,'A',-5\n"),
        (" .WORD START,.\n", ""),
        (" .BYTE 'A'+1,'A'\n", " DB ('A'+1),'A'\n"),
        (" .WORD .,START\n", " DW $,START\n"),
        (" .BLKB 5\n", " DS 5\n"),
        (" .BLKW LEN\n", " DS LEN*2\n"),
        (" .ASCII \"it's\"[0DH]/x/\n", " DB 'it',27H,'s',0DH,'x'\n"),
        (" .ASCIZ /a;b/ ; c\n", " DB 'a;b',0 ; c\n"),
        (" .ASCIS 'abc'\n", " DB 'ab',80H|'c'\n"),
        ("N == 5\n", "N: EQU 5\n"),
        ("N = 5\n", "N: EQU 5\n"),
        (" .INSERT defs.asm\n", ""),
        (" .EXTERN A1,B1\n .INTERN C1\n", " EXTERN A1,B1\n GLOBAL C1\n"),
        (" NOP\n .END START\n", " NOP\n END START\n"),
    ] {
        if !to.is_empty() {
            assert_eq!(zilog(from), to);
        }
    }
    assert_eq!(tdl(" DEFB 'abc',0\n DEFW 1\n DEFS 3\n"), " .ASCIZ \"abc\"\n .WORD 1\n .BLKB 3\n");
    assert_eq!(tdl("N equ 5\nM1: defl N\n"), "N == 5\nM1 = N\n");
    assert_eq!(tdl("LOOP    INC A\n\tJR LOOP\n"), "LOOP:   INR A\n\tJMPR LOOP\n");
}

#[test]
fn an_assigned_symbol_that_changes_is_not_a_constant() {
    assert_eq!(zilog("N=1\nN=N+1\n"), "N: DEFL 1\nN: DEFL N+1\n");
}

#[test]
fn expressions_get_parentheses_where_the_order_differs() {
    for (from, to) in [
        ("1<2+1", "(1<<2)+1"),
        ("10+3^1", "10+(3^1)"),
        ("2*7@4", "(2*7) % 4"),
        ("7@4*2", "7 % (4*2)"),
        ("8!6&3", "(8|6)&3"),
        ("1&2*3", "(1&2)*3"),
        ("A1+2*3", "A1+2*3"),
        ("(A1+2)*3", "(A1+2)*3"),
        ("-A1+2", "0-A1+2"),
        ("#A1&0FFH", "(~A1)&0FFH"),
        ("A1 - B1 + 1", "A1 - B1 + 1"),
        ("'AB'", "'A'*256+'B'"),
        ("'\\'", "5CH"),
        ("''''", "27H"),
        ("^H(10+0F)", "(10H+0FH)"),
        ("^B101+010.", "101B+10"),
        ("-6/2", "((-6)&0FFFFH)/2"),
        ("(A1-B1)/2", "((A1-B1)&0FFFFH)/2"),
        ("LAB/256", "LAB/256"),
        ("70000", "4464"),
        ("B+JMP", "0+0C3H"),
    ] {
        let wanted = format!("LAB: DW {to}\n");
        assert_eq!(zilog(&format!("LAB: .WORD {from}\n")), wanted, "{from}");
    }
}

#[test]
fn zilog_expressions_are_taken_if_all_assemblers_agree() {
    for (from, to) in [
        ("1+2*3", "1+2*3"),
        ("(1|2)+3", "(1!2)+3"),
        ("1 shl 4", "1 < 4"),
        ("(A1 AND 0fh)*2", "(A1 & 0fh)*2"),
        ("$1F+0x2b+%101", "1FH+2bH+101B"),
        ("A1-(2-3)", "A1-(2-3)"),
        ("(A1&0FFFFH)/2", "(A1&0FFFFH)/2"),
        ("(~A1)^5", "(#A1)^5"),
        ("\"A\"+1", "'A'+1"),
    ] {
        let to = to.replace("2bH", "2bh");
        assert_eq!(tdl(&format!(" DW {from}\n")), format!(" .WORD {to}\n"), "{from}");
    }
    for disputed in [
        "1|2+3",
        "-~A1",
        "-A1+2",
        "1<<A1",
        "010",
        "A1/2",
        "70000",
        "'AB'",
        "7%101",
        "5>3",
        "A+1",
        "HL",
        "1 1",
        "(1",
        "HIGH A1",
        "A1+NOT 2+3",
        "#10",
        "0b11",
        "''''",
        "'\\'",
    ] {
        assert_eq!(kept(&format!(" DW {disputed}\n"), Dialect::Tdl).len(), 1, "{disputed}");
    }
}

#[test]
fn operands_keep_their_meaning() {
    for (from, to) in [
        (" MVI A,(1+2)*3\n", " LD A,0+(1+2)*3\n"),
        (" MVI A,(5)\n", " LD A,5\n"),
        (" LXI H,(A1!1)&(B1)\n", " LD HL,0+((A1|1)&(B1))\n"),
        (" LDA (TAB+1)\n", " LD A,(TAB+1)\n"),
        (" MOV A,TAB+1(X)\n", " LD A,(IX+TAB+1)\n"),
        (" MOV -8(Y),B\n", " LD (IY-8),B\n"),
        (" MOV A,-TAB+1(X)\n", " LD A,(IX+0-TAB+1)\n"),
        (" MOV A,0-TAB(X)\n", " LD A,(IX-TAB)\n"),
        (" MOV A,200(X)\n", " LD A,(IX-56)\n"),
        (" MOV A,(TAB!1) (X)\n", " LD A,(IX+(TAB|1))\n"),
        (" MVI 7,B\n", " LD A,0\n"),
        (" RST N\n", " RST N*8\n"),
        (" DJNZ .-3\n", " DJNZ $-3\n"),
    ] {
        assert_eq!(zilog(from), to);
    }
    for (from, to) in [
        (" rst 28h\n", " rst 5\n"),
        (" RST N*8\n", " RST N\n"),
        (" ld a,(ix)\n", " mov a,0(x)\n"),
        (" add b\n sub a,b\n", " add b\n sub b\n"),
        (" jp hl\n ex af,af'\n in f,(c)\n", " pchl\n exaf\n inp m\n"),
        (" LD A,(IX-N*2)\n LD A,(IY + 5)\n", " MOV A,-(N*2)(X)\n MOV A,5(Y)\n"),
        (" LD A,(5)*2\n", " MVI A,(5)*2\n"),
        (" LD A,((5)*2)\n", " LDA (5)*2\n"),
    ] {
        assert_eq!(tdl(from), to);
    }
    for foreign in ["LD A,IXH", "SLL A", "LD BC,DE", "LD A,B,C", "LD A,(IX-1+3)", "JP (5)", "CP"] {
        assert_eq!(kept(&format!(" NOP\n {foreign}\n"), Dialect::Tdl).len(), 1, "{foreign}");
    }
}

#[test]
fn symbols_are_spelled_validly_in_the_other_dialect() {
    for (from, to) in [
        ("O.X: JMP o.x\n", "O_X: JP O_X\n"),
        ("ATTACKER: JMP ATTACKED\n", "ATTACKER: JP ATTACKER\n"),
        ("B.OVER: JMP NZ\nNZ: NOP\n", "_B_OVER: JP _NZ\n_NZ: NOP\n"),
        ("G1:\n..L: JMPR ..L\nG2: NOP\n", "G1:\n__L: JR __L\nG2: NOP\n"),
        (
            "G1: NOP\n..L: JMPR ..L\nG2: NOP\n..L: JMPR ..L\n",
            "G1: NOP\nG1__L: JR G1__L\nG2: NOP\nG2__L: JR G2__L\n",
        ),
        ("A1: A2: NOP ; c\n", "A1:\nA2: NOP ; c\n"),
    ] {
        assert_eq!(zilog(from), to);
    }
    for (from, to) in [
        ("G1: NOP\nG1__L: JR G1__L\nG2: JP G1__L\n", "G1: NOP\nG1..L: JMPR G1..L\nG2: JMP G1..L\n"),
        ("G1: NOP\nG1__L: JR G1__L\n", "G1: NOP\n..L: JMPR ..L\n"),
        ("__L: NOP\nG1: JP __L\n", ".L: NOP\nG1: JMP .L\n"),
        ("X: JP X\n", "X.: JMP X.\n"),
    ] {
        assert_eq!(tdl(from), to);
    }
}

#[test]
fn symbols_that_become_equal_are_distinguished_or_reported() {
    let clash = converted("N.B: NOP\nN$B: JMP N.B\n", Dialect::Zilog);
    assert_eq!(clash.text, b"N_B: NOP\nN_B2: JP N_B\n");
    assert_eq!((clash.notes.len(), clash.notes[0].line, clash.kept()), (1, 2, 0));
    let case = converted("Loop: INC A\nLOOP: JP Loop\n", Dialect::Tdl);
    assert_eq!(case.text, b"Loop: INR A\nLOOP2: JMP Loop\n");
    let long = converted("PRINTHEX: INC A\nPRINTHEY: NOP\n", Dialect::Tdl);
    assert!(long.notes[0].message.contains("--long-symbols"), "{:?}", long.notes);
    let mut options = Options::new(Dialect::Tdl);
    options.long_symbols = true;
    let loader = MemoryLoader::new().with("a.asm", "PRINTHEX: INC A\nPRINTHEY: NOP\n");
    assert_eq!(convert(&loader, "a.asm".as_ref(), &options).unwrap().notes, []);
}

#[test]
fn layout_and_comments_stay() {
    for (from, to) in [
        ("\tMOV\tA,B\t\t; c\n", "\tLD\tA,B\t\t; c\n"),
        ("L1:     JMPR    L1      ; c\n", "L1:     JR      L1      ; c\n"),
        ("        XCHG            ; c\n", "        EX DE,HL        ; c\n"),
        ("        MOV A,M ; c\n", "        LD A,(HL) ; c\n"),
        ("        MVI A, 5  \n", "        LD A, 5  \n"),
        ("PAWN    == 1    ; c\n", "PAWN:   EQU 1   ; c\n"),
        ("loop:\tmov\ta,m;c\n", "loop:\tld\ta,(hl);c\n"),
        ("\r\n ; MOV A,B\r\n\r\n\tRET ;'\r\n", "\r\n ; MOV A,B\r\n\r\n\tRET ;'\r\n"),
        ("        MVI     A,5\n        XCHG\n", "        LD      A,5\n        EX      DE,HL\n"),
        (" .ASCII 'MOV A,B ; no comment' ; MOV\n", " DB 'MOV A,B ; no comment' ; MOV\n"),
        ("L1 :  NOP;\t", "L1:   NOP;\t"),
    ] {
        assert_eq!(zilog(from), to);
    }
    assert_eq!(tdl("x:\tld\thl,1234h ; AF'\n"), "x.:\tlxi\th,1234h ; AF'\n");
    let bytes = *b" NOP ; caf\xE9\r END\r\x1AMOV A,B";
    assert_eq!(converted(bytes, Dialect::Tdl).text, b" NOP ; caf\xE9\r .END\r\x1AMOV A,B");
}

#[test]
fn what_has_no_counterpart_stays_and_is_reported() {
    let source = "\
 .DEFINE PUT[C]=[ ; a macro
 MVI A,C
 OUT 81H ]
 PUT 5
L1: PUT [1,
2]
 MVI A,PUT
 .IFE L1,[NOP]
 .TITLE /a
 MOV A,B/
 .LOC .DATA.
E1:: NOP
N =\\ 'how many'
 .WORD 1,.
 ADD (X)
 MOV R1,A
 JMP SUB1#
";
    let kept = kept(source, Dialect::Zilog);
    let lines: Vec<u32> = kept.iter().map(|(line, ..)| *line).collect();
    assert_eq!(lines, [1, 4, 5, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17]);
    assert_eq!([kept[0].1, kept[2].1, kept[3].1], [1, 5, 2]);
    assert!(kept[0].2.starts_with("stays as it is: "), "{:?}", kept[0]);
}

#[test]
fn unconverted_statements_are_recognized_on_conversion_back() {
    let source = "\
        .DEFINE WAIT[N]=[       ; JP means jump if plus
        LD N
        JP N
]
        .IFE FLAG,[     ; the text is converted
        MOV A,B         ; one
] [
        MVI A,-11
        WAIT 5
]
        .RADIX 16
        .BYTE 10,0A,0BD,11.,10B,5
        .RADIX 10
        .BYTE 10
        INR NOP
        RET
";
    let there = converted(source, Dialect::Zilog);
    let text = String::from_utf8(there.text.clone()).unwrap();
    assert!(text.contains("        LD A,B          ; one\n] [\n        LD A,-11\n"), "{text}");
    assert!(text.contains("        .RADIX 16\n        DB 10H,0AH,0BDH,11,10BH,5H\n"), "{text}");
    assert_eq!(there.kept(), 8);
    let back = converted(there.text, Dialect::Tdl);
    let wanted = source.replace("10,0A,0BD,11.,10B,5\n", "10H,0AH,0BDH,11.,10BH,5H\n");
    assert_eq!((back.kept(), String::from_utf8(back.text).unwrap()), (8, wanted));
}

#[test]
fn kept_mnemonics_of_both_dialects_are_marked_so_that_nothing_takes_them_for_the_others() {
    for (from, there, to) in [
        (" JP 7@0 ; c\n", " .JP 7@0 ; c\n", Dialect::Zilog),
        ("L1: ADD R1\n", "L1: .ADD R1\n", Dialect::Zilog),
        (" JP (5)\n", " .JP (5)\n", Dialect::Tdl),
        (" cp\n", " .cp\n", Dialect::Tdl),
    ] {
        let conversion = converted(from, to);
        assert_eq!(String::from_utf8_lossy(&conversion.text), there);
        assert!(conversion.notes[0].message.contains("marked ."), "{:?}", conversion.notes);
        let back = if to == Dialect::Tdl { Dialect::Zilog } else { Dialect::Tdl };
        assert_eq!(whole(there, back), from);
    }
}

#[test]
fn a_radix_that_may_not_count_is_not_guessed() {
    let text = " .IFE F,[\n .RADIX 16\n]\n MVI A,10\n MVI A,1\n MVI A,10H\n";
    let conversion = converted(text, Dialect::Zilog);
    let text = String::from_utf8(conversion.text).unwrap();
    assert!(text.ends_with(" MVI A,10\n LD A,1\n LD A,10H\n"), "{text}");
    assert_eq!(conversion.notes.last().map(|note| note.line), Some(4));
}

#[test]
fn blocks_of_the_other_side_stay_too() {
    let source = "\
PUT:    MACRO C
        LD A,C
        ENDM
        PUT 5
        IF FLAG
        LD A,5
        END
        ENDIF
        REPT 3
        LD A,B
        ENDM
        .db 5
NAME    LD A,B
        X = 5
        DS 5,0FFH
        IN A,5
";
    let conversion = converted(source, Dialect::Tdl);
    let lines: Vec<u32> = conversion.notes.iter().map(|note| note.line).collect();
    assert_eq!(lines, [1, 4, 5, 7, 8, 9, 12, 13, 14, 15, 16]);
    let text = String::from_utf8(conversion.text).unwrap();
    assert_eq!(text, source.replace(" LD A,5\n", " MVI A,5\n").replace(" IN A", " .IN A"));
}

#[test]
fn included_files_are_scanned_for_macros_and_radix() {
    let loader = MemoryLoader::new()
        .with("sub/a.asm", " .INSERT DEFS\n .INSERT nowhere\n NOP\n MOV A,B\n MVI A,10\n")
        .with("lib/DEFS.ASM", " .DEFINE NOP=[RET]\n .INSERT more.asm\n")
        .with("lib/more.asm", " .RADIX 8\n");
    let mut options = Options::new(Dialect::Zilog);
    options.include_dirs.push("lib".into());
    let conversion = convert(&loader, "sub/a.asm".as_ref(), &options).unwrap();
    assert_eq!(
        String::from_utf8(conversion.text).unwrap(),
        " INCLUDE \"DEFS.ASM\"\n INCLUDE \"nowhere\"\n .NOP\n LD A,B\n MVI A,10\n"
    );
    let notes: Vec<_> = conversion.notes.iter().map(|note| (note.line, note.kept)).collect();
    assert_eq!(notes, [(2, false), (3, true), (5, true)]);
}

#[test]
fn a_source_in_the_target_dialect_is_unchanged() {
    for (to, text) in
        [(Dialect::Zilog, " LD A,B\n JP X1\n CPI\n"), (Dialect::Tdl, " MOV A,B\n JP X\n")]
    {
        let conversion = converted(text, to);
        assert_eq!(
            (String::from_utf8(conversion.text).unwrap().as_str(), conversion.converted),
            (text, 0)
        );
        assert_eq!((conversion.notes.len(), conversion.notes[0].kept), (1, false));
    }
}

#[test]
fn the_command_converts_what_it_can_and_reports_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str]| {
        let mut command = Command::cargo_bin("tdlasm").expect("the command");
        let output = command.current_dir(folder.path()).args(arguments).output().expect("to run");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    std::fs::write(folder.path().join("a.asm"), "L1: MOV A,B\n .TITLE /x/\n").unwrap();
    std::fs::write(folder.path().join("b.asm"), " MOV A,B\n").unwrap();
    let (code, text, stderr) = run(&["convert", "--to", "zilog", "a.asm"]);
    assert_eq!((code, text.as_str()), (Some(5), "L1: LD A,B\n .TITLE /x/\n"));
    assert!(stderr.starts_with("a.asm:2:2: warning: stays as it is: "), "{stderr}");
    let done = run(&["convert", "--to", "zilog", "b.asm", "-o", "b.z80"]);
    assert_eq!(done, (Some(0), String::new(), String::new()));
    assert_eq!(run(&["convert", "--to", "tdl", "b.z80"]).1, " MOV A,B\n");
    assert_eq!(run(&["convert", "--to", "tdl", "c.asm"]).0, Some(3));
    assert_eq!(run(&["convert", "--to", "z80", "a.asm"]).0, Some(2));
    assert_eq!(run(&["convert", "--to", "tdl", "b.z80", "-o", "no/b.asm"]).0, Some(3));
}
