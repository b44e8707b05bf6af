//! `rcflash` with boards that report what no board of this project would: a model of a board at the
//! other end of a TCP connection.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread::JoinHandle;

use firmware_wire::{Decoder, DecoderEvent, Frame, REPLY_BIT, crc32, kind, memory_checksum};

/// The build id of the monitor.
const MONITOR_BUILD: u32 = 0x0123_4567;

/// What RUN leads to.
#[derive(Debug, Clone, Copy)]
enum Started {
    /// The application in memory, whose build id is at this address.
    Program(u16),
    /// An application of another build.
    OtherBuild,
    /// The monitor.
    Monitor,
}

/// A board with 64 KiB of RAM and a flash chip.
struct Board {
    memory: Vec<u8>,
    chip: Vec<u8>,
    /// Sectors that the board reports, and protected ones.
    sectors: u16,
    protected: u8,
    started: Started,
    is_started: bool,
}

impl Board {
    fn new(sectors: u16, protected: u8, started: Started) -> Self {
        let chip = vec![0xFF; usize::from(sectors.min(128)) * 4096];
        let memory = vec![0; 0x1_0000];
        Self { memory, chip, sectors, protected, started, is_started: false }
    }

    fn identity(&self) -> Vec<u8> {
        let (role, build) = match self.started {
            _ if !self.is_started => (b'M', MONITOR_BUILD),
            Started::Monitor => (b'M', MONITOR_BUILD),
            Started::OtherBuild => (b'A', 0x7654_3210),
            Started::Program(at) => {
                let bytes = &self.memory[usize::from(at)..][..4];
                (b'A', u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            }
        };
        let mut payload = vec![role, 1];
        payload.extend(build.to_le_bytes());
        payload.extend([0xEE, 2, 0, 0x80, 0xFF, 0xEF, 3]);
        payload.extend(b"a model of a board");
        payload
    }

    /// Returns the payload of the reply, or the code of an error.
    fn reply(&mut self, frame: &Frame) -> Result<Vec<u8>, u8> {
        let payload = &frame.payload;
        let word = |at: usize| usize::from(u16::from_le_bytes([payload[at], payload[at + 1]]));
        let place = || word(0) + (usize::from(payload[2]) << 16);
        Ok(match frame.kind {
            kind::IDENT => self.identity(),
            kind::RESET => {
                self.is_started = false;
                Vec::new()
            }
            kind::WRITE => {
                let data = &payload[2..];
                self.memory[word(0)..][..data.len()].copy_from_slice(data);
                [&payload[..2], &[data.len() as u8]].concat()
            }
            kind::CRC => memory_checksum(&self.memory[word(0)..][..word(2)]).to_le_bytes().to_vec(),
            kind::RUN => {
                self.is_started = true;
                payload.to_vec()
            }
            kind::CHIP => {
                let [low, high] = self.sectors.to_le_bytes();
                vec![0xBF, 0xB7, low, high, self.protected]
            }
            kind::FLASH_CRC => {
                let range = self.chip.get(place()..place() + word(3)).ok_or(3_u8)?;
                crc32(range).to_le_bytes().to_vec()
            }
            _ => return Err(1),
        })
    }

    /// Replies to the requests of one connection until it is closed.
    fn serve(&mut self, mut line: TcpStream) -> io::Result<()> {
        let mut decoder = Decoder::default();
        let mut buffer = [0; 1024];
        loop {
            let count = line.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            for byte in &buffer[..count] {
                let Some(DecoderEvent::Frame(frame)) = decoder.push(*byte) else { continue };
                let (kind, payload) = match self.reply(&frame) {
                    Ok(payload) => (frame.kind + REPLY_BIT, payload),
                    Err(code) => (0xFF, vec![code, frame.kind, 0, 0]),
                };
                let reply = Frame::new(frame.seq, kind, payload).expect("it fits");
                line.write_all(&reply.encode())?;
                if [kind::RUN, kind::RESET].contains(&frame.kind) {
                    line.write_all(b"\r\nhello\r\n")?; // a banner, so that nobody waits for one
                }
            }
        }
    }
}

/// Runs `rcflash` with the port of a board as its last argument.
fn rcflash(mut board: Board, arguments: &[&str]) -> (Option<i32>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = format!("tcp://{}", listener.local_addr().expect("it has one"));
    let server: JoinHandle<()> = std::thread::spawn(move || {
        let (line, _) = listener.accept().expect("the program connects");
        let _ = board.serve(line); // it ends when the program closes the connection
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_rcflash"));
    command.args(arguments).args(["--port", &port]).env("XDG_CONFIG_HOME", "/nonexistent");
    for name in ["RCFLASH_PORT", "RCFLASH_BOARD", "RCFLASH_BAUD", "RCFLASH_RIG"] {
        command.env_remove(name);
    }
    let Output { status, stderr, .. } = command.output().expect("it starts");
    server.join().expect("the board did not fail");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[track_caller]
fn assert_ends(board: Board, arguments: &[&str], code: i32, parts: &[&str]) {
    let (actual, message) = rcflash(board, arguments);
    assert_eq!(actual, Some(code), "{arguments:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "{arguments:?}: no '{part}' in: {message}");
    }
}

/// The address of the build id in the evaluator: behind the first two bytes of its identity.
fn build_id_address() -> u16 {
    let profile = firmware::profile::BoardProfile::named("rc2014-classic").expect("it ships");
    let built = firmware::build::build(&profile, firmware::ProgramKind::Application);
    let built = built.unwrap_or_else(|error| panic!("{error}"));
    built.program.symbol("BUILD").expect("the application exports it")
}

#[test]
fn a_chip_that_can_not_be_is_an_error_of_the_rig_and_no_panic() {
    let folder = std::env::temp_dir().join(format!("rcflash-boards-{}", std::process::id()));
    let output = folder.to_string_lossy().into_owned();
    let commands: [&[&str]; 5] = [
        &["write", "--board", "rc2014-zed", "--flash"],
        &["verify", "--board", "rc2014-zed", "--flash"],
        &["erase", "--board", "rc2014-zed", "--all"],
        &["erase", "--board", "rc2014-zed", "--range", "1000-1FFF"],
        &["read", "--board", "rc2014-zed", "--flash", "-o", &output],
    ];
    std::thread::scope(|scope| {
        for command in commands {
            scope.spawn(move || {
                for (sectors, protected) in [(0, 0), (0, 1), (65_535, 1), (1, 2)] {
                    let board = Board::new(sectors, protected, Started::Monitor);
                    let message = "invalid reply while identifying the flash chip";
                    assert_ends(board, command, 3, &[message]);
                }
            });
        }
    });
    assert!(!folder.exists(), "nothing was read");
}

#[test]
fn protected_sectors_that_differ_are_named_and_those_that_match_are_not_erased() {
    let zed = |command: &[&'static str]| [command, &["--board", "rc2014-zed"]].concat();
    let board = || Board::new(128, 3, Started::Monitor);
    assert_ends(board(), &zed(&["write", "--flash"]), 3, &["the board protects sector 1,"]);
    assert_ends(board(), &zed(&["erase", "--range", "1000-4FFF"]), 2, &["sectors 1 to 2"]);
    let all = ["sectors 1 to 2 are protected and stay", "nothing was erased"];
    assert_ends(board(), &zed(&["erase", "--all"]), 0, &all);
    let only_boot = Board::new(1, 1, Started::Monitor);
    assert_ends(only_boot, &zed(&["erase", "--all"]), 3, &["the board protects the whole chip"]);
    let short = Board::new(1, 1, Started::Monitor);
    assert_ends(short, &zed(&["verify", "--flash"]), 3, &["the chip ends at 00FFFh"]);
}

#[test]
fn a_program_has_started_only_if_its_build_replies() {
    let write = ["write", "--board", "rc2014-classic"];
    let board = |started| Board::new(128, 1, started);
    let program = Started::Program(build_id_address());
    assert_ends(board(program), &write, 0, &["verified on the board", "running: a model"]);
    let back = ["did not start: RUN led back to a model of a board, build 01234567"];
    assert_ends(board(Started::Monitor), &write, 1, &back);
    let other = ["a model of a board, build 76543210 replies instead of the program"];
    assert_ends(board(Started::OtherBuild), &write, 1, &other);
}

#[test]
fn of_a_program_that_does_not_speak_the_protocol_nothing_is_claimed() {
    let file = std::env::temp_dir().join(format!("rcflash-boards-{}.bin", std::process::id()));
    let path = file.to_string_lossy().into_owned();
    let write = ["write", &path, "--address", "9000"];
    let board = || Board::new(128, 1, Started::Monitor);
    std::fs::write(&file, [0xC9]).expect("a scratch file");
    let claim = "started at 9000h\n";
    assert_ends(board(), &write, 0, &["verified on the board", claim]);
    std::fs::write(&file, []).expect("a scratch file");
    let verify = ["verify", &path, "--address", "9000", "--port", "/nonexistent"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_rcflash"));
    let output = command.args(verify).output().expect("it starts");
    std::fs::remove_file(&file).expect("it is there");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("the program has no bytes"), "{message}");
}
