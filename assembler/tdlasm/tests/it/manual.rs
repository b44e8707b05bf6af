//! The language manual's instruction tables are those of the assembler.

use std::fs;
use std::path::Path;

use tdlasm::isa::{FORMS, Form, Prefix, Slot, Status};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

const MARK: &str = "<!-- instructions:";

fn opcode(form: &Form) -> String {
    let indexed = form.slots.iter().any(|slot| matches!(slot, Slot::Index | Slot::IndexPair));
    let prefix = match form.prefix {
        Prefix::None if indexed => "DD ",
        Prefix::None => "",
        Prefix::Cb if indexed => "DD CB d ",
        Prefix::Cb => "CB ",
        Prefix::Ed => "ED ",
        Prefix::X => "DD ",
        Prefix::Y => "FD ",
    };
    // M counts as register 6.
    let memory = form.slots.iter().map(|slot| match slot {
        Slot::SourceMem => 6,
        Slot::DestMem => 6 << 3,
        _ => 0,
    });
    format!("{prefix}{:02X}", form.opcode | memory.fold(0, |all, bits| all | bits))
}

fn row(form: &Form) -> String {
    let clocks = match (form.clocks.taken, form.clocks.not_taken) {
        (taken, other) if taken == other => taken.to_string(),
        (taken, other) => format!("{taken}/{other}"),
    };
    let z80 = if form.z80_only { "*" } else { "" };
    let note = match form.status {
        Status::Primary => "",
        Status::Alias => "second name",
        Status::Undocumented => "undocumented",
    };
    let names = form.slots.map(|slot| match slot {
        Slot::Index => "(IX+d)",
        Slot::SourceMem | Slot::DestMem => "(HL)",
        other => other.pattern(),
    });
    let zilog = form.zilog.replace("{0}", names[0]).replace("{1}", names[1]);
    let name = format!("{}{z80}", form.pattern());
    format!("    {name:<18}{:<12}{clocks:<10}{zilog:<20}{note}", opcode(form))
}

/// The instructions in columns, at least two blanks apart, by which the language server splits
/// them.
fn table() -> String {
    let rows = FORMS.iter().map(|form| format!("{}\n", row(form).trim_end()));
    let rows: String = rows.collect();
    format!("\n    {:<18}{:<12}{:<10}Zilog\n{rows}", "instruction", "opcode", "T-states")
}

#[test]
fn the_manual_has_the_instructions_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LANGUAGE.md");
    let text = fs::read_to_string(&path).expect("the manual");
    let start = text.find(MARK).expect("the mark");
    let end = start + text[start..].find('\n').expect("the end of the mark's line") + 1;
    let wanted = format!("{}{}", &text[..end], table());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &wanted).expect("to write the manual");
    }
    assert!(
        text == wanted || std::env::var_os("BLESS").is_some(),
        "set BLESS=1 to rewrite the tables"
    );
}

#[test]
fn the_programs_in_the_manual_assemble() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LANGUAGE.md");
    let text = fs::read_to_string(path).expect("the manual");
    let programs: Vec<&str> = text.split("```\n").skip(1).step_by(2).collect();
    assert_eq!(programs.len(), 2);
    for program in programs {
        let loader = MemoryLoader::new().with("manual.asm", program);
        let result = assemble(&loader, &["manual.asm".into()], &Options::default());
        assert!(result.is_ok(), "{}", result.expect_err("an error"));
    }
}

#[test]
fn the_manual_names_every_directive() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LANGUAGE.md");
    let text = fs::read_to_string(path).expect("the manual");
    let directives: Vec<&str> = tdlasm::asm::directive_names().collect();
    assert_eq!(directives.len(), 71);
    let missing: Vec<&str> =
        directives.into_iter().filter(|name| !text.contains(&format!("`{name}"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
