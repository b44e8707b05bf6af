//! Programs of Debian's SDCC and of GNU as in the debugger.

use std::process::Command;

use crate::any::Bench;

const C: &str = "\
unsigned char total;
static unsigned char add(unsigned char a, unsigned char b)
{
    return a + b;
}
void main(void)
{
    unsigned char i;
    for (i = 0; i < 3; i++) {
        total = add(total, i);
    }
    while (1) ;
}
";

const START: &str = "\
        .globl _main, _total
        .area _CODE
begin::
        ld sp,#0xf000
        xor a
        ld (_total),a
        call _main
        .area _DATA
";

#[test]
fn a_program_of_sdcc_is_stepped_by_lines_of_c_and_assembler() {
    let bench = Bench::new();
    bench.write("main.c", C);
    bench.write("start.s", START);
    let mut assembler = Command::new("sdasz80");
    assembler.args(["-plosgffwy", "start.rel", "start.s"]);
    let mut compiler = Command::new("sdcc");
    compiler.args(["-mz80", "--debug", "--no-std-crt0", "--code-loc", "0x8000"]);
    compiler.args(["--data-loc", "0x9000", "-o", "prog.ihx", "start.rel", "main.c"]);
    for mut command in [assembler, compiler] {
        let output = command.current_dir(bench.path("")).output().expect("Debian's sdcc");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let commands = "list\nbreak main.c:10\nrun\nnext\nprint [_total]\ndelete all\nto main.c:12\n\
                    print [_total]\n";
    let out = bench.script(&bench.path("prog.ihx"), commands, &["--entry", "begin"]);
    assert!(out.contains(">    4          ld sp,#0xf000"), "{out}");
    assert!(out.contains("(main.c:10): "), "{out}");
    // 0 + 1 + 2.
    assert!(out.contains("0003H = 3"), "{out}");
}

const GNU: &str = "        .globl begin
begin:  ld sp,0xf000
        ld b,3
loop:   call twice
        djnz loop
wait:   jr wait
twice:  add a,a
        inc a
        ret
";

#[test]
fn a_program_of_gnu_as_is_stepped_by_lines() {
    let bin = std::env::var_os("Z80_ELF_BIN").filter(|bin| !bin.is_empty());
    let bin = bin.expect("export Z80_ELF_BIN=$(.ci/install/binutils-z80-elf)");
    let bin = std::path::PathBuf::from(bin);
    let bench = Bench::new();
    bench.write("gnu.s", GNU);
    let link = ["-Ttext=0x8000", "-e", "begin", "-o", "gnu.elf", "gnu.o"];
    for (tool, arguments) in [("as", &["-g", "-o", "gnu.o", "gnu.s"][..]), ("ld", &link)] {
        let mut command = Command::new(bin.join(tool));
        let output = command.args(arguments).current_dir(bench.path("")).output();
        let output = output.expect("GNU binutils");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let commands = "list\nset A = 1\nbreak gnu.s:8\nrun\nnext\nprint A\nout\n";
    let out = bench.script(&bench.path("gnu.elf"), commands, &[]);
    assert!(out.contains(">    2  begin:  ld sp,0xf000"), "{out}");
    // Twice 1, and 1.
    assert!(out.contains("(gnu.s:9): ") && out.contains("0003H = 3"), "{out}");
    assert!(out.contains("(gnu.s:5): "), "{out}");
}

/// HL = A * E, for the assemblers of Debian.
const MUL: &str = "\
start:  ld a,7
        ld e,6
        ld hl,0
        ld d,l
        ld b,8
shift:  add hl,hl
        rlca
        jr nc,skip
        add hl,de
skip:   djnz shift
wait:   jr wait
";

/// Runs a line of the shell in the folder of a bench.
fn build(bench: &Bench, line: &str) {
    let output = Command::new("sh").args(["-c", line]).current_dir(bench.path("")).output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Debugs MUL up to its first addition at a breakpoint, `mul.s:9` or `skip-1`.
fn stops_at_the_addition(bench: &Bench, program: &str, breakpoint: &str, more: &[&str]) -> String {
    let commands = format!("break {breakpoint}\nrun\nprint B\nstep\nprint HL\n");
    let out = bench.script(&bench.path(program), &commands, more);
    // The sixth bit of 7 is its first 1; the addition gives 6.
    assert!(out.contains("0003H = 3") && out.contains("0006H = 6"), "{out}");
    out
}

#[test]
fn a_program_of_gnu_as_in_coff_is_stopped_at_a_line_of_its_stabs() {
    let bench = Bench::new();
    bench.write("mul.s", MUL);
    build(
        &bench,
        "z80-unknown-coff-as -gstabs -o mul.o mul.s && z80-unknown-coff-ld -Ttext 0x8000 -e start -o \
         mul mul.o",
    );
    let out = stops_at_the_addition(&bench, "mul", "mul.s:9", &["--entry", "8000H"]);
    assert!(out.contains("(mul.s:9): "), "{out}");
}

#[test]
fn a_program_of_z80asm_is_stopped_at_a_line_of_its_listing() {
    let bench = Bench::new();
    bench.write("mul.s", &format!("        org 8000H\n{MUL}"));
    build(&bench, "z80asm -o mul.bin --list=mul.lst --label=mul.lbl mul.s");
    let symbols = ["mul.lbl", "mul.lst"].map(|name| bench.path(name).display().to_string());
    let options = ["--origin", "8000H", "--entry", "8000H"];
    let options = [&options[..], &["--symbols", &symbols[0], "--symbols", &symbols[1]]].concat();
    let out = stops_at_the_addition(&bench, "mul.bin", "mul.s:10", &options);
    assert!(out.contains("(mul.s:10): "), "{out}");
}

#[test]
fn a_program_of_pasmo_is_stopped_at_its_labels() {
    let bench = Bench::new();
    bench.write("mul.s", &format!("        org 8000H\n{MUL}"));
    build(&bench, "pasmo --hex mul.s mul.hex mul.sym");
    let symbols = bench.path("mul.sym").display().to_string();
    let options = ["--entry", "8000H", "--symbols", &symbols];
    let out = stops_at_the_addition(&bench, "mul.hex", "skip-1", &options);
    assert!(out.contains("shift+4"), "{out}");
}
