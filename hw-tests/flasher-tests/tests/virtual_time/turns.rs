//! The time between two programs that run one after the other, on a board that nobody resets.

use std::time::Duration;

use firmware::profile::BoardProfile;
use hil_harness::board::{Board, BoardError, BoardKind};
use hil_harness::live::{BoardConfig, ProgramBoard, ProgramEnd, ProgramLimits, ProgramOutput};
use monitor_standins::{MonitorLine, MonitorOptions, Scm};
use rcflash_monitors::{HostedProgram, ResidentMonitor, StockMonitor};
use rcflash_transport::Transport;
use tdlasm::image::{Image, ImageRun};

const ORIGIN: u16 = 0x8400;
const LENGTH: usize = 3072;
/// LD A,'!'; RST 08h; JP 0000h
const PROGRAM: [u8; 6] = [0x3E, b'!', 0xCF, 0xC3, 0x00, 0x00];
/// What the issue allows, at 115,200 baud.
const MAX_TIME: Duration = Duration::from_millis(1500);

/// A stock monitor on a line in virtual time, without a reset.
struct Unattended(MonitorLine);

impl Board for Unattended {
    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        Ok(Box::new(self.0.clone()))
    }
}

/// Notes when each program starts and ends.
struct Times {
    line: MonitorLine,
    starts: Vec<Duration>,
    ends: Vec<Duration>,
}

impl ProgramOutput for Times {
    fn start(&mut self) {
        self.starts.push(self.line.elapsed());
    }

    fn receive(&mut self, bytes: &[u8]) -> Option<usize> {
        let end = bytes.iter().position(|byte| *byte == b'!')? + 1;
        self.ends.push(self.line.elapsed());
        Some(end)
    }
}

#[test]
fn between_two_programs_of_three_kilobytes_through_scm_pass_at_most_1500_milliseconds() {
    let line = MonitorLine::new(Box::<Scm>::default(), MonitorOptions::default());
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let config = BoardConfig {
        board: BoardKind::InProcess,
        stock_monitor: Some(ResidentMonitor::Memory(StockMonitor::Scm)),
        ..BoardConfig::simulated(profile)
    };
    let board = ProgramBoard::connect(&config, |_| Box::new(Unattended(line.clone())));
    let mut board = board.unwrap_or_else(|error| panic!("{error}"));
    let mut times = Times { line: line.clone(), starts: Vec::new(), ends: Vec::new() };
    let limits = ProgramLimits { silence: Duration::from_secs(1), total: Duration::from_secs(2) };
    for number in 0..4_usize {
        let filler = (PROGRAM.len()..LENGTH).map(|index| (index * (7 + number) / 3) as u8);
        let bytes: Vec<u8> = PROGRAM.into_iter().chain(filler).collect();
        let image = Image::new([ImageRun { address: ORIGIN, bytes: bytes.clone() }]);
        let program = HostedProgram { image: &image, entry: ORIGIN, top: ORIGIN + LENGTH as u16 };
        let (end, _) = board.run(program, limits, &mut times).expect("it runs");
        assert_eq!(end, ProgramEnd::Output);
        assert_eq!(line.memory(ORIGIN, LENGTH as u16), bytes);
    }
    assert_eq!((times.starts.len(), times.ends.len()), (4, 4));
    let gaps: Vec<_> = times.starts[1..].iter().zip(&times.ends).map(|(a, b)| *a - *b).collect();
    assert!(gaps.iter().all(|gap| *gap <= MAX_TIME), "{gaps:?}");
}
