//! Files that commands read and write: streams, other systems' texts, outputs that are inputs, and
//! formats that are recognised.

use std::fs;

use assert_cmd::Command;

use crate::command::Bench;

/// Needs two passes: the size is defined only below.
const FORWARD: &str = "LOOP: JMP LOOP\n .BLKB SIZE\nSIZE == 2\n .END\n";

#[test]
fn a_text_from_a_pipe_is_read_once_and_kept() {
    let bench = Bench::new();
    bench.file("p.asm", FORWARD);
    bench.file("m.asm", " .DEFINE TWICE=[\n NOP\n NOP\n]\n TWICE\n .END\n");
    for (file, arguments) in [
        ("p.asm", &["asm", "FILE", "-o", "-", "--format", "hex"][..]),
        ("m.asm", &["convert", "--to", "zilog", "--for", "pasmo", "FILE"]),
        ("p.asm", &["fmt", "FILE"]),
    ] {
        let run = |name: &str| {
            let mut command = Command::cargo_bin("tdlasm").expect("the command");
            let arguments = arguments.iter().map(|word| if *word == "FILE" { name } else { word });
            command.args(arguments).current_dir(bench.folder.path());
            command.write_stdin(fs::read(bench.path(file)).expect("the source"));
            let output = command.output().expect("to run");
            assert!(output.status.success(), "{file} as {name}: {output:?}");
            output.stdout
        };
        let from_file = if arguments[0] == "fmt" { run("-") } else { run(file) };
        assert!(!from_file.is_empty());
        assert_eq!(run("-"), from_file, "{arguments:?}");
        if cfg!(unix) && arguments[0] != "fmt" {
            assert_eq!(run("/dev/stdin"), from_file, "{arguments:?}");
        }
    }
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    let bench = Bench::new();
    let files = [
        ("p.asm", " .INSERT inc.asm\n .END\n"),
        ("inc.asm", " NOP\n"),
        ("flat.toml", "[[region]]\nname = \"m\"\nstart = 0\nsize = 256\n"),
        ("tdl.toml", ""),
        ("p.bin", "\0\u{1}"),
        ("p.sym", "0000 START\n"),
        ("m.asm", " NOP\n .END\n"),
    ];
    for (name, text) in files {
        bench.file(name, text);
    }
    assert_eq!(bench.run(&["asm", "m.asm", "-o", "m.o"]).0, 0);
    fs::create_dir(bench.path("sub")).expect("a folder");
    let mut names = vec!["p.asm", "./p.asm", "sub/../p.asm"];
    if cfg!(unix) {
        std::os::unix::fs::symlink("p.asm", bench.path("soft")).expect("a link");
        fs::hard_link(bench.path("p.asm"), bench.path("hard")).expect("a link");
        names.extend(["soft", "hard"]);
    }
    let object = fs::read(bench.path("m.o")).expect("an object");
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for name in names.into_iter().chain(["inc.asm", "tdl.toml"]) {
        commands.push(vec!["asm", "p.asm", "-o", "new.bin", "--listing", name]);
        commands.push(vec!["asm", "p.asm", "-o", "new.bin", "--depfile", name]);
        commands.push(vec!["asm", "p.asm", "--format", "bin", "-o", name]);
        if name != "tdl.toml" {
            commands.push(vec!["convert", "--to", "zilog", "p.asm", "-o", name]);
        }
    }
    commands.extend([
        vec!["asm", "p.asm", "-o", "new.bin", "--listing", "new.bin"],
        vec!["link", "m.o", "--format", "bin", "-o", "m.o"],
        vec!["link", "m.o", "-o", "new.bin", "--map", "./m.o"],
        vec!["link", "m.o", "-o", "new.bin", "--symbols", "m.o"],
        vec!["link", "m.o", "-o", "new.bin", "--layout", "flat.toml", "--map", "flat.toml"],
        vec!["disasm", "p.bin", "-o", "p.bin"],
        vec!["disasm", "p.bin", "--symbols", "p.sym", "-o", "p.sym"],
    ]);
    for arguments in commands {
        let (code, _, stderr) = bench.run(&arguments);
        assert_eq!(code, 2, "{arguments:?}: {stderr}");
        assert!(stderr.contains("name the same file"), "{arguments:?}: {stderr}");
        for (name, text) in files {
            let now = fs::read(bench.path(name)).expect("the file");
            assert_eq!(now, text.as_bytes(), "{arguments:?} changed {name}");
        }
        assert_eq!(fs::read(bench.path("m.o")).expect("the object"), object);
        assert!(!bench.path("new.bin").exists(), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_file_behind_standard_input_is_an_input_too() {
    let bench = Bench::new();
    let source = bench.file("p.asm", FORWARD);
    let tdlasm = Command::cargo_bin("tdlasm").expect("the command").get_program().to_owned();
    let output = std::process::Command::new(tdlasm)
        .args(["asm", "-", "--format", "bin", "-o"])
        .arg(&source)
        .stdin(fs::File::open(&source).expect("the source"))
        .output();
    assert_eq!(output.expect("to run").status.code(), Some(2));
    assert_eq!(fs::read_to_string(source).expect("the source"), FORWARD);
}

/// The bytes 3E 05 C9 at 100H in every format, under names that promise something else too.
#[test]
fn the_disassembler_recognises_formats_by_their_content() {
    let bench = Bench::new();
    bench.file("p.asm", " .LOC 100H\nSTART:: MVI A,5\n RET\n .END START\n");
    for format in ["hex", "tdl-hex", "srec", "elf", "object", "rel", "pbin"] {
        for name in ["p", "p.bin", "p.hex"] {
            let made = bench.run(&["asm", "p.asm", "-o", name, "--format", format]);
            assert_eq!(made.0, 0, "{}", made.2);
            let (code, text, stderr) = bench.run(&["disasm", name]);
            assert_eq!(code, 0, "{format} as {name}: {stderr}");
            assert!(text.contains("MVI\tA,5") && text.contains("RET"), "{format}: {text}");
            assert!(text.contains(".LOC\t100H") || text.contains(".LOC\t0100H"), "{text}");
            assert_eq!(stderr.contains("warning: p.bin is read as"), name == "p.bin", "{stderr}");
        }
    }
}

#[test]
fn a_binary_that_looks_like_records_can_be_disassembled_as_one() {
    let bench = Bench::new();
    // `LXI H` and `LDA` are the characters ! and :.
    bench.file("p.bin", b"!\x00\x01:\x00\x02\xC9");
    let (code, text, stderr) = bench.run(&["disasm", "p.bin"]);
    assert!(code == 0 && text.contains("LXI\tH,100H") && stderr.is_empty(), "{text}{stderr}");
    bench.file("s.bin", "S9030000FC\n");
    let (_, records, _) = bench.run(&["disasm", "s.bin"]);
    let (code, bytes, _) = bench.run(&["disasm", "s.bin", "--format", "bin"]);
    // `S` is 53H, MOV D,E.
    assert!(code == 0 && bytes.contains("MOV\tD,E") && !records.contains("MOV"), "{bytes}");
    bench.file("damaged.s19", "S9030000FD\n");
    let (code, _, stderr) = bench.run(&["disasm", "damaged.s19"]);
    assert!(code == 1 && stderr.contains("line 1: its checksum is "), "{stderr}");
}

/// As `rcflash image --chip 39sf040` and GNU objcopy write them.
#[test]
fn intel_hex_of_all_record_types_is_disassembled() {
    let bench = Bench::new();
    // 3E 05 C9 at 100H: 03H+01H+3EH+05H+C9H = 110H, so F0H. Upper half 1: 02H+04H+01H = 07H, so F9H.
    // Start 0:100H: 04H+03H+01H = 08H, so F8H.
    let code = ":030100003E05C9F0\n";
    let rom =
        format!(":020000040000FA\n{code}:020000040001F9\n{code}:0400000300000100F8\n:00000001FF\n");
    bench.file("rom.hex", &rom);
    let (code, text, stderr) = bench.run(&["disasm", "rom.hex"]);
    assert!(code == 0 && text.contains("MVI\tA,5"), "{text}{stderr}");
    assert_eq!(text.matches("RET").count(), 1, "{text}");
    assert!(stderr.contains("warning: rom.hex: the bytes from 10000H are left out"), "{stderr}");
}

/// The labels of another tool's files.
#[test]
fn labels_of_other_tools_are_taken() {
    let bench = Bench::new();
    bench.file("p.bin", b"\x3E\x05\xC9");
    bench.file("p.lbl", "START: equ $8000\nLAST: equ $8002\nBIG: equ $12345\n");
    let arguments = ["disasm", "p.bin", "--origin", "8000H", "--symbols", "p.lbl"];
    let (code, text, stderr) = bench.run(&arguments);
    assert!(code == 0 && text.contains("START:") && text.contains("LAST:"), "{text}{stderr}");
    bench.file("p.lbl", "START: equ $8000\nLAST $8002\n");
    let (code, _, stderr) = bench.run(&arguments);
    assert!(code == 1 && stderr.contains("p.lbl:2: 'LAST $8002' is not"), "{stderr}");
}

/// The same two lines as files of CP/M, WordStar, paper tape and today's editors have them.
#[test]
fn texts_of_other_systems_assemble_as_plain_ones() {
    let bench = Bench::new();
    let plain = "LOOP:  MVI A,5 ; once\r\n .END\r\n";
    let utf_16 = plain.encode_utf16().flat_map(u16::to_le_bytes);
    let tape = format!("\0\0{}\0\0", plain.replace('\n', "\n\0\0"));
    let cases: [(&str, Vec<u8>, &str); 10] = [
        ("plain", plain.into(), ""),
        ("cr", plain.replace("\r\n", "\r").into(), ""),
        ("record", [plain.as_bytes(), &[0x1A; 99]].concat(), ""),
        ("garbage", [plain.as_bytes(), b"\x1A MVI B,\xFF\0"].concat(), ""),
        ("more", [plain.as_bytes(), b"\x1A", &[b'x'; 300]].concat(), "behind the end mark"),
        ("wordstar", b"LOO\xD0:  MV\xC9 A,\xB5 ; onc\xE5\x8D\n .EN\xC4\x8D\n".into(), "bit 7"),
        ("tape", tape.into(), "NUL bytes are removed"),
        ("bom", [b"\xEF\xBB\xBF", plain.as_bytes()].concat(), "byte order mark"),
        ("utf-16", [0xFF, 0xFE].into_iter().chain(utf_16).collect(), "byte order mark"),
        ("latin-1", plain.replace("once", "caf@").bytes().map(latin).collect(), ""),
    ];
    for (name, text, note) in cases {
        let file = format!("{name}.asm");
        bench.file(&file, &text);
        let (code, _, stderr) = bench.run(&["asm", &file, "-o", "p.bin"]);
        assert_eq!(code, 0, "{name}: {stderr}");
        assert_eq!(fs::read(bench.path("p.bin")).expect("a binary"), [0x3E, 5], "{name}");
        let notes = stderr.matches("warning[W17]").count();
        assert_eq!(notes, usize::from(!note.is_empty()), "{name}: {stderr}");
        assert!(stderr.contains(note), "{name}: {stderr}");
        let (code, _, stderr) = bench.run(&["convert", "--to", "zilog", &file, "-o", "p.z80"]);
        let zilog = fs::read(bench.path("p.z80")).expect("the converted source");
        assert!(code == 0 && zilog.starts_with(b"LOOP:  LD A,5"), "{name}: {stderr}");
        assert!(stderr.contains(note), "{name}: {stderr}");
        assert_eq!(bench.run(&["fmt", &file]).0, 0, "{name}");
        let laid_out = fs::read(bench.path(&file)).expect("the source");
        assert!(laid_out.starts_with(b"LOOP:   MVI A,5"), "{name}");
    }
}

/// `@` stands for a letter that is not ASCII.
fn latin(byte: u8) -> u8 {
    if byte == b'@' { 0xE9 } else { byte }
}

#[test]
fn an_inserted_file_has_its_note_once() {
    let bench = Bench::new();
    bench.file("p.asm", " .INSERT i.asm\n .INSERT i.asm\n .BLKB SIZE\nSIZE == 2\n .END\n");
    bench.file("i.asm", "\u{FEFF} NOP\n");
    let (code, _, stderr) = bench.run(&["asm", "p.asm", "--message-format", "short"]);
    assert_eq!((code, stderr.matches("i.asm:1:1: warning[W17]").count()), (0, 1), "{stderr}");
}
