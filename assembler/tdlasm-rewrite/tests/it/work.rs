//! The work of layout and conversion grows with the text, not with its square: of a text twice as
//! long parsers pass twice as many bytes.

use tdlasm::source::MemoryLoader;
use tdlasm::syntax::work::passed;
use tdlasm_rewrite::convert::{self, Dialect, convert};
use tdlasm_rewrite::fmt::{self, format};

const SHORT: usize = 2_000;
/// Makes a text of so many pieces.
type Make = fn(usize) -> String;

/// Texts that took time for the square of their length, by how often their piece comes.
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

/// The bytes that are passed while `work` is done.
fn passed_by(work: impl FnOnce()) -> u64 {
    let before = passed();
    work();
    passed() - before
}

fn check(kind: &str, work: impl Fn(&str)) {
    for (name, text) in TEXTS {
        let [once, twice] = [SHORT, 2 * SHORT].map(|count| passed_by(|| work(&text(count))));
        assert!(once > 0, "{kind}: {name}");
        // A tenth more for what does not depend on the length.
        assert!(twice * 10 <= once * 22, "{kind}: {name}: {once} bytes, then {twice}");
    }
}

#[test]
fn formatting_scans_a_text_a_fixed_number_of_times() {
    check("fmt", |text| {
        let loader = MemoryLoader::new().with("a.asm", text);
        // What cannot be laid out is refused.
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
