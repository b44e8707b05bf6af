//! Helpers of the tests of conversion: conversion in memory, images, the evaluator's sources, and
//! random programs.

use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;

use tdlasm::image::Image;
use tdlasm::isa::{FORMS, Slot, Status};
use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options as AssemblyOptions, assemble};
use tdlasm_tools::convert::{Conversion, Dialect, Options, convert};

const MEMORY: &str = r#"
    [[region]]
    name = "memory"
    start = 0
    size = 0x10000
    [[place]]
    section = ".PROG."
    region = "memory"
"#;

pub(crate) fn converted(text: impl Into<Vec<u8>>, to: Dialect) -> Conversion {
    let loader = MemoryLoader::new().with("a.asm", text);
    convert(&loader, "a.asm".as_ref(), &Options::new(to)).expect("a file in memory")
}

/// Assembles a source in TDL; `None` if it has errors.
pub(crate) fn image(text: impl Into<Vec<u8>>) -> Option<Image> {
    let loader = MemoryLoader::new().with("a.asm", text);
    // Names of several words become longer by the conversion.
    let options = AssemblyOptions { long_symbols: true, ..AssemblyOptions::default() };
    let assembly = assemble(&loader, &["a.asm".into()], &options).ok()?;
    let layout = Layout::parse(MEMORY).expect("the layout is right");
    link(&assembly.modules, &layout).ok().map(|program| program.image)
}

/// The files of a folder beside the crate's, with their names.
pub(crate) fn sources(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder").flatten();
    let files = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "asm"));
    let mut files: Vec<(String, String)> = files
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).expect("a source");
            (entry.file_name().to_string_lossy().into_owned(), text)
        })
        .collect();
    files.sort();
    files
}

/// An instruction of the form with operands drawn from `bits` and the given texts.
pub(crate) fn instruction(
    form: usize,
    bits: u32,
    byte: &str,
    word: &str,
    displacement: &str,
) -> String {
    let form = &FORMS[form % FORMS.len()];
    let mut bits = bits;
    let mut draw = |choices: &[&'static str]| {
        let choice = choices[bits as usize % choices.len()];
        bits /= choices.len() as u32;
        choice
    };
    let mut operands = Vec::new();
    for slot in &form.slots[..form.arity()] {
        operands.push(match slot {
            Slot::Source | Slot::Dest => draw(&["B", "C", "D", "E", "H", "L", "A"]).to_owned(),
            Slot::SourceMem | Slot::DestMem => "M".to_owned(),
            Slot::Index => format!("{displacement}{}", draw(&["(X)", "(Y)"])),
            Slot::Pair => draw(&["B", "D", "H", "SP"]).to_owned(),
            Slot::StackPair => draw(&["B", "D", "H", "PSW"]).to_owned(),
            Slot::PairX => draw(&["B", "D", "X", "SP"]).to_owned(),
            Slot::PairY => draw(&["B", "D", "Y", "SP"]).to_owned(),
            Slot::Pointer => draw(&["B", "D"]).to_owned(),
            Slot::IndexPair => draw(&["X", "Y"]).to_owned(),
            Slot::Bit | Slot::Restart => draw(&["0", "1", "2", "3", "4", "5", "6", "7"]).to_owned(),
            Slot::Byte => byte.to_owned(),
            Slot::Word => word.to_owned(),
            Slot::Relative => format!(".{}", draw(&["", "+5", "-3", "+129", "-126"])),
            Slot::None => String::new(),
        });
    }
    format!("\t{} {}", form.mnemonic, operands.join(",")).trim_end().to_owned()
}

/// The style of generated programs: the names and operators of expressions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taste {
    pub(crate) atoms: &'static [&'static str],
    pub(crate) operators: &'static [&'static str],
    pub(crate) shifts: &'static [&'static str],
}

fn expression(taste: Taste) -> impl Strategy<Value = String> {
    let atom = prop::sample::select(taste.atoms).prop_map(str::to_owned);
    let operators = prop::sample::select(taste.operators);
    atom.prop_recursive(3, 10, 2, move |inner| {
        let both = (inner.clone(), operators.clone(), inner.clone(), "| ");
        prop_oneof![
            4 => both.prop_map(|(left, op, right, blank)| format!("{left}{blank}{op}{blank}{right}")),
            1 => inner.clone().prop_map(|inner| format!("({inner})")),
            1 => inner.clone().prop_map(|inner| format!("-{inner}")),
            1 => inner.clone().prop_map(|inner| format!("#{inner}")),
            1 => (inner, prop::sample::select(taste.shifts), 0..9u8)
                .prop_map(|(inner, op, count)| format!("({inner}){op}{count}")),
        ]
    })
}

/// A statement that uses only the symbols of [`program`].
fn statement(taste: Taste) -> impl Strategy<Value = String> {
    const DISPLACEMENTS: &[&str] = &["5", "-8", "200", "KD", "KD+2", "-KD", "-KD+9", "KD!8", "(3)"];
    let expression = || expression(taste).boxed();
    let word = prop_oneof![expression(), Just("L0+3".to_owned()), Just("L1-2".to_owned())].boxed();
    let list = prop::collection::vec(expression(), 1..4).prop_map(|list| list.join(", "));
    let text = "[ -~]{1,12}".prop_map(|text| text.replace(['"', ';'], "'"));
    let instruction = (
        0..FORMS.len(),
        any::<u32>(),
        expression(),
        word.clone(),
        prop::sample::select(DISPLACEMENTS),
    )
        .prop_filter("no undocumented instruction", |(form, ..)| {
            FORMS[*form].status != Status::Undocumented
        })
        .prop_map(|(form, bits, byte, word, displacement)| {
            instruction(form, bits, &byte, &word, displacement)
        });
    prop_oneof![
        8 => instruction,
        1 => list.clone().prop_map(|list| format!("\t.BYTE {list}")),
        1 => list.prop_map(|list| format!("        .WORD   {list}")),
        1 => text.clone().prop_map(|text| format!("\t.ASCII \"{text}\"[0DH]'x'")),
        1 => text.clone().prop_map(|text| format!("\t.ASCIZ \"{text}\"")),
        1 => text.prop_map(|text| format!("\t.ASCIS \"{text}\"")),
        1 => (0..9u8).prop_map(|size| format!("\t.BLKW {size}")),
        1 => Just("KV = KV+1".to_owned()),
        1 => Just("..T:\tNOP".to_owned()),
        1 => Just(String::new()),
    ]
}

/// A program: statements, some with a comment, and labels between them. Each local symbol has one
/// definition in its scope.
pub(crate) fn program(taste: Taste, size: usize) -> impl Strategy<Value = String> {
    let comment = prop::option::of("[ -~]{0,20}");
    let lines = prop::collection::vec((statement(taste), comment), 1..size);
    lines.prop_map(|lines| {
        let mut text =
            "\t.LOC 100H\nK0 == 3\nK1 = -2\nKD==7\nKV = 1\nL0: NOP\n..T: NOP\n".to_owned();
        for (number, (line, comment)) in lines.into_iter().enumerate() {
            if line.starts_with("..T") || number == 3 {
                let _ = writeln!(text, "L{}:", number + 100);
                text.push_str(if line.starts_with("..T") { "" } else { "..T:\n" });
            }
            let _ = write!(text, "{line}");
            let _ = comment.map_or(writeln!(text), |comment| writeln!(text, " ; #{comment}"));
        }
        text + "L1:\n..T: RET\n\t.END L0\n"
    })
}
