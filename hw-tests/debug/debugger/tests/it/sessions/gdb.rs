//! Sessions over gdb's remote protocol.

use board_debugger::gdb::{GdbClient, serve};

use super::debugger;
use super::table::{Breakpoint, Motion, PROGRAM, Session, Stop};
use crate::gdb_script::{Script, decode_packets, packed};

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).expect("a byte");
    (0..digits.len()).step_by(2).map(byte).collect()
}

pub(super) fn play(session: &Session) -> Vec<Stop> {
    let monitor = |breakpoint: &Breakpoint| format!("qRcmd,{}", hex(&breakpoint.command()));
    let mut bodies: Vec<String> = session.breakpoints.iter().map(monitor).collect();
    for (motion, _) in session.motions {
        bodies.push(match motion {
            Motion::Run => "c".to_owned(),
            Motion::RunBack => "bc".to_owned(),
            Motion::Step => "s".to_owned(),
            Motion::StepBack => "bs".to_owned(),
        });
        // The registers after each stop.
        bodies.push("g".to_owned());
    }
    let packets: Vec<u8> = bodies.iter().flat_map(|body| packed(body.as_bytes())).collect();
    let mut script = Script::waiting(packets);
    let mut board = debugger(PROGRAM);
    serve(&mut board, &mut GdbClient::new(&mut script)).expect("the line does not fail");
    let mut replies = decode_packets(&script.output).into_iter();
    // Each command has its output, and OK.
    let set = replies.by_ref().take(2 * session.breakpoints.len());
    assert!(set.skip(1).step_by(2).all(|reply| reply == "OK"));
    let mut stops = Vec::new();
    let mut log = Vec::new();
    for reply in replies {
        if let Some(digits) = reply.strip_prefix('O') {
            let text = String::from_utf8(unhex(digits)).expect("it is text");
            log.extend(text.lines().map(str::to_owned));
        } else if reply.len() == 52 {
            let bytes = unhex(&reply);
            // AF, BC, DE, HL, SP, PC and more.
            let word =
                |number: usize| u16::from_le_bytes([bytes[2 * number], bytes[2 * number + 1]]);
            let place = board.code().address_name(word(5));
            let log = std::mem::take(&mut log);
            stops.push(Stop { place, b: word(1) >> 8, hl: word(3), log });
        }
    }
    stops
}
