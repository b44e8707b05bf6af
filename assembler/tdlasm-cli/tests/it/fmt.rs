//! `tdlasm fmt`: the layout of its output, and that the bytes stay the same.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tdlasm::Notation;
use tdlasm::module::Module;
use tdlasm::source::{DiskLoader, Loader, MemoryLoader};
use tdlasm_tools::fmt::{Error, Options, format};

fn formatted(text: &str) -> String {
    let result =
        format(&MemoryLoader::new(), "x.asm".as_ref(), text.as_bytes(), &Options::default());
    String::from_utf8(result.unwrap()).unwrap()
}

/// Checks the formatted lines, and that formatting them again changes nothing.
#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected, "a second time");
}

fn tdlasm() -> Command {
    Command::cargo_bin("tdlasm").unwrap()
}

#[test]
fn labels_operators_operands_and_comments_get_their_columns() {
    check(
        "START:MVI  A,5;five\n..L:\tDCR A ; down\n  JRNZ ..L\nLONGNAME:: RET\t\n A: B:NOP\n",
        "START:  MVI A,5                 ;five\n\
         ..L:    DCR A                   ; down\n        JRNZ ..L\nLONGNAME:: RET\nA: B:   NOP\n",
    );
}

#[test]
fn assigned_names_are_like_labels_and_their_signs_like_operators() {
    check(
        "  TWO==2\nN=: 3 ;c\nASK =\\ 'how; many' ; ?\n",
        "TWO     == 2\nN       =: 3                    ;c\nASK     =\\ 'how; many'          ; ?\n",
    );
}

#[test]
fn operands_have_a_column_of_their_own_if_most_had() {
    check(
        " MVI     A,5\n\tLXI\tH,5\nSTART: MOV B,C\n",
        "        MVI     A,5\n        LXI     H,5\nSTART:  MOV     B,C\n",
    );
}

#[test]
fn comments_stay_at_tab_stops_from_column_24_on() {
    let kept = "; head\n        ; code\nA1      == 1            ; \
    24\n        NOP                             ; 40\n";
    check(kept, kept);
    check(
        "   ; code\n NOP              ; 18\n NOP                           ; 31\n\
         \x20                                ; alone\n LXI H,1000H+2000H+3000H+4000H ; long\n",
        "        ; code\n        NOP                     ; 18\n        NOP                     ; \
         31\n\x20                               ; alone\n        LXI \
         H,1000H+2000H+3000H+4000H   ; long\n",
    );
}

#[test]
fn a_semicolon_in_a_text_does_not_begin_a_comment() {
    check(
        " MVI A,';'  ;c\n .ASCII /a;b/[';'] \";\" ;c\n .TITLE /;/ ;c\n .IFIDN [;][;],[NOP] ;c\n",
        "        MVI A,';'               ;c\n        .ASCII /a;b/[';'] \";\"   ;c\n\
         \x20       .TITLE /;/              ;c\n        .IFIDN [;][;],[NOP]     ;c\n",
    );
}

#[test]
fn bodies_and_conditional_texts_are_laid_out_like_other_lines() {
    check(
        " .DEFINE M[A,%B]=[\n%B:MOV A'A,C ;c\nJR'A %B\n]\n .IFE 1,[\nNOP\n][NOP ;c\n ]\n M B\n \
         .END\nany  thing\n",
        "        .DEFINE M[A,%B]=[\n%B:     MOV A'A,C ;c\n        JR'A %B\n]\n        .IFE \
         1,[\n        NOP\n][      NOP                     ;c\n        ]\n        M \
         B\n        .END\nany  thing\n",
    );
}

#[test]
fn texts_of_several_lines_stay_as_they_are() {
    let text = "        .ASCII /one \n two;  \n/ ; c\n        .OPSYN .ASCIZ,TEXT\n        TEXT \
    'a\n  b'   ;c\n";
    check(text, text);
    let call = "        .DEFINE M[A,B]=[\n        .ASCII /A/\n]\n        M [ x ,\n  y ]\n";
    check(call, call);
}

#[test]
fn blanks_that_a_macro_takes_into_its_text_stay() {
    let define = "        .DEFINE M[A]=[\n        .ASCII /A/\n]\n";
    let kept = format!("{define}        M ab    ; c\n        M ab   \n        .END\n");
    check(&kept, &kept);
}

#[test]
fn a_comment_after_a_macro_call_without_arguments_gets_its_column() {
    let define = " .DEFINE OPEN=[\n NOP\n]\n";
    let laid_out =
        "        .DEFINE OPEN=[\n        NOP\n]\nBACK:   OPEN                    ; text\n";
    check(&format!("{define}BACK: OPEN    ; text\n"), laid_out);
}

#[test]
fn a_source_whose_layout_makes_bytes_is_refused() {
    // The arguments open and close a text of several lines, so blanks between them are bytes.
    let text = " .DEFINE Q[BB,EE]=[\n .ASCII BB-\n   NOP\nEE\n]\n Q /,/\n .END\n";
    let result =
        format(&MemoryLoader::new(), "x.asm".as_ref(), text.as_bytes(), &Options::default());
    assert_eq!(result, Err(Error::Blanks("x.asm".into())));
}

#[test]
fn zilogs_notation_has_the_same_columns_and_its_own_texts() {
    let options = Options { notation: Notation::Zilog, ..Options::default() };
    let layout = |text: &str| {
        let formatted = format(&MemoryLoader::new(), "x".as_ref(), text.as_bytes(), &options);
        String::from_utf8(formatted.unwrap()).unwrap()
    };
    let text = "START LD  A,5;five\n.loop: DJNZ .loop ; it's\n  EX AF,AF'  ; a'; b\n DB \"a;  b\" ;c\n\
                N: EQU  2\nL = 3\nM2 MACRO A,B\n J&A Z,$+3\n  X&B  DB  'a  b'\nT &A NZ,5\n ENDM\n \
                IF N ; true\n  M2  P,1\n ELSE\nnot   read\n ENDIF\n OUTER::NOP\n END\nany  thing\n";
    let expected = "\
START   LD A,5                  ;five
.loop:  DJNZ .loop              ; it's
        EX AF,AF'               ; a'; b
        DB \"a;  b\"              ;c
N:      EQU 2
L       = 3
M2      MACRO A,B
        J&A Z,$+3
        X&B  DB  'a  b'
T &A NZ,5
        ENDM
        IF N                    ; true
        M2 P,1
        ELSE
not     read
        ENDIF
OUTER:: NOP
        END
any  thing
";
    assert_eq!(layout(text), expected);
    assert_eq!(layout(expected), expected);
}

#[test]
fn zilogs_notation_is_not_laid_out_as_tdls() {
    let folder = tempfile::tempdir().unwrap();
    let text = " LD A,(HL)\n DB \"a;  b\"\n LD (5),A\n";
    for (name, options, is_read) in
        [("a.asm", &[][..], false), ("b.asm", &["--zilog"], true), ("c.z80", &[], true)]
    {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        let run = tdlasm().arg("fmt").args(options).arg(&file).assert();
        let run = run.code(i32::from(!is_read));
        let printed = String::from_utf8_lossy(&run.get_output().stderr);
        let refusal = "is in Zilog's notation, and not TDL's; the layout is unchanged";
        assert_eq!(printed.contains(refusal), !is_read, "{printed}");
        let laid_out = "        LD A,(HL)\n        DB \"a;  b\"\n        LD (5),A\n";
        let expected = if is_read { laid_out } else { text };
        assert_eq!(fs::read_to_string(&file).unwrap(), expected, "{name}");
    }
    fs::remove_file(folder.path().join("a.asm")).unwrap();
    fs::remove_file(folder.path().join("b.asm")).unwrap();
    fs::write(folder.path().join("c.z80"), text).unwrap();
    let listed = tdlasm().args(["fmt", "--check"]).arg(folder.path()).assert().code(1);
    assert!(listed.get_output().stdout.ends_with(b"c.z80\n"));
}

#[test]
fn line_ends_and_invalid_utf8_are_unchanged() {
    let bytes = b" NOP \r\n NOP\r\xFF what\n NOP ;\xE9\n NOP\x1Aany  thing";
    let result =
        format(&MemoryLoader::new(), "x.asm".as_ref(), bytes, &Options::default()).unwrap();
    let expected = b"        NOP\r\n        NOP\r\xFF \
    what\n        NOP                     ;\xE9\n        NOP\n\x1Aany  thing";
    assert_eq!(result, expected);
}

/// All sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let skipped = path.file_name().is_some_and(|name| name == "target" || name == ".git");
        if path.is_dir() && !skipped {
            sources(&path, found);
        } else if path.extension().is_some_and(|name| name == "asm") {
            found.push(path);
        }
    }
}

/// Assembles a source, with the symbols that some sources require from their builder.
fn assembled(path: &Path, text: &[u8], notation: Notation) -> Option<Vec<Module>> {
    let inserted = |folder: &str| repository().join(folder);
    let defines = ["RAMK", "START", "INCIRC", "BANKED"].map(|name| (name.to_owned(), 32));
    let options = tdlasm::Options {
        include_dirs: vec![inserted("sargon-src"), inserted("firmware/z80"), path.parent()?.into()],
        defines: defines.to_vec(),
        notation,
        ..tdlasm::Options::default()
    };
    struct One<'t>(&'t [u8]);
    impl Loader for One<'_> {
        fn load(&self, path: &Path) -> std::io::Result<Vec<u8>> {
            if path == Path::new("this") { Ok(self.0.to_vec()) } else { DiskLoader.load(path) }
        }
        fn exists(&self, path: &Path) -> bool {
            DiskLoader.exists(path)
        }
    }
    Some(tdlasm::assemble(&One(text), &["this".into()], &options).ok()?.modules)
}

#[test]
fn sources_of_the_repository_keep_their_bytes() {
    let mut found = Vec::new();
    let mut assembling = 0;
    sources(&repository(), &mut found);
    for path in &found {
        let text = fs::read(path).unwrap();
        let mut options =
            Options { include_dirs: vec![path.parent().unwrap().into()], ..Options::default() };
        // Without blanks in front, all operators are out of their column.
        let moved: Vec<u8> =
            text.split_inclusive(|byte| *byte == b'\n').fold(Vec::new(), |mut all, line| {
                let blanks = line.iter().take_while(|byte| **byte == b' ').count();
                all.extend(&line[blanks - blanks.min(1)..]);
                all
            });
        let once = format(&DiskLoader, path, &moved, &options).unwrap_or_else(|error| {
            assert!(matches!(error, Error::Zilog(_)), "{error}");
            options = Options { notation: Notation::Zilog, ..options.clone() };
            format(&DiskLoader, path, &moved, &options).unwrap()
        });
        assert_eq!(format(&DiskLoader, path, &once, &options).unwrap(), once, "{}", path.display());
        let before = assembled(path, &text, options.notation);
        assembling += usize::from(before.is_some());
        assert_eq!(assembled(path, &once, options.notation), before, "{}", path.display());
    }
    assert!(assembling > found.len() / 2, "{assembling} of {} could be assembled", found.len());
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_sources_of_the_repository_are_formatted() {
    let folders = [
        "sargon-src",
        "firmware/z80",
        "flasher/rcflash-monitors/src",
        "assembler/tdlasm-tools/tests/programs",
    ];
    tdlasm()
        .current_dir(repository())
        .args(["fmt", "--check"])
        .args(folders)
        .assert()
        .success()
        .stdout("");
}

#[test]
fn files_are_written_in_place_and_checked_without_writing() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let tidy = folder.path().join("a.asm");
    let untidy = inner.join("b.ASM");
    fs::write(&tidy, "        NOP\n").unwrap();
    fs::write(&untidy, " NOP\n").unwrap();
    let check = || tdlasm().args(["fmt", "--check"]).arg(folder.path()).assert();
    check().code(1).stdout(format!("{}\n", untidy.display()));
    assert_eq!(fs::read(&untidy).unwrap(), b" NOP\n");
    tdlasm().arg("fmt").arg(folder.path()).assert().success().stdout("");
    assert_eq!(fs::read(&untidy).unwrap(), b"        NOP\n");
    check().success().stdout("");
}

#[test]
fn standard_input_goes_to_standard_output() {
    tdlasm().arg("fmt").write_stdin("A: NOP\n").assert().success().stdout("A:      NOP\n");
    tdlasm().args(["fmt", "--check"]).write_stdin("A: NOP\n").assert().code(1).stdout("-\n");
    tdlasm().args(["fmt", "nowhere.asm"]).assert().code(3).stdout("");
}

#[test]
fn a_line_of_a_hundred_thousand_labels_takes_linear_time() {
    let labels = "A:".repeat(100_000);
    let expected = "A: ".repeat(100_000);
    assert_eq!(formatted(&format!("{labels}\n")), format!("{}\n", expected.trim_end()));
}
