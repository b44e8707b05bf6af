//! Monitors that a TOML file describes: the stand-ins of two known ones in their recorded states,
//! lines that lose, change and double characters, and a monitor with S-records and XMODEM.

use std::sync::Arc;
use std::time::Duration;

use monitor_standins::{
    FaultOptions, Memory, MonitorModel, MonitorOptions, ReceiverSpec, Romwbw, Scm, TransferEnd,
    XmodemReceiver,
};
use rcflash_monitors::{
    HostedProgram, LoadRequest, MonitorDescription, ResidentMonitor, StockMonitor,
};
use tdlasm::image::{Image, ImageRun, parse_s_records};

use super::bench::{Bench, CommandOutput, faults};
use super::descriptions::{ROMWBW, scm};
use super::states::{TABLE, lines};
use super::virtual_bench::{EventLines, VirtualBench, returning_program};

fn described(text: &str) -> StockMonitor {
    StockMonitor::Described(Arc::new(MonitorDescription::parse(text).expect("it is valid")))
}

/// Returns the description of a monitor in the table of states.
fn description(monitor: &str, state: &str) -> Option<&'static str> {
    match monitor {
        "SCM 1.0.0" | "SCM 1.3.0" if state != "assembler" => Some(scm()),
        "RomWBW 3.5.1" if !state.contains("boot loader") && state != "its BASIC" => Some(ROMWBW),
        _ => None,
    }
}

#[test]
fn known_monitors_load_by_their_description_in_their_recorded_states() {
    let mut count = 0;
    for row in &TABLE {
        let Some(text) = description(row.monitor, row.state) else { continue };
        let (line, options) = lines()[count % 4];
        let bench = VirtualBench::new(row.prepared(), options);
        let outcome = bench.load_by(&described(text), &bench.request());
        let name = format!("{}, {}, {line}: {}", row.monitor, row.state, outcome.text);
        assert!(outcome.code == 0 && outcome.verified, "{name}");
        assert!(bench.has_loaded() && bench.has_run(), "{name}");
        count += 1;
    }
    assert!(count >= 14, "{count}");
}

#[test]
fn hosted_programs_return_to_described_monitors_or_their_boot_loader() {
    for row in &TABLE {
        let Some(text) = description(row.monitor, row.state) else { continue };
        let host = ResidentMonitor::Memory(described(text));
        let bench = VirtualBench::with(row.prepared(), lines()[0].1, returning_program());
        let program = HostedProgram { image: &bench.image, entry: 0x9000, top: 0x9003 };
        let mut session = bench.session();
        host.start(&mut session, program, &mut EventLines::default()).expect("it starts");
        let is_scm = row.monitor.starts_with("SCM");
        let expected = if is_scm { "the described monitor" } else { "RomWBW's boot loader" };
        assert_eq!(host.wait_for_return(&mut session).expect("it returns"), expected);
    }
}

#[test]
fn lost_changed_and_doubled_characters_are_sent_again() {
    let odds = Some(200);
    let none = FaultOptions { max_faults: 2, ..FaultOptions::default() };
    for seed in 1..=2 {
        for fault in [
            FaultOptions { loss_odds: odds, ..none },
            FaultOptions { corruption_odds: odds, ..none },
            FaultOptions { double_odds: odds, ..none },
        ] {
            for (text, peer) in [
                (scm(), Box::<Scm>::default() as Box<dyn MonitorModel>),
                (ROMWBW, Box::new(Romwbw::in_monitor())),
            ] {
                let options = MonitorOptions { seed, ..faults(fault) };
                let bench = VirtualBench::new(peer, options);
                let outcome = bench.load_by(&described(text), &bench.request());
                assert!(outcome.verified, "{text}, {seed}, {fault:?}: {}", outcome.text);
                assert!(bench.has_loaded() && bench.has_run(), "{text}, {seed}, {fault:?}");
            }
        }
    }
}

#[test]
fn a_described_romwbw_executes_nothing_but_whole_commands() {
    // As commands, `B` boots, `F` fills memory, `D` and `C` dump and copy it.
    let bytes: Vec<u8> = (0..1500).map(|i| [0xBF, 0xFD, 0xDB, 0xCB][i % 4]).collect();
    let image = Image::new([ImageRun { address: 0x9000, bytes }]);
    for seed in 1..=2 {
        let faults = FaultOptions {
            loss_odds: Some(100),
            double_odds: Some(150),
            max_faults: 20,
            ..FaultOptions::default()
        };
        let options = MonitorOptions { faults, seed, ..MonitorOptions::default() };
        let bench = VirtualBench::with(Box::new(Romwbw::in_monitor()), options, image.clone());
        bench.load_by(&described(ROMWBW), &LoadRequest { entry: None, ..bench.request() });
        let executed = bench.line.with_monitor(|peer| peer.typed_at_prompt().to_vec());
        let executed = String::from_utf8(executed).expect("ASCII");
        let is_whole = |line: &str| line == "L" || line.starts_with("D ") && line.len() == 11;
        assert!(executed.split_terminator('\r').all(is_whole), "{executed:?}");
    }
}

/// A monitor of nobody's: `S` loads S-records, each echoed with a line end and a dot; `T` receives
/// by XMODEM; `G` starts. It has no dump.
struct OtherMonitor {
    memory: Memory,
    line: Vec<u8>,
    state: OtherState,
    /// The commands that were executed.
    executed: Vec<u8>,
    /// Whether each record is reported as bad.
    refuses: bool,
}

enum OtherState {
    Prompt,
    Records,
    Receiver(u16, XmodemReceiver),
}

impl Default for OtherMonitor {
    fn default() -> Self {
        let memory = Memory::new(0x8000..=0xFFFF);
        let (line, executed) = (Vec::new(), Vec::new());
        Self { memory, line, state: OtherState::Prompt, executed, refuses: false }
    }
}

impl OtherMonitor {
    fn execute(&mut self, line: &str, out: &mut Vec<u8>) {
        out.extend(b"\r\n");
        let address = line.get(2..).and_then(|digits| u16::from_str_radix(digits, 16).ok());
        match (line.get(..1), address) {
            (None, _) => {}
            (Some("S"), None) => return self.state = OtherState::Records,
            (Some("T"), Some(address)) => {
                out.extend(b"Start the transfer\r\n");
                return self.state = OtherState::Receiver(address, XmodemReceiver::new(true));
            }
            (Some("G"), Some(_)) => self.executed.extend(line.bytes()),
            _ => out.extend(b"?\r\n"),
        }
        out.extend(b"mon> ");
    }

    fn record(&mut self, line: &str, out: &mut Vec<u8>) {
        match line {
            "S9030000FC" => {
                out.extend(b"\r\nDone\r\nmon> ");
                self.state = OtherState::Prompt;
            }
            line => match parse_s_records(&format!("{line}\nS9030000FC\n")) {
                Ok((image, _)) if !self.refuses => {
                    for run in image.runs() {
                        self.memory.load(run.address, &run.bytes);
                    }
                    out.extend(b"\r\n.");
                }
                _ => {
                    out.extend(b"\r\nBad record\r\nmon> ");
                    self.state = OtherState::Prompt;
                }
            },
        }
    }

    fn transferred(&mut self, address: u16, end: TransferEnd, out: &mut Vec<u8>) {
        if let TransferEnd::Done(bytes) = &end {
            self.memory.load(address, bytes);
            out.extend(b"\r\nReceived\r\nmon> ");
        } else {
            out.extend(b"\r\nCancelled\r\nmon> ");
        }
        self.state = OtherState::Prompt;
    }
}

impl MonitorModel for OtherMonitor {
    fn receive(&mut self, character: u8, out: &mut Vec<u8>) {
        if let OtherState::Receiver(address, receiver) = &mut self.state {
            let address = *address;
            if let Some(end) = receiver.receive(character, out) {
                self.transferred(address, end, out);
            }
            return;
        }
        match character {
            b'\r' => {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
                match self.state {
                    OtherState::Records => self.record(&line, out),
                    _ => self.execute(&line, out),
                }
            }
            0x08 if self.line.pop().is_some() => out.extend(b"\x08 \x08"),
            0x20..=0x7E => {
                self.line.push(character);
                out.push(character);
            }
            _ => {}
        }
    }

    fn idle(&mut self, since: Duration, out: &mut Vec<u8>) -> bool {
        if let OtherState::Receiver(address, receiver) = &mut self.state {
            let address = *address;
            if let Some(end) = receiver.idle(since, out) {
                self.transferred(address, end, out);
            }
        }
        false
    }

    fn receiver_spec(&self) -> ReceiverSpec {
        ReceiverSpec { buffer: 16, rts: None }
    }

    fn processing_time(&self) -> Duration {
        Duration::from_micros(50)
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }

    fn typed_at_prompt(&self) -> &[u8] {
        &self.executed
    }
}

const S_RECORDS: &str = r#"
prompt = "mon> "
run = "G {address}\r"
[load]
command = "S\r"
format = "s-record"
line_reply = "{line}\r\n."
success = "Done"
"#;

const XMODEM: &str = r#"
prompt = "mon> "
run = "G {address}\r"
[load]
command = "T {address}\r"
format = "xmodem"
success = "Received"
"#;

#[test]
fn an_unknown_monitor_gets_s_records_or_blocks_and_is_not_said_to_be_verified() {
    for (text, loss_odds) in [(S_RECORDS, None), (XMODEM, None), (S_RECORDS, Some(300))] {
        let fault = FaultOptions { loss_odds, max_faults: 3, ..FaultOptions::default() };
        let bench = VirtualBench::new(Box::<OtherMonitor>::default(), faults(fault));
        let outcome = bench.load_by(&described(text), &bench.request());
        outcome.assert_ends(0, &["the described monitor at its prompt"]);
        assert!(!outcome.verified && bench.has_loaded(), "{text}: {}", outcome.text);
        bench.line.sleep(Duration::from_millis(100));
        let executed = bench.line.with_monitor(|peer| peer.typed_at_prompt().to_vec());
        assert_eq!(executed, b"G 9000", "{text}");
    }
}

#[test]
fn a_monitor_that_reports_each_record_as_bad_ends_the_load() {
    let monitor = OtherMonitor { refuses: true, ..OtherMonitor::default() };
    let bench = VirtualBench::new(Box::new(monitor), MonitorOptions::default());
    let outcome = bench.load_by(&described(S_RECORDS), &bench.request());
    outcome.assert_ends(3, &["rejects line 1 (:10", "even with 10 ms after each character"]);
}

#[test]
fn a_program_outside_the_described_memory_is_refused() {
    let image = Image::new([ImageRun { address: 0x7FFF, bytes: vec![0, 0] }]);
    let bench = VirtualBench::with(Box::<Scm>::default(), MonitorOptions::default(), image);
    let outcome = bench.load_by(&described(scm()), &bench.request());
    outcome.assert_ends(3, &["needs 7FFFh-8000h, but memory = 8000h-FBFFh in the description"]);
}

#[test]
fn the_command_takes_a_file_for_a_loader() {
    let bench = Bench::new(Box::<Scm>::default(), MonitorOptions::default());
    let file = |name: &str, text: &str| {
        let path = bench.folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let good = file("scm.toml", scm());
    bench.write(&good, &[]).assert_ends(0, &["verified by reading it back", "started at 9000h"]);
    assert!(bench.has_loaded());
    let script = bench.write(&good, &["--dry-run"]);
    script.assert_ends(0, &["lines would be sent; no port was opened"]);
    assert!(script.data.ends_with("\n:00000001FF\nG 9000\n"), "{}", script.data);
    let bad = file("bad.toml", "prompt = '*'\nspeed = 1\n");
    bench.write(&bad, &[]).assert_ends(3, &["bad.toml: ", "line 2", "speed"]);
    bench.write("none.toml", &[]).assert_ends(3, &["cannot read none.toml"]);
    let other = Bench::new(Box::<OtherMonitor>::default(), MonitorOptions::default());
    let words = ["found an unknown program", "mon>  (in hexadecimal ", " 6D 6F 6E 3E 20); docs/"];
    other.write(&good, &[]).assert_ends(3, &words);
    let mut probe = super::programs::rcflash();
    let probe = probe.args(["probe", "--port"]).arg(other.server.path()).output();
    CommandOutput::from_output(&probe.expect("it starts")).assert_ends(
        3,
        &["it sent: <0D><0A>mon>  (in hexadecimal 0D 0A 6D 6F 6E 3E 20)", "--via FILE.toml"],
    );
}
