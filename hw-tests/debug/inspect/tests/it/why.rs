//! `why`: from a wrong residue to the first wrong instruction.

use crate::debugger::FIGURE_1;
use crate::hw_tests;

/// A folder with a routine of the evaluator in which one line is replaced.
fn corrupted(file: &str, from: &str, to: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = firmware::source(file).expect("it ships");
    assert!(text.contains(from), "{from}");
    std::fs::write(folder.path().join(file), text.replacen(from, to, 1)).expect("written");
    folder
}

/// Returns the output of the command for a position with these routines; it must find a fault.
fn why(folder: &tempfile::TempDir, case: &str) -> String {
    let own = folder.path().display().to_string();
    let (code, out, printed) = hw_tests(&["why", "--within", "1s", "--sargon-dir", &own, case]);
    assert_eq!(code, Some(1), "{out}{printed}");
    out
}

#[test]
fn a_right_evaluator_gives_no_reason() {
    for case in ["byte.figure4", FIGURE_1] {
        for behaviour in ["corrected", "original"] {
            let (code, out, printed) = hw_tests(&["why", "--behaviour", behaviour, case]);
            assert!(code == Some(0) && out.contains("match the reference"), "{out}{printed}");
        }
    }
    let (_, _, printed) = hw_tests(&["why", "4k3/8/8/3p4/4N3/8/8/8 w - -"]);
    let warning = "FEN:1: warning: no game reaches this position: White has no king";
    assert!(printed.contains(warning), "{printed}");
    let (code, _, printed) = hw_tests(&["why", "no.such.case"]);
    assert!(code == Some(4) && printed.contains("no.such.case"), "{printed}");
}

#[test]
fn a_wrong_entry_of_the_array_leads_to_the_instruction_that_wrote_it() {
    // Each piece is counted twice.
    let text = firmware::source("atksav.asm").expect("it ships");
    let line = text.lines().find(|line| line.contains("INR M")).expect("it counts");
    let twice = format!("{}\n\tINR M", line);
    let folder = corrupted("atksav.asm", line, &twice);
    let out = why(&folder, FIGURE_1);
    assert!(out.contains("section of the attackers array is"), "{out}");
    assert!(out.contains("atksav.asm:") && out.contains(">"), "{out}");
}

#[test]
fn a_wrong_booking_and_a_wrong_residue_lead_to_xchng() {
    // Recaptured points are added instead of subtracted.
    let text = firmware::source("xchng.asm").expect("it ships").replace("SUB B", "ADD B");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("xchng.asm"), text).expect("written");
    // A pawn takes a knight that a pawn defends, and another pawn may take that one.
    let out = why(&folder, "4k3/8/3p4/4n3/3P1P2/8/8/4K3 w - -");
    assert!(
        out.contains("booking") && out.contains("XCBOOK") && out.contains("xchng.asm:"),
        "{out}"
    );
    // An XCHNG without labels at its bookings: only the residue that it returns can be observed.
    let folder = tempfile::tempdir().expect("a folder");
    let own = "\t.INTERN XCHNG\n\t.LOC .PROG.\nXCHNG:\tMVI E,0FFH\n\tRET\n\t.END\n";
    std::fs::write(folder.path().join("xchng.asm"), own).expect("written");
    let out = why(&folder, FIGURE_1);
    assert!(out.contains("returns a residue of -1, not +"), "{out}");
}

#[test]
fn a_program_that_hangs_is_the_reason() {
    let folder = crate::stuck::folder();
    let out = why(&folder, FIGURE_1);
    assert!(out.contains("XCHNG..LOOP (xchng.asm:4)") && out.contains("JMPR"), "{out}");
}
