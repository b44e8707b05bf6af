//! Link and loader against a minimal model of a board.

mod flash_chip;
mod flash_peer;
mod garbage;
mod kernel_link;
mod lying_board;
mod noisy_peer;
mod peer;
mod waits;

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED};
use firmware_wire::{Identity, Reply, Request, Role, crc16, memory_checksum};
use rcflash_link::flash::{FlashError, erase_sectors};
use rcflash_link::loader::{
    LoadError, UploadSummary, enter_monitor, identify, run, run_build, upload_all, upload_missing,
    verify,
};
use rcflash_link::{Link, LinkError, RequestSpec};
use rcflash_transport::Transport;

use crate::peer::{Fault, Peer};

fn link(peer: Peer) -> Link {
    Link::new(Box::new(peer), 115_200)
}

fn monitor(link: &mut Link) -> Identity {
    enter_monitor(link).unwrap_or_else(|error| panic!("{error}"))
}

const PROGRAM: [u8; 1000] = [0xC9; 1000];

#[test]
fn a_program_arrives_over_a_line_that_spoils_things_and_each_cause_is_counted() {
    use Fault::{DamageReply, DamageRequest, DropReply, DropRequest, NoiseBefore};
    let faults = [
        Some(NoiseBefore),
        Some(DropRequest),
        None,
        Some(DamageRequest),
        None,
        Some(DamageReply),
        None,
        Some(DropReply),
    ];
    let mut link = link(Peer::new(&faults));
    let monitor = monitor(&mut link);
    let mut progress = Vec::new();
    upload_all(&mut link, &monitor, 0x8000, &PROGRAM, |done| progress.push(done))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(progress, [236, 472, 708, 944, 1000]);
    let stats = link.stats();
    assert_eq!(
        (stats.retries.timeout, stats.retries.corrupted_at_board, stats.corrupted_at_host),
        (3, 1, 2),
        "{stats:?}"
    );
    assert_eq!(run(&mut link, 0x8000).expect("it starts").role, Role::Application);
}

/// Loads bytes to 8000h of a peer whose board is reset after a number of requests, repeatedly.
fn updated(resets: &[usize], bytes: &[u8]) -> Result<UploadSummary, LoadError> {
    let mut peer = Peer::new(&[]);
    peer.resets = resets.iter().copied().collect();
    let mut link = link(peer);
    let monitor = monitor(&mut link);
    upload_missing(&mut link, &monitor, 0x8000, bytes, |_| {})
}

#[test]
fn an_upload_is_taken_up_again_after_two_resets_and_given_up_after_a_third() {
    // IDENT, the check of the first block, then the blocks; later IDENT, RESET, IDENT, the checks
    // of all, then the rest: a reset interrupts each attempt.
    let once = updated(&[3], &PROGRAM).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(once, UploadSummary { sent: 1000, resets: 1 });
    let twice = updated(&[3, 6], &PROGRAM).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(twice.resets, 2);
    let error = updated(&[3, 6, 6], &PROGRAM).expect_err("it is reset again and again");
    assert!(matches!(error, LoadError::Link(LinkError::Refused { .. })), "{error}");
}

#[test]
fn another_refusal_is_no_reset() {
    let mut peer = Peer::new(&[]);
    peer.refuses = Some(3);
    let mut link = link(peer);
    let monitor = monitor(&mut link);
    let error =
        upload_missing(&mut link, &monitor, 0x8000, &PROGRAM, |_| {}).expect_err("it refuses");
    assert!(matches!(error, LoadError::Link(LinkError::Refused { .. })), "{error}");
    let error = run(&mut link, 0x8000).expect_err("it refuses");
    assert!(matches!(error, LoadError::Link(LinkError::Refused { .. })), "{error}");
}

#[test]
fn a_refusal_to_verify_flash_is_no_difference() {
    // On this board an application replies after the first unknown request.
    let mut link = link(Peer::new(&[]));
    let error = erase_sectors(&mut link, &[5], |_| {}).expect_err("it is refused");
    assert!(matches!(error, FlashError::Link(LinkError::Refused { .. })), "{error}");
}

#[test]
fn an_answer_about_another_sector_makes_no_sense() {
    let mut peer = Peer::new(&[]);
    peer.starts = Some(6);
    let error = erase_sectors(&mut link(peer), &[5], |_| {}).expect_err("it erases the sixth");
    assert!(matches!(error, FlashError::Link(LinkError::UnexpectedReply { .. })), "{error}");
}

#[test]
fn what_is_there_counts_as_progress_and_only_the_rest_as_sent() {
    let bytes: Vec<u8> = (0..1000).map(|at| (at % 251) as u8).collect();
    let mut peer = Peer::new(&[]);
    peer.memory[0x8000..0x8000 + 600].copy_from_slice(&bytes[..600]);
    let mut link = link(peer);
    let monitor = monitor(&mut link);
    let mut progress = Vec::new();
    let updated = upload_missing(&mut link, &monitor, 0x8000, &bytes, |done| progress.push(done));
    // Two complete blocks of 236 bytes are loaded, and half of the third.
    let expected = UploadSummary { sent: 528, resets: 0 };
    assert_eq!(updated.unwrap_or_else(|error| panic!("{error}")), expected);
    assert_eq!(progress, [472, 708, 944, 1000]);
}

#[test]
fn a_check_that_differs_in_any_of_its_bits_is_wrong() {
    for bit in 0..32 {
        let mut peer = Peer::new(&[]);
        peer.wrong_bits = 1 << bit;
        let error = verify(&mut link(peer), 0x8000, &[0; 100]).expect_err("one bit is wrong");
        assert!(matches!(error, LoadError::Verify { .. }), "bit {bit}: {error}");
    }
}

#[test]
fn a_program_may_reach_the_last_address_and_not_the_one_after_it() {
    let outcome = |address: u16, count: usize| {
        let mut link = link(Peer::new(&[]));
        let monitor = monitor(&mut link);
        upload_all(&mut link, &monitor, address, &vec![0xC9; count], |_| {})
    };
    let lowest = 0x8000;
    let highest = 0xEFFF;
    assert!(outcome(highest, 1).is_ok() && outcome(lowest, 1).is_ok());
    for (address, count) in [(highest, 2), (highest + 1, 1), (lowest - 1, 2), (0xFFFF, 2)] {
        let error = outcome(address, count).expect_err("it does not fit");
        assert!(matches!(error, LoadError::DoesNotFit { .. }), "{address:04X}: {error}");
    }
}

#[test]
fn a_board_that_starts_another_address_is_found_out() {
    let mut peer = Peer::new(&[]);
    peer.starts = Some(0x8001);
    let error = rcflash_link::loader::jump(&mut link(peer), 0x8000).expect_err("it is another");
    assert!(error.to_string().contains("starting the program"), "{error}");
}

#[test]
fn a_program_whose_start_nobody_heard_of_is_found_running() {
    let mut link = link(Peer::new(&[None, Some(Fault::DropReply)]));
    monitor(&mut link);
    assert_eq!(run(&mut link, 0x8000).expect("it runs").role, Role::Application);
    assert_eq!(link.stats().retries.timeout, 1);
}

/// The build id of the peer's application.
const BUILD: u32 = 1;

#[test]
fn a_program_has_started_if_its_build_id_is_the_reply() {
    let outcome = |leads_back, build_id| {
        let mut peer = Peer::new(&[]);
        peer.leads_back = leads_back;
        let mut link = link(peer);
        monitor(&mut link);
        run_build(&mut link, 0x8000, build_id)
    };
    assert_eq!(outcome(false, BUILD).expect("it has started").build_id, BUILD);
    let error = outcome(false, BUILD + 1).expect_err("another build");
    assert!(matches!(error, LoadError::OtherBuild { expected: 2, .. }), "{error}");
    assert_eq!(CommandError::from(error).code, FAILED);
    for build_id in [BUILD, BUILD + 1] {
        let error = outcome(true, build_id).expect_err("the monitor replies, whatever its build");
        assert!(matches!(error, LoadError::NotStarted { .. }), "{error}");
        assert_eq!(CommandError::from(error).code, FAILED);
    }
    let mut gone = link(Peer::new(&[None, None, Some(Fault::Vanish)]));
    monitor(&mut gone);
    let error = run_build(&mut gone, 0x8000, BUILD).expect_err("the line is gone");
    assert_eq!(CommandError::from(error).code, ENVIRONMENT);
}

#[test]
fn no_bytes_are_no_proof_and_are_not_requested() {
    let mut link = link(Peer::new(&[]));
    let error = verify(&mut link, 0x8000, &[]).expect_err("there is nothing to verify");
    assert!(matches!(error, LoadError::Empty), "{error}");
    assert_eq!(link.stats().bytes, (0, 0));
    let monitor = monitor(&mut link);
    let sent = link.stats().bytes.0;
    let missing = upload_missing(&mut link, &monitor, 0x8000, &[], |_| {});
    assert!(matches!(missing, Err(LoadError::Empty)), "{missing:?}");
    assert_eq!(link.stats().bytes.0, sent);
    // The values before any byte: of CRC-16/IBM-3740 the start FFFFh, of the sums 0.
    assert_eq!((crc16(&[]), memory_checksum(&[])), (0xFFFF, 0x0000_FFFF));
}

/// Requests the CRCs of eight ranges, as many at a time as fit the window, and checks each.
fn ask_for_checks(link: &mut Link, memory: &[u8]) {
    let mut expected = HashMap::new();
    for (index, length) in (1..=8).enumerate() {
        let address = 0x8000 + index as u16 * 100;
        let request = Request::Crc { address, length };
        assert!(link.has_room(&request));
        let question = RequestSpec::new("checking", request, Duration::from_millis(1));
        let ticket = link.submit(&question).unwrap_or_else(|error| panic!("{error}"));
        let place = usize::from(address);
        expected.insert(ticket, memory_checksum(&memory[place..place + usize::from(length)]));
    }
    while let Some(answer) = link.next_completion().unwrap_or_else(|error| panic!("{error}")) {
        let replies = answer.replies.unwrap_or_else(|error| panic!("{error}"));
        let check = expected.remove(&answer.id).expect("asked once, answered once");
        assert_eq!(replies, [Reply::Crc(check)]);
    }
    assert!(expected.is_empty());
}

/// A link with several requests in flight, and the memory of its peer.
fn wide_link(faults: &[Option<Fault>]) -> (Link, Vec<u8>) {
    let mut peer = Peer::new(faults);
    for (at, byte) in peer.memory.iter_mut().enumerate() {
        *byte = (at * 7 + at / 256) as u8;
    }
    let memory = peer.memory.clone();
    let mut link = link(peer);
    link.set_window(250);
    (link, memory)
}

#[test]
fn requests_under_way_together_get_each_its_own_answer_whatever_the_line_does() {
    use Fault::{DamageReply, DamageRequest, DropReply, DropRequest, NoiseBefore};
    let kinds = [DamageReply, DamageRequest, DropReply, DropRequest, NoiseBefore];
    for (fault, place) in kinds.into_iter().flat_map(|fault| (0..8).map(move |at| (fault, at))) {
        let mut faults = vec![None; 8];
        faults[place] = Some(fault);
        let (mut link, memory) = wide_link(&faults);
        ask_for_checks(&mut link, &memory);
        assert_eq!(link.stats().requests, 8);
        assert_eq!(link.stats().total_retries(), u64::from(fault != NoiseBefore), "{place}");
    }
}

#[test]
fn a_lost_request_is_repeated_as_soon_as_a_later_one_is_answered() {
    let (mut link, memory) = wide_link(&[None, Some(Fault::DropRequest)]);
    let began = link.now();
    ask_for_checks(&mut link, &memory);
    assert_eq!((link.stats().retries.missing, link.stats().retries.timeout), (1, 0));
    assert_eq!(link.now(), began, "nobody had to wait");
}

#[test]
fn a_request_that_the_line_always_spoils_is_given_up() {
    let (mut link, _) = wide_link(&[Some(Fault::DamageRequest); 20]);
    let error = identify(&mut link).expect_err("it never arrives");
    assert!(matches!(error, LinkError::Corrupted { attempts: 9, .. }), "{error}");
    assert_eq!(link.stats().retries.corrupted_at_board, 8);
}

#[test]
fn a_running_application_is_asked_to_make_way() {
    let mut peer = Peer::new(&[]);
    peer.role = b'A';
    assert_eq!(monitor(&mut link(peer)).role, Role::Monitor);
}

#[test]
fn silence_ends_with_the_name_of_the_wait_and_the_last_bytes() {
    let peer = Peer::new(&[Some(Fault::DropRequest); 9]);
    let mut link = link(peer);
    let began = link.now();
    let error = identify(&mut link).expect_err("there is no reply");
    assert!(matches!(error, LinkError::Timeout { .. }));
    let printed = error.to_string();
    assert!(printed.contains("no reply while identifying the board"), "{printed}");
    assert!(printed.contains("last received: nothing"), "{printed}");
    assert!(link.now() - began < Duration::from_secs(10));
}

#[test]
fn a_line_that_vanishes_in_the_middle_is_told_at_once() {
    let mut link = link(Peer::new(&[None, None, Some(Fault::Vanish)]));
    let monitor = monitor(&mut link);
    let error = upload_all(&mut link, &monitor, 0x8000, &PROGRAM, |_| {}).expect_err("it is gone");
    assert!(error.to_string().contains("the line failed while uploading"), "{error}");
}

#[test]
fn memory_that_does_not_keep_a_byte_fails_the_verify() {
    let mut peer = Peer::new(&[]);
    peer.broken = Some(0x8123);
    let mut link = link(peer);
    let monitor = monitor(&mut link);
    let error = upload_all(&mut link, &monitor, 0x8000, &PROGRAM, |_| {}).expect_err("it differs");
    assert!(matches!(error, LoadError::Verify { .. }), "{error}");
}

#[test]
fn a_block_that_differs_but_has_the_crc_of_ours_is_sent() {
    let mut peer = Peer::new(&[]);
    let mut there = PROGRAM;
    // Adding a multiple of the CRC's polynomial, 11021h, does not change the CRC.
    for (byte, bits) in there[500..].iter_mut().zip([0x01, 0x10, 0x21]) {
        *byte ^= bits;
    }
    assert_eq!(crc16(&there), crc16(&PROGRAM));
    peer.memory[0x8000..][..PROGRAM.len()].copy_from_slice(&there);
    let mut link = link(peer);
    let monitor = monitor(&mut link);
    let updated = upload_missing(&mut link, &monitor, 0x8000, &PROGRAM, |_| {});
    assert_eq!(updated.expect("it is there").sent, 236, "the third block");
    verify(&mut link, 0x8000, &PROGRAM).expect("it is there");
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_sent() {
    let mut link = link(Peer::new(&[]));
    let monitor = monitor(&mut link);
    let before = link.stats().bytes.0;
    for (address, bytes) in [(0x7FFF, 2), (0xEFFF, 2), (0xFFFF, 2), (0x8000, 0)] {
        let bytes = vec![0; bytes];
        assert!(upload_all(&mut link, &monitor, address, &bytes, |_| {}).is_err(), "{address:04X}");
    }
    assert_eq!(link.stats().bytes.0, before);
}

/// A line that delivers bytes without end, until it fails.
struct Babble(u32);

impl Transport for Babble {
    fn name(&self) -> &str {
        "babble"
    }

    fn read(&mut self, buffer: &mut [u8], _timeout: Duration) -> io::Result<usize> {
        self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
        std::thread::sleep(Duration::from_millis(1));
        buffer[0] = b'U';
        Ok(1)
    }

    fn write(&mut self, _bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_line_that_never_falls_quiet_is_not_heard_out_without_end() {
    let mut link = Link::new(Box::new(Babble(5000)), 115_200);
    let heard = link.drain_banner("starting", Duration::from_millis(10));
    assert!(heard.is_ok(), "listened until the line broke: {heard:?}");
}
