//! GNU binutils for the Z80 read, link and disassemble what we write, and we link what GNU as
//! writes.
//!
//! `.ci/install/binutils-z80-elf` builds them and prints their folder, which `Z80_ELF_BIN` names.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::opcode_table::{VALUES, Values, rows, source};
use tdlasm::link::{Layout, Program, link};
use tdlasm::module::*;
use tdlasm::object::{read_object, write_executable, write_object};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};
use tempfile::TempDir;

/// The tools, and a folder for their files.
struct Gnu {
    bin: PathBuf,
    folder: TempDir,
}

impl Gnu {
    fn find() -> Self {
        let bin = std::env::var_os("Z80_ELF_BIN").filter(|bin| !bin.is_empty());
        let bin = bin.expect("export Z80_ELF_BIN=$(.ci/install/binutils-z80-elf)");
        let folder = TempDir::new().expect("a temporary folder");
        Self { bin: bin.into(), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file in the temporary folder");
    }

    /// Runs a tool in the folder, checks that it prints no warning, and returns its output.
    fn run(&self, tool: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(self.bin.join(tool));
        let output = command.args(arguments).current_dir(self.folder.path()).output();
        let output =
            output.unwrap_or_else(|error| panic!("{}/{tool}: {error}", self.bin.display()));
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && printed.is_empty(), "{tool} {arguments:?}: {printed}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Assembles a source by GNU as; the object is also in the folder as `gnu.o`.
    fn assemble(&self, text: &str) -> Module {
        self.file("gnu.s", text);
        self.run("as", &["-o", "gnu.o", "gnu.s"]);
        read_object(&read(&self.path("gnu.o")), "GNU").expect("an object of GNU as")
    }

    /// Links objects in the folder by GNU ld, and returns the bytes from the first address of the
    /// script to the last byte; the program is also in the folder as `gnu.elf`.
    fn link(&self, script: &str, objects: &[&str]) -> Vec<u8> {
        self.file("script.ld", script);
        for output in [["-o", "gnu.elf"].as_slice(), &["--oformat", "binary", "-o", "gnu.bin"]] {
            let script = ["--no-warn-rwx-segments", "-T", "script.ld"].as_slice();
            self.run("ld", &[script, output, objects].concat());
        }
        read(&self.path("gnu.bin"))
    }

    /// The instructions that objdump finds in a file: address, and text with single blanks.
    fn disassemble(&self, file: &str) -> Vec<(u16, String)> {
        let text = self.run("objdump", &["--disassemble", "--wide", "--disassemble-zeroes", file]);
        let line = |line: &str| {
            let (address, rest) = line.split_once(":\t")?;
            let address = u16::from_str_radix(address.trim(), 16).ok()?;
            Some((address, rest.split_once('\t')?.1.trim().to_owned()))
        };
        text.lines().filter_map(line).collect()
    }
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn ours(text: &str) -> Module {
    let loader = MemoryLoader::new().with("ours.asm", text);
    let assembly = assemble(&loader, &["ours.asm".into()], &Options::default());
    assembly.unwrap_or_else(|failure| panic!("{failure}")).modules.remove(0)
}

/// Code at 8000H, data at 8040H, reserved space at 8080H: for GNU ld and for our linker.
const SCRIPT: &str = "SECTIONS {
    .text 0x8000 : { *(.text) }
    .data 0x8040 : { *(.data) }
    .bss 0x8080 : { *(.bss) *(COMMON) }
}";
const LAYOUT: &str = r#"
    region = [
        { name = "code", start = 0x8000, size = 0x40, fill = 0 },
        { name = "data", start = 0x8040, size = 0x40 },
        { name = "space", start = 0x8080, size = 0x40 },
    ]
    place = [
        { section = ".PROG.", region = "code" },
        { section = ".DATA.", region = "data" },
        { section = ".BLNK.", region = "space" },
    ]
"#;

fn linked(modules: &[Module]) -> Program {
    let layout = Layout::parse(LAYOUT).expect("the layout is right");
    link(modules, &layout).unwrap_or_else(|errors| panic!("{errors}"))
}

const OURS: &str = "
        .IDENT  OURS
        .EXTERN GTAB,GBYTE
        .ENTRY  FIRST
        .INTERN VALUE,BUFFER,MINUS,LIMIT
MINUS == -3
LIMIT == 77H
FIRST:  LXI     H,GTAB+2
        LXI     D,BUFFER
        CALL    GSUB#
..WAIT: DCR     A
        JRNZ    ..WAIT
        LDA     VALUE
        BIT     3,MINUS(X)
        LIXD    POOL#
        LXI     B,GBYTE
        JMP     FIRST
        .LOC    .DATA.
VALUE:  .BYTE   5
        .WORD   FIRST,GTAB-1,BUFFER+3
        .LOC    .BLNK.
BUFFER: .BLKB   10H
        .END    FIRST
";

/// Uses every kind of relocation that GNU as has for the Z80's own fields.
const THEIRS: &str = "
        .globl GSUB, GTAB, GBYTE
        .set GBYTE, 0x5a
GSUB:   ld a,(VALUE)
        ld (ix+MINUS),LIMIT
        ld hl,BUFFER+1
        ld l,BUFFER & 255
        ld h,BUFFER >> 8
        djnz GSUB
        jr FIRST
        .data
GTAB:   .word GSUB, FIRST, VALUE
        .byte GBYTE
        .bss
        .skip 2
        .comm POOL,4,1
";

/// Both sources by hand: FIRST is at 8000H, GSUB at 801DH, VALUE at 8040H, GTAB at 8047H, BUFFER at
/// 8080H and POOL behind 16 + 2 bytes at 8092H.
const INSTRUCTIONS: [(u16, &str, &[u8]); 17] = [
    (0x8000, "ld hl,0x8049", &[0x21, 0x49, 0x80]),
    (0x8003, "ld de,0x8080", &[0x11, 0x80, 0x80]),
    (0x8006, "call 0x801d", &[0xCD, 0x1D, 0x80]),
    (0x8009, "dec a", &[0x3D]),
    (0x800A, "jr nz,0x8009", &[0x20, 0xFD]),
    (0x800C, "ld a,(0x8040)", &[0x3A, 0x40, 0x80]),
    (0x800F, "bit 3,(ix-3)", &[0xDD, 0xCB, 0xFD, 0x5E]),
    (0x8013, "ld ix,(0x8092)", &[0xDD, 0x2A, 0x92, 0x80]),
    (0x8017, "ld bc,0x005a", &[0x01, 0x5A, 0x00]),
    (0x801A, "jp 0x8000", &[0xC3, 0x00, 0x80]),
    (0x801D, "ld a,(0x8040)", &[0x3A, 0x40, 0x80]),
    (0x8020, "ld (ix-3),0x77", &[0xDD, 0x36, 0xFD, 0x77]),
    (0x8024, "ld hl,0x8081", &[0x21, 0x81, 0x80]),
    (0x8027, "ld l,0x80", &[0x2E, 0x80]),
    (0x8029, "ld h,0x80", &[0x26, 0x80]),
    (0x802B, "djnz 0x801d", &[0x10, 0xF0]),
    (0x802D, "jr 0x8000", &[0x18, 0xD1]),
];
const DATA: [u8; 14] =
    [5, 0x00, 0x80, 0x46, 0x80, 0x83, 0x80, 0x1D, 0x80, 0x00, 0x80, 0x40, 0x80, 0x5A];

/// The bytes from 8000H on; the gap before the data is zeros.
fn expected() -> Vec<u8> {
    let mut image: Vec<u8> = INSTRUCTIONS.iter().flat_map(|(.., bytes)| bytes.to_vec()).collect();
    image.resize(0x40, 0);
    image.extend(DATA);
    image
}

#[test]
fn gnu_ld_and_our_linker_make_the_same_program_of_both_objects() {
    let gnu = Gnu::find();
    let modules = [ours(OURS), gnu.assemble(THEIRS)];
    gnu.file("ours.o", write_object(&modules[0]));
    assert_eq!(gnu.link(SCRIPT, &["ours.o", "gnu.o"]), expected());
    assert_eq!(linked(&modules).image.flat(0), expected());
}

#[test]
fn objdump_finds_the_instructions_of_the_sources_in_both_programs() {
    let gnu = Gnu::find();
    let modules = [ours(OURS), gnu.assemble(THEIRS)];
    gnu.file("ours.o", write_object(&modules[0]));
    gnu.file("ours.elf", write_executable(&linked(&modules)));
    gnu.link(SCRIPT, &["ours.o", "gnu.o"]);
    let wanted = INSTRUCTIONS.map(|(address, text, _)| (address, text.to_owned()));
    for file in ["gnu.elf", "ours.elf"] {
        let code = gnu.disassemble(file).into_iter().filter(|(address, _)| *address < 0x8040);
        assert_eq!(code.collect::<Vec<_>>(), wanted, "{file}");
    }
}

#[test]
fn objdump_names_code_after_our_labels() {
    let gnu = Gnu::find();
    let program = linked(&[ours("MAIN: NOP\nLIMIT==1\nSTOP: HLT\n .END\n")]);
    gnu.file("ours.elf", write_executable(&program));
    let text = gnu.run("objdump", &["--disassemble", "--disassemble-zeroes", "ours.elf"]);
    let labels: Vec<_> = text.lines().filter(|line| line.ends_with(">:")).collect();
    assert_eq!(labels, ["00008000 <MAIN>:", "00008001 <STOP>:"]);
}

#[test]
fn our_linker_supports_every_relocation_of_gnu_as() {
    let gnu = Gnu::find();
    let module = gnu.assemble(THEIRS);
    let code = module.section(SectionKind::Prog).expect("code");
    let kinds: Vec<_> = code.relocs.iter().map(|reloc| reloc.kind).collect();
    use RelocKind::{Abs8, Disp8, High, Low, Rel8, Word};
    assert_eq!(kinds, [Word, Disp8, Abs8, Word, Low, High, Rel8]);
}

/// A module with a field of each kind for the same external.
fn fields() -> Module {
    use RelocKind::{Abs8, Disp8, High, Low, Rel8, Word};
    let field = |(offset, kind)| Reloc {
        offset,
        kind,
        target: Target { base: Base::Symbol((offset >= 4).into()), addend: 1 },
    };
    let fields = [(0, Abs8), (1, Disp8), (4, Rel8), (5, Word), (7, Low), (8, High)];
    let runs = vec![SectionRun { offset: 0, bytes: vec![0; 9] }];
    let relocs = fields.map(field).to_vec();
    let symbol = |name: &str| Symbol {
        name: name.into(),
        value: SymbolValue::Undefined,
        binding: Binding::Global,
        place: None,
    };
    Module {
        name: "FIELDS".into(),
        sections: vec![Section { kind: SectionKind::Prog, size: 9, runs, relocs }],
        symbols: vec![symbol("SMALL"), symbol("PLACE")].into(),
        start: None,
        lines: Lines::default(),
        source_order: None,
    }
}

#[test]
fn gnu_ld_fills_every_kind_of_field_as_we_do() {
    let gnu = Gnu::find();
    let places = gnu.assemble(" .globl SMALL, PLACE\n .set SMALL, 0x40\nPLACE: .byte 0xc9\n");
    gnu.file("fields.o", write_object(&fields()));
    // PLACE follows at 8009H; 800AH is 5 bytes behind 8005H, where the relative jump ends.
    let expected = [0x41, 0x41, 0, 0, 5, 0x0A, 0x80, 0x0A, 0x80, 0xC9];
    assert_eq!(gnu.link(SCRIPT, &["fields.o", "gnu.o"]), expected);
    assert_eq!(linked(&[fields(), places]).image.flat(0), expected);
}

#[test]
fn gnu_ld_places_absolute_code_by_its_script() {
    let gnu = Gnu::find();
    let module = ours(" .LOC 66H\n JMP NMI\n .LOC .PROG.\nNMI: RETN\n .END\n");
    gnu.file("nmi.o", write_object(&module));
    let script = "SECTIONS { .abs.0066 0x66 : { *(.abs.0066) } .text 0x69 : { *(.text) } }";
    assert_eq!(gnu.link(script, &["nmi.o"]), [0xC3, 0x69, 0x00, 0xED, 0x45]);
}

#[test]
fn readelf_reads_objects_and_executables_without_a_warning() {
    let gnu = Gnu::find();
    let modules = [ours(OURS), gnu.assemble(THEIRS)];
    gnu.file("ours.o", write_object(&modules[0]));
    gnu.file("ours.elf", write_executable(&linked(&modules)));
    for (file, kind) in
        [("ours.o", "REL (Relocatable file)"), ("ours.elf", "EXEC (Executable file)")]
    {
        let text = gnu.run("readelf", &["--all", "--wide", file]);
        assert_eq!(field(&text, "Machine"), "Zilog Z80", "{text}");
        assert_eq!(field(&text, "Type"), kind, "{text}");
        assert_eq!(field(&text, "Flags"), "0x1, Z80", "{text}");
        assert!(!text.to_lowercase().contains("warning"), "{text}");
    }
    let text = gnu.run("readelf", &["--file-header", "ours.elf"]);
    assert_eq!(field(&text, "Entry point address"), "0x8000");
}

/// The value in the first line `name: value` of readelf's output.
fn field<'t>(text: &'t str, name: &str) -> &'t str {
    let mut lines = text.lines().filter_map(|line| line.trim().split_once(':'));
    lines.find(|(found, _)| *found == name).map_or("", |(_, value)| value.trim())
}

#[test]
fn readelf_names_the_relocations_as_the_abi_does() {
    let gnu = Gnu::find();
    gnu.file("fields.o", write_object(&fields()));
    let text = gnu.run("readelf", &["--relocs", "--wide", "fields.o"]);
    let lines = text.lines().filter(|line| line.contains("R_Z80_"));
    let found: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    // The relative jump counts from its field in ELF, from behind it here: 1 less.
    let wanted = [
        ("00000000", "R_Z80_8", "SMALL + 1"),
        ("00000001", "R_Z80_8_DIS", "SMALL + 1"),
        ("00000004", "R_Z80_8_PCREL", "PLACE + 0"),
        ("00000005", "R_Z80_16", "PLACE + 1"),
        ("00000007", "R_Z80_BYTE0", "PLACE + 1"),
        ("00000008", "R_Z80_BYTE1", "PLACE + 1"),
    ];
    for (line, (offset, kind, value)) in found.iter().zip(wanted) {
        assert_eq!((line[0], line[2], line[4..].join(" ").as_str()), (offset, kind, value));
    }
    assert_eq!(found.len(), wanted.len());
}

#[test]
fn objdump_spells_every_instruction_as_the_table_does() {
    let gnu = Gnu::find();
    for values in VALUES {
        let text: Vec<String> = rows().iter().map(|row| source(row, values)).collect();
        let module = ours(&format!(" .LOC 4000H\n{}\n .END\n", text.join("\n")));
        gnu.file("rows.o", write_object(&module));
        let found = gnu.disassemble("rows.o");
        assert_eq!(found.len(), rows().len());
        for (row, (address, text)) in rows().iter().zip(found) {
            assert_eq!(text, spelling(row[3], address, values), "{} {}", row[0], row[1]);
        }
    }
}

/// The table's spelling as objdump writes it: small letters, numbers as 0x0012, displacements as
/// +18.
fn spelling(zilog: &str, address: u16, values: Values) -> String {
    let (name, operands) = zilog.split_once(' ').unwrap_or((zilog, ""));
    let target = address.wrapping_add(2).wrapping_add_signed(values.distance.into());
    let word = |part: &str| match part {
        "n" => format!("0x{:02x}", values.byte),
        "(n)" => format!("(0x{:02x})", values.byte),
        "nn" => format!("0x{:04x}", values.word),
        "(nn)" => format!("(0x{:04x})", values.word),
        "e" => format!("0x{target:04x}"),
        restart if name == "RST" => format!("0x{}", restart.trim_end_matches('H')),
        _ => part.replace("+d", &format!("{:+}", values.displacement)).to_lowercase(),
    };
    let operands: Vec<String> = operands.split(',').map(word).collect();
    format!("{} {}", name.to_lowercase(), operands.join(",")).trim_end().to_owned()
}
