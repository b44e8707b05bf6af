//! The help for operators of other dialects: the same statement in TDL's mnemonics.

use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};
use tdlasm_tools::convert::translate;

/// The help of the first message about a statement.
fn help(statement: &str) -> Option<String> {
    let text = format!(" {statement}\n .END\n");
    let loader = MemoryLoader::new().with("line.asm", text);
    let options = Options { translate: Some(translate), ..Options::default() };
    let failure = assemble(&loader, &["line.asm".into()], &options).expect_err("another dialect");
    failure.assembly().diagnostics[0].help.as_ref().map(ToString::to_string)
}

#[test]
fn zilog_statements_are_answered_by_tdl_ones() {
    for (statement, expected) in [
        ("LD A,B", "in this dialect: MOV A,B"),
        ("ld (ix+5),0FFH", "in this dialect: mvi 5(x),0FFH"),
        ("DB 1,2,COUNT", "in this dialect: .BYTE 1,2,COUNT"),
        ("ld", "this dialect has MOV, MVI, LXI, LDA, STA, LHLD or SHLD"),
    ] {
        assert_eq!(help(statement).as_deref(), Some(expected));
    }
}

#[test]
fn an_operator_of_both_dialects_is_translated_too() {
    assert_eq!(translate("JP", b" NZ,LOOP").as_deref(), Some("JNZ LOOP"));
}
