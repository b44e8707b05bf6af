//! Expressions, watchpoints and local labels on a program that has nothing to do with chess.

use crate::any::Bench;
use crate::hw_tests;

/// Runs commands on the bench's program.
fn run(commands: &str) -> String {
    let bench = Bench::new();
    bench.script(&bench.path("prog.asm"), commands, &[])
}

/// The line of the output that contains this.
#[track_caller]
fn line<'o>(out: &'o str, text: &str) -> &'o str {
    out.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text} in\n{out}"))
}

#[test]
fn signed_values_are_computed_compared_and_printed() {
    let commands = "set A = 0FBH\nset HL = 8000H\nprint sb(A)\nprint sw(HL) / 2\nprint sb(A) + 6\n\
        print sb(A) < 0 && A > 0\nprint sw(HL) > 0\nbreak ONE if sb(A) < -4 log A is {sb(A)}\n\
        display sb(A)\nstep 3\n";
    let out = run(commands);
    let expected = ["-5 = FFFBH", "C000H = 49152, -16384 signed", "0001H = 1", "0001H = 1"];
    let values = [&expected[..], &["0000H = 0"]].concat().join("\n");
    assert!(out.contains(&values), "{out}");
    assert!(out.contains("A is -5 (FFFBH)") && out.contains("sb(A) = -5 (FFFBH)"), "{out}");
}

#[test]
fn a_watchpoint_states_its_address_and_width() {
    for (what, expected) in [
        ("FC", "changes of FC"),
        ("hl", "changes of HL"),
        ("[COUNT]", "writes of 1 byte at 802DH (COUNT)"),
        ("{COUNT}", "writes of 2 bytes at 802DH (COUNT)"),
        ("COUNT,3 rw", "reads and writes of 3 bytes at 802DH (COUNT)"),
        ("[COUNT + 1] r", "reads of 1 byte at 802EH"),
        ("port 80H,2 r", "reads of 2 ports at 80H"),
    ] {
        let out = run(&format!("watch {what}\nstops\n"));
        let listed = format!("1: watch {expected}; 0 hits so far");
        let expected = [format!("watchpoint 1: {expected}"), listed];
        assert_eq!(out.lines().collect::<Vec<_>>(), expected, "{what}");
    }
    let bench = Bench::new();
    let script = bench.write("script", "watch FZ r\n").display().to_string();
    let (code, _, printed) =
        hw_tests(&["debug", &bench.path("prog.asm").display().to_string(), "--script", &script]);
    assert!(code == Some(2) && printed.contains("reads of FZ can't be watched"), "{printed}");
}

#[test]
fn watched_flags_and_bytes_halt_the_board_where_they_change() {
    let out = run("set FZ = 0\nwatch FZ\nrun\nprint [COUNT]\nC\nprint [COUNT]\n");
    // DCR M at ONE sets Z when it reaches 0; RET is next.
    let halt = line(&out, "FZ changed, 0000H to 0001H");
    assert!(halt.starts_with("8021H, ONE+1"), "{out}");
    assert_eq!(line(&out, "= 0"), "0000H = 0");
    assert_eq!(line(&out, "= 1"), "0001H = 1", "before DCR");
    let out = run("watch [COUNT]\nrun\ndelete all\nwatch COUNT if [COUNT] == 1\nrun\n");
    line(&out, "802DH (COUNT) written, value 03H");
    line(&out, "802DH (COUNT) written, value 01H");
    let out = run("watch COUNT hits == 3\nrun\n");
    line(&out, "802DH (COUNT) written, value 01H");
}

#[test]
fn who_reports_that_nothing_wrote_a_byte_and_stays() {
    let out = run("to ECHO\nlastchange 9000H\nprint PC\n");
    assert!(line(&out, "nothing changed 9000H").starts_with("8014H, ECHO"), "{out}");
    line(&out, "8014H = 32788");
}

#[test]
fn a_halt_with_interrupts_off_is_no_wait_for_input() {
    let bench = Bench::new();
    for (program, expected) in [
        ("START:\tDI\n\tHLT\n\t.END START\n", "halted with interrupts off: only a reset wakes it"),
        ("START:\tEI\n\tHLT\n\t.END START\n", "idle: waiting for input"),
    ] {
        let out = bench.script(&bench.write("halt.asm", program), "run\n", &[]);
        line(&out, expected);
    }
}

#[test]
fn labels_of_the_monitor_are_marked() {
    let out = run("code 0\nprint monitor.MONITR\nprint MONITR\n");
    // The jump of the reset vector in ROM.
    let jump = line(&out, "JMP monitor.MONITR");
    let digits = jump.split_whitespace().find(|word| word.starts_with("C3")).expect("its bytes");
    let value = format!("{}{}H = ", &digits[4..6], &digits[2..4]);
    assert_eq!(out.lines().filter(|line| line.starts_with(&value)).count(), 2, "{out}");
}

#[test]
fn local_labels_have_the_name_of_their_routine() {
    let out = run("break SAY..WAIT if A != 0\nrun\ncode\nprint ..WAIT\ncalls\nbreak START\n");
    assert_eq!(out.lines().next(), Some("breakpoint 1 at 8023H, SAY..WAIT (prog.asm:24)"));
    assert_eq!(out.lines().nth(1), Some("8023H, SAY..WAIT (prog.asm:24): IN 80H; at a breakpoint"));
    line(&out, "JRZ SAY..WAIT");
    line(&out, "8023H = 32803, -32733 signed = SAY..WAIT");
    let bench = Bench::new();
    let program = crate::any::linked(&bench.path("prog.asm"));
    let elf = bench.path("prog.elf");
    std::fs::write(&elf, tdlasm::object::write_executable(&program)).expect("written");
    let out = bench.script(&elf, "break SAY..WAIT\n", &[]);
    line(&out, "9023H, SAY..WAIT (prog.asm:24)");
}

#[test]
fn arrays_texts_and_characters_are_printed() {
    let out =
        run("set [9000H] = 48H 49H 0DH 0 1\nprint [9000H;5]\nprint {9000H;2}\nprint 9000H.s\n\
         print 'A' + 1\nprint -1\nprint 9000H.w\nprint 1 << 4 | 3\n");
    let expected = [
        "9000H: 48 49 0D 00 01  HI...",
        "9000H: 4948H 000DH",
        "\"HI\\r\"",
        "0042H = 66",
        "FFFFH = 65535, -1 signed",
        "4948H = 18760",
        "0013H = 19",
    ];
    assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), expected);
}

#[test]
fn errors_name_the_fault_and_labels_of_the_program() {
    let bench = Bench::new();
    let program = bench.path("prog.asm").display().to_string();
    for (command, expected) in [
        ("print 10000H", "10000H has more than 16 bits"),
        ("print NOSUCH", "unknown name 'NOSUCH'"),
        ("print (1", "missing ) at the end"),
        ("break NOSUCH", "such as START+3, 8123H or "),
        ("print [START;0]", "invalid count 0: expected 1 to 256"),
        ("break START log {HL", "missing } at the end"),
    ] {
        let script = bench.write("script", &format!("{command}\n")).display().to_string();
        let (code, _, printed) = hw_tests(&["debug", &program, "--script", &script]);
        assert!(code == Some(2) && printed.contains(expected), "{command}: {printed}");
        assert!(!printed.to_ascii_lowercase().contains("xchng"), "{printed}");
    }
}

#[test]
fn displays_log_messages_commands_and_until() {
    let out =
        run("display [COUNT]\nbreak ONE log left {[COUNT]} of {3}\nbreak ECHO\nrun\nrestart\n\
         delete all\nuntil [COUNT] == 1\nbreak SAY do print A; run\nbreak ECHO\nrun\n");
    let lines: Vec<&str> = out.lines().collect();
    let logged: Vec<&&str> = lines.iter().filter(|line| line.starts_with("left ")).collect();
    assert_eq!(
        logged,
        [&"left 03H (3) of 03H (3)", &"left 02H (2) of 03H (3)", &"left 01H (1) of 03H (3)"]
    );
    let echo = lines.iter().position(|line| line.contains("ECHO (")).expect("it halts");
    assert!(lines[echo].contains("breakpoint 3"), "{out}");
    let halt = lines.iter().position(|line| line.ends_with("IN 80H; at a breakpoint"));
    assert_eq!(lines[halt.expect("at ECHO") + 1], "1: [COUNT] = 00H (0)");
    // After the second DCR M, whose RET is next.
    assert!(line(&out, "8021H, ONE+1").ends_with(": RET"), "{out}");
    line(&out, "004FH = 79");
    line(&out, "004BH = 75");
    assert!(lines[lines.len() - 1].ends_with("at a breakpoint"), "{out}");
}
