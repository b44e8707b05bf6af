//! Results count only once the board has confirmed its build id.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use firmware::profile::BoardProfile;
use firmware_wire::{Decoder, DecoderEvent, kind};
use hil_harness::board::{Board, BoardError, BoardKind, Instrumentation, ResetFn};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::BoardConfig;
use hil_harness::runner::{RunOptions, Verdict};
use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant};
use sargon_corpus::{Case, builtin_corpus};

use sargon_suite::{SargonBoard, SargonConfig, run_cases};

/// The number of buffered results at which the board is identified.
const MAX_UNCONFIRMED: usize = 192;
/// Losses of the board after which a case is given up.
const MAX_LOSSES_PER_CASE: u32 = 3;

/// A board that answers IDENT `idents_before_reset` times, and resets at the next one.
struct ResettingBoard {
    board: Box<dyn Board>,
    idents_before_reset: u32,
    /// Counts IDENT requests.
    idents: Arc<AtomicU32>,
}

impl Board for ResettingBoard {
    fn name(&self) -> &str {
        self.board.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let button = self.board.reset_fn().expect("a simulated board has one");
        let (line, idents) = (self.board.open()?, self.idents.clone());
        Ok(Box::new(ResettingLine {
            line,
            button,
            idents,
            decoder: Decoder::default(),
            idents_before_reset: self.idents_before_reset,
            remaining: None,
        }))
    }

    fn reset_fn(&self) -> Option<ResetFn> {
        self.board.reset_fn()
    }

    fn instrumentation(&self) -> Option<&dyn Instrumentation> {
        self.board.instrumentation()
    }
}

struct ResettingLine {
    line: Box<dyn Transport + Send>,
    button: ResetFn,
    /// Counts IDENT requests.
    idents: Arc<AtomicU32>,
    decoder: Decoder,
    idents_before_reset: u32,
    /// IDENT requests until the reset, once the program was started.
    remaining: Option<u32>,
}

impl Transport for ResettingLine {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.line.read(buffer, timeout)
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        self.line.write(bytes, deadline)?;
        for &byte in bytes {
            let Some(DecoderEvent::Frame(frame)) = self.decoder.push(byte) else { continue };
            match (frame.kind, self.remaining) {
                (kind::RUN, _) => self.remaining = Some(self.idents_before_reset),
                (kind::IDENT, Some(remaining)) => {
                    assert!(self.idents.fetch_add(1, Relaxed) < 300, "the run does not end");
                    self.remaining = remaining.checked_sub(1);
                    if self.remaining.is_none() {
                        (self.button)();
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn set_flow_control(&mut self, obey: bool) -> io::Result<bool> {
        self.line.set_flow_control(obey)
    }
}

/// Runs `count` cases on such a board; returns the number of IDENT requests after its set-up,
/// and the verdicts.
fn ident_requests(idents_before_reset: u32, count: usize) -> (u32, Vec<Verdict>) {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let config = BoardConfig { board: BoardKind::InProcess, ..BoardConfig::simulated(profile) };
    let config = SargonConfig::from(config);
    let programs = config.programs().unwrap_or_else(|error| panic!("{error}"));
    let idents = Arc::new(AtomicU32::new(0));
    let counter = idents.clone();
    let wrap = |board| -> Box<dyn Board> {
        Box::new(ResettingBoard { board, idents_before_reset, idents: counter })
    };
    let live = SargonBoard::prepare_with(&config, Arc::new(programs), &OsFileSystem, wrap);
    let mut live = live.unwrap_or_else(|error| panic!("{error}"));
    let before = idents.load(Relaxed);
    let is_played = |case: &Case| case.tags.iter().any(|tag| tag == "play");
    let cases = builtin_corpus().expect("it ships").into_iter().filter(is_played).take(count);
    let interrupted = AtomicBool::new(false);
    let options =
        RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &interrupted };
    let mut verdicts = Vec::new();
    run_cases(&mut live, cases, options, |result| verdicts.push(result.verdict));
    assert_eq!(verdicts.len(), count);
    (idents.load(Relaxed) - before, verdicts)
}

#[test]
fn a_board_that_resets_when_it_is_identified_passes_nothing_and_the_run_ends() {
    // Each reset takes one IDENT for the results and one after the restart.
    for count in [5, 2 * MAX_UNCONFIRMED] {
        let (requests, verdicts) = ident_requests(1, count);
        assert!(requests >= 2 * MAX_LOSSES_PER_CASE, "{count} cases: too few requests");
        assert_eq!(verdicts[0], Verdict::Error);
        let no_pass = [Verdict::Error, Verdict::NotRun];
        assert!(verdicts.iter().all(|verdict| no_pass.contains(verdict)), "{verdicts:?}");
    }
}

#[test]
fn the_number_of_buffered_results_is_limited() {
    let (idents, verdicts) = ident_requests(u32::MAX, 5 * MAX_UNCONFIRMED);
    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Pass));
    assert!((5..=10).contains(&idents), "{idents} requests for five times {MAX_UNCONFIRMED} cases");
}
