//! The command `rcflash` against the simulated board, over a real serial device.

use crate::programs;

use std::io::Write;
use std::process::{Output, Stdio};

use board_simulator::board_spec;
use board_simulator::{BoardServer, ServerOptions};
use firmware::ProgramKind;
use firmware::build::{build, build_with};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;

fn rcflash(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = programs::rcflash()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // A program that ends without reading closes the pipe; that is not a failure.
    let _ = child.stdin.take().expect("its input").write_all(input);
    child.wait_with_output().expect("it ends")
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn profile() -> BoardProfile {
    BoardProfile::named("rc2014-classic").expect("it ships")
}

fn board() -> (BoardServer, String) {
    let rom = build(&profile(), ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let server = BoardServer::start(board_spec(&profile()), &rom.bytes, ServerOptions::default())
        .expect("a pseudo-terminal");
    let path = server.path().to_string_lossy().into_owned();
    (server, path)
}

#[test]
fn the_built_in_application_is_written_verified_and_started_twice() {
    let (_server, port) = board();
    for _ in 0..2 {
        let output = rcflash(&["write", "--port", &port], b"");
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        assert!(messages(&output).contains("verified on the board"), "{}", messages(&output));
        assert!(
            messages(&output).contains("running: Sargon exchange evaluator"),
            "{}",
            messages(&output)
        );
    }
}

#[test]
fn a_users_program_is_placed_by_its_addresses_and_started() {
    let (_server, port) = board();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("own.hex");
    // At 9000h: LD A,'!'; OUT (81h),A; JR $. The chip is set up already; one character goes out.
    let image = tdlasm::image::Image::new([tdlasm::image::ImageRun {
        address: 0x9000,
        bytes: vec![0x3E, b'!', 0xD3, 0x81, 0x18, 0xFE],
    }]);
    std::fs::write(&file, tdlasm::image::intel_hex(&image, None)).expect("a file");
    let output = rcflash(&["write", "--port", &port, &file.to_string_lossy()], b"");
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    assert!(messages(&output).contains("started at 9000h"), "{}", messages(&output));
}

#[test]
fn the_terminal_shows_the_banner_and_leaves_with_its_key() {
    let (_server, port) = board();
    let output = rcflash(&["monitor", "--port", &port], b"\r");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("Sargon board monitor 1, build "), "{shown:?} {}", messages(&output));
    let output = rcflash(&["monitor", "--port", &port], b"\x1Dnever sent");
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
}

#[test]
fn the_programmer_file_is_the_monitor_over_and_over() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("monitor.bin");
    let output = rcflash(&["image", "-o", &path.to_string_lossy(), "--size", "32"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    let chip = std::fs::read(&path).expect("it was written");
    assert_eq!(chip.len(), 32 * 1024);
    assert_eq!(chip[..0x2000], chip[0x6000..]);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(left.len(), 1, "nothing is left aside");
}

#[test]
fn the_programmer_file_of_a_board_with_page_registers_has_the_monitor_once() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("monitor.bin");
    let output = rcflash(&["image", "-o", &path.to_string_lossy(), "--board", "rc2014-zed"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    let chip = std::fs::read(&path).expect("it was written");
    assert_eq!(chip.len(), 512 * 1024);
    assert_ne!(chip[..0x1000], [0xFF; 0x1000]);
    assert!(chip[0x1000..].iter().all(|byte| *byte == 0xFF));
}

#[test]
fn an_image_is_hex_by_its_extension_and_of_a_size_that_exists() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    assert!(rcflash(&["image", "-o", &path("chip.hex")], b"").status.success());
    assert!(rcflash(&["image", "-o", &path("chip.bin")], b"").status.success());
    let hex = std::fs::read_to_string(path("chip.hex")).expect("the HEX file");
    let (image, _) = tdlasm::image::parse_intel_hex(&hex).expect("good records");
    assert_eq!(image.flat(0), std::fs::read(path("chip.bin")).expect("the binary"));
    for (name, size) in [("a.bin", "0"), ("b.bin", "18446744073709551615"), ("c.bin", "9")] {
        let output = rcflash(&["image", "-o", &path(name), "--size", size], b"");
        assert_eq!((output.status.code(), folder.path().join(name).exists()), (Some(2), false));
    }
}

#[test]
fn the_original_evaluator_is_written_to_a_file_and_to_the_board() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("printed.hex");
    let file = path.to_string_lossy().into_owned();
    let given = ["image", "--application", "-o", &file, "--behaviour", "original"];
    let output = rcflash(&given, b"");
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    let text = std::fs::read_to_string(&path).expect("it was written");
    let (image, _) = tdlasm::image::parse_intel_hex(&text).unwrap_or_else(|e| panic!("{e}"));
    let evaluator = Evaluator { behaviour: Behaviour::Original, own: None };
    let built = build_with(&profile(), ProgramKind::Application, &evaluator)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(image.bounds().map(|(first, _)| first), Some(built.address));
    assert_eq!(image.flat(0xFF), built.bytes);
    let (_server, port) = board();
    let output = rcflash(&["write", "--port", &port, "--behaviour", "original"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
    let build = format!("build {:08X}", built.build);
    assert!(messages(&output).contains(&build), "{build}: {}", messages(&output));
}

#[test]
fn a_choice_of_evaluator_without_one_is_refused() {
    let cases: [(&[&str], &str); 2] = [
        (&["image", "-o", "/nonexistent/x", "--behaviour", "original"], "add --application"),
        (&["write", "--port", "/nonexistent", "x.hex", "--sargon-dir", "."], "cannot be used with"),
    ];
    for (arguments, message) in cases {
        let output = rcflash(arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{}", messages(&output));
        assert!(messages(&output).contains(message), "{}", messages(&output));
    }
}

#[test]
fn the_executable_for_debuggers_has_the_bytes_of_the_program_with_its_symbols_and_lines() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("program.elf").display().to_string();
    for (kind, more, names) in [
        (ProgramKind::Application, &["--application"][..], ["XCHNG", "xchng.asm"]),
        (ProgramKind::Monitor, &[], ["MONITR", "monitor.asm"]),
    ] {
        let output = rcflash(&[&["image", "--elf", &path], more].concat(), b"");
        assert_eq!(output.status.code(), Some(0), "{}", messages(&output));
        let built = build(&profile(), kind).unwrap_or_else(|error| panic!("{error}"));
        let id = format!("build {:08X}", built.build);
        assert!(messages(&output).contains(&id), "{}", messages(&output));
        let elf = std::fs::read(&path).expect("written");
        let has = |text: &[u8]| elf.windows(text.len()).any(|part| part == text);
        for run in built.program.image.runs() {
            assert!(has(&run.bytes), "{kind:?}: the bytes from {:04X}H on", run.address);
        }
        assert!(has(b".debug_line\0"));
        for name in names {
            assert!(has(format!("{name}\0").as_bytes()), "{kind:?}: {name}");
        }
    }
    let output = rcflash(&["image", "--behaviour", "fast", "--elf", &path], b"");
    assert_eq!(output.status.code(), Some(2), "{}", messages(&output));
}
