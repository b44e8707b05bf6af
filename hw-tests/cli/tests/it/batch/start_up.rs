//! Programs with SDCC's own start-up, at 0000H.

use tdlasm::image::intel_hex;

use super::{Programs, assembled};

/// The start-up of SDCC 4.2 and 4.5 at 0000H: vectors with EI and RETI, and at the end RST 08H with A = 0
/// and in DE what `main` returned; PUTC prints for uCsim.
fn with_sdccs_start_up(main: &str) -> String {
    let source = format!(
        "\t.LOC 0\n\tJMP INIT\n\t.LOC 8\n\tEI\n\tRETI\n\t.LOC 100H\nINIT:\tLXI SP,0\n\tCALL MAIN\n\
         \tMVI A,0\n\tRST 1\nSTOP:\tHLT\n\tJMPR STOP\n\
         PUTC:\tPUSH PSW\n\tMVI A,'p'\n\tOUT 0FFH\n\tPOP PSW\n\tOUT 0FFH\n\tRET\n\
         MAIN:\tMVI A,'h'\n\tCALL PUTC\n\tMVI A,'i'\n\tCALL PUTC\n{main}\n\t.END\n"
    );
    intel_hex(&assembled(source), None)
}

#[test]
fn a_program_with_sdccs_own_start_up_runs_simulated_and_is_refused_with_advice_on_boards() {
    let programs = Programs::new();
    for (name, main) in [
        ("a", "\tLXI D,0\n\tRET"),
        ("b", "\tLXI D,103H\n\tRET"),
        ("c", "\tHLT"),
        ("d", "\tJMP ."),
        ("e", "\tMVI A,'x'\n\tCALL PUTC\n\tJMPR .-5"),
        ("f", "\tMVI A,'s'\n\tOUT 0FFH\n\tJMP ."),
        // RST 08H is no exit with another A, as in `clock`.
        ("g", "\tMVI A,2\n\tRST 1\n\tLXI D,0\n\tRET"),
    ] {
        programs.write(&format!("{name}.ihx"), with_sdccs_start_up(main).as_bytes());
    }
    // On the board of this process, beside those at 0000H.
    programs.add("h", "\tXRA A\n\tLXI H,5AA5H\n\tJMP FINISH");
    let limits = ["--silence", "1s", "--timeout", "3s", "--report-dir", "out"];
    let (code, shown) = programs.run(&limits);
    assert_eq!(code, Some(1), "{shown}");
    let expected = [
        None,
        Some("exit code 3"),
        Some("it hangs"),
        Some("it hangs"),
        Some("it had not ended in time"),
        Some("it returned"),
        None,
        None,
    ];
    for (expected, (name, status)) in expected.iter().zip(programs.junit("out")) {
        let is_right = match (expected, &status) {
            (None, None) => true,
            (Some(expected), Some(message)) => message.starts_with(expected),
            _ => false,
        };
        assert!(is_right, "{name}: {status:?}");
    }
    let report = std::fs::read_to_string(programs.path().join("out/junit.xml")).expect("a report");
    assert!(report.contains("<system-out>hi</system-out>"), "{report}");
    assert_eq!(programs.run(&["--case", "f.ihx", "--return-passes"]).0, Some(0));
    for options in [["--via", "scm"], ["--rig", "simulated"]] {
        let (code, shown) = programs.run(&[&options[..], &["--case", "a.ihx"]].concat());
        assert_eq!(code, Some(3), "{shown}");
        assert!(shown.contains("link docs/examples/crt0.s instead"), "{shown}");
    }
}

/// Programs that z88dk's sccz80 and SDCC 4.2 made, with start-ups of their own at 8000H that print
/// by the ports of the 68B50 and end with HALT.
#[test]
fn recorded_programs_of_compilers_print_what_they_test() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assembler/program-formats/tests/data/toolchains"
    );
    let programs = Programs::new();
    for compiler in ["z88dk-sccz80", "sdcc-call0"] {
        let program = std::fs::read(format!("{folder}/{compiler}/c-check/check.ihx"));
        programs.write(&format!("{compiler}.ihx"), &program.expect("it is in the corpus"));
    }
    let ends = ["--fail", "FAIL mul", "--pass", "FAIL known to fail", "--silence", "1s"];
    for via in [&[][..], &["--via", "scm"], &["--via", "romwbw"]] {
        let (code, shown) = programs.run(&[via, &ends].concat());
        assert_eq!(code, Some(0), "{via:?}: {shown}");
    }
}
