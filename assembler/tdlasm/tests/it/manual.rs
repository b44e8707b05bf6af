//! The language manual's instructions, directives and programs are those of the assembler.

use std::fs;
use std::path::Path;

use tdlasm::isa::{FORMS, Form, Prefix, Slot, Status, zilog};
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
    let zilog = zilog::pattern(form);
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
    let directives: Vec<&str> =
        tdlasm::syntax::directive::Directive::NAMES.iter().map(|(name, _)| *name).collect();
    assert_eq!(directives.len(), 76);
    let missing: Vec<&str> =
        directives.into_iter().filter(|name| !text.contains(&format!("`{name}"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The effect of a second definition by the symbol's kind. `E01` is for symbols that are absolute or
/// exported.
const DEFINITIONS: &str = "\
| symbol | `NAME = e` | `NAME == e` | `NAME:` | `.EXTERN NAME` |
|---|---|---|---|---|
| undefined | variable | constant | label | external |
| variable | takes the value | `M01` `Q06` | `M01` | `E01` `M01` |
| constant | `M01` `Q06` | same value, or `M01` | `M01` | `E01` `M01` |
| label | `M01` `Q06` | `M01` `Q06` | same value, or `M01` | `E01` `M01` |
| external | `M01` `Q06` | `M01` `Q06` | `E01` | no effect |
| register | `M02` `Q06` | `M02` `Q06` | `M02` | `M02` |
";

/// What makes `N` a symbol of this kind, with the value 1.
const SYMBOLS: [(&str, &str); 6] = [
    ("undefined", ""),
    ("variable", "N=1\n"),
    ("constant", "N==1\n"),
    ("label", " .LOC 1\nN: NOP\n"),
    ("external", " .EXTERN N\n"),
    ("register", ""),
];

/// The codes of a second definition with this value, without those of uses and of the overwritten
/// instruction.
fn codes_of(symbol: &str, definition: &str, value: u16) -> Vec<&'static str> {
    let (_, before) = SYMBOLS.iter().find(|(name, _)| *name == symbol).expect("a known symbol");
    let name = if symbol == "register" { "B" } else { "N" };
    let statement = match definition {
        "NAME = e" => format!("{name}={value}"),
        "NAME == e" => format!("{name}=={value}"),
        "NAME:" => format!(" .LOC {value}\n{name}: NOP"),
        ".EXTERN NAME" => format!(" .EXTERN {name}"),
        _ => panic!("{definition}"),
    };
    let program = format!("{before}{statement}\n .END\n");
    let loader = MemoryLoader::new().with("p.asm", program);
    let assembly = tdlasm::asm::run(&loader, &["p.asm".into()], &Options::default());
    let codes = assembly.diagnostics.iter().map(|one| one.code.id());
    codes.filter(|code| *code != "W05").collect()
}

#[test]
fn the_first_definition_of_a_symbol_counts() {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = DEFINITIONS.lines();
    let definitions = cells(lines.next().expect("the table of definitions"));
    let rows: Vec<_> = lines.skip(1).map(cells).collect();
    assert_eq!(rows.len(), SYMBOLS.len());
    for row in rows {
        for (definition, cell) in definitions.iter().zip(&row).skip(1) {
            let definition = definition.trim_matches('`');
            let expected: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            assert_eq!(codes_of(&row[0], definition, 2), expected, "{} {definition}", row[0]);
            let same = if cell.starts_with("same value") { Vec::new() } else { expected };
            assert_eq!(codes_of(&row[0], definition, 1), same, "{} {definition}", row[0]);
        }
    }
}

#[test]
fn date_and_time_are_those_of_the_build() {
    let loader = MemoryLoader::new().with("a.asm", " .DATE\n .TIME\n .END\n");
    let blanks = " ".repeat(16);
    // From `date -u -d @SECONDS '+%m/%d/%y%H:%M:%S'`.
    for (build_time, expected) in [
        (Some(951_786_061), "02/29/0001:01:01"),
        (Some(253_402_300_799), "12/31/9923:59:59"),
        (Some(253_402_300_800), &*blanks),
        (Some(u64::MAX), &*blanks),
        (None, &*blanks),
    ] {
        let options = Options { build_time, ..Options::default() };
        let assembly = assemble(&loader, &["a.asm".into()], &options).expect("no errors");
        let bytes = &assembly.modules[0].sections[0].runs[0].bytes;
        assert_eq!(String::from_utf8_lossy(bytes), expected, "{build_time:?}");
    }
}
