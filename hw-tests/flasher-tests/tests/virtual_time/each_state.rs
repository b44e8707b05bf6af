//! Every monitor in every recorded state on every line, in virtual time: what the probe reports, a
//! program that is loaded, read back and started, and a hosted program that returns.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use monitor_standins::{MonitorLine, MonitorOptions};
use rcflash_monitors::{
    HostedProgram, LoaderError, MonitorSession, ProbedPeer, ResidentMonitor, probe,
};
use rcflash_transport::Transport;

use super::states::{ExpectedResult, Row, TABLE, lines};
use super::virtual_bench::{BAUD, EventLines, LoadOutcome, VirtualBench, returning_program};

/// The longest that a probe may take at the right speed.
const MAX_PROBE_TIME: Duration = Duration::from_secs(5);
/// Memory at which no state of the table is at work.
const USER_MEMORY: std::ops::Range<u16> = 0x9000..0xB000;

/// Tries every row on every line, and reports all problems together.
fn each_row_and_line(test: impl Fn(&Row, MonitorOptions) -> Result<(), String> + Sync) {
    let problems: Vec<String> = std::thread::scope(|scope| {
        let test = &test;
        let shares = lines().map(|(line, options)| {
            scope.spawn(move || {
                let problem = |row: &Row| {
                    let name = format!("{}, {}, {line}", row.monitor, row.state);
                    test(row, options).err().map(|problem| format!("{name}: {problem}"))
                };
                TABLE.iter().filter_map(problem).collect::<Vec<_>>()
            })
        });
        shares.into_iter().flat_map(|share| share.join().expect("no test panics")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn expect(is_met: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if is_met { Ok(()) } else { Err(problem()) }
}

#[test]
fn a_probe_names_every_monitor_in_every_state_within_five_seconds_and_changes_nothing() {
    each_row_and_line(|row, options| {
        // A load that HLOAD has cut short has its own record there.
        let users = if row.state.contains("HLOAD") { 0xA000..USER_MEMORY.end } else { USER_MEMORY };
        let bench = VirtualBench::new(row.prepared(), options);
        let contents = |line: &MonitorLine| {
            let lines = line.with_monitor(|peer| peer.lines());
            (line.memory(users.start, users.end - users.start), lines)
        };
        let before = contents(&bench.line);
        let found = probe(&mut bench.session(), &[]).map_err(|error| error.to_string())?;
        let took = bench.line.elapsed();
        let name = match &found.peer {
            ProbedPeer::Known(_, name) if found.certain => name.clone(),
            ProbedPeer::Known(_, name) => format!("{name} (guessed)"),
            _ => String::new(),
        };
        expect(name == row.prints && found.baud == BAUD, || format!("{found:?}"))?;
        expect(took <= MAX_PROBE_TIME, || format!("took {took:?}"))?;
        expect(contents(&bench.line) == before, || "memory or program changed".to_owned())
    });
}

/// What a probe sends, as in the table of docs/LOADERS.md: the name there, and the bytes.
const PROBE_KEYS: [(&str, &[u8]); 16] = [
    ("`D FE00 FE0F`", b"D FE00 FE0F\r"),
    ("`PRINT 6*7`", b"PRINT 6*7\r"),
    ("`PRINT PEEK(-32696)`", b"PRINT PEEK(-32696)\r"),
    ("`PRINT PEEK(-32253)`", b"PRINT PEEK(-32253)\r"),
    ("`PRINT PEEK(8264)`", b"PRINT PEEK(8264)\r"),
    ("`PRINT)`", b"PRINT)\r"),
    ("`:00000001FF`", b":00000001FF"),
    ("`HELP`", b"HELP\r"),
    ("IDENT", b"\x00\x01\x05\x01\x01\x8C\xEF\x00"),
    ("Ctrl-O", b"\x0F\r"),
    ("Ctrl-U", b"\x15"),
    ("ESC", b"\x1B"),
    ("BS", b"\x08"),
    ("CR", b"\r"),
    ("`W`", b"W"),
    ("blank", b" "),
];

/// A line that records what is sent.
struct RecordingLine(MonitorLine, Arc<Mutex<Vec<u8>>>);

impl Transport for RecordingLine {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn now(&self) -> Instant {
        self.0.now()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.0.read(buffer, timeout)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.1.lock().expect("no test panics").extend(bytes);
        self.0.write(bytes, deadline)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.0.discard_unsent()
    }
}

/// Returns what was sent after the last of the documented keys; empty if all of it is documented.
fn undocumented(mut sent: &[u8]) -> &[u8] {
    while !sent.is_empty() {
        let key = PROBE_KEYS.iter().find(|(_, key)| sent.starts_with(key));
        // The end record stops at the first reply.
        let record = b":00000001FF".iter().zip(sent).take_while(|(a, b)| a == b).count();
        match key.map_or(record, |(_, key)| key.len()) {
            0 => break,
            count => sent = &sent[count..],
        }
    }
    sent
}

#[test]
fn a_probe_sends_what_is_documented_and_no_w_before_a_carriage_return() {
    let page = include_str!("../../../../docs/LOADERS.md");
    for (name, _) in PROBE_KEYS {
        assert!(page.contains(name), "{name}");
    }
    each_row_and_line(|row, options| {
        let bench = VirtualBench::new(row.prepared(), options);
        let sent = Arc::new(Mutex::new(Vec::new()));
        let line = Box::new(RecordingLine(bench.line.clone(), Arc::clone(&sent)));
        let mut session = MonitorSession::new(line, BAUD, Arc::new(AtomicBool::new(false)));
        probe(&mut session, &[]).map_err(|error| error.to_string())?;
        let sent = sent.lock().expect("no test panics");
        expect(undocumented(&sent).is_empty(), || format!("{:?}", undocumented(&sent)))?;
        expect(!sent.windows(2).any(|keys| keys == b"W\r"), || "`W` and CR".to_owned())
    });
}

#[test]
fn a_program_is_loaded_read_back_and_started_in_every_state() {
    each_row_and_line(|row, options| {
        let bench = VirtualBench::new(row.prepared(), options);
        let outcome = bench.write(row.way.loader());
        let LoadOutcome { code, text, verified } = &outcome;
        if let ExpectedResult::Refused(_, message) = row.way {
            expect(*code == 3 && text.contains(message), || format!("code {code}: {text}"))?;
            return expect(!bench.has_loaded(), || "it was loaded all the same".to_owned());
        }
        expect(*code == 0 && *verified, || format!("code {code}: {text}"))?;
        expect(bench.has_loaded(), || format!("the memory differs: {text}"))?;
        expect(bench.has_run(), || format!("it was not started: {text}"))
    });
}

#[test]
fn a_hosted_program_returns_to_every_monitor_that_can_take_it_back() {
    each_row_and_line(|row, options| {
        let host = ResidentMonitor::from_name(row.way.loader()).expect("a monitor that hosts");
        let bench = VirtualBench::with(row.prepared(), options, returning_program());
        let program = HostedProgram { image: &bench.image, entry: 0x9000, top: 0x9003 };
        let mut session = bench.session();
        let started = host.start(&mut session, program, &mut EventLines::default());
        match row.way {
            ExpectedResult::Refused(_, message) => {
                let error = started.err().map_or(String::new(), |error| error.to_string());
                expect(error.contains(message), || format!("'{error}'"))
            }
            ExpectedResult::Back(_, peer) | ExpectedResult::Z180(_, peer) => {
                started.map_err(|error| error.to_string())?;
                let back = host.wait_for_return(&mut session).map_err(|error| error.to_string())?;
                expect(back == peer, || format!("back in {back}"))
            }
            ExpectedResult::Reset(_) => {
                started.map_err(|error| error.to_string())?;
                let back = host.wait_for_return(&mut session);
                let waits = matches!(back, Err(LoaderError::NoReply { .. }));
                expect(waits, || format!("{back:?}"))
            }
        }
    });
}
