//! Numbers and addresses are typed as they are printed, those that begin with a letter, too.

use board_debugger::commands::{COMMANDS, CommandOutcome, Pane, execute, outcome_text};
use board_debugger::{Debugger, describe_halt, disassemble_at};
use ratatui::crossterm::event::KeyCode;

use crate::owned_view::View;
use crate::sessions::debugger;

const PROGRAM: &str = "START:\tNOP\n\tJMP START\n\t.END START\n";
const ADDRESSES: [u16; 7] = [0, 0x1234, 0x9FFF, 0xA000, 0xF123, 0xFACE, 0xFFFF];

#[track_caller]
fn printed(debugger: &mut Debugger, line: &str) -> String {
    let outcome = execute(debugger, line, &mut |_| true);
    let outcome = outcome.unwrap_or_else(|error| panic!("{line}: {error}"));
    outcome_text(debugger, &outcome)
}

/// The words of a text that are hexadecimal numbers, without what encloses them.
fn numbers(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_number = |word: &&str| {
        let digits = word.strip_suffix('H').unwrap_or_default();
        digits.len() >= 2 && digits.chars().all(|c| c.is_ascii_hexdigit())
    };
    words.filter(is_number).map(str::to_owned).collect()
}

#[test]
fn whatever_is_printed_can_be_typed() {
    for address in ADDRESSES {
        let mut debugger = debugger(PROGRAM);
        printed(&mut debugger, &format!("set [{address}] = 195"));
        let stop = printed(&mut debugger, &format!("watch {address}"));
        let port = printed(&mut debugger, &format!("watch port {}", address & 0xFF));
        printed(&mut debugger, &format!("break {address}"));
        let stops = Pane::Stops.lines(&debugger, 0).join("\n");
        let texts = [
            printed(&mut debugger, &format!("print {address}")),
            printed(&mut debugger, &format!("display {address}")),
            printed(&mut debugger, &format!("display [{address}]")),
            printed(&mut debugger, &format!("set HL = {address}")),
            debugger.code().describe_address(address),
            debugger.code().address_name(address),
            disassemble_at(&debugger, address).text,
            stop,
            port,
            stops,
        ];
        for text in &texts {
            for number in numbers(text) {
                let value = u16::from_str_radix(number.trim_end_matches('H'), 16).expect("digits");
                let typed = printed(&mut debugger, &format!("print {number}"));
                assert!(typed.contains(&format!("= {value}")), "{number} of {text}: {typed}");
            }
        }
        assert!(texts[..5].iter().all(|text| !numbers(text).is_empty()), "{texts:?}");
        let saved = debugger.saved_stops();
        let mut later = crate::sessions::debugger(PROGRAM);
        for line in &saved {
            printed(&mut later, line);
        }
        assert_eq!(later.saved_stops(), saved);
        assert_eq!(Pane::Stops.lines(&later, 0).len(), saved.len());
        let (memory, _) = Pane::Memory(address).names();
        let shown = execute(&mut later, &memory.expect("a command"), &mut |_| true);
        assert_eq!(shown, Ok(CommandOutcome::Show(Pane::Memory(address))));
        let halt = later.run(board_debugger::ExecCommand::ReverseToChange(address), &mut |_| false);
        let missing = describe_halt(&later, halt);
        printed(&mut later, &format!("break {}", numbers(&missing)[0]));
    }
}

/// Arguments of a command, so that it prints addresses and values that are, or are near, `X`.
fn arguments(command: &str) -> &'static [&'static str] {
    match command {
        "step" | "over" | "next" | "into" | "out" | "run" | "back" | "rnext" | "rrun"
        | "restart" | "stops" | "registers" | "calls" | "console" | "help" | "quit" => &[""],
        "to" | "rto" | "lastchange" => &["X"],
        "until" => &["PC != X"],
        "break" => &["", "X if HL == X log at {PC}", "X-1 do print X"],
        "watch" => &["X", "X,2 rw", "HL", "port 0C3H"],
        "change" => &["1 if HL == X"],
        "delete" => &["X"],
        "print" => &["X", "[X]", "[X;3]", "{SP;3}", "-X", "sw(SP)"],
        "display" => &["X", "{SP}", "{SP;2}", "sw(SP)", ""],
        "set" => &["HL = X", "A = 195", "[X] = 0 0", "{X+2} = X"],
        "send" => &["X"],
        "list" | "code" | "memory" => &["", "X"],
        "find" => &["START"],
        other => panic!("what does {other} print?"),
    }
}

/// A debugger halted at an address, which is also the value of all pairs and of the words that SP
/// points at. From there on the board has NOPs.
fn halted_at(address: u16) -> Debugger {
    let mut debugger = debugger(PROGRAM);
    let mut put = |line: &str| _ = printed(&mut debugger, line);
    put(&format!("set [{address}] = {}", "0 ".repeat(64)));
    for word in 0..8 {
        put(&format!("set {{8800H + {}}} = {address}", 2 * word));
    }
    for pair in ["HL", "DE", "BC", "IX", "IY", "HL'", "DE'", "BC'", "PC"] {
        put(&format!("set {pair} = {address}"));
    }
    put("set SP = 8800H");
    debugger
}

/// Checks that each number of a text can be typed, but for bytes in a row, which have two digits
/// and no `H`.
#[track_caller]
fn check_numbers(debugger: &mut Debugger, text: &str) {
    let is_digits = |word: &str| word.len() == 4 && word.bytes().all(|c| c.is_ascii_hexdigit());
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let bare = words.find(|word| is_digits(word) && word.bytes().any(|c| c.is_ascii_uppercase()));
    assert_eq!(bare, None, "{text}");
    for number in numbers(text) {
        let value = u16::from_str_radix(number.trim_end_matches('H'), 16).expect("digits");
        // `rcflash` prints a small h.
        for number in [number.replace('H', "h"), number] {
            let typed = printed(debugger, &format!("print {number}"));
            assert!(typed.contains(&format!("= {value}")), "{number} of {text}: {typed}");
        }
    }
}

#[test]
fn what_each_command_prints_can_be_typed() {
    for address in [0xA000, 0xFACE] {
        let typed = format!("{address:04X}H");
        let mut count = 0;
        for command in &COMMANDS {
            for arguments in arguments(command.name) {
                let mut debugger = halted_at(address);
                for line in ["break X", "watch X", "display HL"] {
                    printed(&mut debugger, &line.replace('X', &typed));
                }
                let line = format!("{} {}", command.name, arguments.replace('X', &typed));
                let outcome = execute(&mut debugger, &line, &mut |_| true);
                // The message of an error, too.
                let text = outcome.map(|outcome| outcome_text(&mut debugger, &outcome));
                let text = text.unwrap_or_else(|error| error);
                check_numbers(&mut debugger, &text);
                count += usize::from(!numbers(&text).is_empty());
            }
        }
        assert!(count > 35, "{count} lines have printed a number");
        let mut view = View::new(halted_at(address));
        let screens = [view.text(80, 24), view.text(160, 50)];
        for screen in screens {
            assert!(numbers(&screen).iter().filter(|number| **number == typed).count() > 10);
            check_numbers(&mut view.debugger, &screen);
        }
        for key in format!(":memory {typed}\ne5AH\n").chars() {
            let key = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
            view.press(key, &mut |_, _| true);
        }
        assert_eq!(view.debugger.peek(address), 0x5A, "e edits the memory pane");
    }
}

#[test]
fn a_saved_address_is_not_that_of_a_label_which_is_spelled_like_it() {
    let program = "START:\tJMP START\nFACEH:\tNOP\n\t.END START\n";
    let mut debugger = debugger(program);
    printed(&mut debugger, "watch 0FACEH");
    assert_eq!(debugger.saved_stops(), ["watch 0FACEH,1"]);
    let label = debugger.code().symbol("FACEH").expect("it is one");
    let value = printed(&mut debugger, "print FACEH");
    assert!(value.contains(&format!("= {label}")), "{value}");
}
