//! Replays a record to a monitor emulator.

use std::time::Duration;

use monitor_standins::MonitorModel;

use crate::dialogues::record::{Act, Reply, Step, steps};

/// Creates the emulator in the state at the start of a record.
pub(crate) type Start<'a> = &'a dyn Fn() -> Box<dyn MonitorModel>;

/// A host action whose reply is not compared, and the reason.
pub(crate) struct Except<'a>(pub(crate) &'a str, #[allow(dead_code)] pub(crate) &'a str);

/// Step of simulated time.
const TICK: Duration = Duration::from_millis(100);
/// Maximum wait for a reply, in ticks: XM calls for 100 s before it gives up.
const LONGEST: u32 = 1300;
/// Wait for an unexpected reply, in ticks.
const SHORT: u32 = 6;
/// The lines that the emulator of some records adds.
const EMULATOR: [&str; 3] = ["[LED off]\n[LED on]\n", "\x15\x15\x15\x15", "\0\u{80}Z"];

/// Replays a section of a record, and compares all replies except those of `except`.
#[track_caller]
pub(crate) fn play(file: &str, heading: &str, peer: Start, except: &[Except]) {
    play_until(file, heading, "", peer, except);
}

/// Like [`play`], up to the action with the text `end`.
#[track_caller]
pub(crate) fn play_until(file: &str, heading: &str, end: &str, start: Start, except: &[Except]) {
    let steps = steps(file, heading);
    let until = steps.iter().position(|step| step.text == end && !end.is_empty());
    let steps = &steps[..until.unwrap_or(steps.len())];
    assert!(!steps.is_empty(), "{file}: {heading}: nothing to play");
    let mut peer = start();
    remember(steps, peer.as_mut());
    let mut now = Duration::ZERO;
    let mut compared = 0;
    let mut problems = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        if step.act == Act::Fresh || at > 0 && is_after_power_off(&steps[at - 1], step) {
            peer = start();
        }
        let printed = act(step, peer.as_mut(), &mut now);
        if except.iter().any(|Except(text, _)| *text == step.text) {
            continue;
        }
        compared += 1;
        if !matches(&printed, &step.reply, step.act == Act::Reset) {
            let expected: Vec<_> =
                step.reply.parts.iter().map(|part| String::from_utf8_lossy(part)).collect();
            problems.push(format!(
                "step {at}, {:?}:\n  recorded {expected:?}\n  received {:?}",
                step.text,
                String::from_utf8_lossy(&printed)
            ));
        }
    }
    assert!(problems.is_empty(), "{file}: {heading}:\n{}", problems.join("\n"));
    assert!(
        compared * 2 > steps.len(),
        "{file}: {heading}: only {compared} of {} compared",
        steps.len()
    );
}

/// Returns `true` if the board was switched off before this step without an entry in the record:
/// RomWBW's boot loader replies, although its monitor was at its prompt.
fn is_after_power_off(before: &Step, step: &Step) -> bool {
    let ends =
        |step: &Step, text: &[u8]| step.reply.parts.last().is_some_and(|part| part.ends_with(text));
    let is_loader = |part: &Vec<u8>| part.starts_with(b"M\r\n\r\nLoading Monitor");
    ends(before, b"8E>") && step.reply.parts.iter().any(is_loader)
}

/// Performs a step, and returns what is printed; `now` is the time by the line's clock.
fn act(step: &Step, peer: &mut dyn MonitorModel, now: &mut Duration) -> Vec<u8> {
    let mut printed = Vec::new();
    match &step.act {
        Act::Fresh => {}
        Act::Reset => peer.reset(&mut printed),
        Act::Send(bytes) => {
            place_program(step, peer);
            for byte in bytes {
                peer.end_ignore_window();
                peer.set_time(*now);
                peer.receive(*byte, &mut printed);
                settle(peer, &mut printed);
            }
        }
    }
    let shown: usize = step.reply.parts.iter().map(Vec::len).sum();
    let expected = step.reply.bytes.unwrap_or(shown);
    let longest = if expected == 0 { SHORT } else { LONGEST };
    for tick in 1..=longest {
        if expected > 0 && printed.len() >= expected {
            break;
        }
        *now += TICK;
        peer.set_time(*now);
        peer.idle(TICK * tick, &mut printed);
    }
    // The recorder waited until the line was quiet.
    *now += 2 * TICK;
    peer.set_time(*now);
    peer.idle(Duration::ZERO, &mut printed);
    printed
}

/// Runs a guest program, if there is one, until it ends or waits.
fn settle(peer: &mut dyn MonitorModel, printed: &mut Vec<u8>) {
    for _ in 0..3 {
        if !peer.idle(Duration::ZERO, printed) {
            return;
        }
    }
}

/// Puts the program there that a remark names; without one, a RET.
fn place_program(step: &Step, peer: &mut dyn MonitorModel) {
    let at = |name: &str| step.text.to_ascii_uppercase().replace(' ', "").ends_with(name);
    let program: &[u8] = match step.remark.as_str() {
        remark if remark.contains("never ends") => &[0x18, 0xFE],
        remark if remark.starts_with("RST 28") => &[0xEF],
        remark if remark.starts_with("JP 0000") => &[0xC3, 0, 0],
        remark if remark.starts_with("RST 08") => &[0x06, 0xF0, 0x0E, 0x03, 0xCF],
        remark if remark.starts_with("EI, RET") => &[0xFB, 0xC9],
        remark if remark.starts_with("HALT") => &[0x76],
        _ => &[0xC9],
    };
    for address in [0x8400_u16, 0x8500, 0x8600] {
        if at(&format!("{address:04X}\\R"))
            && let Some(memory) = peer.memory()
        {
            memory.load(address, program);
        }
    }
    if step.remark.contains("USR to a RET at 9000") {
        let memory = peer.memory().expect("BASIC has memory");
        memory.load(0x9000, &[0xC9]);
        for usr in [0x8049, 0x8204] {
            if memory.get(usr - 1) == 0xC3 {
                memory.load(usr, &[0x00, 0x90]);
            }
        }
    }
}

/// Loads memory with the contents shown by the dumps of the record.
fn remember(steps: &[Step], peer: &mut dyn MonitorModel) {
    let Some(memory) = peer.memory() else { return };
    for step in steps.iter().rev() {
        for part in &step.reply.parts {
            let text = String::from_utf8_lossy(part).into_owned();
            for line in text.split("\r\n") {
                if let Some((address, bytes)) = row(line).or_else(|| opcode(line)) {
                    memory.load(address, &bytes);
                }
            }
        }
    }
}

/// Returns the bytes that RomWBW shows at an opcode that a Z180 has trapped.
fn opcode(line: &str) -> Option<(u16, Vec<u8>)> {
    let (address, bytes) = line.strip_prefix("+++ INVALID Z180 OPCODE @")?.split_once("H: ")?;
    let byte = |word| u8::from_str_radix(word, 16).ok();
    let bytes = bytes.split(' ').map(byte).collect::<Option<_>>()?;
    Some((u16::from_str_radix(address, 16).ok()?, bytes))
}

fn row(line: &str) -> Option<(u16, Vec<u8>)> {
    let mut words = line.split([' ', ':']).filter(|word| !word.is_empty());
    let address = words.next().filter(|word| word.len() == 4)?;
    let address = u16::from_str_radix(address, 16).ok()?;
    let pair = |word: &str| (word.len() == 2).then(|| u8::from_str_radix(word, 16).ok()).flatten();
    let bytes: Vec<u8> = words.map_while(pair).take(16).collect();
    (bytes.len() == 16).then_some((address, bytes))
}

/// Returns `true` if the output equals the record, except for the cuts and the lines that the
/// recording emulator added.
fn matches(printed: &[u8], reply: &Reply, is_reset: bool) -> bool {
    let mut parts = reply.parts.clone();
    let mut first = String::from_utf8_lossy(&parts[0]).into_owned();
    for added in EMULATOR.into_iter().filter(|_| is_reset) {
        first = first.replace(added, "");
    }
    if first.as_bytes() != parts[0] && String::from_utf8(parts[0].clone()).is_ok() {
        parts[0] = first.into_bytes();
    }
    let cut = parts.len() > 1;
    let head = &parts[0];
    let tail = &parts[parts.len() - 1];
    match (cut, reply.bytes) {
        (false, _) => printed == head.as_slice(),
        // Memory contents are known only from complete rows of the record.
        (true, Some(bytes)) if is_dump(head) => printed.len() == bytes && printed.starts_with(head),
        (true, None) if is_dump(head) => printed.starts_with(head),
        (true, Some(bytes)) => {
            printed.len() == bytes && printed.starts_with(head) && printed.ends_with(tail)
        }
        (true, None) => printed.starts_with(head) && printed.ends_with(tail),
    }
}

fn is_dump(head: &[u8]) -> bool {
    head.first().is_some_and(|first| matches!(first, b'M' | b'm' | b'D' | b'0'..=b'9'))
}
