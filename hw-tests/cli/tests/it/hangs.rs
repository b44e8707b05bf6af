//! Boards that hang are reset by the method of the rig file, and the run goes on.

mod methods;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use assert_cmd::cargo::CommandCargoExt;
use board_simulator::{BoardServer, ServerOptions, board_spec};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{Decoder, DecoderEvent, kind};
use hil_harness::board::{TranscriptEntry, TranscriptEvent};
use rcflash_transport::network::{self, Protocol, Server};
use rcflash_transport::port::OpenError;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{Capabilities, ControlLine, Transport};

use crate::test_files::hw_tests;

/// A routine that hangs with interrupts off, so that only a reset ends it, and one that returns.
const SOURCE: &str = "HANG: DI\n HLT\nTWICE: ADD A\n RET\n .INTERN HANG,TWICE\n .END\n";
const CASES: &str = "sources = [\"prog.asm\"]
[[case]]
name = \"hangs\"
call = \"HANG\"
timeout = 100000
[[case]]
name = \"next\"
call = \"TWICE\"
in.A = 2
expect.A = 4
";

/// A simulated board behind a port, whose rig file has a reset command. The command writes a line
/// to `resets` and waits until `pressed` exists, which the thread makes when it has pressed reset.
struct Rig {
    folder: tempfile::TempDir,
    is_over: Arc<AtomicBool>,
    finger: Option<JoinHandle<()>>,
    server: BoardServer,
}

impl Rig {
    fn new(reset: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let profile = BoardProfile::named("rc2014-classic").expect("it ships");
        let monitor = build(&profile, ProgramKind::Monitor).unwrap_or_else(|e| panic!("{e}"));
        let options = ServerOptions::default();
        let server = BoardServer::start(board_spec(&profile), &monitor.bytes, options);
        let server = server.expect("a pseudo-terminal");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("a file");
        };
        write("prog.asm", SOURCE);
        write("prog.test.toml", CASES);
        let rig = format!("[boards.bench]\nport = \"{}\"\n{reset}\n", server.path().display());
        write("rig.toml", &rig);
        let is_over = Arc::new(AtomicBool::new(false));
        let finger = press_on_request(folder.path(), &server, Arc::clone(&is_over));
        Self { folder, is_over, finger: Some(finger), server }
    }

    fn with_command() -> Self {
        let command = "echo reset >> resets; touch request; \
                       while test -e request; do sleep 0.01; done";
        Self::new(&format!("reset = \"command\"\nreset_command = \"{command}\""))
    }

    /// Returns the number of times that the command was run.
    fn resets(&self) -> usize {
        let log = std::fs::read_to_string(self.folder.path().join("resets"));
        log.map_or(0, |text| text.lines().count())
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.finger.take().map(JoinHandle::join);
    }
}

/// Presses the board's reset button whenever the file `request` appears, and removes it.
fn press_on_request(
    folder: &Path,
    server: &BoardServer,
    is_over: Arc<AtomicBool>,
) -> JoinHandle<()> {
    let (request, press) = (folder.join("request"), server.reset_button());
    thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            if request.exists() {
                press();
                std::fs::remove_file(&request).expect("it is there");
            }
            thread::sleep(Duration::from_millis(5));
        }
    })
}

/// A port to the simulated board whose adapter has a wire to the board's reset, from DTR, RTS, or
/// what detects a break. The board is reset when the wire becomes active.
struct WiredPort {
    line: Box<dyn Transport + Send>,
    wire: ControlLine,
    /// DTR and RTS are active when a port is opened.
    is_active: bool,
    /// Whether the board is kept in reset while the wire is active, and starts after that.
    holds: bool,
    press: Box<dyn Fn() + Send>,
    presses: Arc<AtomicUsize>,
}

impl Transport for WiredPort {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { control_lines: true, ..self.line.capabilities() }
    }

    fn set_control_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        if line == self.wire {
            let was_active = std::mem::replace(&mut self.is_active, on);
            if on != was_active && on != self.holds {
                self.presses.fetch_add(1, Ordering::Relaxed);
                (self.press)();
            }
        }
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let count = self.line.read(buffer, timeout)?;
        Ok(if self.holds && self.is_active { 0 } else { count })
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        if self.holds && self.is_active { Ok(()) } else { self.line.write(bytes, deadline) }
    }
}

/// Serves a board through a [`WiredPort`] by RFC 2217 while `run` runs with the port's address, and
/// returns the number of resets by the wire.
fn serve_wired(
    wire: ControlLine,
    holds: bool,
    board: &BoardServer,
    run: impl FnOnce(&str),
) -> usize {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::bind(any, Protocol::Rfc2217, 115_200).expect("a free port");
    let address = server.local_addr().expect("it listens");
    let (stop, presses) = (AtomicBool::new(false), Arc::<AtomicUsize>::default());
    let open = || {
        let line = network::open(&board.path().to_string_lossy(), 115_200)?;
        let (press, presses) = (board.reset_button(), Arc::clone(&presses));
        let is_active = wire != ControlLine::Break;
        let port = WiredPort { line, wire, is_active, holds, press, presses };
        Ok::<Box<dyn Transport + Send>, OpenError>(Box::new(port))
    };
    thread::scope(|scope| {
        scope.spawn(|| server.run(open, &stop, |_| {}));
        let run = AssertUnwindSafe(|| run(&format!("rfc2217://{address}")));
        let outcome = catch_unwind(run);
        stop.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    });
    presses.load(Ordering::Relaxed)
}

const BOARD: [&str; 4] = ["--rig", "bench", "--rig-file", "rig.toml"];

#[test]
fn a_routine_that_hangs_is_ended_by_the_reset_of_the_rig_and_the_next_case_passes() {
    let rig = Rig::with_command();
    let arguments = [&["test", "prog.test.toml"], &BOARD[..]].concat();
    let (code, shown, errors) = hw_tests(rig.folder.path(), &arguments);
    assert_eq!(code, 1, "{shown}{errors}");
    assert!(shown.contains("did not return within 100000 T-states"), "{shown}");
    assert!(shown.contains("FAIL: 1 of 2 cases passed"), "the next one passes: {shown}");
    assert_eq!(rig.resets(), 1, "{shown}{errors}");
}

/// Writes an evaluator in which XCHNG hangs with interrupts off to `app.bin`.
fn hanging_evaluator(folder: &Path) {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let image = build(&profile, ProgramKind::Application).unwrap_or_else(|e| panic!("{e}"));
    let at = usize::from(image.program.symbol("XCHNG").expect("a routine") - image.address);
    let mut bytes = image.bytes;
    bytes[at..at + 2].copy_from_slice(&[0xF3, 0x76]); // DI, HLT
    std::fs::write(folder.join("app.bin"), bytes).expect("a file");
}

#[test]
fn an_evaluator_that_hangs_is_ended_by_the_reset_of_the_rig() {
    let rig = Rig::with_command();
    hanging_evaluator(rig.folder.path());
    let run = ["run", "byte.figure4", "--app", "app.bin"];
    let (code, shown, errors) = hw_tests(rig.folder.path(), &[&run[..], &BOARD].concat());
    assert_eq!(code, 3, "no valid reply: {shown}{errors}");
    assert!(shown.contains("board: restarted 1 times"), "{shown}{errors}");
    assert_eq!(rig.resets(), 1, "{shown}{errors}");
}

/// Returns the sequence numbers of the requests for an identity that a transcript has between the
/// first request of this kind and the reset.
fn identifications_before_reset(tape: &str, case: u8) -> BTreeSet<u8> {
    let mut decoder = Decoder::default();
    let mut requests = Vec::new();
    for line in tape.lines().skip(1) {
        let entry: TranscriptEntry = serde_json::from_str(line).expect("an entry");
        match entry.event {
            TranscriptEvent::Sent(bytes) => {
                for event in bytes.0.iter().filter_map(|byte| decoder.push(*byte)) {
                    let DecoderEvent::Frame(frame) = event else { continue };
                    requests.push((frame.kind, frame.seq));
                }
            }
            TranscriptEvent::Reset {} => break,
            _ => {}
        }
    }
    let since_case = requests.iter().skip_while(|(kind, _)| *kind != case);
    since_case.filter(|(kind, _)| *kind == kind::IDENT).map(|(_, seq)| *seq).collect()
}

/// An evaluator that does not reply to a case on a line without errors need not be asked again: the
/// only request for its identity is the one that is sent together with the case.
#[test]
fn an_evaluator_that_hangs_is_reset_without_waiting_for_its_identity() {
    let rig = Rig::with_command();
    hanging_evaluator(rig.folder.path());
    let run = ["run", "byte.figure4", "--app", "app.bin", "--rig", "direct", "--record", "tape"];
    let (code, shown, errors) = hw_tests(rig.folder.path(), &run);
    assert_eq!(code, 1, "its guard sees the HLT: {shown}{errors}");
    assert!(shown.contains("board: restarted 1 times"), "{shown}{errors}");
    let tape = std::fs::read_to_string(rig.folder.path().join("tape")).expect("a transcript");
    let asked = identifications_before_reset(&tape, kind::EXCHANGE);
    assert!(asked.len() <= 1, "{asked:?}");
}

/// Writes a folder with a XCHNG that hangs at one call in 64.
fn evaluator_that_hangs_at_times(folder: &Path) {
    let source = include_str!("../../../../sargon-src/xchng.asm");
    let count = "XCHNG:  LXI H,CALLS\n INR M\n MOV A,M\n ANI 63\n..HANG: JRZ ..HANG\n LXI H,BACT";
    let source = source.replacen("XCHNG:  LXI H,BACT", count, 1);
    let (code, end) = source.rsplit_once(".END").expect("it ends");
    let source = format!("{code}.LOC .DATA.\nCALLS: .BLKB 1\n .END{end}");
    std::fs::create_dir(folder.join("mine")).expect("a folder");
    std::fs::write(folder.join("mine/xchng.asm"), source).expect("a file");
}

/// Behind a pseudo-terminal, too, the board is waited for by its own clock: 40 resets are those of
/// six simulated minutes.
#[test]
fn a_run_ends_when_the_evaluator_hangs_again_and_again_and_reports_each_reset() {
    let folder = tempfile::tempdir().expect("a folder");
    evaluator_that_hangs_at_times(folder.path());
    for rig in ["direct", "simulated"] {
        let run = ["run", "--sargon-dir", "mine", "--rig", rig];
        let (code, shown, errors) = hw_tests(folder.path(), &run);
        assert_eq!(code, 3, "{rig}: {shown}{errors}");
        let ended =
            "it was reset 40 times because it did not reply, each time after fewer than 100";
        assert!(shown.contains(ended), "{rig}: {shown}");
        let resets = (1..=40).map(|count| format!(": no reply, reset {count}\n"));
        assert!(resets.into_iter().all(|line| errors.contains(&line)), "{rig}: {errors}");
    }
}

/// The server of this project, as of other computers, passes DTR, RTS and breaks on.
#[test]
fn a_routine_that_hangs_is_ended_by_a_reset_wire_of_the_adapter() {
    let methods = [ControlLine::Dtr, ControlLine::Rts, ControlLine::Break];
    for (wire, method) in methods.into_iter().zip(["dtr", "rts", "break"]) {
        let rig = Rig::new("");
        let presses = serve_wired(wire, false, &rig.server, |address| {
            let reset = format!("reset = \"{method}\"\nflow = \"none\"");
            let board = format!("[boards.bench]\nport = \"{address}\"\n{reset}\n");
            std::fs::write(rig.folder.path().join("rig.toml"), board).expect("a file");
            let arguments = [&["test", "prog.test.toml"], &BOARD[..]].concat();
            let (code, shown, errors) = hw_tests(rig.folder.path(), &arguments);
            assert_eq!(code, 1, "{method}: {shown}{errors}");
            let end = "FAIL: 1 of 2 cases passed";
            assert!(shown.contains(end), "{method}: the next one passes: {shown}");
        });
        assert_eq!(presses, 1, "{method}");
    }
}

#[test]
fn a_call_that_hangs_leaves_a_board_that_makes_the_next_one() {
    let rig = Rig::with_command();
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    command.current_dir(rig.folder.path()).args(["call", "prog.asm"]).args(BOARD);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let requests = "{\"call\":\"HANG\",\"timeout\":100000}\n\
                    {\"call\":\"TWICE\",\"in\":{\"A\":2},\"outputs\":[\"A\"]}\n";
    child.stdin.take().expect("a pipe").write_all(requests.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let replies = String::from_utf8_lossy(&output.stdout);
    let replies: Vec<_> = replies.lines().collect();
    assert!(replies[0].contains("\"returned\":false"), "{replies:?}");
    assert!(replies[1].contains("\"out\":{\"A\":4}"), "{replies:?}");
    assert_eq!(rig.resets(), 1);
}

#[test]
fn a_board_that_only_a_person_can_reset_ends_the_run_with_what_to_press() {
    let rig = Rig::new("");
    let arguments = [&["test", "prog.test.toml"], &BOARD[..]].concat();
    let (code, shown, errors) = hw_tests(rig.folder.path(), &arguments);
    assert_eq!(code, 1, "the hang is a failure: {shown}{errors}");
    let advice = "; press the board's reset button and try again";
    assert!(format!("{shown}{errors}").contains(advice), "{shown}{errors}");
}

#[test]
fn a_reset_command_that_fails_is_named() {
    let rig = Rig::new("reset = \"command\"\nreset_command = \"exit 7\"");
    let arguments = [&["test", "prog.test.toml"], &BOARD[..]].concat();
    let (code, shown, errors) = hw_tests(rig.folder.path(), &arguments);
    assert_eq!(code, 1, "the hang is a failure: {shown}{errors}");
    let why = "the reset command `exit 7` failed";
    assert!(format!("{shown}{errors}").contains(why), "{shown}{errors}");
}

#[test]
fn a_recorded_run_in_which_the_board_was_reset_is_replayed() {
    let rig = Rig::new("");
    let test = |board: &[&str]| {
        hw_tests(rig.folder.path(), &[&["test", "prog.test.toml"], board].concat())
    };
    let (code, recorded, errors) = test(&["--rig", "direct", "--record", "tape"]);
    assert!(code == 1 && recorded.contains("FAIL: 1 of 2 cases"), "{recorded}{errors}");
    let tape = std::fs::read_to_string(rig.folder.path().join("tape")).expect("a transcript");
    assert_eq!(tape.matches("\"reset\":{}").count(), 1);
    let (code, replayed, errors) = test(&["--rig", "replay:tape"]);
    assert!(code == 1 && replayed.contains("FAIL: 1 of 2 cases"), "{replayed}{errors}");
}
