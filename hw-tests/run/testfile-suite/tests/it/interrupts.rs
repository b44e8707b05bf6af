//! Interrupt routines and address ranges as targets, and interrupts during calls.

use testfile_suite::{CallState, Verdict};

use crate::{case, findings, folder, parse, result};

/// Counts interrupts: 11, 13, 4, 13, 10, 4 and 14 T-states (UM0080), of which RETI takes the last.
const HANDLER: &str = "RUN:\tPUSH PSW\n\tLDA COUNT\n\tINR A\n\tSTA COUNT\n\tPOP PSW\n\tEI\n\tRETI
COUNT:\t.BYTE 0";
const HANDLER_T_STATES: u32 = 69;
/// Acknowledging in the modes 0 and 1 (RST: 11, and 2 wait states), and in mode 2 (UM0080).
const ACKNOWLEDGE: u32 = 13;
const ACKNOWLEDGE_MODE_2: u32 = 19;

#[test]
fn an_interrupt_routine_is_entered_as_by_the_processor() {
    let lines = format!(
        "as = \"interrupt\"\nexpect = {{ cycles = {{ eq = {HANDLER_T_STATES} }}, stack = 2 }}\n\
         check = \"[COUNT] == 1 && SP == in.SP\""
    );
    assert_eq!(case(HANDLER, &lines), [""; 0]);
    let non_maskable = HANDLER.replace("\tEI\n\tRETI", "\tRETN");
    let cycles = HANDLER_T_STATES - 4;
    let lines = format!("as = \"nmi\"\nexpect.cycles = {{ eq = {cycles} }}");
    assert_eq!(case(&non_maskable, &lines), [""; 0]);
}

#[test]
fn what_an_interrupt_routine_must_not_do_is_found() {
    for (kind, from, to, finding) in [
        ("interrupt", "\tEI\n", "", "returned with interrupts off"),
        ("interrupt", "RETI", "RET", "returned without RETI at 800AH, RUN+10 (prog.asm:8)"),
        ("interrupt", "RETI", "RETN", "returned without RETI"),
        ("interrupt", "EI\n\tRETI", "RETN", "returned with interrupts off"),
        ("interrupt", "POP PSW", "POP B", "changed registers: A 5AH to 01H, "),
        ("interrupt", "POP PSW", "NOP", "did not return: went to 5A"),
        ("interrupt", "EI", "IM2\n\tEI", "changed interrupt mode or register I"),
        ("nmi", "\tEI\n\tRETI", "\tRET", "returned without RETN"),
        ("nmi", "\tEI\n\tRETI", "\tRETI", "returned without RETN"),
        ("nmi", "\tEI\n\tRETI", "\tRET", "returned with interrupts off"),
        // 13 T-states a turn.
        (
            "interrupt",
            "POP PSW",
            "PUSH B\n\tMVI B,99\nWAIT:\tDJNZ WAIT\n\tPOP B\n\tPOP PSW",
            "kept interrupts off for 13",
        ),
    ] {
        let source = HANDLER.replace(from, to);
        let found = case(&source, &format!("as = \"{kind}\""));
        assert!(found.iter().any(|one| one.contains(finding)), "{to:?} as {kind}: {found:?}");
    }
    let plain = HANDLER.replace("\tEI\n\tRETI", "\tRET");
    assert_eq!(case(&plain, "as = \"interrupt\"\ninterrupts = \"any\""), [""; 0]);
    let lines = "as = \"interrupt\"\nexpect.clobbers = \"AF BC\"";
    assert_eq!(case(&HANDLER.replace("POP PSW", "POP B"), lines), [""; 0]);
}

/// RUN takes 7, 99 times 13 and 8, and 10 T-states.
fn waiting() -> String {
    format!("RUN:\tMVI B,100\nWAIT:\tDJNZ WAIT\n\tRET\n{}", HANDLER.replace("RUN", "ISR"))
}
const WAITING_T_STATES: u32 = 7 + 99 * 13 + 8 + 10;

#[test]
fn a_periodic_interrupt_comes_at_its_t_states() {
    // At 500 and 1000 T-states; the call ends before 1500.
    let cycles = WAITING_T_STATES + 2 * (ACKNOWLEDGE + HANDLER_T_STATES);
    assert!(cycles < 1500);
    let lines = format!(
        "interrupt = [{{ at = 500, period = 500, handler = \"ISR\" }}]\nexpect.cycles = {{ eq = \
         {cycles} }}\ncheck = \"[COUNT] == 2\""
    );
    assert_eq!(case(&waiting(), &lines), [""; 0]);
    let counted = |count: u32| {
        case(
            &waiting(),
            &format!(
                "interrupt = [{{ at = 500, period = 500, count = {count}, handler = \"ISR\" }}]\n\
                 check = \"[COUNT] == {count}\""
            ),
        )
    };
    assert_eq!(counted(1), [""; 0]);
    assert_eq!(counted(2), [""; 0]);
    let missed = "returned after it accepted 2 of the 3 interrupts from 500 T-states on";
    assert_eq!(counted(3)[0], missed);
    let once = "interrupt = [{ at = 1312, handler = \"ISR\" }]\ncheck = \"[COUNT] == 1\"";
    assert_eq!(case(&waiting(), once), [""; 0], "a request up to the return is served");
    let late = "interrupt = [{ at = 1313, handler = \"ISR\" }]";
    let finding = "returned before it accepted the interrupt at 1313 T-states";
    assert_eq!(case(&waiting(), late), [finding]);
    let late = "interrupt = [{ at = \"2000..3000\", handler = \"ISR\" }]";
    let finding = "returned before it accepted the interrupt at 2000 T-states";
    assert_eq!(case(&waiting(), late), [finding]);
    let nowhere = case(&waiting(), "interrupt = [{ at = 5 }]");
    assert!(
        nowhere[0].contains("went to 0038H, outside of the program, from 8000H"),
        "{nowhere:?}"
    );
    let nowhere = case(&waiting(), "interrupt = [{ at = 5, kind = \"nmi\" }]");
    assert!(
        nowhere[0].contains("went to 0066H, outside of the program, from 8000H"),
        "{nowhere:?}"
    );
}

#[test]
fn mode_2_takes_the_vector_of_the_bus_from_the_mode_that_an_earlier_call_set() {
    let source = format!("{}\nINIT:\tMVI A,90H\n\tSTAI\n\tIM2\n\tRET", waiting());
    let cycles = WAITING_T_STATES + ACKNOWLEDGE_MODE_2 + HANDLER_T_STATES;
    let text = format!(
        "setup = [{{ call = \"INIT\", interrupts = \"any\" }}]\n[[case]]\nname = \"a\"\ncall = \
         \"RUN\"\nmemory = [{{ at = 0x9010, words = [\"ISR\"] }}]\ninterrupt = [{{ at = 100, bus \
         = 0x10 }}]\nexpect.cycles = {{ eq = {cycles} }}\ncheck = \"[COUNT] == 1\"\n"
    );
    assert_eq!(findings(&source, &text), [""; 0]);
    let property = text.replace("[[case]]", "[[property]]\nargs.C = \"u8\"");
    assert_eq!(findings(&source, &property), [""; 0]);
    let other =
        text.replace("setup", "[[case]]\nname = \"first\"\nsteps").replace("\"a\"", "\"b\"");
    let found = crate::results(&source, &other);
    assert_eq!(found[0].verdict, Verdict::Pass);
    assert_eq!(found[1].verdict, Verdict::Fail, "a case begins in mode 0");
}

#[test]
fn halt_waits_for_an_interrupt() {
    let source = format!("RUN:\tHLT\n\tRET\n{}", HANDLER.replace("RUN", "ISR"));
    // HALT runs NOPs of 4 T-states up to 100.
    let cycles = 100 + ACKNOWLEDGE + HANDLER_T_STATES + 10;
    let lines = format!(
        "interrupt = [{{ at = 98, handler = \"ISR\" }}]\nexpect.cycles = {{ eq = {cycles} }}"
    );
    assert_eq!(case(&source, &lines), [""; 0]);
    assert!(case(&source, "")[0].starts_with("did not return: HALT at 8000H"));
}

/// Adds 1 to a word in 16, 6 and 16 T-states, as the handler does.
fn counting(before: &str, after: &str) -> String {
    format!(
        "RUN:\t{before}\n\tLHLD COUNT\n\tINX H\n\tSHLD COUNT\n\t{after}\n\tRET
ISR:\tPUSH H\n\tLHLD COUNT\n\tINX H\n\tSHLD COUNT\n\tPOP H\n\tEI\n\tRETI
NMI:\tPUSH H\n\tLHLD COUNT\n\tINX H\n\tSHLD COUNT\n\tPOP H\n\tRETN\nCOUNT:\t.WORD 0"
    )
}

#[test]
fn a_routine_is_tried_with_an_interrupt_at_each_t_state() {
    let handled = |kind: &str, handler: &str, at: &str| {
        format!(
            "[[case]]\nname = \"one\"\ncall = \"RUN\"\ninterrupt = [{{ at = {at}, kind = \
             \"{kind}\", handler = \"{handler}\" }}]\nmemory = [{{ at = \"COUNT\", words = [0] \
             }}]\ncheck = \"{{COUNT}} == 2\""
        )
    };
    // The call ends at 56 T-states; it has six places for an interrupt, the last after its RET.
    let shared = counting("NOP", "NOP");
    let lost = result(&shared, &handled("int", "ISR", "\"all\""));
    assert_eq!(lost.reason.as_deref(), Some("interrupt at 5 T-states"), "within LHLD");
    assert_eq!(lost.details.calls, 3, "before NOP, before LHLD and after it");
    assert!(lost.differences[0].to_string().contains("check {COUNT} == 2: expected true"));
    let early = result(&shared, &handled("int", "ISR", "\"0..=4\""));
    assert_eq!((early.verdict, early.details.calls), (Verdict::Pass, 2));
    let late = result(&shared, &handled("int", "ISR", "\"27..=56\""));
    assert_eq!((late.verdict, late.details.calls), (Verdict::Pass, 3));
    let beyond = result(&shared, &handled("int", "ISR", "\"27..=57\""));
    assert_eq!(beyond.reason.as_deref(), Some("interrupt at 57 T-states"));
    let finding = "returned before it accepted the interrupt at 57 T-states";
    assert_eq!(beyond.differences[0].to_string(), finding);
    let guarded = counting("DI", "EI");
    let safe = result(&guarded, &handled("int", "ISR", "\"all\""));
    assert_eq!((safe.verdict, safe.details.calls), (Verdict::Pass, 2), "before DI and after RET");
    let unsafe_for_nmi = result(&guarded, &handled("nmi", "NMI", "\"all\""));
    assert_eq!(unsafe_for_nmi.reason.as_deref(), Some("interrupt at 5 T-states"));
}

#[test]
fn a_range_of_addresses_ends_before_its_last() {
    let source = "RUN:\tMVI B,3\nLOOP:\tINR A\n\tPUSH B\n\tDJNZ LOOP\nDONE:\tRET";
    // 4, 11 and 13 T-states; PUSH moves SP.
    let range = |lines: &str| {
        let text = format!("[[case]]\nname = \"one\"\ncall = \"LOOP\"\nin.BC = 0x0201\n{lines}");
        findings(source, &text)
    };
    let lines = "until = \"LOOP\"\nexpect = { A = 0x5B, B = 1, cycles = { eq = 28 }, stack = 2 }";
    assert_eq!(range(&format!("{lines}\ncheck = \"SP == in.SP - 2\"")), [""; 0]);
    assert_eq!(range(lines), ["returned with the stack pointer at FEFEH instead of FF00H"]);
    // 28, and 23 at the end of the loop.
    let lines =
        "until = \"DONE\"\nexpect = { A = 0x5C, cycles = { eq = 51 } }\ncheck = \"SP < in.SP\"";
    assert_eq!(range(lines), [""; 0]);
    let left = range("until = \"RUN\"");
    assert!(left[0].contains("did not return: went to 01"), "RET takes what was pushed: {left:?}");
    let interrupted = "until = \"LOOP\"\ninterrupt = [{ at = 0, handler = \"DONE\" }]\ncheck = \
                       \"A == in.A + 1 && SP < in.SP\"\ninterrupts = \"any\"";
    assert_eq!(range(interrupted), [""; 0]);
}

#[test]
fn the_case_of_a_property_repeats_entry_and_interrupts() {
    let text = "[[property]]\nname = \"p\"\ncall = \"RUN\"\nargs.C = \"u8\"\ninterrupt = [{ at = \
                500, period = 600, handler = \"ISR\" }]\ncheck = \"C < 10\"";
    let failed = result(&waiting(), text).details.case.expect("a case");
    let expected = "interrupt = [{ at = 500, period = 600, handler = \"ISR\" }]\n";
    assert!(failed.contains(expected), "{failed}");
    let repeated = result(&waiting(), &failed);
    assert_eq!(repeated.verdict, Verdict::Fail);
    let ranges = text.replace("interrupt =", "until = \"WAIT\"\ninterrupt =");
    let failed = result(&waiting(), &ranges).details.case.expect("a case");
    assert!(failed.contains("until = \"WAIT\"\n"), "{failed}");
}

#[test]
fn a_debugger_gets_the_interrupt_that_fails_and_the_end_of_a_range() {
    let source = counting("NOP", "NOP");
    let folder = folder(&source);
    let text = "[[case]]\nname = \"a\"\ncall = \"RUN\"\ninterrupt = [{ at = \"all\", handler = \
                \"ISR\" }]\ncheck = \"{COUNT} == 2\"\n[[case]]\nname = \"b\"\ncall = \"RUN\"\nuntil \
                = \"ISR-1\"";
    let file = parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
    let of = |name| CallState::of_case(&file, name).unwrap_or_else(|error| panic!("{error}"));
    let (interrupted, range) = (of("a"), of("b"));
    assert_eq!(interrupted.missing, ["interrupts"]);
    assert!(interrupted.findings[0].contains("false with"), "{:?}", interrupted.findings);
    assert_eq!((range.return_address, range.registers.sp), (0x8009, 0xFF00));
}
