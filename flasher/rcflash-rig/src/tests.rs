//! The rig file: what it may say, and what is said of mistakes in it.

use seeded_fuzz::{Seeds, each};

use super::*;

fn read(text: &str) -> Result<RigFile, RigFileError> {
    RigFile::parse(PathBuf::from("rig.toml"), text)
}

fn said(text: &str, name: &str) -> String {
    let found = read(text).and_then(|file| file.find(name));
    found.expect_err("there is a mistake in it").to_string()
}

#[test]
fn a_board_is_found_by_its_name_with_all_that_is_said_of_it() {
    let file = read(
        r#"
        [boards.bench]
        port = "/dev/serial/by-id/usb-FTDI_TTL232R_A1-if00-port0"
        board = "rc2014-zed"
        baud = 57600
        flow = "none"
        reset = "rts"
        reset_line = "off"
        reset_pulse_ms = 50
        character_ms = 2
        line_ms = 20

        [boards.attic]
        usb_serial = "A2"
        "#,
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let bench = file.find("bench").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(bench.name.as_deref(), Some("bench"));
    assert_eq!(bench.port, "/dev/serial/by-id/usb-FTDI_TTL232R_A1-if00-port0");
    assert_eq!(
        (bench.board.as_str(), bench.baud, bench.flow),
        ("rc2014-zed", Some(57600), Flow::None)
    );
    let ms = Duration::from_millis;
    let reset = Reset {
        place: None,
        by: ResetBy::Rts,
        command: None,
        level: ActiveLevel::Off,
        pulse: ms(50),
    };
    assert_eq!(bench.reset, reset);
    assert_eq!(bench.pacing, Pacing { character: ms(2), line: ms(20) });
}

#[test]
fn a_port_is_known_by_its_device_its_link_and_its_serial_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let device = folder.path().join("ttyUSB0");
    let link = folder.path().join("by-id");
    std::fs::write(&device, "").expect("a file");
    std::os::unix::fs::symlink(&device, &link).expect("a link");
    let text = format!(
        "[boards.plain]\nport = {device:?}\n[boards.link]\nport = {link:?}\n\
         [boards.number]\nusb_serial = \"A1\"\n[boards.other]\nport = \"/dev/other\"\n"
    );
    let file = read(&text).unwrap_or_else(|error| panic!("{error}"));
    let port = |serial: Option<&str>| PortInfo {
        path: device.to_string_lossy().into_owned(),
        kind: "usb",
        usb: None,
        product: None,
        serial: serial.map(str::to_owned),
        by_id: None,
    };
    assert_eq!(file.names_of(&port(Some("A1"))), ["link", "number", "plain"]);
    assert_eq!(file.names_of(&port(None)), ["link", "plain"]);
}

#[test]
fn a_device_needs_no_file_and_has_nothing_special() {
    let rig = read("").and_then(|file| file.find("/dev/ttyUSB7"));
    assert_eq!(rig.unwrap_or_else(|error| panic!("{error}")), Rig::at("/dev/ttyUSB7"));
}

#[test]
fn a_mistake_is_told_with_its_line() {
    let text = "[boards.bench]\nport = \"/dev/ttyUSB0\"\nspeed = 9600\n";
    let error = said(text, "bench");
    assert!(error.contains("rig.toml: ") && error.contains("line 3"), "{error}");
    assert!(error.contains("speed") && error.contains("baud"), "names the right ones: {error}");
    for (text, part) in [
        ("[board.bench]\nport = \"/dev/ttyUSB0\"\n", "line 1"),
        ("[boards.bench]\nport = \"/dev/ttyUSB0\"\nreset = \"magic\"\n", "line 3"),
        ("[boards.bench]\nbaud = \"fast\"\n", "line 2"),
        ("[boards.bench\n", "line 1"),
    ] {
        let error = said(text, "bench");
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn an_entry_that_contradicts_itself_is_refused() {
    for (entry, problem) in [
        ("", "by port or usb_serial"),
        ("port = \"/dev/a\"\nusb_serial = \"1\"", "two answers"),
        ("port = \"/dev/a\"\nreset = \"command\"", "needs reset_command"),
        ("port = \"/dev/a\"\nreset_command = \"true\"", "is for reset = \"command\""),
        ("port = \"/dev/a\"\nreset = \"rts\"", "set flow = \"none\""),
        ("port = \"/dev/a\"\nbaud = 0", "at least 1"),
    ] {
        let error = said(&format!("[boards.bench]\n{entry}\n"), "bench");
        assert!(error.contains("boards.bench: ") && error.contains(problem), "{entry}: {error}");
    }
}

#[test]
fn a_name_that_is_not_there_is_answered_with_those_that_are() {
    let text = "[boards.bench]\nport = \"/dev/a\"\n[boards.attic]\nport = \"/dev/b\"\n";
    let error = said(text, "bnech");
    assert!(error.contains("'bnech'") && error.contains("attic, bench"), "{error}");
    assert!(said("", "bench").contains("there are none"));
    let plugged = said("[boards.bench]\nusb_serial = \"no such number\"\n", "bench");
    assert!(plugged.contains("no such number") && plugged.contains("'bench'"), "{plugged}");
}

#[test]
fn a_file_that_was_named_must_be_there() {
    let error = RigFile::read(Some(Path::new("/nonexistent/rig.toml"))).expect_err("it is not");
    assert!(error.to_string().contains("can't read /nonexistent/rig.toml"), "{error}");
}

/// A rig file that says all that one may, of two boards.
const WHOLE: &[u8] = br#"# the bench
[boards.bench]
port = "/dev/serial/by-id/usb-FTDI_TTL232R_A1-if00-port0"
board = "rc2014-zed"
baud = 57600
flow = "none"
reset = "rts"
reset_line = "off"
reset_pulse_ms = 50
character_ms = 2
line_ms = 20

[boards.attic]
port = "/dev/ttyUSB1"
reset = "command"
reset_command = "relay off; sleep 1; relay on"
"#;

#[test]
fn any_bytes_are_read_or_refused_with_a_line_or_a_board_and_no_wait_is_endless() {
    let words: &[&[u8]] = &[
        b"[boards.x]\nport = \"/dev/x\"\n",
        b"reset = \"dtr\"\n",
        b"\"",
        b"'''",
        b"= 18446744073709551615\n",
        b"[boards.\"\\u001b[2J\"]\n",
        b"\xe2\x80\xae",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rig.toml");
    let mut found = 0;
    each(&Seeds { inputs: &[WHOLE], words }, 2000, |bytes| {
        std::fs::write(&path, bytes).expect("it is written");
        let file = match RigFile::read(Some(&path)) {
            Ok(file) => file,
            Err(RigFileError::Syntax(_, text)) => {
                // Of what is nested too deep the parser does not tell the line.
                let is_located = text.contains("line ") || text.starts_with("recursion limit");
                return assert!(is_located, "{text}");
            }
            Err(error) => return assert!(error.to_string().contains("rig.toml"), "{error}"),
        };
        let names: Vec<String> = file.file.boards.keys().cloned().collect();
        for rig in names.iter().filter_map(|name| file.find(name).ok()) {
            assert!(rig.reset.pulse <= Duration::from_secs(60), "{rig:?}");
            assert!(rig.pacing.character.max(rig.pacing.line) <= Duration::from_secs(10));
            found += 1;
        }
    });
    assert!(found > 300, "{found}");
}

#[test]
fn waits_have_limits() {
    let text = |line: &str| format!("[boards.a]\nport = \"/dev/a\"\n{line}\n");
    for (line, expected) in [
        ("reset_pulse_ms = 60001", "boards.a: reset_pulse_ms is 60000 at the most"),
        ("character_ms = 10001", "boards.a: character_ms and line_ms are 10000 at the most"),
        ("line_ms = 10001", "boards.a: character_ms and line_ms are 10000 at the most"),
    ] {
        assert!(said(&text(line), "a").ends_with(expected), "{line}");
    }
    let most = text("reset_pulse_ms = 60000\ncharacter_ms = 10000\nline_ms = 10000");
    read(&most).and_then(|file| file.find("a")).unwrap_or_else(|error| panic!("{error}"));
}
