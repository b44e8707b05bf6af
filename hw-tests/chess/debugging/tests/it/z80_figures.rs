//! The article's figures on the simulated board itself, observed by a probe.

use board_simulator::board_spec;
use board_simulator::{BoardModel, Probe, QueueLine, RunStop};
use firmware::ProgramKind;
use firmware::build::build;
use firmware::profile::BoardProfile;
use firmware_wire::{Decoder, DecoderEvent, Frame, Reply, kind};

/// The array of Figure 4 in the form of Table 1, after the black knight that is attacked.
const FIGURE_4: [u8; 15] = [0x82, 3, 0, 0x33, 0x03, 0, 0, 0, 2, 0x01, 0, 0, 0, 0x09, 0];

/// Labels of xchng.asm after a booking: an intermediate one, and the last.
const BOOKINGS: [&str; 2] = ["XCBOOK", "XCLAST"];

#[test]
fn figure_4_books_3_0_1_on_the_board() {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let app = build(&profile, ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"));
    let symbol = |name| app.program.symbol(name).expect("a label of the evaluator");
    let jump = [0xC3, 0x00, 0x80];
    let mut board = BoardModel::new(board_spec(&profile), &jump, QueueLine::default());
    board.bus_mut().load(app.address, &app.bytes);
    while board.run_for(1_000_000) != RunStop::Idle {}
    board.set_probe(Probe::new([], 0).with_hits_at(BOOKINGS.map(symbol)));
    let request = Frame::new(1, kind::EXCHANGE, FIGURE_4.to_vec()).expect("it fits");
    board.line_mut().to_board.extend(request.encode());
    while board.run_for(1_000_000) != RunStop::Idle {}
    let hits = board.probe_mut().expect("just set").take_hits();
    // Points at stake in B, the attacker in L, the residue in E.
    let bookings: Vec<_> =
        hits.iter().map(|at| ((at.bc >> 8) as u8, at.hl as u8, at.de as u8)).collect();
    assert_eq!(bookings, [(3, 3, 3), (3, 1, 0), (1, 3, 1)]);
    let mut decoder = Decoder::default();
    let received = board.line_mut().from_board.clone();
    let replies: Vec<_> = received.into_iter().filter_map(|byte| decoder.push(byte)).collect();
    let residue = replies.iter().find_map(|event| match event {
        DecoderEvent::Frame(frame) => Reply::parse(frame.kind, &frame.payload).ok(),
        DecoderEvent::Invalid(_) => None,
    });
    assert_eq!(residue, Some(Reply::Residue { residue: 1, status: 0 }));
}
