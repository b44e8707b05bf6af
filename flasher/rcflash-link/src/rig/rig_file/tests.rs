//! Parsing of rig files, and the messages for mistakes.

use super::*;

fn read(text: &str) -> Result<RigFile, RigFileError> {
    RigFile::parse(PathBuf::from("rig.toml"), text)
}

fn error_of(text: &str, name: &str) -> String {
    let found = read(text).and_then(|file| file.resolve(name));
    found.expect_err("there is a mistake in it").to_string()
}

#[test]
fn a_board_is_resolved_with_all_its_settings() {
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
    let bench = file.resolve("bench").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(bench.name.as_deref(), Some("bench"));
    assert_eq!(bench.port, "/dev/serial/by-id/usb-FTDI_TTL232R_A1-if00-port0");
    assert_eq!(
        (bench.board.as_str(), bench.baud, bench.flow),
        ("rc2014-zed", Some(57600), FlowControl::None)
    );
    let ms = Duration::from_millis;
    let reset = ResetConfig {
        labgrid: None,
        method: ResetMethod::Rts,
        command: None,
        active_level: ActiveLevel::Off,
        pulse: ms(50),
    };
    assert_eq!(bench.reset, reset);
    assert_eq!(bench.pacing, Pacing { char_delay: ms(2), line_delay: ms(20) });
}

#[test]
fn a_port_matches_by_device_link_and_serial_number() {
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
    assert_eq!(file.boards_on(&port(Some("A1"))), ["link", "number", "plain"]);
    assert_eq!(file.boards_on(&port(None)), ["link", "plain"]);
}

#[test]
fn a_device_needs_no_entry_and_has_default_settings() {
    let rig = read("").and_then(|file| file.resolve("/dev/ttyUSB7"));
    assert_eq!(rig.unwrap_or_else(|error| panic!("{error}")), Rig::from_port("/dev/ttyUSB7"));
}

#[test]
fn a_syntax_error_is_reported_with_its_line() {
    let text = "[boards.bench]\nport = \"/dev/ttyUSB0\"\nspeed = 9600\n";
    let error = error_of(text, "bench");
    assert!(error.contains("rig.toml: ") && error.contains("line 3"), "{error}");
    assert!(error.contains("speed") && error.contains("baud"), "names the right ones: {error}");
    for (text, part) in [
        ("[board.bench]\nport = \"/dev/ttyUSB0\"\n", "line 1"),
        ("[boards.bench]\nport = \"/dev/ttyUSB0\"\nreset = \"magic\"\n", "line 3"),
        ("[boards.bench]\nbaud = \"fast\"\n", "line 2"),
        ("[boards.bench\n", "line 1"),
    ] {
        let error = error_of(text, "bench");
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn a_contradictory_entry_is_refused() {
    for (entry, problem) in [
        ("", "expected port or usb_serial"),
        ("port = \"/dev/a\"\nusb_serial = \"1\"", "exclude each other"),
        ("port = \"/dev/a\"\nreset = \"command\"", "needs reset_command"),
        ("port = \"/dev/a\"\nreset_command = \"true\"", "reset_command needs reset"),
        ("port = \"/dev/a\"\nreset = \"rts\"", "set flow = \"none\""),
        ("port = \"/dev/a\"\nbaud = 0", "at least 1"),
    ] {
        let error = error_of(&format!("[boards.bench]\n{entry}\n"), "bench");
        assert!(error.contains("boards.bench: ") && error.contains(problem), "{entry}: {error}");
    }
}

#[test]
fn the_error_for_an_unknown_board_lists_the_known_ones() {
    let text = "[boards.bench]\nport = \"/dev/a\"\n[boards.attic]\nport = \"/dev/b\"\n";
    let error = error_of(text, "bnech");
    assert!(error.contains("'bnech'") && error.contains("attic, bench"), "{error}");
    assert!(error_of("", "bench").contains("known boards: none"));
    let plugged = error_of("[boards.bench]\nusb_serial = \"no such number\"\n", "bench");
    assert!(plugged.contains("no such number") && plugged.contains("'bench'"), "{plugged}");
}

#[test]
fn a_file_given_explicitly_must_exist() {
    let error = RigFile::read(Some(Path::new("/nonexistent/rig.toml"))).expect_err("it is not");
    assert!(error.to_string().contains("can't read /nonexistent/rig.toml"), "{error}");
}

#[test]
fn delays_have_limits() {
    let text = |line: &str| format!("[boards.a]\nport = \"/dev/a\"\n{line}\n");
    for (line, expected) in [
        ("reset_pulse_ms = 60001", "boards.a: invalid reset_pulse_ms: expected at most 60000"),
        (
            "character_ms = 10001",
            "boards.a: invalid character_ms or line_ms: expected at most 10000",
        ),
        ("line_ms = 10001", "boards.a: invalid character_ms or line_ms: expected at most 10000"),
    ] {
        assert!(error_of(&text(line), "a").ends_with(expected), "{line}");
    }
    let most = text("reset_pulse_ms = 60000\ncharacter_ms = 10000\nline_ms = 10000");
    read(&most).and_then(|file| file.resolve("a")).unwrap_or_else(|error| panic!("{error}"));
}
