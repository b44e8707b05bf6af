//! The sessions of every front end of the debugger, in the page.

#[path = "../../debug/debugger/tests/it/sessions/table.rs"]
mod table;

use serde_json::{Value, json};
use table::{Breakpoint, Motion, PROGRAM, SESSIONS, Session, Stop};
use toolchain_web::Toolchain;

/// Sends a request, and returns its result.
fn ask(toolchain: &mut Toolchain, method: &str, params: Value) -> Value {
    let request = json!({ "id": 1, "method": method, "params": params }).to_string();
    let mut answer = Value::Null;
    let mut keep = |json: &str| {
        let message: Value = serde_json::from_str(json).expect("JSON");
        if message["id"] == 1 {
            answer = message;
        }
    };
    toolchain.take(&request, &mut |message| keep(&message.json));
    while toolchain.advance(&mut |message| keep(&message.json)).is_some() {}
    assert!(answer.get("error").is_none(), "{request}: {answer}");
    answer["result"].clone()
}

/// Sets breakpoints by commands.
fn set_by_commands(toolchain: &mut Toolchain, breakpoints: &[Breakpoint]) {
    for breakpoint in breakpoints {
        ask(toolchain, "debug.command", json!({ "line": breakpoint.command() }));
        // The editor's breakpoints, of which it has none, are its own.
        ask(toolchain, "debug.breakpoints", json!({ "breakpoints": [] }));
    }
}

/// Sets breakpoints as the page's editor does.
fn set_in_editor(toolchain: &mut Toolchain, breakpoints: &[Breakpoint]) {
    let fields = |breakpoint: &Breakpoint| {
        let condition = breakpoint.condition;
        json!({ "file": "program.asm", "line": breakpoint.line(), "condition": condition })
    };
    let all: Vec<Value> = breakpoints.iter().map(fields).collect();
    let set = ask(toolchain, "debug.breakpoints", json!({ "breakpoints": all }));
    let set = set["breakpoints"].as_array().expect("a list");
    assert!(set.iter().all(|one| one["set"] == true), "{set:?}");
}

fn play(session: &Session, set: fn(&mut Toolchain, &[Breakpoint])) -> Vec<Stop> {
    let mut toolchain = Toolchain::default();
    let files = json!([{ "name": "program.asm", "text": PROGRAM }]);
    ask(&mut toolchain, "debug.start", json!({ "files": files, "main": "program.asm" }));
    set(&mut toolchain, session.breakpoints);
    let play = |(motion, _): &(Motion, _)| {
        let word = match motion {
            Motion::Run => "go",
            Motion::RunBack => "backGo",
            Motion::Step => "step",
            Motion::StepBack => "back",
        };
        let state = ask(&mut toolchain, "debug.move", json!({ "motion": word, "seconds": 1 }));
        let register = |name: &str| state["registers"][name].as_u64().expect("a number") as u16;
        let log = state["log"].as_array().expect("a list").iter();
        Stop {
            place: state["label"].as_str().expect("a label").to_owned(),
            b: register("BC") >> 8,
            hl: register("HL"),
            log: log.map(|line| line.as_str().expect("a text").to_owned()).collect(),
        }
    };
    session.motions.iter().map(play).collect()
}

#[test]
fn breakpoints_behave_in_the_page_as_in_every_front_end() {
    for session in SESSIONS {
        session.check("page", &play(&session, set_by_commands));
        // The page's editor knows only conditions.
        let is_plain =
            |one: &Breakpoint| [one.hits, one.log, one.commands].iter().all(|text| text.is_empty());
        if session.breakpoints.iter().all(is_plain) {
            session.check("page's editor", &play(&session, set_in_editor));
        }
    }
}
