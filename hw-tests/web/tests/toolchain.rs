//! The toolchain as the page uses it: requests and replies as JSON, natively.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use board_simulator::Probe;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use hil_harness::board::{Board, InProcessBoard};
use monitor_standins::{MonitorOptions, MonitorServer, Scm};
use rcflash_transport::Transport;
use serde_json::{Value, json};
use toolchain_web::{Message, Port, Toolchain};

/// The article's example: Black loses a point on e4.
const FEN: &str = "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -";

/// The toolchain, and what it has posted.
#[derive(Default)]
struct Page {
    toolchain: Toolchain,
    posted: Vec<(Value, Vec<Vec<u8>>)>,
    last: u64,
}

impl Page {
    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let request = json!({ "id": self.last, "method": method, "params": params }).to_string();
        let posted = &mut self.posted;
        self.toolchain.take(&request, &mut |message| keep(posted, message));
        self.last
    }

    /// Advances jobs; returns whether any continues.
    fn advance(&mut self) -> bool {
        let posted = &mut self.posted;
        self.toolchain.advance(&mut |message| keep(posted, message)).is_some()
    }

    fn answer(&self, id: u64) -> Option<&Value> {
        self.posted.iter().map(|(message, _)| message).find(|message| message["id"] == id)
    }

    /// Sends a request and waits for its answer.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let mut goes_on = true;
        loop {
            if let Some(answer) = self.answer(id) {
                return answer.clone();
            }
            assert!(goes_on, "{method} has no answer");
            goes_on = self.advance();
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn events<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a (Value, Vec<Vec<u8>>)> {
        self.posted.iter().filter(move |(message, _)| message["event"] == kind)
    }
}

fn keep(posted: &mut Vec<(Value, Vec<Vec<u8>>)>, message: Message) {
    posted.push((serde_json::from_str(&message.json).expect("JSON"), message.bytes));
}

#[test]
fn invalid_requests_are_refused() {
    let mut page = Page::default();
    for (method, params) in [
        ("nonsense", json!({})),
        ("examine", json!({ "fen": FEN })),
        ("examine", json!({ "fen": FEN, "behaviour": "1979" })),
        ("debug.state", json!({})),
        ("machine.input", json!({ "bytes": "x" })),
        ("serial.probe", json!({})),
        ("corpus", json!({ "behaviour": "corrected", "filter": ["no such case"] })),
    ] {
        let answer = page.ask(method, params);
        assert!(answer["error"]["message"].is_string(), "{method}: {answer}");
    }
    page.toolchain.take("{", &mut |_| {});
}

#[test]
fn the_corpus_passes_and_a_run_can_be_stopped() {
    let mut page = Page::default();
    let summary = page.call("corpus", json!({ "behaviour": "corrected", "filter": ["document"] }));
    assert_eq!(summary["counts"]["pass"], summary["counts"]["cases"]);
    assert!(page.events("corpus").count() > 0);
    let run = page.send("corpus", json!({ "behaviour": "fast" }));
    assert!(page.advance());
    assert_eq!(page.call("stop", json!({ "request": run })), true);
    while page.answer(run).is_none() {
        page.advance();
    }
    let ended = &page.answer(run).expect("it has ended")["result"];
    assert_eq!(ended["ended"], "interrupted", "{ended}");
    assert!(ended["counts"]["not-run"].as_u64() > Some(0));
}

#[test]
fn a_changed_evaluator_fails_with_its_first_difference() {
    let mut page = Page::default();
    let sources = page.call("sources", json!({ "behaviour": "corrected" }));
    let file = sources["files"].as_array().expect("a list").iter();
    let file = file.clone().find(|file| file["name"] == "xchng.asm").expect("it ships");
    // The points that the owner loses are taken off where XCHNG books them.
    let text = file["text"].as_str().expect("a text").replace("ADD E", "SUB E");
    assert_ne!(file["text"], text.as_str(), "XCHNG adds somewhere");
    let files = json!([{ "name": "xchng.asm", "text": text }]);
    let params = json!({ "behaviour": "corrected", "files": files, "filter": ["document"] });
    let summary = page.call("corpus", params);
    assert!(summary["counts"]["fail"].as_u64() > Some(0), "{summary}");
    assert!(summary["first"]["id"].is_string());
    let first = &summary["first"];
    let examined = json!({ "fen": first["fen"], "behaviour": "corrected", "files": files });
    let examined = page.call("examine", examined);
    let squares = examined["squares"].as_array().expect("a list");
    let square = squares.iter().find(|one| one["square"] == first["square"]).expect("occupied");
    assert_eq!(square["agrees"], false, "the square is the one that differs");
}

#[test]
fn the_debugger_goes_forward_and_back() {
    let mut page = Page::default();
    let start = json!({ "fen": FEN, "square": "e4", "behaviour": "corrected" });
    let begin = page.call("debug.start", start);
    assert_eq!((&begin["label"], &begin["halt"]), (&json!("XCHNG"), &json!("breakpoint")));
    assert_eq!(begin["array"]["bytes"], json!([3, 0, 51, 3, 0, 0, 0, 2, 1, 0, 0, 0, 9, 0]));
    let step = page.call("debug.move", json!({ "motion": "line" }));
    assert!(step["elapsed"].as_u64() > Some(0));
    let back = page.call("debug.move", json!({ "motion": "back" }));
    assert_eq!((&back["registers"], &back["elapsed"]), (&begin["registers"], &json!(0)));
    let watched = page.call("debug.command", json!({ "line": "display SP" }))["state"].clone();
    let there = json!({ "motion": "toStep", "step": step["step"] });
    let forward = page.call("debug.move", there);
    assert_eq!(forward["registers"], step["registers"]);
    let first = json!({ "motion": "toStep", "step": begin["step"] });
    let again = page.call("debug.move", first);
    assert_eq!(
        (&again["registers"], &again["watches"]),
        (&begin["registers"], &watched["watches"])
    );
    // Displays and breakpoints are numbered together; the breakpoint at XCHNG is the first.
    let stack = begin["registers"]["SP"].as_u64().expect("a number");
    assert_eq!(again["watches"], json!([format!("2: SP = {stack:04X}H ({stack})")]));
    let wish = json!([{ "symbol": "NEXTAD" }, { "file": "xchng.asm", "line": 9999 }]);
    let set = page.call("debug.breakpoints", json!({ "breakpoints": wish }));
    assert_eq!(set["breakpoints"][0]["set"], true);
    assert_eq!(set["breakpoints"][1]["set"], false);
    let there = page.call("debug.move", json!({ "motion": "go" }));
    assert_eq!((&there["label"], &there["halt"]), (&json!("NEXTAD"), &json!("breakpoint")));
    let windows = json!({ "memory": [{ "address": 0, "length": 4 }] });
    let state = page.call("debug.state", windows);
    assert_eq!(state["memory"][0]["bytes"].as_array().map(Vec::len), Some(4));
    let printed = page.call("debug.command", json!({ "line": "print A" }));
    assert!(printed["text"].is_string());
    assert!(page.call("debug.text", json!({ "file": "xchng.asm" }))["text"].is_string());
    assert_eq!(there["place"]["file"], "nextad.asm", "as the page's editor has it");
    let again = page.call("debug.move", json!({ "motion": "restart" }));
    assert_eq!(again["halt"], "start");
}

/// The captures of the article's Figure 4: Black loses 3, wins 3, loses 3, wins 2 of its pawn.
#[test]
fn an_exchange_is_played_from_the_call_of_xchng_to_its_return() {
    let mut page = Page::default();
    let params = json!({ "fen": FEN, "square": "e4", "behaviour": "corrected" });
    let played = page.call("play", params.clone());
    let states = played["states"].as_array().expect("a list");
    assert_eq!(states[0]["label"], "XCHNG");
    let steps = page.call("examine", params)["squares"][0]["steps"].clone();
    let captures = steps.as_array().expect("a list").iter();
    let captures =
        captures.filter(|step| step["action"].as_str().expect("a word").contains("take"));
    assert_eq!(states.len(), captures.count() + 2, "one state a capture");
    let residue = states.last().expect("the return")["registers"]["DE'"].as_u64();
    let other = states.last().expect("the return")["registers"]["DE"].as_u64();
    assert!([residue, other].into_iter().flatten().any(|pair| pair & 0xFF == 1), "Black loses 1");
    for square in ["e5", "z9", ""] {
        let params = json!({ "fen": FEN, "square": square, "behaviour": "corrected" });
        assert!(page.ask("play", params)["error"]["message"].is_string(), "{square}");
    }
}

#[test]
fn times_of_lines_add_up() {
    let mut page = Page::default();
    let times = page.call("tstates", json!({ "fen": FEN, "behaviour": "corrected" }));
    let files = times["files"].as_array().expect("a list").iter();
    let lines = files.flat_map(|file| file["lines"].as_array().expect("a list"));
    let sum: u64 = lines.filter_map(|line| line["tStates"].as_u64()).sum();
    assert_eq!(Some(sum), times["total"].as_u64());
    assert!(sum > 10_000);
}

/// Sends back what it receives, by the 68B50 at 80h.
const ECHO: &str =
    "LOOP:\tIN\t80H\n\tANI\t1\n\tJRZ\tLOOP\n\tIN\t81H\n\tOUT\t81H\n\tJMPR\tLOOP\n\t.END\tLOOP\n";

#[test]
fn a_program_runs_with_a_terminal() {
    let mut page = Page::default();
    let files = json!([{ "name": "echo.asm", "text": ECHO }]);
    let started = page.call("machine.start", json!({ "files": files, "speed": "full" }));
    assert_eq!(started["entry"], 0x8000);
    page.call("machine.input", json!({ "bytes": "Hi" }));
    let heard = |page: &Page| -> Vec<u8> {
        page.events("machine").flat_map(|(_, bytes)| bytes.concat()).collect()
    };
    for _ in 0..100 {
        page.advance();
        if heard(&page).len() >= 2 {
            break;
        }
    }
    assert_eq!(heard(&page), b"Hi");
    page.call("machine.stop", json!({}));
    assert!(!page.advance(), "nothing runs any more");
    let session = page.call("debug.start", json!({ "files": files }));
    assert_eq!((&session["label"], &session["place"]["line"]), (&json!("LOOP"), &json!(1)));
}

#[test]
fn a_program_named_like_a_file_of_the_firmware_keeps_its_text() {
    let mut page = Page::default();
    let text = "START:\tCALL\tMINE\n\tJMP\tSTART\nMINE:\tRET\n\t.END\tSTART\n";
    let files = json!([{ "name": "crc16.asm", "text": text }]);
    let session = page.call("debug.start", json!({ "files": files }));
    assert_eq!(session["place"]["file"], "crc16.asm");
    assert_eq!(session["place"]["text"], "START:\tCALL\tMINE");
    assert_eq!(page.call("debug.text", json!({ "file": "crc16.asm" }))["text"], text);
    let built_in = page.call("debug.text", json!({ "file": "firmware:/crc16.asm" }));
    assert_eq!(built_in["text"].as_str(), firmware::source("crc16.asm"));
    let wish = json!([{ "file": "crc16.asm", "line": 3 }]);
    let set = page.call("debug.breakpoints", json!({ "breakpoints": wish }));
    assert_eq!(set["breakpoints"][0]["address"], 0x8006);
    // Characters of several bytes are refused, and the session goes on.
    for line in ["display €", "print für", "display [é]"] {
        let refused = page.ask("debug.command", json!({ "line": line }));
        assert!(refused["error"]["message"].is_string(), "{refused}");
    }
    let there = page.call("debug.move", json!({ "motion": "go" }));
    assert_eq!((&there["label"], &there["halt"]), (&json!("MINE"), &json!("breakpoint")));
}

#[test]
fn a_test_file_is_judged_and_its_errors_are_located() {
    let mut page = Page::default();
    let source = json!({ "name": "twice.asm", "text": "TWICE:\tADD A\n\tRET\n\t.END\n" });
    let mut run = |text: &str| {
        let files = json!([source, { "name": "a.test.toml", "text": text }]);
        page.ask("test", json!({ "files": files, "test": "a.test.toml" }))
    };
    let text = "sources = [\"twice.asm\"]\n\
        [[case]]\nname = \"doubles\"\ncall = \"TWICE\"\nin.A = 21\nexpect.A = 42\n\
        [[case]]\nname = \"wrong\"\ncall = \"TWICE\"\nin.A = 21\nexpect.A = 43\n\
        [[property]]\nname = \"even\"\ncall = \"TWICE\"\nargs.A = \"u8\"\n\
        check = \"out.A & 1 == 0\"\n";
    let result = &run(text)["result"];
    let verdict =
        |index: usize| (&result["tests"][index]["verdict"], &result["tests"][index]["line"]);
    assert_eq!(verdict(0), (&json!("pass"), &json!(2)), "{result}");
    assert_eq!(verdict(1), (&json!("fail"), &json!(7)));
    assert_eq!(verdict(2), (&json!("pass"), &json!(12)));
    // ADD A has 4 T-states, RET 10.
    assert_eq!(result["tests"][0]["tStates"], 14);
    let reason = result["tests"][1]["reason"].as_str().expect("a text");
    assert!(reason.contains("43") && reason.contains("42"), "{reason}");
    let error = run("sources = [\"none.asm\"]\n")["error"]["message"].clone();
    let error = error.as_str().expect("no such file");
    assert!(error.contains("a.test.toml:1:") && error.contains("none.asm"), "{error}");
}

/// A port with a board in this program behind it.
fn port() -> Port {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).expect("it builds");
    let board = InProcessBoard::new(&profile, &monitor.bytes, Probe::default());
    let open = move |_baud| -> std::io::Result<Box<dyn Transport + Send>> {
        board.clone().open().map_err(std::io::Error::other)
    };
    let board_open = std::sync::Mutex::new(open);
    let open = move |baud| board_open.lock().expect("not poisoned")(baud);
    Port::new("a board".to_owned(), Arc::new(open), Arc::new(AtomicBool::new(false)))
}

#[test]
fn a_board_is_probed_written_verified_and_judged() {
    let mut page = Page::default();
    page.toolchain.attach(port());
    let found = page.call("serial.probe", json!({}));
    assert_eq!(found["kind"], "monitor", "{found}");
    let before = page.call("serial.verify", json!({ "behaviour": "fast" }));
    assert_eq!(before["same"], false, "nothing is there yet");
    let written = page.call("serial.write", json!({ "behaviour": "fast", "via": "auto" }));
    assert!(page.events("serial").any(|(event, _)| event["done"] == event["total"]));
    let images = page.call("figures", json!({}));
    assert_eq!(written["build"], images["images"][2]["build"]);
    let wishes = json!({ "behaviour": "fast", "filter": ["document"] });
    let summary = page.call("serial.corpus", wishes);
    assert_eq!(summary["counts"]["pass"], summary["counts"]["cases"], "{summary}");
    assert_eq!(summary["build"], images["images"][2]["build"]);
    page.call("serial.detach", json!({}));
    assert!(page.ask("serial.probe", json!({})).get("error").is_some());
}

#[test]
fn a_program_of_ones_own_is_written_and_started() {
    let mut page = Page::default();
    page.toolchain.attach(port());
    let program = json!([{ "name": "echo.asm", "text": ECHO }]);
    let written = page.call("serial.write", json!({ "program": program, "via": "monitor" }));
    // IN, ANI, JRZ, IN, OUT and JMPR have two bytes each.
    assert_eq!((&written["address"], &written["size"]), (&json!(0x8000), &json!(12)), "{written}");
    let text = written["text"].as_str().expect("a text");
    assert!(text.contains("verified on the board; started at 8000h"), "{text}");
    let rom = json!([{ "name": "rom.asm", "text": "\t.LOC 0\nLOOP:\tJMP LOOP\n\t.END LOOP\n" }]);
    let refused = page.ask("serial.write", json!({ "program": rom, "via": "monitor" }));
    let message = refused["error"]["message"].as_str().expect("refused");
    assert!(message.contains("not written") && message.contains("in ROM"), "{message}");
}

#[test]
fn what_a_stock_monitor_loaded_is_verified() {
    let mut page = Page::default();
    let scm = Box::<Scm>::default();
    let server = MonitorServer::start(scm, MonitorOptions::default()).expect("a pseudo-terminal");
    let path = server.path().to_str().expect("UTF-8").to_owned();
    let open = move |baud| -> std::io::Result<Box<dyn Transport + Send>> {
        let port = rcflash_transport::port::Port::open(&path, baud);
        Ok(Box::new(port.map_err(std::io::Error::other)?))
    };
    let stop = Arc::new(AtomicBool::new(false));
    page.toolchain.attach(Port::new("a board".to_owned(), Arc::new(open), stop));
    let own = json!([{ "name": "end.asm", "text": "START:\tRET\n\t.END\tSTART\n" }]);
    let written = page.call("serial.write", json!({ "program": own, "via": "scm" }));
    assert!(written["text"].as_str().is_some_and(|text| text.contains("through")), "{written}");
    page.call("serial.write", json!({ "behaviour": "fast", "via": "scm" }));
    let verified = page.call("serial.verify", json!({ "behaviour": "fast" }));
    assert_eq!(verified["same"], true, "{verified}");
    let other = page.ask("serial.verify", json!({ "behaviour": "corrected" }));
    let message = other["error"]["message"].as_str().expect("the monitor does not answer");
    assert!(message.contains("write the evaluator"), "{message}");
}

#[test]
fn a_disconnected_port_is_named() {
    let mut page = Page::default();
    let gone = |_baud| -> std::io::Result<Box<dyn Transport + Send>> {
        Err(std::io::Error::new(std::io::ErrorKind::NotConnected, "the device has been lost"))
    };
    let stop = Arc::new(AtomicBool::new(false));
    page.toolchain.attach(Port::new("USB adapter".to_owned(), Arc::new(gone), stop));
    let answer = page.ask("serial.write", json!({ "behaviour": "corrected", "via": "monitor" }));
    let message = answer["error"]["message"].as_str().expect("it fails");
    assert!(message.contains("USB adapter") && message.contains("lost"), "{message}");
}
