//! Numbers and addresses are typed as they are printed, those that begin with a letter, too.

use board_debugger::commands::{CommandOutcome, Pane, execute, outcome_text};
use board_debugger::{Debugger, describe_halt, disassemble_at};

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
