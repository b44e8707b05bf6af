//! Faults, the messages of `rcflash` for them, and its exit codes: runs every row of the table in
//! `tests/data/fault-messages.md`.

use std::any::Any;
use std::fs::OpenOptions;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use board_simulator::Pace;
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use monitor_standins::{
    Basic, Cpm, FaultOptions, MonitorModel, MonitorOptions, MonitorServer, Romwbw, Scm,
};
use rustix::process::{Pid, Signal, kill_process};
use tdlasm::image::{Image, ImageRun, intel_hex};

use crate::cable::Cable;
use crate::commands::bench::{Bench, Folder, RunEnd, program};

/// Bytes that pass before a cable is disconnected: in the middle of the program, for every
/// receiver.
const BYTES_BEFORE_DISCONNECT: usize = 480;
/// Load address of the program.
const PROGRAM: u16 = 0x9000;

/// A row of the table.
struct Row {
    what: String,
    command: String,
    /// Parts of the message, in order.
    message_parts: Vec<String>,
    code: i32,
}

fn rows() -> Vec<Row> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fault-messages.md");
    let table = std::fs::read_to_string(table).expect("the table");
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [what, command, message, code] = cells[..] else { panic!("four cells: {line}") };
        Row {
            what: what.to_owned(),
            command: command.trim_matches('`').to_owned(),
            message_parts: message.split("...").map(|part| part.trim().to_owned()).collect(),
            code: code.parse().expect("a number"),
        }
    })
    .collect()
}

/// The setup for a command.
#[derive(Default)]
struct FaultScene {
    port: Option<String>,
    /// The file for standard output.
    out: Option<&'static str>,
    /// A cable that is disconnected during the command.
    cable: Option<Cable>,
    /// The running stand-in.
    server: Option<MonitorServer>,
    /// The values that must live as long as the command.
    _kept: Vec<Box<dyn Any>>,
}

impl FaultScene {
    fn of(server: MonitorServer) -> Self {
        let port = Some(server.path().to_string_lossy().into_owned());
        Self { port, server: Some(server), ..Self::default() }
    }

    /// Waits until the program begins to arrive, and interrupts the command.
    fn interrupt(&self, child: &Child) {
        let server = self.server.as_ref().expect("a stand-in");
        let end = Instant::now() + Duration::from_secs(30);
        while server.memory(PROGRAM + 1, 1) != [7] {
            assert!(Instant::now() < end, "nothing arrives");
            thread::sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_child(child), Signal::INT).expect("it runs");
    }
}

/// Returns the stand-in that a command loads to.
fn peer(command: &str) -> Box<dyn MonitorModel> {
    match command.split_whitespace().skip_while(|word| *word != "--via").nth(1) {
        Some("romwbw") => Box::<Romwbw>::default(),
        Some("basic") => Box::<Basic>::default(),
        Some("cpm") => Box::new(Cpm::quick()),
        _ => Box::<Scm>::default(),
    }
}

/// A board with our monitor, at this speed.
fn ours(baud: u32) -> FaultScene {
    let mut profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let rom = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    (profile.uart.clock_hz, profile.uart.baud) = (u64::from(baud) * 64, baud);
    let bench = Bench::with_rom(profile, &rom.bytes, Pace::Free);
    FaultScene {
        port: Some(bench.port.clone()),
        _kept: vec![Box::new(bench)],
        ..FaultScene::default()
    }
}

/// A setup with the stand-in that a command requires.
fn theirs(command: &str, options: MonitorOptions) -> FaultScene {
    let server = MonitorServer::start(peer(command), options).expect("a pseudo-terminal");
    FaultScene::of(server)
}

/// A setup with the board that a command requires.
fn good(command: &str) -> FaultScene {
    if command.contains("--via") {
        theirs(command, MonitorOptions::default())
    } else {
        ours(115_200)
    }
}

fn faulty(command: &str, faults: FaultOptions) -> FaultScene {
    theirs(command, MonitorOptions { faults, ..MonitorOptions::default() })
}

fn other_speed(command: &str) -> FaultScene {
    match command.contains("--via") {
        true => theirs(command, MonitorOptions { baud: 9600, ..MonitorOptions::default() }),
        false => ours(57_600),
    }
}

fn disconnected(command: &str) -> FaultScene {
    let board = good(command);
    let cable =
        Cable::new(Path::new(board.port.as_ref().expect("it has one")), BYTES_BEFORE_DISCONNECT);
    let port = Some(cable.port());
    FaultScene { port, cable: Some(cable), _kept: vec![Box::new(board)], ..FaultScene::default() }
}

fn keeps_nothing(command: &str) -> FaultScene {
    let mut peer = peer(command);
    peer.memory().expect("it has some").protect(PROGRAM..=0x9FFF);
    let server = MonitorServer::start(peer, MonitorOptions::default()).expect("a pseudo-terminal");
    FaultScene::of(server)
}

fn port_in_use(command: &str) -> FaultScene {
    let board = good(command);
    let port = board.port.clone().expect("it has one");
    let first = rcflash_transport::port::Port::open(&port, 115_200).expect("it opens");
    FaultScene {
        _kept: vec![Box::new(first), Box::new(board)],
        port: Some(port),
        ..FaultScene::default()
    }
}

/// Returns the setup of a row by its name.
fn scene(row: &Row) -> FaultScene {
    let named = |port: &str| FaultScene { port: Some(port.to_owned()), ..FaultScene::default() };
    match row.what.as_str() {
        "nobody answers" => {
            faulty(&row.command, FaultOptions { silent: true, ..FaultOptions::default() })
        }
        "noise" => faulty(&row.command, FaultOptions { noise: true, ..FaultOptions::default() }),
        "the board runs at another speed" => other_speed(&row.command),
        "another monitor answers" if row.command.contains("romwbw") => {
            theirs("--via scm", MonitorOptions::default())
        }
        "another monitor answers" => theirs("--via romwbw", MonitorOptions::default()),
        "the cable is pulled" => disconnected(&row.command),
        "the memory keeps nothing" => keeps_nothing(&row.command),
        "another program has the port" => port_in_use(&row.command),
        "there is no such port" => named("/dev/ttyUSB99"),
        "the port is none" => named("/dev/null"),
        "the disk is full" if row.command.contains('>') => {
            FaultScene { out: Some("/dev/full"), ..named("/dev/ttyUSB99") }
        }
        _ => good(&row.command),
    }
}

/// Files under the names of the table.
fn files() -> Folder {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..700_u32).map(|at| (at * 7 + at / 256) as u8).collect();
    let image = Image::new([ImageRun { address: PROGRAM, bytes: bytes.clone() }]);
    folder.file("prog.hex", intel_hex(&image, None));
    folder.file("prog.com", &bytes);
    folder.file("prog.bin", &bytes);
    folder.file("broken.hex", ":0100000000FE\n");
    let low = Image::new([ImageRun { address: 0x1000, bytes }]);
    folder.file("low.hex", intel_hex(&low, None));
    symlink("/dev/full", folder.path("full.bin")).expect("a link");
    folder.file("kept.bin", "read-only");
    let mut modes = std::fs::metadata(folder.path("kept.bin")).expect("a file").permissions();
    modes.set_readonly(true);
    std::fs::set_permissions(folder.path("kept.bin"), modes).expect("it is ours");
    folder
}

fn try_row(row: &Row) -> RunEnd {
    let scene = scene(row);
    let folder = files();
    let mut words = row.command.split_whitespace().take_while(|word| *word != ">").skip(1);
    let name = |word: &str| match word.contains('.') && !word.starts_with('/') {
        true => folder.name(word),
        false => word.to_owned(),
    };
    let mut command = program();
    command.args(words.by_ref().map(name));
    if let Some(port) = scene.port.as_ref().filter(|_| !row.command.contains(" image ")) {
        command.args(["--port", port]);
    }
    if let Some(out) = scene.out {
        command.stdout(Stdio::from(OpenOptions::new().write(true).open(out).expect("it opens")));
    }
    let child = command.spawn().expect("it starts");
    if row.what == "Ctrl-C" {
        scene.interrupt(&child);
    }
    let ended = RunEnd::from_output(child.wait_with_output().expect("it ends"));
    if let Some(cable) = scene.cable {
        assert_eq!(cable.remove(), BYTES_BEFORE_DISCONNECT, "it was disconnected in the middle");
    }
    ended
}

#[test]
fn every_row_of_the_table_is_true() {
    let rows = rows();
    assert!(rows.len() >= 20, "{} rows", rows.len());
    let wrong = thread::scope(|scope| {
        let tried: Vec<_> = rows.iter().map(|row| (row, scope.spawn(|| try_row(row)))).collect();
        let judged = tried.into_iter().map(|(row, ended)| {
            let ended = ended.join().expect("it was tried");
            (row, ended)
        });
        judged.filter_map(|(row, ended)| mismatch(row, &ended)).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the difference from the row, if there is one.
fn mismatch(row: &Row, ended: &RunEnd) -> Option<String> {
    let mut rest = ended.messages.as_str();
    let mut missing = None;
    for part in &row.message_parts {
        match rest.split_once(part.as_str()) {
            Some((_, behind)) => rest = behind,
            None => missing = Some(part),
        }
    }
    let is_right = missing.is_none() && ended.code == Some(row.code);
    let what = &row.what;
    let command = &row.command;
    let printed = &ended.messages;
    (!is_right).then(|| {
        format!("{what}, `{command}`: exit {:?}, missing {missing:?} in: {printed}", ended.code)
    })
}
