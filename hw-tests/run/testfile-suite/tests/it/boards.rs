//! The same test files give the same verdicts on the simulated machine and on both kinds of board.

use std::time::Duration;

use firmware::profile::BoardProfile;
use hil_harness::board::{Board, BoardError, BoardKind, ResetFn};
use hil_harness::live::BoardConfig;
use rcflash_transport::Transport;
use serde_json::{Value, json};
use testfile_suite::{
    BoardMachine, CallServer, Machine, MachineError, Program, TestFile, TestOptions, TestResult,
    Verdict,
};

use crate::{folder, parse, run};

pub(crate) const PROFILES: [&str; 4] = ["rc2014-classic", "rc2014-zed", "sc126", "rc2014-16c550"];

/// A simulated board in this process, on which the caller runs.
pub(crate) fn board(profile: &str) -> BoardMachine {
    board_in(profile, |board| board)
}

/// Like [`board`], in what `wrap` returns.
fn board_in(profile: &str, wrap: impl FnOnce(Box<dyn Board>) -> Box<dyn Board>) -> BoardMachine {
    let profile = BoardProfile::named(profile).expect("it ships");
    let board = BoardKind::InProcess;
    let config = BoardConfig { board, ..BoardConfig::simulated(profile) };
    let machine = BoardMachine::prepare_with(&config, wrap);
    machine.unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn results(
    file: &TestFile,
    machine: &mut dyn testfile_suite::Machine,
) -> Vec<TestResult> {
    let mut results = Vec::new();
    let options = TestOptions { seed: Some(1), ..TestOptions::default() };
    let ran = run(file, machine, &options, &mut |result| results.push(result));
    ran.unwrap_or_else(|error| panic!("{error}"));
    results
}

/// The results on a board; both kinds of board give the same verdicts as the simulated machine.
fn same_everywhere(source: &str, text: &str) -> Vec<TestResult> {
    let folder = folder(source);
    let file = parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
    let verdicts = |results: &[TestResult]| -> Vec<(String, Verdict)> {
        results.iter().map(|result| (result.id.clone(), result.verdict)).collect()
    };
    let expected = verdicts(&results(&file, &mut file.program.machine()));
    let mut last = Vec::new();
    for profile in PROFILES {
        let mut board = board(profile);
        board.load(&file.program).unwrap_or_else(|error| panic!("{error}"));
        last = results(&file, &mut board);
        assert_eq!(verdicts(&last), expected, "{profile}: {last:#?}");
    }
    last
}

/// What the only case finds on a board.
fn finding(source: &str, lines: &str) -> String {
    let text = format!("[[case]]\nname = \"one\"\ncall = \"RUN\"\n{lines}");
    let results = same_everywhere(source, &text);
    assert_eq!(results[0].verdict, Verdict::Fail, "{results:?}");
    results[0].differences.iter().map(|one| format!("{one}\n")).collect()
}

#[test]
fn registers_memory_steps_and_properties_have_the_same_verdicts() {
    let source = "RUN:\tADD B\n\tLXI H,COUNT\n\tINR M\n\tEXX\n\tXCHG\n\tEXX\n\tRET
TAKE:\tMOV A,M\n\tINX H\n\tRET\nCOUNT:\t.BYTE 4\nROOM:\t.BLKB 300";
    let text = "
[[case]]
name = \"sum\"
call = \"RUN\"
in = { A = 200, B = 100, \"DE'\" = 0x1234 }
memory = [{ at = \"ROOM\", bytes = [1, 2, 3] }]
expect.A = 44
expect.\"HL'\" = 0x1234
expect.stack = 0
expect.memory = [{ at = \"COUNT\", bytes = [5] }]
[[case]]
name = \"wrong\"
call = \"RUN\"
in = { A = 1, B = 1 }
expect = { A = 3 }
[[case]]
name = \"clobbers\"
call = \"RUN\"
expect = { A = 0x0B, clobbers = \"F\" }
[[case]]
name = \"twice\"
steps = [{ call = \"RUN\" }, { call = \"RUN\", check = \"[COUNT] == 6\" }]
[[case]]
name = \"fresh\"
steps = [{ call = \"RUN\" }, { call = \"RUN\", check = \"[COUNT] == 8\" }]
[[property]]
name = \"all sums\"
call = \"RUN\"
args = { A = \"u8\", B = \"u8\" }
check = \"out.A == (A + B) & 255\"
[[property]]
name = \"planted\"
call = \"RUN\"
args = { A = \"u8\", B = \"0..100\" }
check = \"A + B < 256\"
[[property]]
name = \"bytes\"
call = \"TAKE\"
in = { HL = \"ROOM\" }
arrays = [{ at = \"ROOM\", length = \"1..=290\", byte = \"u8\" }]
check = \"out.A == [ROOM]\"
";
    let results = same_everywhere(source, text);
    let failed: Vec<_> = results.iter().filter(|one| one.verdict == Verdict::Fail).collect();
    let names: Vec<_> = failed.iter().map(|result| result.id.as_str()).collect();
    assert_eq!(names, ["wrong", "clobbers", "fresh", "planted"]);
    assert_eq!(failed[0].differences[0].to_string(), "A: expected 3, got 2");
}

#[test]
fn a_routine_that_does_not_return_is_located_and_the_run_continues() {
    let text = "[[case]]\nname = \"stuck\"\ncall = \"RUN\"\ntimeout = 20000\n[[case]]\nname = \
                \"next\"\ncall = \"FINE\"\nexpect.A = 7";
    let results = same_everywhere("RUN:\tJMPR RUN\nFINE:\tMVI A,7\n\tRET", text);
    let stuck = results[0].differences[0].to_string();
    let expected = "did not return within 20000 T-states; last at 8000H, RUN (prog.asm:2)";
    assert_eq!((stuck.as_str(), results[1].verdict), (expected, Verdict::Pass));
    let deaf = finding("RUN:\tDI\nLOOP:\tJMPR LOOP", "timeout = 20000");
    assert_eq!(deaf, "did not return within 20000 T-states\n");
}

#[test]
fn a_routine_that_goes_to_the_monitor_fails() {
    let found = finding("RUN:\tJMP 0", "timeout = 200000");
    assert!(found.contains("did not return"), "{found}");
}

#[test]
fn damage_that_a_board_shows_fails() {
    for (source, lines, expected) in [
        ("RUN:\tDI\n\tRET", "", "returned with interrupts off\n"),
        ("RUN:\tPOP H\n\tPOP D\n\tPCHL", "", "returned with another stack pointer\n"),
        (
            "RUN:\tMVI A,0C9H\n\tSTA NEXT\nNEXT:\tNOP\n\tRET",
            "",
            "changed code, 8005H, NEXT (prog.asm:4): 00H to C9H: if it is meant, allow = \
             [\"code-writes\"]\n",
        ),
        (
            "RUN:\tPUSH H\n\tPUSH H\n\tPOP H\n\tPOP H\n\tRET",
            "[stack]\nsize = 2",
            "used more than 2 bytes of stack\n",
        ),
    ] {
        assert_eq!(finding(source, lines), expected, "{source}");
    }
    let source = "RUN:\tMVI A,0C9H\n\tSTA NEXT\nNEXT:\tNOP\n\tRET";
    let allowed = "[[case]]\nname = \"a\"\ncall = \"RUN\"\nallow = [\"code-writes\"]";
    assert_eq!(same_everywhere(source, allowed)[0].verdict, Verdict::Pass);
}

#[test]
fn a_console_that_replaces_a_routine_or_the_bdos_is_the_same_on_boards() {
    let source = "RUN:\tMVI A,'H'\n\tCALL PUTC\n\tRET\nPUTC:\tHLT\n\tJMP PUTC";
    let case = |name, text| format!("[[case]]\nname = \"{name}\"\ncall = \"RUN\"\n{text}\n");
    let routine = format!(
        "console = {{ routine = \"PUTC\" }}\n{}{}",
        case("right", "expect = { A = 0x48, console = \"H\" }"),
        case("wrong", "expect.console = \"I\"")
    );
    let results = same_everywhere(source, &routine);
    let found = results[1].differences[0].to_string();
    assert_eq!(found, "console: expected \"I\", got \"H\"");
    assert_eq!(results[0].verdict, Verdict::Pass);
    let source = "RUN:\tMVI C,1\n\tCALL BDOS\n\tRET\n\t.EXTERN BDOS";
    let bdos = case("missing", "input = \"\"\ntimeout = 20000");
    let results = same_everywhere(source, &format!("console = \"cpm\"\n{bdos}"));
    let found = results[0].differences[0].to_string();
    assert_eq!(found, "did not return: it reads more than 'input' has");
}

#[test]
fn mocks_have_the_same_verdicts_and_leave_the_program_unchanged() {
    let source = "RUN:\tCALL GETC\n\tMOV B,A\n\tPUSH PSW\n\tCALL GETC\n\tCALL SENT\n\tPOP H\n\tRET
GETC:\tMVI A,99\n\tRET\nSENT:\tLXI H,ROOM\n\tINR M\n\tRET\nROOM:\t.BLKB 4
ODD:\tLXI H,GETC\n\tMVI M,0\n\tCALL GETC\n\tRET\nBARE:\tCALL GETC\n\tRET
DIRTY:\tCALL GETC\n\tLXI H,RUN\n\tMVI M,0\n\tRET";
    let text = "
[[case]]
name = \"history\"
call = \"RUN\"
in = { F = 0x28, DE = 0x1234, BC = 5 }
mock.GETC.returns = [{ A = 7, flags = \"C NZ\" },
    { A = 8, \"HL'\" = 0x5678, IXH = 9, \"F'\" = 3 }]
mock.SENT = { returns = { D = 0x77, memory = [{ at = \"ROOM\", bytes = [1, 2, 3] }] } }
[case.expect]
A = 8
BC = 0x705
DE = 0x7734
HL = 0x729
IX = 0x969
\"HL'\" = 0x5678
\"AF'\" = 0x4C03
calls = { GETC = 2, SENT = 1 }
stack = 4
memory = [{ at = \"ROOM\", bytes = [1, 2, 3, 0xA5] }]
[[case]]
name = \"wrong count\"
call = \"RUN\"
mock = { GETC = {}, SENT = {} }
expect.calls = { GETC = 1, SENT = 0 }
[[case]]
name = \"kept\"
call = \"BARE\"
in.flags = \"C Z M PE\"
mock.GETC = {}
expect = { clobbers = \"\", stack = 2, calls = { GETC = 1 } }
[[case]]
name = \"original again\"
call = \"BARE\"
expect.A = 99
[[case]]
name = \"many\"
steps = [{ call = \"BARE\", mock.GETC.returns = { A = 1 }, expect.A = 1 },
    { call = \"BARE\", expect.A = 99 },
    { call = \"BARE\", mock.GETC.returns = { A = 2 }, expect.A = 2, check = \"[GETC] == 3EH\" }]
[[case]]
name = \"mock overwritten\"
call = \"ODD\"
mock.GETC.returns = { A = 1 }
timeout = 100000
[[case]]
name = \"dirty\"
call = \"DIRTY\"
mock.GETC = {}
[[property]]
name = \"all\"
call = \"BARE\"
args = { A = \"u8\", DE = \"u16\" }
mock.GETC.returns = { B = 3 }
check = \"out.A == A && out.DE == DE && B == 3\"
cases = 40
[[property]]
name = \"each\"
call = \"BARE\"
args.A = \"u8\"
exhaustive = true
mock.GETC.returns = { A = 5 }
check = \"out.A == 5\"
";
    let results = same_everywhere(source, text);
    let failed: Vec<_> = results.iter().filter(|one| one.verdict == Verdict::Fail).collect();
    let names: Vec<_> = failed.iter().map(|result| result.id.as_str()).collect();
    assert_eq!(names, ["wrong count", "mock overwritten", "dirty"]);
    let found: Vec<_> = failed[0].differences.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["calls of GETC: expected 1, got 2", "calls of SENT: expected 0, got 1"]);
    let found = failed[2].differences[0].to_string();
    assert!(found.starts_with("changed code, 8000H, RUN (prog.asm:2): CDH to 00H"), "{found}");
}

#[test]
fn mocks_of_one_call_are_not_there_in_the_next_of_a_batch() {
    let source = "START:\tCALL GETC\n\tSTA SEEN\n\tRET\nGETC:\tMVI A,99\n\tRET\nSEEN:\t.BYTE 0
RUN:\tCALL GETC\n\tMOV B,A\n\tLDA SEEN\n\tRET";
    let text = "setup = [{ call = \"START\" }]\n[[property]]\nname = \"all\"\ncall = \"RUN\"
args.C = \"u8\"\nmock.GETC.returns = { A = 5 }\ncheck = \"out.A == 99 && B == 5\"\ncases = 60";
    assert_eq!(same_everywhere(source, text)[0].verdict, Verdict::Pass);
}

#[test]
fn mocks_that_a_board_can_not_place_are_skipped() {
    let source = "RUN:\tCALL TINY\n\tRET\nTINY:\tRET\nNEXT:\tNOP\n\tNOP\n\tRET";
    let case = |name, lines| format!("[[case]]\nname = \"{name}\"\ncall = \"RUN\"\n{lines}\n");
    let text = [
        case("tiny", "mock.TINY = {}"),
        case("rom", "mock.0005H = {}"),
        case("full", "mock.NEXT = {}\nmemory = [{ at = 0x8010, size = 0x5DF0, fill = 0 }]"),
        case("high", "mock.NEXT.returns.memory = [{ at = 0xF000, bytes = [1] }]"),
    ];
    let folder = folder(source);
    let file = parse(folder.path(), &text.concat()).unwrap_or_else(|error| panic!("{error}"));
    let mut board = board(PROFILES[0]);
    board.load(&file.program).unwrap_or_else(|error| panic!("{error}"));
    let reasons: Vec<_> = results(&file, &mut board)
        .into_iter()
        .map(|result| (result.verdict, result.reason.unwrap_or_default()))
        .collect();
    let expected = [
        "the routine to replace at 8004H has less than 3 bytes",
        "0005H to replace is not in the program's RAM",
        "bytes of RAM are free for mocks",
        "it writes memory at F000H, and the caller leaves 8000H to DDFFH to programs",
    ];
    for ((verdict, reason), expected) in reasons.iter().zip(expected) {
        assert!(*verdict == Verdict::Skipped && reason.contains(expected), "{reasons:?}");
    }
}

#[test]
fn what_a_board_does_not_show_is_named_and_what_it_lacks_is_skipped() {
    let source = "RUN:\tIN 10H\n\tOUT 80H\n\tSTA DATA\n\tRET\nDATA:\t.BYTE 0";
    let text = "
[[case]]
name = \"unseen\"
call = \"RUN\"
writes = [{ at = \"DATA\" }]
expect = { cycles = 1, ports.0x80 = [1], I = 9, reads.DATA = 1 }
check = [\"cycles < 5\", \"R > 300\"]
[[case]]
name = \"ports\"
call = \"RUN\"
ports = { 0x10 = [1] }
[[case]]
name = \"interrupted\"
call = \"RUN\"
interrupt = [{ at = 5, handler = \"RUN\" }]
[[case]]
name = \"service\"
call = \"RUN\"
as = \"nmi\"
[[case]]
name = \"range\"
call = \"RUN\"
until = \"DATA-1\"
[[case]]
name = \"mapped\"
call = \"RUN\"
reads = { 9000H = [1] }
[[case]]
name = \"r\"
call = \"RUN\"
in = { R = 5 }
[[case]]
name = \"high\"
call = \"RUN\"
memory = [{ at = 0xF000, bytes = [1] }]
";
    let folder = folder(source);
    let file = parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
    let mut board = board(PROFILES[0]);
    board.load(&file.program).unwrap_or_else(|error| panic!("{error}"));
    let results = results(&file, &mut board);
    let unseen: Vec<_> = results[0].details.not_checked.iter().map(String::as_str).collect();
    assert_eq!(
        (results[0].verdict, unseen),
        (Verdict::Pass, vec!["I", "R", "cycles", "ports", "reads", "writes"])
    );
    let skipped = |result: &TestResult, reason: &str| {
        let given = result.reason.as_deref().unwrap_or_default();
        assert!(result.verdict == Verdict::Skipped && given.contains(reason), "{result:?}");
    };
    let text =
        format!("console = {{ port = 0x80 }}\n{}", text.replace("cycles = 1", "console = \"\""));
    let file = parse(folder.path(), &text).unwrap_or_else(|error| panic!("{error}"));
    let unseen = self::results(&file, &mut board).swap_remove(0);
    assert!(
        unseen.verdict == Verdict::Pass && unseen.details.not_checked.contains("console"),
        "{unseen:?}"
    );
    skipped(&results[1], "values of ports are simulated only");
    for simulated in &results[2..5] {
        skipped(simulated, "interrupts and 'until' are simulated only");
    }
    skipped(&results[5], "values of 'reads' are simulated only");
    skipped(&results[6], "registers I and R are simulated only");
    skipped(&results[7], "it writes memory at F000H, and the caller leaves 8000H to DDFFH");
}

#[test]
fn a_program_in_the_memory_of_the_caller_is_refused_with_both_ranges() {
    let folder = folder("RUN:\tRET\n\t.BLKB 2\n\tRET");
    let file = parse(folder.path(), "origin = 0xDDFE\n[[case]]\nname = \"a\"\ncall = \"RUN\"")
        .unwrap_or_else(|error| panic!("{error}"));
    let refused = board(PROFILES[0]).load(&file.program).expect_err("it overlaps");
    assert!(matches!(refused, MachineError::Unloadable(_)));
    let message = "the program occupies DDFEH to DE01H, but the caller on the board leaves 8000H \
                   to DDFFH to programs: change 'origin' or 'layout'";
    assert_eq!(refused.to_string(), message);
}

const SESSION: &str = "\
TWICE:  ADD     A
        STA     LAST
        RET
MEET:   IN      10H
        RET
LOOP:   JMP     LOOP
LAST:   .BYTE   7";

/// A session on a board with the source; its folder.
fn session(board: BoardMachine) -> (CallServer, tempfile::TempDir) {
    let (folder, mut session) = (folder(SESSION), CallServer::new(Box::new(board)));
    let loaded = session.load(&[folder.path().join("prog.asm")], &[], None);
    loaded.unwrap_or_else(|error| panic!("{error}"));
    (session, folder)
}

fn reply(session: &mut CallServer, request: &Value) -> Value {
    session.reply(&request.to_string())
}

#[test]
fn sessions_of_calls_run_on_boards() {
    for profile in PROFILES {
        let (mut session, folder) = session(board(profile));
        let mut reply = |request: Value| reply(&mut session, &request);
        let read = json!({ "read": [{ "at": "LAST", "size": 1 }, { "at": 0xC000, "size": 2 }] });
        reply(json!({ "write": [{ "at": 0xC000, "text": "AB" }] }));
        let expect = json!({ "A": 42, "cycles": 1 });
        let made = reply(json!({
            "call": "TWICE", "in": { "A": 21 }, "outputs": ["A"], "expect": expect,
            "read": [{ "at": "LAST" }]
        }));
        let expected = json!({
            "returned": true, "out": { "A": 42 }, "memory": [[42]], "cycles": null, "stack": 0,
            "console": null, "ports": {}, "calls": {}, "findings": [], "not_checked": ["cycles"]
        });
        assert_eq!(made, expected, "{profile}");
        assert_eq!(reply(read.clone()), json!({ "memory": [[42], [65, 66]] }), "{profile}");
        assert_eq!(reply(json!({ "reset": true })), json!({}), "{profile}");
        let restored = json!({ "memory": [[7], [0xA5, 0xA5]] });
        assert_eq!(reply(read.clone()), restored, "{profile}");
        // The board is reset, and has the program again.
        let stuck = reply(json!({ "call": "LOOP", "timeout": 20000 }));
        let finding = "did not return within 20000 T-states; last at 8008H, LOOP (prog.asm:7)";
        assert_eq!((&stuck["findings"], &stuck["returned"]), (&json!([finding]), &json!(false)));
        let loaded = json!({ "sources": [folder.path().join("prog.asm")], "origin": "9000H" });
        let loaded = reply(json!({ "load": loaded }));
        assert_eq!(
            (&loaded["machine"], &loaded["symbols"]["TWICE"]),
            (&name(profile), &json!(0x9000))
        );
        let again = reply(json!({ "call": "TWICE", "in": { "A": 4 }, "outputs": ["A"] }));
        assert_eq!(again["out"], json!({ "A": 8 }), "{profile}");
    }
}

#[test]
fn sessions_return_output_on_the_console_and_counts_of_mocks() {
    let source =
        "RUN:\tMOV A,E\n\tCALL PUTC\n\tDJNZ RUN\n\tRET\nLOOP:\tJMP LOOP\nPUTC:\tHLT\n\tNOP\n\tNOP";
    let folder = folder(source);
    let [simulated, board]: [Box<dyn testfile_suite::Machine>; 2] =
        [Box::new(Program::default().machine()), Box::new(board(PROFILES[1]))];
    for machine in [simulated, board] {
        let mut session = CallServer::new(machine);
        let mut reply = |request: Value| reply(&mut session, &request);
        let mut program = json!({ "sources": [folder.path().join("prog.asm")] });
        reply(json!({ "load": program.clone() }));
        let mock = json!({ "call": "RUN", "in": { "B": 3 }, "mock": { "PUTC": {} } });
        let mocked = reply(mock);
        let shown = [&mocked["calls"], &mocked["console"], &mocked["findings"]];
        assert_eq!(shown, [&json!({ "PUTC": 3 }), &json!(null), &json!([])]);
        program["console"] = json!({ "routine": "PUTC" });
        reply(json!({ "load": program }));
        let print = |count, byte| json!({ "call": "RUN", "in": { "B": count, "E": byte } });
        assert_eq!(reply(print(2, 0x48))["console"], "HH");
        assert_eq!(reply(print(1, 0x1B))["console"], "\u{1B}");
        assert_eq!(reply(print(200, 0x41))["console"], "A".repeat(200));
    }
}

fn name(profile: &str) -> Value {
    json!(format!("simulated {profile} within this program"))
}

#[test]
fn what_a_board_can_not_do_is_an_error_that_changes_nothing() {
    let (mut session, folder) = session(board(PROFILES[0]));
    let load = |more: Value| {
        let mut program = json!({ "sources": [folder.path().join("prog.asm")] });
        let object = program.as_object_mut().expect("an object");
        object.extend(more.as_object().expect("an object").clone());
        json!({ "load": program })
    };
    let high = json!([{ "at": 0xF000, "bytes": [1] }]);
    let leaves = "it writes memory at F000H, and the caller leaves 8000H to DDFFH to programs";
    let ports = json!({ "call": "MEET", "ports": { "10H": [1] } });
    for (request, message) in [
        (json!({ "call": "TWICE", "mock": { "0005H": {} } }), "0005H to replace is not in the"),
        (ports, "values of ports are simulated only"),
        (json!({ "call": "TWICE", "memory": high }), leaves),
        (json!({ "write": high }), leaves),
        (load(json!({ "origin": "0DDFCH" })), "the program occupies DDFCH to DE0"),
        (load(json!({ "boards": ["rc2014-zed"] })), "for rc2014-zed, not rc2014-classic"),
    ] {
        let reply = reply(&mut session, &request);
        let error = reply["error"].as_str().unwrap_or_else(|| panic!("{request}: {reply}"));
        assert!(error.contains(message), "{request}: {error}");
    }
    let made = reply(&mut session, &json!({ "call": "TWICE", "in": { "A": 2 }, "outputs": ["A"] }));
    assert_eq!(made["out"], json!({ "A": 4 }), "the program is still there");
}

/// A board that only a person can reset.
struct NoReset(Box<dyn Board>);

impl Board for NoReset {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        self.0.open()
    }
}

#[test]
fn a_stuck_call_is_reported_even_if_nothing_can_reset_the_board() {
    let (button, buttons) = std::sync::mpsc::channel::<ResetFn>();
    let board = board_in(PROFILES[0], |board| {
        button.send(board.reset_fn().expect("a button")).expect("a receiver");
        Box::new(NoReset(board))
    });
    let (mut session, _folder) = session(board);
    let stuck = reply(&mut session, &json!({ "call": "LOOP", "timeout": 20000 }));
    assert_eq!(stuck["returned"], false, "{stuck}");
    let call = json!({ "call": "TWICE", "in": { "A": 2 }, "outputs": ["A"] });
    let lost = reply(&mut session, &call);
    let error = lost["error"].as_str().unwrap_or_else(|| panic!("{lost}"));
    assert!(error.ends_with("; press the board's reset button and try again"), "{error}");
    buttons.recv().expect("a button")();
    assert_eq!(reply(&mut session, &call)["out"], json!({ "A": 4 }));
}

/// The calls of a property on a board, the requests and the time by the board's clock that they
/// took.
fn figures(board: &mut BoardMachine, file: &TestFile) -> (u64, u64, Duration) {
    board.load(&file.program).unwrap_or_else(|error| panic!("{error}"));
    let before = board.live.link.stats();
    let result = results(file, board).remove(0);
    assert_eq!(result.verdict, Verdict::Pass, "{result:?}");
    let after = board.live.link.stats();
    (result.details.calls, after.requests - before.requests, after.busy - before.busy)
}

/// Both kinds of board make the calls of a property at this rate at least.
fn assert_rate(file: &TestFile, expected: u64, per_second: u32) {
    for profile in PROFILES {
        let (calls, requests, time) = figures(&mut board(profile), file);
        println!("{profile}: {calls} calls, {requests} requests, {time:?}");
        assert_eq!(calls, expected);
        let limit = Duration::from_secs(expected) / per_second;
        assert!(time < limit, "{profile}: {per_second} calls/s: {time:?}");
    }
}

/// A routine of 200 T-states: MVI 7, DJNZ 13 or 8, NOP, MOV and CMA 4, RET 10 (UM0080).
const COMPLEMENT: &str = "RUN:\tMVI B,12\nLOOP:\tDJNZ LOOP\n\tMOV A,L\n\tCMA\n\tMOV E,A\n\tMOV A,H
\tCMA\n\tMOV D,A\n\tNOP\n\tNOP\n\tRET";

#[test]
fn inputs_of_a_property_share_requests() {
    let args = "args = { HL = \"u16\", IX = \"u16\", C = \"u8\", IY = \"u16\" }\ncases = 400";
    let accepts_all = "reference = [\"sh\", \"-c\", \"while read line; do echo null; done\"]";
    let check = "check = \"out.DE == 65535 - HL && out.IX == IX && out.C == C && out.IY == IY\"";
    let folder = folder(COMPLEMENT);
    for judge in [check, accepts_all] {
        let text = format!("[[property]]\nname = \"all\"\ncall = \"RUN\"\n{args}\n{judge}");
        let file = parse(folder.path(), &text).unwrap_or_else(|error| panic!("{error}"));
        assert_rate(&file, 400, 150);
    }
}

#[test]
fn a_board_counts_through_the_inputs_of_an_exhaustive_property() {
    let text = "[[property]]\nname = \"all\"\ncall = \"RUN\"\nargs = { HL = \"0..16384\" }\n\
                exhaustive = true\ncheck = \"out.DE == 65535 - HL\"";
    let folder = folder(COMPLEMENT);
    let file = parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
    let simulated = results(&file, &mut file.program.machine()).remove(0);
    assert_eq!(simulated.details.t_states, Some(200));
    assert_rate(&file, 16_384, 3_000);
}

#[test]
fn exhaustive_properties_have_the_same_verdicts_however_inputs_are_counted() {
    let source = "RUN:\tMOV A,B\n\tADD C\n\tRET\nPLANTED: MOV A,C\n\tCPI 77\n\tRNZ\n\tXRA A\n\tRET
KEEPS:\tLXI H,COUNT\n\tINR M\n\tMOV D,M\n\tRET\nCOUNT:\t.BYTE 4";
    let property = |name: &str, call: &str, lines: &str| {
        format!("[[property]]\nname = \"{name}\"\ncall = \"{call}\"\nexhaustive = true\n{lines}\n")
    };
    let sum = "check = \"out.A == (B + C) & 255 && FC == (B + C > 255)\"";
    let inputs = "args = { B = \"3..=5\", C = \"u8\" }";
    let text = [
        property("ranges", "RUN", &format!("args = {{ B = \"7..=9\", C = \"5..=200\" }}\n{sum}")),
        property("full", "RUN", &format!("{inputs}\n{sum}")),
        property("listed", "RUN", &format!("args = {{ B = \"0..50\", C = [200, 4] }}\n{sum}")),
        property("flag", "RUN", &format!("{inputs}\ncheck = \"FC == (B + C > 255)\"")),
        property("kept", "RUN", &format!("{inputs}\n{sum}\nexpect.clobbers = \"F\"")),
        property("planted", "PLANTED", "args = { BC = \"256..600\" }\ncheck = \"out.A == C\""),
        property("same", "RUN", &format!("{inputs}\nsame_as = \"PLANTED\"\noutputs = [\"A\"]")),
        property("state", "KEEPS", &format!("{inputs}\ncheck = \"D == 5\"")),
    ];
    let results = same_everywhere(source, &text.concat());
    let failed: Vec<_> = results.iter().filter(|one| one.verdict == Verdict::Fail).collect();
    let names: Vec<_> = failed.iter().map(|result| result.id.as_str()).collect();
    assert_eq!(names, ["planted", "same"]);
    let reason = failed[0].reason.as_deref();
    assert_eq!(reason, Some("input 78 in ascending order: BC = 333"), "256 + 77");
}

#[test]
fn an_output_that_only_the_board_has_is_found_by_its_input() {
    // Memory outside of the program differs: A5H on a simulated machine only.
    let source = "RUN:\tCPI 77\n\tRNZ\n\tLDA 0D000H\n\tRET";
    let text = "[[property]]\nname = \"all\"\ncall = \"RUN\"\nargs = { A = \"u8\" }\nexhaustive = \
                true\ncheck = \"out.A == A || out.A == 0A5H\"\nallow = [\"unwritten\"]";
    let folder = folder(source);
    let file = parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
    let simulated = results(&file, &mut file.program.machine()).remove(0);
    assert_eq!(simulated.verdict, Verdict::Pass, "{simulated:?}");
    let mut board = board(PROFILES[0]);
    board.load(&file.program).unwrap_or_else(|error| panic!("{error}"));
    let result = results(&file, &mut board).remove(0);
    let reason = result.reason.as_deref();
    assert_eq!(reason, Some("input 78 in ascending order: A = 77"), "{result:?}");
}

#[test]
fn a_call_that_does_not_return_is_waited_for_as_one_call_although_others_share_its_frame() {
    let source = "RUN:\tCPI 200\n\tRNZ\nSTUCK:\tJMP STUCK";
    let text = "[[property]]\nname = \"all\"\ncall = \"RUN\"\nargs = { A = \"u8\" }\nexhaustive = \
                true\ncheck = \"out.A == A\"";
    let folder = folder(source);
    let file = parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}"));
    let mut board = board(PROFILES[0]);
    board.load(&file.program).unwrap_or_else(|error| panic!("{error}"));
    let before = board.live.link.stats().busy;
    let result = results(&file, &mut board).remove(0);
    assert_eq!(result.reason.as_deref(), Some("input 201 in ascending order: A = 200"));
    // Six calls of 10,000,000 T-states in a frame, at 7.3728 MHz, would be 24 s in three attempts,
    // and as much for the frame behind it.
    let time = board.live.link.stats().busy - before;
    assert!(time < Duration::from_secs(24), "{time:?}");
}
