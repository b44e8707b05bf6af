//! False alarms of lints on programs as they were written in the 1970s.

use std::io::Read;

use tdlasm::diag::DiagnosticCode;
use tdlasm::source::MemoryLoader;
use tdlasm::{Cpu, Options, asm};

use crate::opcode_table::{VALUES, rows, source};

const PROGRAMS: &[u8] = include_bytes!("../data/oracle/programs.jsonl.gz");
const LINTS: [DiagnosticCode; 9] = [
    DiagnosticCode::NumberAsRegister,
    DiagnosticCode::RegisterAsNumber,
    DiagnosticCode::WrongPair,
    DiagnosticCode::SymbolAsOperator,
    DiagnosticCode::InstructionAsLabel,
    DiagnosticCode::SameSix,
    DiagnosticCode::DecimalAddress,
    DiagnosticCode::Unreachable,
    DiagnosticCode::Unbalanced,
];

#[test]
fn realistic_programs_have_at_most_one_alarm_in_a_thousand_lines() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("a text");
    let records = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let realistic = records.filter(|one: &serde_json::Value| one["class"] == "realistic");
    let (mut lines, mut alarms) = (0, 0);
    for record in realistic {
        let source = record["source"].as_str().expect("a text");
        let loader = MemoryLoader::new().with("p.asm", source);
        let assembly = asm::run(&loader, &["p.asm".into()], &Options::default());
        lines += source.lines().count();
        alarms += assembly.diagnostics.iter().filter(|one| LINTS.contains(&one.code)).count();
    }
    assert!(lines > 10_000, "{lines}");
    assert!(alarms * 1000 <= lines, "{alarms} in {lines} lines");
}

/// Of the instructions of TDL a Z180 traps ED 71 only: Zilog UM0050 defines ED 70.
#[test]
fn only_what_a_z180_traps_is_reported_and_the_code_is_the_same() {
    for row in rows() {
        let text = format!(" {}\n .END\n", source(&row, VALUES[0]));
        let assembled = |cpu| {
            let loader = MemoryLoader::new().with("p.asm", &*text);
            asm::run(&loader, &["p.asm".into()], &Options { cpu, ..Options::default() })
        };
        let [z180, z80] = [Some(Cpu::Z180), Some(Cpu::Z80)].map(assembled);
        let codes: Vec<DiagnosticCode> = z180.diagnostics.iter().map(|one| one.code).collect();
        let expected: &[DiagnosticCode] =
            if row[2] == "ED 71" { &[DiagnosticCode::Z180Trap] } else { &[] };
        assert_eq!(codes, expected, "{text}");
        assert_eq!(z80.diagnostics, assembled(None).diagnostics, "{text}");
        assert_eq!(z80.diagnostics, [], "{text}");
        assert_eq!(z180.modules, z80.modules, "{text}");
    }
}

/// The explanations are in a file beside the table of codes, a line each in its order.
#[test]
fn every_code_has_one_explanation() {
    let lines = include_str!("../../src/diag/explanations.txt").lines();
    let codes = DiagnosticCode::ALL.iter();
    let expected: Vec<String> =
        codes.map(|code| format!("{}: {}", code.group(), code.explain())).collect();
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    let is_sentence = |code: &DiagnosticCode| code.explain().ends_with('.');
    assert!(DiagnosticCode::ALL.iter().all(is_sentence));
}
