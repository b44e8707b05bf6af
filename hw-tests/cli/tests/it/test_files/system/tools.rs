//! Programs that the assemblers and compilers of Debian build (`.ci/install/debs`), and those of
//! `.ci/install/binutils-z80-elf`: built by their test files, tested, and covered.

use std::path::Path;

use tempfile::TempDir;

use super::super::hw_tests;

const ASSEMBLER: &str = "\
; MUL8: HL = A * E
        org 8000H
MUL8:
        ld hl,0
        ld d,l
        ld b,8
shift:
        add hl,hl
        rlca
        jr nc,skip
        add hl,de
skip:
        djnz shift
        ld a,(count)
        inc a
        ld (count),a
        ret
count:
        db 0
";

/// The same for GNU as, whose linker gives the address.
fn gnu_source() -> String {
    let text = ASSEMBLER.replace("org 8000H", ".globl MUL8");
    text.replace("count:\n        db 0", "        .data\ncount:\n        .byte 0")
}

const C: &str = "\
static unsigned char count;
unsigned int mul8(unsigned char a, unsigned char b)
{
    unsigned int product = 0;
    count++;
    while (b != 0) {
        if (b & 1) {
            product += a;
        }
        a <<= 1;
        b >>= 1;
    }
    return product;
}
";

/// Seven times six, as routines of the assemblers take it.
const CASE: &str = "call = \"MUL8\"\nin = { A = 7, E = 6 }\nexpect = { HL = 42, memory = [{ at = \
                    \"count\", bytes = [1] }] }\n";

/// Writes a source, and a test file whose first lines are given.
fn project((name, source): (&str, &str), program: &str, case: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let test = format!("{program}\n[[case]]\nname = \"seven times six\"\n{case}");
    for (name, text) in [(name, source), ("mul.test.toml", &test)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

/// Builds and tests a project, and returns the tracefile of its coverage.
fn covered(folder: &TempDir) -> String {
    let arguments = ["test", "mul.test.toml", "--coverage", "mul.info"];
    let (code, shown, errors) = hw_tests(folder.path(), &arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{shown}");
    assert!(shown.contains("PASS 1 of 1 case in mul.test.toml, simulated\n"), "{shown}");
    std::fs::read_to_string(folder.path().join("mul.info")).expect("a tracefile")
}

/// Asserts how often lines of a source ran.
fn assert_lines(tracefile: &str, source: &str, expected: &[(u32, u32)]) {
    let file = tracefile.lines().find(|line| line.starts_with("SF:")).unwrap_or_default();
    assert!(Path::new(file).ends_with(source), "{tracefile}");
    for (line, count) in expected {
        let ran = format!("DA:{line},{count}");
        assert!(tracefile.lines().any(|line| line == ran), "{ran} is missing: {tracefile}");
    }
    let lines = tracefile.lines().filter(|line| line.starts_with("DA:")).count();
    assert!(tracefile.contains(&format!("\nLH:{lines}\n")), "all ran: {tracefile}");
}

/// The loop runs for each bit of A, and adds for the three of 7.
const ASSEMBLER_LINES: [(u32, u32); 4] = [(4, 1), (8, 8), (11, 3), (17, 1)];

#[test]
fn a_program_of_pasmo_is_built_and_tested() {
    let program = "build = \"pasmo --hex mul.asm mul.hex mul.sym\"\nprogram = \"mul.hex\"\n\
                   symbols = \"mul.sym\"";
    let tracefile = covered(&project(("mul.asm", ASSEMBLER), program, CASE));
    assert!(!tracefile.contains("SF:"), "it gives no lines: {tracefile}");
}

#[test]
fn a_program_of_z80asm_is_built_tested_and_covered_by_its_listing() {
    let program = "build = \"z80asm -o mul.bin --list=mul.lst --label=mul.lbl mul.asm\"\n\
                   program = \"mul.bin\"\norigin = 0x8000\nsymbols = [\"mul.lbl\", \"mul.lst\"]";
    let tracefile = covered(&project(("mul.asm", ASSEMBLER), program, CASE));
    assert_lines(&tracefile, "mul.asm", &ASSEMBLER_LINES);
}

#[test]
fn a_program_of_gnu_as_in_coff_is_built_tested_and_covered_by_its_stabs() {
    let program = "build = \"z80-unknown-coff-as -gstabs -o mul.o mul.s && z80-unknown-coff-ld \
                   -Ttext 0x8000 -Tdata 0x9000 -e MUL8 -o a.out mul.o\"\nprogram = \"a.out\"";
    let tracefile = covered(&project(("mul.s", &gnu_source()), program, CASE));
    assert_lines(&tracefile, "mul.s", &ASSEMBLER_LINES);
    assert!(tracefile.contains("\nFNDA:1,MUL8\n"), "{tracefile}");
}

#[test]
fn a_program_of_gnu_as_in_elf_is_built_tested_and_covered_by_dwarf() {
    let bin = std::env::var_os("Z80_ELF_BIN").filter(|bin| !bin.is_empty());
    let bin = bin.expect("export Z80_ELF_BIN=$(.ci/install/binutils-z80-elf)");
    let bin = Path::new(&bin).display();
    let program = format!(
        "build = \"'{bin}/as' -g -o mul.o mul.s && '{bin}/ld' -Ttext 0x8000 -Tdata 0x9000 -e MUL8 -o \
         mul.elf mul.o\"\nprogram = \"mul.elf\""
    );
    let tracefile = covered(&project(("mul.s", &gnu_source()), &program, CASE));
    assert_lines(&tracefile, "mul.s", &ASSEMBLER_LINES);
}

#[test]
fn a_program_of_sdcc_is_built_tested_and_covered_by_its_lines_of_c() {
    let program = "build = [\"sdcc\", \"-mz80\", \"--debug\", \"--no-std-crt0\", \"--code-loc\", \
                   \"0x8000\", \"--data-loc\", \"0x9000\", \"-o\", \"mul.ihx\", \"mul.c\"]\n\
                   program = \"mul.ihx\"\nsymbols = \"mul.noi\"";
    // Its convention: the first two bytes in A and L, the result in DE.
    let case = "call = \"mul8\"\nin = { A = 7, L = 6 }\nmemory = [{ at = \"count\", bytes = [4] }]\n\
                expect = { DE = 42, memory = [{ at = \"count\", bytes = [5] }] }\n";
    let folder = project(("mul.c", C), program, case);
    // The loop runs for each of the three bits of 6, and adds for two.
    assert_lines(&covered(&folder), "mul.c", &[(5, 1), (8, 2), (10, 3)]);
    let test = folder.path().join("mul.test.toml");
    let text = std::fs::read_to_string(&test).expect("the test file");
    std::fs::write(&test, text.replace("memory = [{ at = \"count\", bytes = [4] }]\n", ""))
        .expect("a file");
    let (code, shown, _) = hw_tests(folder.path(), &["test", "mul.test.toml", "--no-build"]);
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("read 9000H, which nothing has written at "), "{shown}");
    assert!(shown.contains(" (mul.c:5): set it by 'memory'"), "{shown}");
}

#[test]
fn a_build_that_fails_shows_what_the_tool_says() {
    let program = "build = \"pasmo --hex mul.asm mul.hex mul.sym\"\nprogram = \"mul.hex\"\n\
                   symbols = \"mul.sym\"";
    let wrong = ASSEMBLER.replace("ld b,8", "ld b,eight");
    let folder = project(("mul.asm", &wrong), program, CASE);
    let (code, _, errors) = hw_tests(folder.path(), &["test", "mul.test.toml"]);
    assert!(code == 3 && errors.contains("mul.test.toml:1:9: build: 'pasmo"), "{errors}");
    assert!(errors.contains("eight"), "{errors}");
}

#[test]
fn functions_of_sdcc_are_called_by_each_convention_that_it_has() {
    let types = ["uint8_t", "int16_t", "uint32_t"];
    let (mut source, mut cases) = ("#include <stdint.h>\n".to_owned(), String::new());
    for (attribute, convention) in [
        ("__sdcccall(1)", "sdcccall1"),
        ("__sdcccall(0)", "sdcccall0"),
        ("__sdcccall(0) __z88dk_callee", "callee"),
        ("__sdcccall(1) __z88dk_callee", "sdcccall1-callee"),
        ("__z88dk_fastcall", "z88dk-fastcall"),
    ] {
        let several = usize::from(convention != "z88dk-fastcall");
        for index in 0..if several == 0 { 3 } else { 27 } {
            let digit = |place: u32| index / 3usize.pow(place) % 3;
            let kinds: Vec<_> = (0..1 + 2 * several as u32).map(|one| types[digit(one)]).collect();
            let result = types[(digit(0) + several * (digit(1) + digit(2))) % 3];
            let name = format!("f{}", source.lines().count());
            let names = kinds.iter().zip(["a", "b", "c"]);
            let parameters: Vec<_> = names.map(|(kind, name)| format!("{kind} {name}")).collect();
            let parameters = parameters.join(", ");
            let sum = ["a", "a - 3 * b + 7 * c"][several];
            source += &format!("{result} {name}({parameters}) {attribute} {{ return {sum}; }}\n");
            let values = [200, 1000, 70_000].map(|value| value + index as i64);
            let argument = |kind: &&str| match *kind {
                "uint8_t" => values[0] % 256,
                "int16_t" => -values[1],
                _ => values[2],
            };
            let arguments: Vec<i64> = kinds.iter().map(argument).collect();
            let sum = match &arguments[..] {
                [a, b, c] => a - 3 * b + 7 * c,
                one => one[0],
            };
            let returns = match result {
                "uint8_t" => i64::from(sum as u8),
                "int16_t" => i64::from(sum as i16),
                _ => i64::from(sum as u32),
            };
            let arguments: Vec<_> = arguments.iter().map(i64::to_string).collect();
            cases += &format!(
                "[[case]]\nname = \"{name}\"\ncall = \"{name}({})\"\nreturns = {returns}\n\
                 signature = \"{result} {name}({parameters})\"\nconvention = \"{convention}\"\n",
                arguments.join(", ")
            );
        }
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("f.c"), source).expect("a file");
    let program = "build = \"sdcc -mz80 --no-std-crt0 --code-loc 0x8000 --data-loc 0xC000 \
                   -o f.ihx f.c\"\nprogram = \"f.ihx\"\nsymbols = \"f.noi\"\n";
    std::fs::write(folder.path().join("f.test.toml"), program.to_owned() + &cases).expect("a file");
    for options in [&[][..], &["--rig", "direct"]] {
        let (code, shown, errors) =
            hw_tests(folder.path(), &[&["test", "f.test.toml"], options].concat());
        assert_eq!(code, 0, "{options:?}: {shown}{errors}");
    }
}
