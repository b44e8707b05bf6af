//! Formatting and conversion take linear time: for a text twice as long, parsers scan twice as many
//! bytes.

use tdlasm::source::MemoryLoader;
use tdlasm::syntax::work::passed;
use tdlasm_tools::convert::{self, Dialect, convert};
use tdlasm_tools::fmt::{self, format};

const SHORT: usize = 2_000;
/// Makes a text of this number of repetitions.
type Make = fn(usize) -> String;

/// Texts that once took quadratic time, by the number of repetitions.
const TEXTS: [(&str, Make); 7] = [
    ("labels on one line", |count| "A:".repeat(count) + "\n .END\n"),
    ("lines of a text that is never closed", |count| {
        " .REMARK /x\n".to_owned() + &" NOP\n".repeat(count) + " .END\n"
    }),
    ("texts of which the last is never closed", |count| {
        " .ASCII ~\n .TITLE |\n NOP\n".repeat(count / 2 + 1)
    }),
    ("open brackets", |count| " .IFE 0,[\n".repeat(count)),
    ("closed brackets", |count| "]".repeat(count) + "\n"),
    ("quotes on one line", |count| " .BYTE ".to_owned() + &"'\"".repeat(count) + "\n"),
    ("calls with open brackets", |count| " CALLED [a,\n".repeat(count)),
];

/// Returns the number of bytes that are scanned during `work`.
fn passed_by(work: impl FnOnce()) -> u64 {
    let before = passed();
    work();
    passed() - before
}

fn check(kind: &str, work: impl Fn(&str)) {
    for (name, text) in TEXTS {
        let [once, twice] = [SHORT, 2 * SHORT].map(|count| passed_by(|| work(&text(count))));
        assert!(once > 0, "{kind}: {name}");
        // A tenth more for work that does not depend on the length.
        assert!(twice * 10 <= once * 22, "{kind}: {name}: {once} bytes, then {twice}");
    }
}

#[test]
fn formatting_scans_a_text_a_fixed_number_of_times() {
    check("fmt", |text| {
        let loader = MemoryLoader::new().with("a.asm", text);
        // Texts that cannot be formatted are refused.
        let _ = format(&loader, "a.asm".as_ref(), text.as_bytes(), &fmt::Options::default());
    });
}

#[test]
fn conversion_scans_a_text_a_fixed_number_of_times() {
    for to in [Dialect::Zilog, Dialect::Tdl] {
        check("convert", |text| {
            let loader = MemoryLoader::new().with("a.asm", text);
            let options = convert::Options::new(to);
            convert(&loader, "a.asm".as_ref(), &options).expect("it can be read");
        });
    }
}
