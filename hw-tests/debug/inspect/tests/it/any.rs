//! Any program on the board: assembled, from ELF and from Intel HEX, by a script of commands.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;

use crate::hw_tests;
use crate::screen::TerminalSession;

/// Counts down in memory, sends `ok` over the 68B50's line, and echoes what it receives.
const PROGRAM: &str = "\
\t.INTERN START,COUNT
STATUS\t== 80H
DATA\t== 81H
\t.LOC .PROG.
START:\tLXI H,COUNT
\tMVI M,3
AGAIN:\tCALL ONE
\tJRNZ AGAIN
\tMVI A,'O'
\tCALL SAY
\tMVI A,'K'
\tCALL SAY
ECHO:\tIN STATUS
\tRAR
\tJRNC ECHO
\tIN DATA
\tCALL SAY
\tJMPR ECHO
; ONE - counts down.
ONE:\tDCR M
\tRET
; SAY - sends A.
SAY:\tPUSH PSW
..WAIT:\tIN STATUS
\tANI 2
\tJRZ ..WAIT
\tPOP PSW
\tOUT DATA
\tRET
\t.LOC .DATA.
COUNT:\t.BLKB 1
\t.END START
";

/// A folder with the program.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().expect("a folder") };
        bench.write("prog.asm", PROGRAM);
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    /// Runs a script of the debugger and returns its output.
    pub(crate) fn script(&self, program: &Path, commands: &str, more: &[&str]) -> String {
        let script = self.write("script", commands);
        let mut arguments = vec!["debug".to_owned(), program.display().to_string()];
        arguments.extend(["--script".to_owned(), script.display().to_string()]);
        arguments.extend(more.iter().map(|one| (*one).to_owned()));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (code, out, printed) = hw_tests(&arguments);
        assert_eq!(code, Some(0), "{out}{printed}");
        out
    }
}

/// Assembles and links the program for RAM by the library `tdlasm`.
pub(crate) fn linked(source: &Path) -> tdlasm::link::Program {
    let options = tdlasm::Options { lines: true, ..Default::default() };
    let loader = tdlasm::source::DiskLoader;
    let assembly = tdlasm::assemble(&loader, &[source.to_owned()], &options);
    let assembly = assembly.unwrap_or_else(|error| panic!("{error}"));
    let layout = "[[region]]\nname=\"ram\"\nstart=0x9000\nsize=0x1000\n\
                  [[place]]\nsection=\".PROG.\"\nregion=\"ram\"\n\
                  [[place]]\nsection=\".DATA.\"\nregion=\"ram\"\n";
    let layout = tdlasm::link::Layout::parse(layout).expect("a layout");
    tdlasm::link::link(&assembly.modules, &layout).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn source_is_assembled_and_stepped_by_line_label_condition_and_count() {
    let bench = Bench::new();
    let out = bench.script(
        &bench.path("prog.asm"),
        "registers\nbreak ONE hits 2\nrun\ncalls\nout\nbreak :22\nrun\nprint [COUNT]\nback 3\n\
         watch COUNT\ndelete all\nlastchange COUNT\nprint [COUNT]\nto ECHO\nstep 900\nconsole\n\
         send hello\\r\nwatch port 81H w\nrun\n",
        &[],
    );
    let lines: Vec<&str> = out.lines().collect();
    assert!(out.contains("PC 8000") || out.contains("PC  8000"), "it begins in RAM: {out}");
    assert!(
        out.contains("breakpoint 1 at") && out.contains("ONE (") && out.contains("prog.asm:20)"),
        "{out}"
    );
    assert!(out.contains("from 8005H, AGAIN ("), "the caller is known: {out}");
    assert!(out.contains("AGAIN+3 ("), "out of the routine: {out}");
    assert!(lines.contains(&"OK"), "the console: {out}");
    assert!(out.contains("port 81H written, value 68H"), "it echoes the h: {out}");
}

#[test]
fn registers_flags_and_memory_are_edited() {
    let bench = Bench::new();
    let out = bench.script(
        &bench.path("prog.asm"),
        "set A = 12H\nset HL' = 0BEEFH\nset FZ = 1\nset [COUNT] = 1 2 HL'-0BEECH\nmemory COUNT\n\
         print A\nprint HL'\nprint FZ\n",
        &[],
    );
    assert!(out.contains("01 02 03"), "{out}");
    assert!(
        out.contains("0012H = 18") && out.contains("BEEFH = 48879") && out.contains("0001H = 1"),
        "{out}"
    );
}

#[test]
fn elf_files_bring_lines_and_labels_and_hex_files_their_symbols() {
    let bench = Bench::new();
    let program = linked(&bench.path("prog.asm"));
    let elf = bench.path("prog.elf");
    std::fs::write(&elf, tdlasm::object::write_executable(&program)).expect("written");
    let out = bench.script(&elf, "code\nlist\nbreak SAY\nrun\n", &[]);
    assert!(
        out.contains("9000  21") && out.contains("START:\tLXI") || out.contains("START:  LXI"),
        "{out}"
    );
    assert!(out.contains("prog.asm:23): PUSH PSW; at a breakpoint"), "{out}");
    let hex = bench.path("prog.hex");
    std::fs::write(&hex, tdlasm::image::intel_hex(&program.image, program.entry)).expect("written");
    bench.write("prog.sym", &program.symbol_file());
    let out = bench.script(&hex, "break SAY if A == 4BH\nrun\nprint A\n", &[]);
    assert!(out.contains("SAY: PUSH PSW; at a breakpoint") && out.contains("= 75"), "{out}");
}

#[test]
fn a_hex_file_without_symbols_is_seen_as_instructions() {
    let bench = Bench::new();
    let program = linked(&bench.path("prog.asm"));
    let hex = bench.path("bare.hex");
    std::fs::write(&hex, tdlasm::image::intel_hex(&program.image, program.entry)).expect("written");
    let out = bench.script(&hex, "step 2\nto 9005H\n", &[]);
    assert!(out.starts_with("9005H: CALL 90") && out.lines().count() == 2, "{out}");
    let symbols = bench.write("other.sym", &program.symbol_file());
    let symbols = symbols.display().to_string();
    let out = bench.script(&hex, "break SAY if A == 4BH\nrun\n", &["--symbols", &symbols]);
    assert!(out.contains("SAY: PUSH PSW; at a breakpoint"), "{out}");
}

#[test]
fn sdcc_and_sjasmplus_bring_their_lines_and_labels() {
    let bench = Bench::new();
    // LD A,5; CALL 8007H; JR 8005H; INC A; RET.
    let bytes = [0x3E, 0x05, 0xCD, 0x07, 0x80, 0x18, 0xFE, 0x3C, 0xC9];
    let run = tdlasm::image::ImageRun { address: 0x8000, bytes: bytes.into() };
    let image = tdlasm::image::Image::new([run]);
    let hex = tdlasm::image::intel_hex(&image, None);
    for name in ["c.ihx", "jas.hex"] {
        std::fs::write(bench.path(name), &hex).expect("written");
    }
    bench.write("main.c", "char five;\nvoid main() {\n  one(five = 5);\n  for (;;) ;\n}\n");
    bench.write("one.s", ";\n;\n_one::\tinc a\n\tret\n");
    // As the linker of SDCC 4.2 writes them; prog is the compiler's own output.
    bench.write(
        "c.noi",
        "DEF l__CODE 0x9\nDEF A$prog$50 0x8000\nDEF C$main.c$2$0_0$2 0x8000\n\
         DEF C$main.c$3$1_0$2 0x8000\nDEF _main 0x8000\nDEF A$prog$51 0x8002\n\
         DEF C$main.c$4$1_0$2 0x8005\nDEF A$one$3 0x8007\nDEF _one 0x8007\nDEF A$one$4 0x8008\n\
         LOAD c.ihx\n",
    );
    let out =
        bench.script(&bench.path("c.ihx"), "list\nbreak main.c:4\nbreak _one\nrun\nrun\n", &[]);
    assert!(out.contains(">    3    one(five = 5);"), "{out}");
    assert!(out.contains("breakpoint 1 at 8005H, _main+5 (main.c:4)"), "{out}");
    assert!(out.contains("8007H, _one (one.s:3): INR A; at a breakpoint"), "{out}");
    assert!(out.contains("8005H, _main+5 (main.c:4): JMPR "), "{out}");
    // As the manual of sjasmplus describes the format.
    bench.write(
        "jas.sld",
        "|SLD.data.version|1\n||Z|pages.size:65536,pages.count:1\n\
         jas.asm|2||0|-1|32768|F|start\njas.asm|2||0|-1|32768|L|,start,,+used\n\
         jas.asm|2||0|-1|32768|T|\njas.asm|3||0|-1|32770|T|\njas.asm|4||0|-1|32773|L|,start,loop,\n\
         jas.asm|4:1:9||0|-1|32773|T|\njas.asm|6||0|-1|32775|T|\n",
    );
    bench.write("jas.asm", "; jas\nstart ld a,5\n call one\n.loop jr .loop\none\n inc a\n ret\n");
    let out = bench.script(&bench.path("jas.hex"), "list\nbreak START.LOOP\nrun\n", &[]);
    assert!(out.contains(">    2  start ld a,5"), "{out}");
    assert!(
        out.contains("8005H, start.loop (jas.asm:4): JMPR start.loop; at a breakpoint"),
        "{out}"
    );
    let damaged = bench.write("jas.sld", "jas.asm|2||0|-1|99999999|T|\n").display().to_string();
    let hex = bench.path("jas.hex").display().to_string();
    let (code, _, printed) = hw_tests(&["debug", &hex, "--symbols", &damaged]);
    assert!(code == Some(1) && printed.contains("jas.sld:1"), "{code:?} {printed}");
}

#[test]
fn symbol_files_of_other_tools_are_refused_or_left_out_with_a_warning() {
    let bench = Bench::new();
    bench.write("p.hex", ":098000003E05CD078018FE3CC9C5\n:00000001FF\n");
    let hex = bench.path("p.hex").display().to_string();
    // As zmac, z88dk-z80asm and GNU ld 2.40 write them, the last one without its end.
    for (name, text, expected) in [
        ("zmac.mds", "b@$8000=$3e\n", "zmac.mds:1: '"),
        ("z88dk.sym", "MUL8 = $0000 ; addr, public, , , code, a.asm:2\n", "give the .map"),
        ("p.map", "\nMemory Configuration\n", "p.map:2: '"),
    ] {
        let symbols = bench.write(name, text).display().to_string();
        let (code, _, printed) = hw_tests(&["debug", &hex, "--symbols", &symbols]);
        assert!(code == Some(1) && printed.contains(expected), "{code:?} {printed}");
    }
    // Nobody named the map beside the program.
    let script = bench.write("script", "quit\n").display().to_string();
    let (code, _, printed) = hw_tests(&["debug", &hex, "--script", &script]);
    assert!(printed.contains("warning: not used: ") && printed.contains("p.map:2: "), "{printed}");
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn labels_that_differ_in_case_stay_two() {
    let bench = Bench::new();
    bench.write("p.hex", ":098000003E05CD078018FE3CC9C5\n:00000001FF\n");
    bench.write("p.sym", "8000 main\n8005 foo\n8007 Foo\n");
    let commands = "break foo\nbreak Foo\nprint MAIN\nprint foo\n";
    let out = bench.script(&bench.path("p.hex"), commands, &[]);
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0].contains("8005H, foo") && lines[1].contains("8007H, Foo"), "{out}");
    assert!(lines[2].contains("8000H") && lines[3].contains("8005H"), "{out}");
    let hex = bench.path("p.hex").display().to_string();
    for command in ["break FOO", "print FOO", "print 1 + FOO"] {
        let script = bench.write("script", command).display().to_string();
        let (code, _, printed) = hw_tests(&["debug", &hex, "--script", &script]);
        let ambiguous = "'FOO' is ambiguous: foo is 8005H, Foo is 8007H; give an address";
        assert!(code == Some(2) && printed.contains(ambiguous), "{command}: {printed}");
    }
}

#[test]
fn z88dk_brings_its_lines_and_labels() {
    let bench = Bench::new();
    // LD A,5; CALL 8007H; JR 8005H; INC A; RET.
    bench.write("z.ihx", ":098000003E05CD078018FE3CC9C5\n:00000001FF\n");
    bench.write("z.asm", "main: ld a,5\n call one\nloop: jr loop\none: inc a\n ret\n");
    let labels = "main = $8000 ; addr, public, , z, code, z.asm:1\n\
        loop = $8005 ; addr, local, , z, code, z.asm:3\n\
        one = $8007 ; addr, local, , z, code, z.asm:4\nsize = $0009 ; const, public, def, , ,\n";
    let (map, commands) = (bench.path("z.map"), "break z.asm:3\nbreak one\nrun\nnext\n");
    // As its page \"Map file\" describes the format: without -debug, and with it.
    std::fs::write(&map, labels).expect("written");
    let out = bench.script(&bench.path("z.ihx"), commands, &[]);
    assert!(out.contains("8005H, loop (z.asm:3)") && out.contains("8007H, one (z.asm:4): INR A"));
    let line = |number: u32, at: u16| {
        format!(
            "__ASM_LINE_{number}_z_2easm = ${at:04X} ; addr, local, , z, code, z.asm:{number}\n"
        )
    };
    let lines = [(1, 0x8000), (2, 0x8002), (3, 0x8005), (4, 0x8007), (5, 0x8008)];
    let lines: String = lines.map(|(number, at)| line(number, at)).concat();
    std::fs::write(&map, format!("{labels}{lines}")).expect("written");
    let out = bench.script(&bench.path("z.ihx"), commands, &[]);
    assert!(out.contains("8008H, one+1 (z.asm:5): RET"), "{out}");
    let c = "__C_LINE_2_z_2ec = $8002 ; addr, local, , z, code, z.c::main::0::1:2\n";
    std::fs::write(&map, format!("{labels}{c}")).expect("written");
    let out = bench.script(&bench.path("z.ihx"), "break z.c:2\n", &[]);
    assert!(out.contains("8002H (z.c:2)"), "{out}");
}

#[test]
fn a_program_for_rom_is_what_the_board_is_powered_up_with() {
    let bench = Bench::new();
    let rom = bench.write(
        "rom.asm",
        "\t.LOC 0\n\tDI\n\tJMP MAIN\n\t.LOC 100H\nMAIN:\tMVI A,5\n\tSTA 8000H\n\tHLT\n\t.END\n",
    );
    for board in ["rc2014-classic", "rc2014-pro", "sc114"] {
        let out = bench.script(&rom, "step 2\nrun\nprint [8000H]\n", &["--board", board]);
        assert!(out.contains("0100H, MAIN") && out.contains("0005H = 5"), "{board}: {out}");
    }
}

#[test]
fn the_project_file_defines_the_files_of_a_program() {
    let bench = Bench::new();
    bench.write(
        "tdl.toml",
        "[[program]]\nfiles = [\"head.asm\", \"tail.asm\"]\ndefine = { FIVE = 5 }\n",
    );
    let head = bench.write("head.asm", "START:\tMVI A,FIVE\n\tCALL TAIL\n");
    let tail = bench.write("tail.asm", "TAIL:\tMVI B,7\n\tHLT\n\t.END START\n");
    for file in [&head, &tail] {
        let out = bench.script(file, "break TAIL\nrun\nprint A\n", &[]);
        assert!(out.contains("tail.asm:1") && out.contains("= 5"), "{out}");
    }
    bench.write("tdl.toml", "[[program]]\nmodules = [\"main.asm\", \"part.asm\"]\n");
    let main = "\t.EXTERN PART\n\t.LOC .PROG.\nSTART:\tCALL PART\n\tHLT\n\t.END START\n";
    let main = bench.write("main.asm", main);
    let part = "\t.INTERN PART\n\t.LOC .PROG.\nPART:\tMVI A,9\n\tRET\n\t.END\n";
    let part = bench.write("part.asm", part);
    for file in [&main, &part] {
        let out = bench.script(file, "break part.asm:3\nrun\nout\nprint A\n", &[]);
        // CALL at 8000H and HLT have four bytes.
        assert!(out.contains("8004H, PART (part.asm:3)") && out.contains("= 9"), "{out}");
        assert!(out.contains("8003H, START+3 (main.asm:4)"), "{out}");
    }
    let alone = bench.write("main.asm", "START:\tHLT\n\t.END START\n");
    let out = bench.script(&alone, "print START\n", &[]);
    assert!(out.contains("= START"), "{out}");
    bench.write("tdl.toml", "nonsense = 1\n");
    let (code, _, printed) = hw_tests(&["debug", &head.display().to_string()]);
    assert!(code == Some(2) && printed.contains("nonsense"), "{code:?} {printed}");
}

#[test]
fn invalid_programs_are_refused_with_the_location() {
    let bench = Bench::new();
    let wrong = bench.write("wrong.asm", "\t.LOC .PROG.\n\tNONSENSE\n\t.END\n");
    let odd = bench.write("odd.txt", "x");
    let damaged = bench.write("damaged.hex", ":zz\n");
    let missing = bench.path("missing.asm");
    let good = bench.path("prog.asm");
    for (file, more, expected, text) in [
        (&wrong, None, 1, "wrong.asm:2"),
        (&odd, None, 2, ".asm"),
        (&damaged, None, 1, "damaged.hex"),
        (&missing, None, 3, "missing.asm"),
        (&good, Some(["--entry", "NOWHERE"]), 2, "NOWHERE"),
        (&good, Some(["--break", "NOWHERE"]), 2, "NOWHERE"),
    ] {
        let file = file.display().to_string();
        let mut arguments = vec!["debug", &*file];
        arguments.extend(more.iter().flatten());
        let (code, _, printed) = hw_tests(&arguments);
        assert!(code == Some(expected) && printed.contains(text), "{file}: {code:?} {printed}");
    }
    let (code, _, printed) = hw_tests(&["debug", crate::debugger::FIGURE_1]);
    assert!(code == Some(2) && printed.contains("square"), "{printed}");
}

#[test]
fn a_mistake_in_a_script_is_located() {
    let bench = Bench::new();
    let script = bench.write("bad.txt", "step\nfly away\n");
    let output = Command::cargo_bin("hw-inspect")
        .expect("it is built")
        .arg("debug")
        .arg(bench.path("prog.asm"))
        .arg("--script")
        .arg(&script)
        .output()
        .expect("it starts");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(printed.contains("bad.txt:2") && printed.contains("fly"), "{printed}");
}

#[test]
fn commands_from_standard_input_are_executed_as_they_come() {
    let bench = Bench::new();
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.args(["debug", "--script", "-"]).arg(bench.path("prog.asm"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("its input");
    let mut output = BufReader::new(child.stdout.take().expect("its output"));
    for (line, expected) in [("print 5", "0005H = 5\n"), ("print 6", "0006H = 6\n")] {
        writeln!(input, "{line}").expect("sent");
        let mut reply = String::new();
        output.read_line(&mut reply).expect("before the next line");
        assert_eq!(reply, expected);
    }
    let source = std::fs::File::options().write(true).open(bench.path("prog.asm"));
    let later = std::time::SystemTime::now() + Duration::from_secs(10);
    source.and_then(|file| file.set_modified(later)).expect("it is there");
    writeln!(input, "restart").expect("sent");
    let mut reply = String::new();
    output.read_line(&mut reply).expect("a line");
    assert!(reply.contains("prog.asm has changed: the program is loaded again"), "{reply}");
    output.read_line(&mut reply).expect("where it is");
    // A program with an error leaves the one before it.
    bench.write("prog.asm", "\tMVI Q,1\n");
    writeln!(input, "restart\nprint 5").expect("sent");
    let mut reply = String::new();
    while !reply.contains("0005H = 5") {
        assert!(output.read_line(&mut reply).expect("a line") > 0, "{reply}");
    }
    assert!(reply.contains("restarted as it was") && reply.contains("U01"), "{reply}");
    drop(input);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// Reads from a terminal on a separate thread, so that waiting can time out.
fn listen(terminal: &std::fs::File) -> Receiver<u8> {
    let (send, received) = channel();
    let mut reader = terminal.try_clone().expect("another handle");
    std::thread::spawn(move || {
        let mut byte = [0];
        while reader.read_exact(&mut byte).is_ok() && send.send(byte[0]).is_ok() {}
    });
    received
}

fn receive_text(bytes: &Receiver<u8>, count: usize) -> String {
    let next = |_| bytes.recv_timeout(Duration::from_secs(60)).map(char::from);
    (0..count).map(next).collect::<Result<_, _>>().expect("the board sends something")
}

#[test]
fn the_boards_line_is_a_pseudo_terminal_for_another_program() {
    let bench = Bench::new();
    let mut command = Command::cargo_bin("hw-inspect").expect("it is built");
    command.args(["debug", "--console", "pty"]).arg(bench.path("prog.asm"));
    let mut screen = TerminalSession::spawn(command);
    screen.expect("; press Enter to start");
    let printed = screen.seen.clone();
    let path = printed.split("line is ").nth(1).and_then(|rest| rest.split(';').next());
    let path = path.expect("its name").to_owned();
    let mut options = std::fs::OpenOptions::new();
    let mut terminal = options.read(true).write(true).open(&path).expect("it opens");
    screen.seen.clear();
    screen.press(b"\r");
    screen.expect("prog.asm");
    let bytes = listen(&terminal);
    screen.press(b"c");
    assert_eq!(receive_text(&bytes, 2), "OK");
    terminal.write_all(b"x").expect("sent");
    assert_eq!(receive_text(&bytes, 1), "x", "the program echoes it");
    screen.press(b"\x1b");
    screen.expect("stopped");
    screen.press(b"qq");
    assert_eq!(screen.wait_for_exit().0, Some(0));
}
